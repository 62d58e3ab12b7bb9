"""Shops and orders."""
from templates import nouns, words

CLOTHES = nouns("""
shirt = n Hemd
jacket = f Jacke
coat = m Mantel
dress = n Kleid
skirt = m Rock
jumper = m Pullover
hat = m Hut
scarf = m Schal
T-shirt = n T-Shirt
blouse = f Bluse
suit = m Anzug
belt = m Gürtel
bag = f Tasche
cap = f Mütze
tie = f Krawatte
""")
GOODS = nouns("""
lamp = f Lampe
table = m Tisch
chair = m Stuhl
laptop = m Laptop
camera = f Kamera
book = n Buch
watch = f Uhr
bicycle = n Fahrrad
sofa = n Sofa
carpet = m Teppich
radio = n Radio
tent = n Zelt
suitcase = m Koffer
printer = m Drucker
mirror = m Spiegel
vase = f Vase
washing machine = f Waschmaschine
kettle = m Wasserkocher
""")
SEEK = words("""a present for my mother=ein Geschenk für meine Mutter; a warm jacket=eine warme Jacke; a birthday card=eine Geburtstagskarte;
a map of the city=einen Stadtplan; a pair of shoes=ein Paar Schuhe; a swimsuit=einen Badeanzug; an umbrella=einen Regenschirm; a good
cookbook=ein gutes Kochbuch; a toy for a boy=ein Spielzeug für einen Jungen; a black belt=einen schwarzen Gürtel; batteries=Batterien;
a travel guide=einen Reiseführer; a phone charger=ein Handyladegerät; a cheap suitcase=einen günstigen Koffer; a winter coat=einen
Wintermantel; sunglasses=eine Sonnenbrille; stamps=Briefmarken; a newspaper=eine Zeitung; a white shirt=ein weißes Hemd""")
GROCERIES = words("""a kilo of apples=ein Kilo Äpfel; half a kilo of tomatoes=ein halbes Kilo Tomaten; two litres of milk=zwei Liter Milch; a loaf
of bread=ein Brot; six eggs=sechs Eier; ten rolls=zehn Brötchen; 200 grams of cheese=200 Gramm Käse; a bottle of wine=eine Flasche
Wein; a pound of butter=ein Pfund Butter; three bananas=drei Bananen; a bag of potatoes=einen Sack Kartoffeln; a packet of
coffee=eine Packung Kaffee; some strawberries=ein paar Erdbeeren; four slices of ham=vier Scheiben Schinken; a jar of honey=ein Glas Honig""")
TEMPLATES = """
How much is the {item}? => Wie viel kostet {item}?
How much does the {item} cost? => Wie viel kostet {item}?
The {item} costs {money}. => {item} kostet {money}.
The {item} costs only {money}. => {item} kostet nur {money}.
The {item} cost {money}, now only {money:b}. => {item} hat {money} gekostet, jetzt nur noch {money:b}.
I bought the {item} for {money}. => Ich habe {item.acc} für {money} gekauft.
He sold his {item} for {money}. => Er hat {item.acc} für {money} verkauft.
I'd like to return this {item}. => Ich möchte {item.dies} zurückgeben.
I'll take the {item}. => Ich nehme {item.acc}.
The {item} is too expensive. => {item} ist zu teuer.
The {item} is on sale. => {item} ist im Angebot.
The {item} is sold out. => {item} ist ausverkauft.
The {item} is damaged. => {item} ist beschädigt.
The {item} has not arrived yet. => {item} ist noch nicht angekommen.
The {item} is currently not available. => {item} ist zurzeit nicht lieferbar.
Do you have the {cloth} in a [larger|bigger] size? => Haben Sie {cloth.acc} eine Nummer größer?
Do you have the {cloth} in size {csize}? => Haben Sie {cloth.acc} in Größe {csize}?
Do you have the {cloth} in {colour}? => Haben Sie {cloth.acc} in {colour}?
Does the {cloth} come in {colour}? => Gibt es {cloth.acc} in {colour}?
The {cloth} is too {fit}. => {cloth} ist zu {fit}.
The {cloth} fits me well. => {cloth} passt mir gut.
The {cloth} suits you. => {cloth} steht Ihnen gut.
Can I try on the {cloth}? => Kann ich {cloth.acc} anprobieren?
I like the {cloth}. => {cloth} gefällt mir.
I'm looking for {seek}. => Ich suche {seek}.
Do you have {seek}? => Haben Sie {seek}?
I need {seek}. => Ich brauche {seek}.
Where can I buy {seek}? => Wo kann ich {seek} kaufen?
I'd like {grocery}, please. => Ich hätte gern {grocery}, bitte.
{grocery}, please. => {grocery}, bitte.
We need {grocery}. => Wir brauchen {grocery}.
Can you bring {grocery} from the supermarket? => Kannst du {grocery} aus dem Supermarkt mitbringen?
{grocery} and {grocery:b}, please. => {grocery} und {grocery:b}, bitte.
Buy {grocery} and {grocery:b}. => Kauf {grocery} und {grocery:b}.
Can I help you? => Kann ich Ihnen helfen?
I'm just looking, thank you. => Ich schaue mich nur um, danke.
Where is the fitting room? => Wo ist die Umkleidekabine?
Where is the checkout? => Wo ist die Kasse?
Do you take cards? => Nehmen Sie Karten?
Cash or card? => Bar oder mit Karte?
I'd like to pay by card. => Ich möchte mit Karte zahlen.
I'd like to pay in cash. => Ich möchte bar zahlen.
Can I have a receipt, please? => Kann ich bitte einen Kassenbon haben?
Do you need a bag? => Brauchen Sie eine Tüte?
Is it a present? => Ist es ein Geschenk?
Could you wrap it up, please? => Könnten Sie es bitte einpacken?
Here is your change. => Hier ist Ihr Wechselgeld.
Anything else? => Sonst noch etwas?
No, that's all, thank you. => Nein, das ist alles, danke.
That's too expensive for me. => Das ist mir zu teuer.
Do you have anything cheaper? => Haben Sie etwas Günstigeres?
Is there a discount for students? => Gibt es einen Rabatt für Studenten?
I'd like to exchange this. => Ich möchte das umtauschen.
I'd like my money back. => Ich möchte mein Geld zurück.
I would like a refund. => Ich möchte mein Geld zurück.
What time do you close? => Wann schließen Sie?
When do you open tomorrow? => Wann öffnen Sie morgen?
Your order {code} has been shipped. => Ihre Bestellung {code} wurde versandt.
Your order will be delivered on {date}. => Ihre Bestellung wird am {date} geliefert.
Your order will arrive in {few} days. => Ihre Bestellung kommt in {few} Tagen an.
Your parcel will be delivered on {day} {between}. => Ihr Paket wird am {day} {between} zugestellt.
The delivery takes {small} days. => Die Lieferung dauert {small} Tage.
You can return the goods within {small} days. => Sie können die Ware innerhalb von {small} Tagen zurückgeben.
When will my order arrive? => Wann kommt meine Bestellung an?
I have been waiting for my parcel for {few} days. => Ich warte seit {few} Tagen auf mein Paket.
I ordered a {item}, but I received a {item:b}. => Ich habe {item.einen} bestellt, aber {item.einen:b} erhalten.
I ordered the {item} on {date}. => Ich habe {item.acc} am {date} bestellt.
The warranty is valid for {few} years. => Die Garantie gilt {few} Jahre.
You get a {percent} discount on all {all}. => Sie erhalten {percent} Rabatt auf alle {all}.
{percent} off all {all} => {percent} Rabatt auf alle {all}
All {all} are reduced by {percent}. => Alle {all} sind um {percent} reduziert.
Today only: {percent} off! => Nur heute: {percent} Rabatt!
The supermarket is open until {pm}. => Der Supermarkt ist bis {pm} geöffnet.
How much are the {fruit}? => Was kosten die {fruit}?
The {fruit} are {price} a kilo. => Die {fruit} kosten {price} pro Kilo.
The {fruit} look good. => Die {fruit} sehen gut aus.
"""


def this(entry):
    english, forms = entry
    ending = {"der": "diesen", "die": "diese", "das": "dieses"}[forms["nom"].split(" ")[0]]
    return english, forms | {"dies": f"{ending} {forms['bare']}"}


SLOTS = {
    "item": [this(e) for e in GOODS + CLOTHES], "cloth": CLOTHES, "seek": SEEK, "grocery": GROCERIES,
    "csize": words("S=S; M=M; L=L; XL=XL; 36=36; 38=38; 40=40; 42=42; 44=44; 48=48"),
    "colour": words("black=Schwarz; white=Weiß; red=Rot; blue=Blau; green=Grün; grey=Grau; brown=Braun; yellow=Gelb"),
    "fit": words("big=groß; small=klein; long=lang; short=kurz; tight=eng; expensive=teuer"),
    "all": words("shoes=Schuhe; books=Bücher; jackets=Jacken; toys=Spielwaren; lamps=Lampen; bicycles=Fahrräder; shirts=Hemden"),
    "fruit": words("apples=Äpfel; pears=Birnen; tomatoes=Tomaten; cherries=Kirschen; strawberries=Erdbeeren; potatoes=Kartoffeln; oranges=Orangen; "
                   "grapes=Trauben; bananas=Bananen; carrots=Karotten; onions=Zwiebeln; mushrooms=Pilze"),
}
