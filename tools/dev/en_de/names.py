"""Names of people and towns, for all templates."""
from templates import same, words

WOMEN = same("""Anna, Maria, Emily, Sarah, Julia, Laura, Sophie, Lena, Emma, Olivia, Charlotte, Hannah, Katherine, Monica,
Claudia, Susan, Barbara, Petra, Ingrid, Helen, Rachel, Jessica, Nina, Eva, Martina, Elena, Lucy, Alice, Karin, Birgit,
Mia, Amelia, Grace, Sabine, Nicole, Rebecca, Victoria, Teresa, Isabel, Linda, Diana, Ruth, Ella, Carla, Johanna, Magda,
Yvonne, Lisa, Jane, Megan""")
MEN = same("""Peter, Thomas, Michael, David, Daniel, Paul, Oliver, Jack, Henry, George, James, William, Tom, Ben, Max, Felix,
Lukas, Jonas, Martin, Stefan, Andreas, Frank, Robert, Richard, Charles, Simon, Philip, Mark, Kevin, Brian, Alexander,
Matthias, Klaus, Bernd, Jan, Tim, Leo, Samuel, Jacob, Adam, Marco, Antonio, Erik, Sven, Patrick, Edward, Harry, Ralf,
Dominik, Steve""")
PEOPLE = WOMEN + MEN
SURNAMES = same("""Smith, Miller, Johnson, Brown, Taylor, Wilson, Davies, Evans, Walker, Wright, Green, Baker, Clark, Hill,
Cooper, Ward, Morgan, Bell, Murphy, Bailey, Parker, Collins, Schmidt, Schneider, Fischer, Weber, Meyer, Wagner, Becker,
Schulz, Hoffmann, Koch, Bauer, Richter, Klein, Wolf, Neumann, Schwarz, Zimmermann, Braun, Hartmann, Lange, Krause,
Lehmann, Novak, Kowalski, Garcia, Rossi, Martin, Dubois, Jensen, Hansen, Larsen, Silva, Nguyen, Patel, Khan, Yilmaz,
Petrov, Berg, Keller, Vogel, Winkler, Lorenz, Graf, Huber, Steiner, Moser, Gruber, Roth, O'Connor, Adams, Turner, Scott,
Jones, Harris, Lewis, Young, King, Allen, Carter, Mitchell, Phillips, Edwards, Stewart, Morris, Reed, Cook, Rogers, Peterson,
Gray, Watson, Brooks, Kelly, Sanders, Price, Bennett, Wood, Ross, Henderson, Coleman, Jenkins, Perry, Powell, Long, Hughes, Butler,
Simmons, Foster, Schubert, Kaiser, Fuchs, Vogt, Seidel, Brandt, Schreiber, Dietrich, Ziegler, Kuhn, Pohl, Engel, Horn, Busch,
Bergmann, Thomas, Voigt, Sauer, Arnold, Pfeiffer, Lindner, Kramer, Haas, Schäfer, Müller, Krüger, Jäger, Böhm, Köhler, Lang""")
CITIES = words("""Berlin=Berlin; Hamburg=Hamburg; Munich=München; Cologne=Köln; Frankfurt=Frankfurt; Stuttgart=Stuttgart;
Leipzig=Leipzig; Dresden=Dresden; Nuremberg=Nürnberg; Hanover=Hannover; Bremen=Bremen; Düsseldorf=Düsseldorf; Vienna=Wien;
Salzburg=Salzburg; Zurich=Zürich; Geneva=Genf; Basel=Basel; Bern=Bern; London=London; Manchester=Manchester;
Edinburgh=Edinburgh; Dublin=Dublin; Paris=Paris; Lyon=Lyon; Brussels=Brüssel; Amsterdam=Amsterdam; Copenhagen=Kopenhagen;
Stockholm=Stockholm; Oslo=Oslo; Helsinki=Helsinki; Prague=Prag; Warsaw=Warschau; Budapest=Budapest; Rome=Rom; Milan=Mailand;
Venice=Venedig; Florence=Florenz; Naples=Neapel; Madrid=Madrid; Barcelona=Barcelona; Lisbon=Lissabon; Athens=Athen;
New York=New York; Boston=Boston; Chicago=Chicago; Toronto=Toronto; Heidelberg=Heidelberg; Freiburg=Freiburg; Bonn=Bonn;
Mainz=Mainz; Kiel=Kiel; Innsbruck=Innsbruck; Graz=Graz; Potsdam=Potsdam; Erfurt=Erfurt; Münster=Münster""")
SLOTS = {"f": WOMEN, "m": MEN, "who": PEOPLE, "sur": SURNAMES, "city": CITIES}
