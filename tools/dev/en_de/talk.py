"""Small talk."""
from templates import nouns, words

TEMPLATES = """
[Bye bye|Bye-bye], {who}! => Tschüss, {who}!
Bye bye! => Tschüss!
Bye! => Tschüss!
bye => tschüss
bye! => tschüss!
Bye, {who}! => Tschüss, {who}!
Bye for now! => Bis dann!
Bye, see you later! => Tschüss, bis später!
Bye, see you tomorrow! => Tschüss, bis morgen!
Bye bye, see you soon! => Tschüss, bis bald!
Bye bye and take care! => Tschüss und mach's gut!
Say bye bye to {who}! => Sag {who} Tschüss!
Goodbye! => Auf Wiedersehen!
goodbye => auf Wiedersehen
Goodbye, Mr. {sur}. => Auf Wiedersehen, Herr {sur}.
Goodbye, Ms. {sur}. => Auf Wiedersehen, Frau {sur}.
Goodbye, {who}! => Auf Wiedersehen, {who}!
Goodbye and thank you for everything. => Auf Wiedersehen und danke für alles.
See you! => Bis dann!
See you soon! => Bis bald!
See you later! => Bis später!
See you later, {who}! => Bis später, {who}!
See you tomorrow! => Bis morgen!
See you tomorrow, {who}! => Bis morgen, {who}!
See you on {day}! => Bis {day}!
See you on {day}, {who}! => Bis {day}, {who}!
See you next {unit}! => Bis {unit}!
See you in {city}! => Bis bald in {city}!
See you tonight. => Bis heute Abend.
See you around! => Man sieht sich!
See you at the {party}! => Wir sehen uns {party.bei}!
Take care! => Mach's gut!
Take care of yourself! => Pass auf dich auf!
Good night, {who}! => Gute Nacht, {who}!
Good night! => Gute Nacht!
Sleep well! => Schlaf gut!
Sweet dreams! => Träum süß!
Have a nice {nice}! => Einen schönen {nice}!
Have a [great|lovely] {nice}! => Einen schönen {nice}!
Have a nice {nice}, {who}! => Einen schönen {nice}, {who}!
Have a nice weekend! => Ein schönes Wochenende!
Have a good weekend! => Ein schönes Wochenende!
Have a nice week! => Eine schöne Woche!
Have a nice holiday! => Schönen Urlaub!
Have fun! => Viel Spaß!
Have fun at the {party}! => Viel Spaß {party.bei}!
Good luck! => Viel Glück!
Good luck, {who}! => Viel Glück, {who}!
Good luck with your {luck}! => Viel Glück {luck}!
I'll keep my fingers crossed for you. => Ich drücke dir die Daumen.
You too! => Dir auch!
Thanks, you too! => Danke, gleichfalls!
The same to you! => Gleichfalls!
Good morning, how are you? => Guten Morgen, wie geht es Ihnen?
Hello, how are you? => Hallo, wie geht es dir?
Hi {who}, how are you? => Hallo {who}, wie geht es dir?
How are you, Mr. {sur}? => Wie geht es Ihnen, Herr {sur}?
How are you doing, {who}? => Wie geht's dir, {who}?
How's it going? => Wie geht's?
How are things? => Wie geht's?
What's up? => Was gibt's?
How is your {kin}? => Wie geht es {kin.deinem}?
How are your children? => Wie geht es deinen Kindern?
I'm fine, thank you. => Mir geht es gut, danke.
I'm fine, thanks, and you? => Mir geht es gut, danke, und dir?
Fine, thanks. And you? => Gut, danke. Und Ihnen?
Not too bad. => Nicht schlecht.
I'm very well, thank you. => Mir geht es sehr gut, danke.
I'm {feel}. => Ich bin {feel}.
I'm [so|really] {feel}. => Ich bin so {feel}.
Are you {feel}? => Bist du {feel}?
You look {feel}. => Du siehst {feel} aus.
{who} is {feel}. => {who} ist {feel}.
How was your {mine}? => Wie war {mine.dein}?
How was the {was}? => Wie war {was}?
My {mine} was {wasgood}. => {mine.mein} war {wasgood}.
The {was} was {wasgood}. => {was} war {wasgood}.
Did you have a good {good}? => Hattest du {good.einen}?
Did you have a nice weekend? => Hattest du ein schönes Wochenende?
What did you do at the weekend? => Was hast du am Wochenende gemacht?
What are you doing on {day}? => Was machst du am {day}?
What are you doing tonight? => Was machst du heute Abend?
What are you doing? => Was machst du?
Do you have any plans for {day}? => Hast du am {day} schon etwas vor?
Are you free on {day}? => Hast du am {day} Zeit?
Do you have time on {day} at {time}? => Hast du am {day} um {time} Zeit?
Would you like to {todo}? => Möchtest du {todo}?
Do you want to {todo}? => Willst du {todo}?
Let's {todo}. => Lass uns {todo}.
Shall we {todo}? => Wollen wir {todo}?
I'd like to {todo}. => Ich möchte {todo}.
I'd love to. => Sehr gern.
Good idea! => Gute Idee!
That sounds good. => Das klingt gut.
Maybe another time. => Vielleicht ein andermal.
What's your name? => Wie heißt du?
What is your name, please? => Wie ist Ihr Name, bitte?
My name is {who}. => Ich heiße {who}.
My name is {who}, nice to meet you. => Ich heiße {who}, freut mich.
I'm {who}. => Ich bin {who}.
Hi, I'm {who}. => Hallo, ich bin {who}.
This is my {woman} {f}. => Das ist {woman.mein} {f}.
This is my {man} {m}. => Das ist {man.mein} {m}.
This is {who}. => Das ist {who}.
This is {who} from {city}. => Das ist {who} aus {city}.
Nice to meet you, {who}. => Freut mich, dich kennenzulernen, {who}.
Nice to meet you, Mr. {sur}. => Freut mich, Sie kennenzulernen, Herr {sur}.
Pleased to meet you. => Freut mich, Sie kennenzulernen.
It's nice to meet you. => Es freut mich, Sie kennenzulernen.
It was nice to meet you. => Es war schön, Sie kennenzulernen.
Nice to see you again! => Schön, dich wiederzusehen!
It's good to see you. => Schön, dich zu sehen.
Long time no see! => Lange nicht gesehen!
Where are you from? => Woher kommst du?
I come from {city}. => Ich komme aus {city}.
I live in {city}. => Ich wohne in {city}.
I was born in {city}. => Ich bin in {city} geboren.
I have lived in {city} for {few} years. => Ich wohne seit {few} Jahren in {city}.
Where do you live? => Wo wohnst du?
How long have you lived in {city}? => Wie lange wohnst du schon in {city}?
How old are you? => Wie alt bist du?
I'm {age} years old. => Ich bin {age} Jahre alt.
I'm {age}. => Ich bin {age}.
My {kin} is {age} years old. => {kin.mein} ist {age} Jahre alt.
What do you do? => Was machen Sie beruflich?
What's your job? => Was sind Sie von Beruf?
What does your {kin} do for a living? => Was macht {kin.dein} beruflich?
What does {who} do for a living? => Was macht {who} beruflich?
I work as a {job}. => Ich arbeite als {job}.
I'm a {job}. => Ich bin {job}.
My father is a {job}. => Mein Vater ist {job}.
He wants to become a {job}. => Er möchte {job} werden.
She works in a {work}. => Sie arbeitet {work.place}.
Are you married? => Sind Sie verheiratet?
Do you have any children? => Haben Sie Kinder?
I have two children. => Ich habe zwei Kinder.
What are your hobbies? => Was sind deine Hobbys?
I like {hobby}. => Ich {hobby} gern.
Do you like {hobby}? => {hobby.you} du gern?
Which languages do you speak? => Welche Sprachen sprechen Sie?
I speak a little {lang}. => Ich spreche ein bisschen {lang}.
Do you speak {lang}? => Sprechen Sie {lang}?
I'm learning {lang}. => Ich lerne {lang}.
He speaks {lang} fluently. => Er spricht fließend {lang}.
Could you speak more slowly, please? => Könnten Sie bitte langsamer sprechen?
Could you repeat that, please? => Könnten Sie das bitte wiederholen?
What does that mean? => Was bedeutet das?
How do you say that in {lang}? => Wie sagt man das auf {lang}?
I don't understand. => Ich verstehe nicht.
Sorry, I didn't understand. => Entschuldigung, das habe ich nicht verstanden.
Thank you! => Danke!
Thanks! => Danke!
Thanks, {who}! => Danke, {who}!
Thanks a lot! => Vielen Dank!
Thanks a lot, {who}! => Vielen Dank, {who}!
Thank you very much! => Vielen Dank!
Thank you so much, {who}! => Vielen herzlichen Dank, {who}!
Thanks a million! => Tausend Dank!
Thanks for {for}! => Danke für {for}!
Thank you for {for}. => Vielen Dank für {for}.
Thanks, see you later! => Danke, bis später!
Thanks, see you on {day}! => Danke, bis {day}!
You're welcome. => Gern geschehen.
Don't mention it. => Keine Ursache.
No problem! => Kein Problem!
Never mind. => Macht nichts.
It doesn't matter. => Das macht nichts.
Sorry! => Entschuldigung!
I'm sorry. => Es tut mir leid.
I'm sorry, {who}. => Es tut mir leid, {who}.
I'm sorry I'm late. => Entschuldigung, dass ich zu spät komme.
Excuse me! => Entschuldigung!
Excuse me, please. => Entschuldigen Sie bitte.
Congratulations! => Herzlichen Glückwunsch!
Congratulations on {congrats}! => Herzlichen Glückwunsch {congrats}!
Congratulations on {congrats}, {who}! => Herzlichen Glückwunsch {congrats}, {who}!
Well done! => Gut gemacht!
Well done, {who}! => Gut gemacht, {who}!
Welcome! => Willkommen!
Welcome to {city}! => Willkommen in {city}!
Welcome home! => Willkommen zu Hause!
Welcome home, {who}! => Willkommen zu Hause, {who}!
Come in! => Herein!
Please come in. => Bitte kommen Sie herein.
Please sit down. => Bitte setzen Sie sich.
Make yourself at home. => Fühlen Sie sich wie zu Hause.
Help yourself! => Bedien dich!
Wait a moment, please. => Einen Moment, bitte.
Just a moment, please. => Einen Moment, bitte.
One moment, please. => Einen Moment, bitte.
Hurry up! => Beeil dich!
Be careful! => Sei vorsichtig!
Watch out! => Pass auf!
Don't worry. => Mach dir keine Sorgen.
Cheer up! => Kopf hoch!
What a pity! => Wie schade!
That's a pity. => Das ist schade.
What a surprise! => Was für eine Überraschung!
Really? => Wirklich?
Of course! => Natürlich!
Of course not. => Natürlich nicht.
I don't know. => Ich weiß es nicht.
I think so. => Ich glaube schon.
I don't think so. => Ich glaube nicht.
Maybe. => Vielleicht.
It depends. => Das kommt darauf an.
I agree with you. => Ich bin ganz deiner Meinung.
You're right. => Du hast recht.
That's right. => Das stimmt.
That's not true. => Das stimmt nicht.
I miss you. => Du fehlst mir.
I love you, {who}. => Ich liebe dich, {who}.
I'm on my way. => Ich bin unterwegs.
I'm running late. => Ich verspäte mich.
I'll be {minutes} minutes late. => Ich komme {minutes} Minuten später.
I'll be there in {minutes} minutes. => Ich bin in {minutes} Minuten da.
Call me when you get home. => Ruf mich an, wenn du zu Hause bist.
Text me when you arrive. => Schreib mir, wenn du angekommen bist.
Give me a call on {day}. => Ruf mich am {day} an.
Can I call you back? => Kann ich dich zurückrufen?
Who's speaking? => Wer spricht da?
Hello, this is {who} {sur} speaking. => Hallo, hier spricht {who} {sur}.
Can I speak to {who}, please? => Kann ich bitte mit {who} sprechen?
{who} is not here at the moment. => {who} ist im Moment nicht da.
Can I leave a message? => Kann ich eine Nachricht hinterlassen?
The weather is {weather} today. => Das Wetter ist heute {weather}.
What's the weather like in {city}? => Wie ist das Wetter in {city}?
It's {raining} in {city}. => In {city} {raining}.
It's {raining}. => Es {raining.es}.
It will be sunny tomorrow. => Morgen wird es sonnig.
It's very {warm} today. => Heute ist es sehr {warm}.
It's going to be {warm} tomorrow. => Morgen wird es {warm}.
Happy anniversary! => Alles Gute zum Jahrestag!
Happy Mother's Day! => Alles Gute zum Muttertag!
Happy Valentine's Day! => Alles Gute zum Valentinstag!
Happy holidays! => Schöne Feiertage!
Enjoy your {enjoy}! => {enjoy}!
"""
RAIN = [("raining", {"nom": "regnet es", "es": "regnet"}), ("snowing", {"nom": "schneit es", "es": "schneit"}),
        ("raining heavily", {"nom": "regnet es stark", "es": "regnet stark"}), ("foggy", {"nom": "ist es neblig", "es": "ist neblig"}),
        ("windy", {"nom": "ist es windig", "es": "ist windig"}), ("sunny", {"nom": "ist es sonnig", "es": "ist sonnig"})]
HOBBIES = [("reading", "lese", "Liest"), ("swimming", "schwimme", "Schwimmst"), ("cooking", "koche", "Kochst"), ("dancing", "tanze", "Tanzt"),
           ("travelling", "reise", "Reist"), ("singing", "singe", "Singst"), ("hiking", "wandere", "Wanderst")]
TODO = words("""go to the cinema=ins Kino gehen; go for a walk=spazieren gehen; have dinner with me=mit mir zu Abend essen; come with
us=mitkommen; go swimming=schwimmen gehen; have a coffee=einen Kaffee trinken; play tennis=Tennis spielen; go home=nach Hause gehen; watch a
film=einen Film ansehen; go shopping=einkaufen gehen; visit the museum=das Museum besuchen; go dancing=tanzen gehen; cook
together=zusammen kochen; go out for dinner=essen gehen; play cards=Karten spielen; learn German=Deutsch lernen; listen to music=Musik hören""")
SLOTS = {
    "unit": words("week=nächste Woche; year=nächstes Jahr; month=nächsten Monat; Monday=nächsten Montag; Friday=nächsten Freitag; summer=nächsten Sommer"),
    "party": nouns("party = f Party\nwedding = f Hochzeit\nconcert = n Konzert\nfestival = n Festival\ncourse = m Kurs\nbarbecue = n Grillfest"),
    "nice": words("day=Tag; evening=Abend; afternoon=Nachmittag; Sunday=Sonntag; morning=Morgen"),
    "luck": words("exam=bei deiner Prüfung; interview=bei deinem Vorstellungsgespräch; new job=bei deiner neuen Arbeit; test=bei deinem Test; "
                  "project=bei deinem Projekt; presentation=bei deiner Präsentation; driving test=bei deiner Fahrprüfung"),
    "kin": nouns("wife = f Frau\nhusband = m Mann\nsister = f Schwester\nbrother = m Bruder\nmother = f Mutter\nfather = m Vater\nson = m Sohn\n"
                 "daughter = f Tochter\ngrandmother = f Großmutter\nuncle = m Onkel\naunt = f Tante\nboyfriend = m Freund\ngirlfriend = f Freundin\n"
                 "boss = m Chef\nneighbour = m Nachbar, Nachbarn, Nachbarn"),
    "woman": nouns("wife = f Frau\nsister = f Schwester\nmother = f Mutter\ndaughter = f Tochter\ncolleague = f Kollegin\nfriend = f Freundin"),
    "man": nouns("husband = m Mann\nbrother = m Bruder\nfather = m Vater\nson = m Sohn\ncolleague = m Kollege\nfriend = m Freund"),
    "feel": words("tired=müde; happy=glücklich; sad=traurig; angry=wütend; bored=gelangweilt; nervous=nervös; excited=aufgeregt; sick=krank; "
                  "disappointed=enttäuscht; exhausted=erschöpft; surprised=überrascht; busy=beschäftigt"),
    "mine": nouns("day = m Tag\nholiday = m Urlaub\ntrip = f Reise\nflight = m Flug\nexam = f Prüfung\nevening = m Abend\ninterview = n Vorstellungsgespräch\n"
                  "birthday = m Geburtstag\njourney = f Fahrt\nmorning = m Morgen"),
    "was": nouns("day = m Tag\nholiday = m Urlaub\ntrip = f Reise\nflight = m Flug\nexam = f Prüfung\nconcert = n Konzert\nparty = f Party\n"
                 "film = m Film\nevening = m Abend\nmeeting = f Besprechung\nvisit = m Besuch\n"
                 "interview = n Vorstellungsgespräch"),
    "wasgood": words("great=toll; very good=sehr gut; boring=langweilig; fantastic=fantastisch; short=kurz; too long=zu lang; okay=ganz gut"),
    "good": [("trip", {"einen": "eine gute Reise"}), ("flight", {"einen": "einen guten Flug"}), ("day", {"einen": "einen schönen Tag"}),
             ("holiday", {"einen": "einen schönen Urlaub"}), ("evening", {"einen": "einen schönen Abend"}), ("journey", {"einen": "eine gute Fahrt"})],
    "todo": TODO,
    "job": words("teacher=Lehrer; nurse=Krankenpfleger; doctor=Arzt; baker=Bäcker; cook=Koch; engineer=Ingenieur; bus driver=Busfahrer; journalist=Journalist; "
                 "lawyer=Rechtsanwalt; police officer=Polizist; programmer=Programmierer; gardener=Gärtner; hairdresser=Friseur; waiter=Kellner; "
                 "translator=Übersetzer; farmer=Landwirt; carpenter=Tischler; photographer=Fotograf; student=Student; shop assistant=Verkäufer"),
    "work": [(e, {"place": g}) for e, g in words("hospital=in einem Krankenhaus; bank=in einer Bank; school=in einer Schule; restaurant=in einem Restaurant; "
                                                "hotel=in einem Hotel; library=in einer Bibliothek; factory=in einer Fabrik; museum=in einem Museum")],
    "hobby": [(e, {"nom": i, "you": you}) for e, i, you in HOBBIES],
    "lang": words("German=Deutsch; English=Englisch; French=Französisch; Spanish=Spanisch; Italian=Italienisch; Polish=Polnisch; Turkish=Türkisch; "
                  "Russian=Russisch; Chinese=Chinesisch; Dutch=Niederländisch; Japanese=Japanisch; Portuguese=Portugiesisch"),
    "for": words("your help=deine Hilfe; everything=alles; the present=das Geschenk; the invitation=die Einladung; the flowers=die Blumen; the lovely "
                 "evening=den schönen Abend; your time=deine Zeit; the information=die Information; the reminder=die Erinnerung; dinner=das Abendessen; "
                 "the lift=das Mitnehmen; your understanding=dein Verständnis; the photos=die Fotos; your patience=deine Geduld"),
    "congrats": words("your birthday=zum Geburtstag; your wedding=zur Hochzeit; your new flat=zur neuen Wohnung; passing the exam=zur bestandenen Prüfung; "
                      "your promotion=zur Beförderung; the birth of your son=zur Geburt deines Sohnes; the birth of your daughter=zur Geburt deiner "
                      "Tochter; your success=zu deinem Erfolg; your engagement=zur Verlobung; your anniversary=zum Jahrestag; your new house=zum "
                      "neuen Haus; your new position=zur neuen Stelle; winning the match=zum Sieg"),
    "weather": words("nice=schön; bad=schlecht; great=herrlich; awful=furchtbar"),
    "raining": RAIN, "warm": words("warm=warm; cold=kalt; hot=heiß; windy=windig; cool=kühl"),
    "enjoy": words("holiday=Schönen Urlaub; stay=Angenehmen Aufenthalt; day=Schönen Tag; weekend=Schönes Wochenende; trip=Gute Reise; coffee=Lass dir "
                   "den Kaffee schmecken; evening=Schönen Abend; flight=Guten Flug"),
}
