"""Restaurants and food."""
from templates import nouns, words

# What one orders, in the accusative: "I'd like ..." takes the indefinite article or none.
DISHES = words("""
a pizza=eine Pizza
the fish=den Fisch
the soup of the day=die Tagessuppe
a tomato soup=eine Tomatensuppe
a green salad=einen grünen Salat
a mixed salad=einen gemischten Salat
the steak=das Steak
a steak with chips=ein Steak mit Pommes frites
the chicken with rice=das Hähnchen mit Reis
the grilled chicken=das gegrillte Hähnchen
the roast pork with dumplings=den Schweinebraten mit Knödeln
the fried fish with potatoes=den gebratenen Fisch mit Kartoffeln
the vegetable curry=das Gemüsecurry
the pasta with tomato sauce=die Nudeln mit Tomatensoße
spaghetti with meat sauce=Spaghetti mit Fleischsoße
a hamburger=einen Hamburger
a cheese sandwich=ein Käsebrot
a ham sandwich=ein Schinkenbrot
an omelette=ein Omelett
scrambled eggs=Rührei
a sausage with mustard=eine Wurst mit Senf
a schnitzel with potato salad=ein Schnitzel mit Kartoffelsalat
the apple pie with ice cream=den Apfelkuchen mit Eis
a piece of cheesecake=ein Stück Käsekuchen
a slice of chocolate cake=ein Stück Schokoladenkuchen
a vanilla ice cream=ein Vanilleeis
the fruit salad=den Obstsalat
the baked potatoes=die Ofenkartoffeln
the lamb with beans=das Lamm mit Bohnen
the trout=die Forelle
the salmon with vegetables=den Lachs mit Gemüse
the menu of the day=das Tagesmenü
""")
DRINKS = words("""
a coffee=einen Kaffee
a coffee with milk=einen Kaffee mit Milch
a cup of tea=eine Tasse Tee
a glass of red wine=ein Glas Rotwein
a glass of white wine=ein Glas Weißwein
a beer=ein Bier
a small beer=ein kleines Bier
a glass of water=ein Glas Wasser
a bottle of water=eine Flasche Wasser
a bottle of mineral water=eine Flasche Mineralwasser
an orange juice=einen Orangensaft
an apple juice=einen Apfelsaft
a hot chocolate=eine heiße Schokolade
a lemonade=eine Limonade
a green tea=einen grünen Tee
an espresso=einen Espresso
a glass of milk=ein Glas Milch
a cola=eine Cola
a non-alcoholic beer=ein alkoholfreies Bier
""")
FOOD = nouns("""
soup = f Suppe
salad = m Salat
fish = m Fisch
steak = n Steak
pizza = f Pizza
cake = m Kuchen
sauce = f Soße
rice = m Reis
meat = n Fleisch
chicken = n Hähnchen
dessert = m Nachtisch
bread = n Brot
cheese = m Käse
coffee = m Kaffee
tea = m Tee
wine = m Wein
milk = f Milch
ice cream = n Eis
starter = f Vorspeise
main course = n Hauptgericht
breakfast = n Frühstück
""")
MISSING = words("""fork=eine Gabel; knife=ein Messer; spoon=einen Löffel; glass=ein Glas; napkin=eine Serviette; menu=eine Speisekarte;
plate=einen Teller; cup=eine Tasse; high chair=einen Hochstuhl; straw=einen Strohhalm""")
TEMPLATES = """
I'd like {dish}, please. => Ich hätte gern {dish}, bitte.
I would like {dish}. => Ich hätte gern {dish}.
I'd like {dish}. => Ich hätte gern {dish}.
I'll have {dish}, please. => Ich nehme {dish}, bitte.
I'll take {dish}. => Ich nehme {dish}.
I'd like {dish} and {drink}, please. => Ich hätte gern {dish} und {drink}, bitte.
[We would like|We'd like] {dish} and {dish:b}. => Wir hätten gern {dish} und {dish:b}.
Could I have {dish}, please? => Könnte ich bitte {dish} haben?
Can I have {drink}, please? => Kann ich bitte {drink} haben?
Could we have {drink} and {drink:b}, please? => Könnten wir bitte {drink} und {drink:b} haben?
{drink}, please. => {drink}, bitte.
{dish}, please. => {dish}, bitte.
For me {dish}, please. => Für mich bitte {dish}.
{dish} for my {kin}, please. => {dish} für {kin.meinen}, bitte.
Would you like {drink}? => Möchten Sie {drink}?
Would you like {drink} with your meal? => Möchten Sie zum Essen {drink}?
Would you like a dessert? => Möchten Sie einen Nachtisch?
What would you like to drink? => Was möchten Sie trinken?
What would you like to eat? => Was möchten Sie essen?
Anything to drink? => Etwas zu trinken?
Are you ready to order? => Möchten Sie bestellen?
May I take your order? => Darf ich Ihre Bestellung aufnehmen?
I ordered {dish}, not {dish:b}. => Ich habe {dish} bestellt, nicht {dish:b}.
This is not what I ordered. => Das habe ich nicht bestellt.
I haven't ordered yet. => Ich habe noch nicht bestellt.
We're still waiting for our food. => Wir warten noch auf unser Essen.
The {food} is cold. => {food} ist kalt.
The {food} was [very good|excellent]. => {food} war sehr gut.
The {food} was delicious. => {food} war köstlich.
The {meal} is too salty. => {meal} ist zu salzig.
The {meal} is too spicy. => {meal} ist zu scharf.
The {food} tastes good. => {food} schmeckt gut.
How was the {food}? => Wie war {food}?
Is the {food} fresh? => Ist {food} frisch?
Is the {food} good here? => Ist {food} hier gut?
Is the {food} vegan? => Ist {food} vegan?
Is the {food} vegetarian? => Ist {food} vegetarisch?
Does the {food} contain {allergen}? => Enthält {food} {allergen}?

What is in the {food}? => Was ist {food.im}?
Without {allergen}, please. => Ohne {allergen}, bitte.
I'm allergic to {allergen}. => Ich bin allergisch gegen {allergen}.
I can't eat {allergen}. => Ich darf {allergen} nicht essen.
I don't eat {noeat}. => Ich esse {noeat}.
Do you have anything without {allergen}? => Haben Sie etwas ohne {allergen}?
Do you have any vegetarian dishes? => Haben Sie vegetarische Gerichte?
Is this dish vegan? => Ist dieses Gericht vegan?
I'm a vegetarian. => Ich bin Vegetarier.
A table for {people}, please. => Einen Tisch für {people}, bitte.
A table for {people} outside, please. => Einen Tisch für {people} draußen, bitte.
A table by the window, please. => Einen Tisch am Fenster, bitte.
Do you have a table for {people}? => Haben Sie einen Tisch für {people}?
Do you have a table by the window? => Haben Sie einen Tisch am Fenster?
Is this table free? => Ist dieser Tisch frei?
Is this seat taken? => Ist dieser Platz besetzt?
I'd like to [book|reserve] a table for {people}. => Ich möchte einen Tisch für {people} reservieren.
I'd like to book a table for {people} for {day} at {time}. => Ich möchte für {day} um {time} einen Tisch für {people} reservieren.
I'd like to book a table for {pm}. => Ich möchte für {pm} einen Tisch reservieren.
I have booked a table for {people}. => Ich habe einen Tisch für {people} reserviert.
We have a reservation for {people} at {pm}. => Wir haben für {pm} einen Tisch für {people} reserviert.
We have reserved a table for {pm}. => Wir haben für {pm} einen Tisch reserviert.
I booked a table in the name of {sur}. => Ich habe auf den Namen {sur} einen Tisch reserviert.
I have a reservation under the name {sur}. => Ich habe eine Reservierung auf den Namen {sur}.
The table is reserved from {pm}. => Der Tisch ist ab {pm} reserviert.
The bill, please. => Die Rechnung, bitte.
Could I have the bill, please? => Könnte ich bitte die Rechnung haben?
Can we have the bill, please? => Können wir bitte die Rechnung haben?
Could you bring us the bill, please? => Könnten Sie uns bitte die Rechnung bringen?
[We'd like|We would like] to pay, please. => Wir möchten bitte zahlen.
I'd like to pay, please. => Ich möchte bitte zahlen.
Separate bills, please. => Getrennt, bitte.
We'd like to pay separately. => Wir möchten getrennt zahlen.
All together, please. => Alles zusammen, bitte.
Can I pay by card? => Kann ich mit Karte zahlen?
Do you take credit cards? => Nehmen Sie Kreditkarten?
Keep the change. => Stimmt so.
Is service included? => Ist die Bedienung inbegriffen?
There is a mistake in the bill. => Die Rechnung stimmt nicht.
That comes to {price}. => Das macht {price}.
Could you bring me a {missing}, please? => Könnten Sie mir bitte {missing} bringen?
Can I have another {missing}, please? => Kann ich bitte noch {missing} haben?
We need another {missing}. => Wir brauchen noch {missing}.
I don't have a {missing}. => Ich habe {missing.no}.
Another {another}, please. => Noch {another}, bitte.
Two {twice}, please. => Zwei {twice}, bitte.
Three {twice}, please. => Drei {twice}, bitte.
The menu, please. => Die Speisekarte, bitte.
Could we see the menu, please? => Könnten wir bitte die Speisekarte haben?
Could I see the wine list, please? => Könnte ich bitte die Weinkarte haben?
Do you have an English menu? => Haben Sie eine englische Speisekarte?
Can you recommend a wine? => Können Sie einen Wein empfehlen?
What can you recommend? => Was können Sie empfehlen?
What would you recommend? => Was würden Sie empfehlen?
What is the dish of the day? => Was ist das Tagesgericht?
Sparkling or still? => Mit oder ohne Kohlensäure?
Sparkling water, please. => Wasser mit Kohlensäure, bitte.
Still water, please. => Stilles Wasser, bitte.
A bottle of still water, please. => Eine Flasche stilles Wasser, bitte.
A glass of sparkling water, please. => Ein Glas Wasser mit Kohlensäure, bitte.
With ice? => Mit Eis?
With or without sugar? => Mit oder ohne Zucker?
With milk and sugar? => Mit Milch und Zucker?
Red or white wine? => Rotwein oder Weißwein?
Rare, medium or well done? => Blutig, medium oder durchgebraten?
To eat here or to take away? => Zum Hieressen oder zum Mitnehmen?
For here or to go? => Zum Hieressen oder zum Mitnehmen?
A coffee to go, please. => Einen Kaffee zum Mitnehmen, bitte.
To take away, please. => Zum Mitnehmen, bitte.
Enjoy your meal! => Guten Appetit!
Cheers! => Prost!
Did you enjoy your meal? => Hat es Ihnen geschmeckt?
It was delicious, thank you. => Es war köstlich, danke.
I'm hungry. => Ich habe Hunger.
I'm thirsty. => Ich habe Durst.
I'm full. => Ich bin satt.
What's for dinner? => Was gibt es zum Abendessen?
We're having {have} for dinner. => Bei uns gibt es heute Abend {have}.
We had {have} for lunch. => Wir haben zu Mittag {have} gegessen.
I usually have {bf} for breakfast. => Zum Frühstück esse ich meistens {bf}.
She baked a cake for {who}. => Sie hat für {who} einen Kuchen gebacken.
Bake the cake at {deg} degrees for {minutes} minutes. => Backen Sie den Kuchen bei {deg} Grad {minutes} Minuten lang.
Cook the {boil} for {minutes} minutes. => Kochen Sie {boil} {minutes} Minuten lang.
Add {gram} grams of {ingr}. => Geben Sie {gram} Gramm {ingr} hinzu.
You need {gram} g of {ingr} and {gram:b} g of {ingr:b}. => Sie brauchen {gram} g {ingr} und {gram:b} g {ingr:b}.
Add two tablespoons of {ingr}. => Geben Sie zwei Esslöffel {ingr} hinzu.
Is there any {ingr} left? => Ist noch {ingr} da?
We have run out of {ingr}. => Wir haben kein{ingr.none} mehr.
Could you pass me the {pass}, please? => Könnten Sie mir bitte {pass} reichen?
"""


def negated(german):
    article, word = german.split(" ", 1)
    return "k" + article + " " + word


SLOTS = {
    "dish": DISHES, "drink": DRINKS, "food": FOOD,
    "meal": [e for e in FOOD if e[0] in ("soup", "salad", "fish", "steak", "pizza", "sauce", "rice", "meat", "chicken", "starter", "main course")],
    "missing": [(e, {"nom": g, "no": negated(g)}) for e, g in MISSING],
    "kin": nouns("wife = f Frau\nhusband = m Mann\nson = m Sohn\ndaughter = f Tochter\nfriend = m Freund\nmother = f Mutter"),
    "allergen": words("nuts=Nüsse; milk=Milch; gluten=Gluten; eggs=Eier; fish=Fisch; soy=Soja; peanuts=Erdnüsse; garlic=Knoblauch; onions=Zwiebeln"),
    "noeat": words("meat=kein Fleisch; fish=keinen Fisch; pork=kein Schweinefleisch; cheese=keinen Käse; eggs=keine Eier; sugar=keinen Zucker"),
    "people": words("two=zwei; three=drei; four=vier; five=fünf; six=sechs; eight=acht; two people=zwei Personen; three people=drei Personen; "
                    "four people=vier Personen; six people=sechs Personen; ten people=zehn Personen"),
    "another": words("coffee=einen Kaffee; beer=ein Bier; glass of wine=ein Glas Wein; tea=einen Tee; bottle of water=eine Flasche Wasser; "
                     "piece of cake=ein Stück Kuchen; orange juice=einen Orangensaft"),
    "twice": words("beers=Bier; coffees=Kaffee; glasses of wine=Gläser Wein; cups of tea=Tassen Tee; pizzas=Pizzen; bottles of water=Flaschen Wasser; "
                   "sausages=Würste; orange juices=Orangensäfte; pieces of cake=Stück Kuchen"),
    "have": words("fish=Fisch; pizza=Pizza; soup=Suppe; chicken with rice=Hähnchen mit Reis; pasta=Nudeln; salad=Salat; potatoes=Kartoffeln"),
    "bf": words("bread and jam=Brot mit Marmelade; muesli=Müsli; an egg=ein Ei; rolls with cheese=Brötchen mit Käse; fruit=Obst; toast=Toast"),
    "boil": words("potatoes=die Kartoffeln; pasta=die Nudeln; rice=den Reis; eggs=die Eier; vegetables=das Gemüse"),
    "ingr": [(e, {"nom": g, "none": n + " " + g}) for e, g, n in (
        ("flour", "Mehl", ""), ("sugar", "Zucker", "en"), ("butter", "Butter", "e"), ("cheese", "Käse", "en"), ("rice", "Reis", "en"),
        ("salt", "Salz", ""), ("milk", "Milch", "e"), ("honey", "Honig", "en"), ("cream", "Sahne", "e"), ("olive oil", "Olivenöl", ""))],
    "gram": lambda rng: (lambda n: (n, n))(str(25 * rng.randrange(2, 40))),
    "deg": lambda rng: (lambda n: (n, n))(str(10 * rng.randrange(14, 24))),
    "pass": words("salt=das Salz; pepper=den Pfeffer; sugar=den Zucker; butter=die Butter; bread=das Brot; water=das Wasser; milk=die Milch"),
}
