"""Addresses, and directions in a town."""
from templates import nouns, words

PLACES = nouns("""
train station = m Bahnhof
bus station = m Busbahnhof
post office = f Post
town hall = n Rathaus
library = f Bibliothek
hospital = n Krankenhaus
museum = n Museum
church = f Kirche
castle = n Schloss
old town = f Altstadt
market square = m Marktplatz
supermarket = m Supermarkt
pharmacy = f Apotheke
bank = f Bank
bakery = f Bäckerei
police station = f Polizeiwache
swimming pool = n Schwimmbad
theatre = n Theater
cinema = n Kino
park = m Park
zoo = m Zoo
stadium = n Stadion
university = f Universität
school = f Schule
hotel = n Hotel
youth hostel = f Jugendherberge
restaurant = n Restaurant
petrol station = f Tankstelle
car park = m Parkplatz
city centre = f Innenstadt
airport = m Flughafen
harbour = m Hafen
river = m Fluss
bridge = f Brücke
tourist information = f Touristeninformation
shopping centre = n Einkaufszentrum
taxi rank = m Taxistand
underground station = f U-Bahn-Station
tram stop = f Straßenbahnhaltestelle
bus stop = f Bushaltestelle
campsite = m Campingplatz
""")
# Places of which a town has several, so that one can ask for any.
SOME = ("supermarket", "pharmacy", "bank", "bakery", "restaurant", "petrol station", "car park", "hotel", "bus stop", "park", "cinema",
        "museum", "swimming pool", "taxi rank", "youth hostel", "campsite", "tram stop", "underground station", "library")
LANDMARKS = ("train station", "post office", "town hall", "library", "hospital", "museum", "church", "castle", "supermarket", "pharmacy",
             "bank", "bakery", "police station", "swimming pool", "theatre", "cinema", "stadium", "university", "school", "hotel",
             "petrol station", "bridge", "bus stop", "restaurant", "shopping centre")
TEMPLATES = """
[Excuse me, where is|Excuse me, where's] the {place}? => Entschuldigung, wo ist {place}?
Where is the {place}? => Wo ist {place}?
Where is the nearest {some}? => Wo ist {some.next}?
Excuse me, how do I get to the {place}? => Entschuldigung, wie komme ich {place.zu}?
How do I get to the {place}? => Wie komme ich {place.zu}?
How do I get from here to the {place}? => Wie komme ich von hier {place.zu}?
How do I get from the {place:b} to the {place}? => Wie komme ich {place.von:b} {place.zu}?
Can you tell me the way to the {place}? => Können Sie mir den Weg {place.zu} sagen?
Could you tell me how to get to the {place}? => Könnten Sie mir sagen, wie ich {place.zu} komme?
Could you show me the way to the {place}? => Könnten Sie mir den Weg {place.zu} zeigen?
I'm looking for the {place}. => Ich suche {place.acc}.
We are looking for the {place}. => Wir suchen {place.acc}.
Is there a {some} [nearby|around here|in this area]? => Gibt es hier in der Nähe {some.einen}?
Is there a {some} in this street? => Gibt es in dieser Straße {some.einen}?
Do you know where the {place} is? => Wissen Sie, wo {place} ist?
Is it far to the {place}? => Ist es weit bis {place.zu}?
How far is it to the {place}? => Wie weit ist es bis {place.zu}?
How long does it take to walk to the {place}? => Wie lange läuft man bis {place.zu}?
Is this the way to the {place}? => Ist das der Weg {place.zu}?
Which bus goes to the {place}? => Welcher Bus fährt {place.zu}?
Does this bus go to the {place}? => Fährt dieser Bus {place.zu}?
Take bus number {bus} to the {place}. => Nehmen Sie den Bus Nummer {bus} bis {place.zu}.
Take the number {bus} bus. => Nehmen Sie den Bus Nummer {bus}.
Take the tram to the {place}. => Nehmen Sie die Straßenbahn bis {place.zu}.
Could you take me to the {place}, please? => Könnten Sie mich bitte {place.zu} bringen?
To the {place}, please. => {place.zu}, bitte.
The {place} is on the {side}. => {place} ist auf der {side} Seite.
The {place} is on the {side}-hand side. => {place} ist auf der {side} Seite.
The {place} is on your {lr}. => {place} ist {lr} von Ihnen.
You will see the {place} on the {lr}. => Sie sehen {place.acc} dann {lr}.
The {place} is opposite the {mark}. => {place} ist gegenüber {mark.dat}.
The {place} is [next to|beside] the {mark}. => {place} ist neben {mark.dat}.
The {place} is behind the {mark}. => {place} ist hinter {mark.dat}.
The {place} is in front of the {mark}. => {place} ist vor {mark.dat}.
The {place} is between the {mark} and the {mark:b}. => {place} liegt zwischen {mark.dat} und {mark.dat:b}.
The {place} is near the {mark}. => {place} ist in der Nähe {mark.von}.
The {place} is [just around|round] the corner. => {place} ist gleich um die Ecke.
The {place} is about {minutes} minutes from here. => {place} ist etwa {minutes} Minuten von hier entfernt.
The {place} is only a few minutes away. => {place} ist nur wenige Minuten entfernt.
The {mark} is closed today. => {mark} ist heute geschlossen.
Turn {lr} at the {mark}. => Biegen Sie {mark.an} {lr} ab.
Turn {lr} at the traffic lights. => Biegen Sie an der Ampel {lr} ab.
At the traffic lights, turn {lr}. => An der Ampel biegen Sie {lr} ab.
Turn {lr} at the {nth} traffic lights. => Biegen Sie an der {nth.dat} Ampel {lr} ab.
Turn {lr} at the crossroads, then [go|keep going] straight ahead. => Biegen Sie an der Kreuzung {lr} ab und gehen Sie dann geradeaus.
Turn {lr} after the {mark}. => Biegen Sie nach {mark.dat} {lr} ab.
Turn {lr} into {street}. => Biegen Sie {lr} in die {street} ab.
Turn {lr} and then {lr:b}. => Biegen Sie {lr} und dann {lr:b} ab.
At the roundabout, take the {nth} exit. => Nehmen Sie im Kreisverkehr die {nth.acc} Ausfahrt.
At the end of the street, turn {lr}. => Biegen Sie am Ende der Straße {lr} ab.
At the next junction, turn {lr}. => Biegen Sie an der nächsten Kreuzung {lr} ab.
Take the {nth} street on the {lr}. => Nehmen Sie die {nth.acc} Straße {lr}.
Take the {nth} turning on the {lr}. => Nehmen Sie die {nth.acc} Straße {lr}.
Take the {nth} right and then the {nth:b} left. => Nehmen Sie die {nth.acc} Straße rechts und dann die {nth.acc:b} links.
Take the next street on the {lr}. => Nehmen Sie die nächste Straße {lr}.
It's the {nth} house on the {lr}. => Es ist das {nth.acc} Haus {lr}.
Go straight [ahead|on] to the {mark}. => Gehen Sie geradeaus bis {mark.zu}.
Go straight [ahead|on]. => Gehen Sie geradeaus.
Go straight on, then turn {lr}. => Gehen Sie geradeaus und biegen Sie dann {lr} ab.
Keep going straight on. => Gehen Sie immer geradeaus weiter.
Drive straight on for {distance}. => Fahren Sie {distance} geradeaus.
Follow this road for {distance}. => Folgen Sie dieser Straße {distance} weit.
Follow the signs to the {place}. => Folgen Sie den Schildern {place.zu}.
Walk along the river to the {mark}. => Gehen Sie am Fluss entlang bis {mark.zu}.
Walk past the {mark}. => Gehen Sie {mark.an} vorbei.
Go past the {mark} and turn {lr}. => Gehen Sie {mark.an} vorbei und biegen Sie {lr} ab.
Go past the {mark} and then straight on. => Gehen Sie {mark.an} vorbei und dann geradeaus.
Cross the {cross} and turn {lr}. => Überqueren Sie {cross} und biegen Sie {lr} ab.
Cross the {cross}. => Überqueren Sie {cross}.
Go across the {cross}. => Gehen Sie über {cross}.
Go over the bridge and take the {nth} street on the {lr}. => Gehen Sie über die Brücke und nehmen Sie die {nth.acc} Straße {lr}.
Go down the stairs and turn {lr}. => Gehen Sie die Treppe hinunter und dann nach {lr}.
Go up the hill to the {mark}. => Gehen Sie den Berg hinauf bis {mark.zu}.
Go back to the {mark}. => Gehen Sie zurück {mark.zu}.
You have to go back. => Sie müssen zurückgehen.
You are going in the wrong direction. => Sie gehen in die falsche Richtung.
Get off at the {mark}. => Steigen Sie {mark.an} aus.
Get off at the {nth} stop. => Steigen Sie an der {nth.dat} Haltestelle aus.
Get off at the next stop. => Steigen Sie an der nächsten Haltestelle aus.
You have to get off at the {mark}. => Sie müssen {mark.an} aussteigen.
You have to change at the {mark}. => Sie müssen {mark.an} umsteigen.
It's {few} stops from here. => Es sind {few} Haltestellen von hier.
It's a {adj}-minute walk to the {place}. => Bis {place.zu} sind es {adj} Minuten zu Fuß.
It's a {adj}-minute walk. => Es sind {adj} Minuten zu Fuß.
It's about {minutes} minutes on foot. => Es sind etwa {minutes} Minuten zu Fuß.
It's about {minutes} minutes by {by}. => Es sind etwa {minutes} Minuten mit {by}.
Let's meet in front of the {mark}. => Treffen wir uns vor {mark.dat}.
Let's meet at {time} in front of the {mark}. => Treffen wir uns um {time} vor {mark.dat}.
I'll wait for you outside the {mark}. => Ich warte vor {mark.dat} auf dich.
I'm at the {mark} [now|right now]. => Ich bin jetzt {mark.an}.
We are standing in front of the {mark}. => Wir stehen vor {mark.dat}.
Can I walk there? => Kann ich zu Fuß dorthin gehen?
You can't miss it. => Sie können es nicht verfehlen.
I'm not from around here. => Ich bin nicht von hier.
I'm lost. => Ich habe mich verlaufen.
I think we're lost. => Ich glaube, wir haben uns verlaufen.
Could you show me on the map? => Könnten Sie mir das auf der Karte zeigen?
It's on the {nth} floor. => Es ist im {nth.dat} Stock.
The office is on the {nth} floor on the {lr}. => Das Büro ist im {nth.dat} Stock {lr}.
The toilets are on the {nth} floor. => Die Toiletten sind im {nth.dat} Stock.
The toilets are downstairs. => Die Toiletten sind unten.
Take the lift to the {nth} floor. => Fahren Sie mit dem Aufzug in den {nth.dat} Stock.
I live at {house} {street}. => Ich wohne in der {street} {house}.
I live at {street} {house} in {city}. => Ich wohne in der {street} {house} in {city}.
The hotel is at {house} {street}. => Das Hotel ist in der {street} {house}.
Our new address is {street} {house}, {zip} {city}. => Unsere neue Adresse ist {street} {house}, {zip} {city}.
My address is {street} {house}, {zip} {city}. => Meine Adresse lautet {street} {house}, {zip} {city}.
Address: {street} {house}, {zip} {city} => Adresse: {street} {house}, {zip} {city}
{street} {house}, {zip} {city} => {street} {house}, {zip} {city}
Please send the parcel to {who} {sur}, {street} {house}, {zip} {city}. => Bitte schicken Sie das Paket an {who} {sur}, {street} {house}, {zip} {city}.
What is your address? => Wie lautet Ihre Adresse?
She moved to {street}. => Sie ist in die {street} gezogen.
Drive me to {street} {house}, please. => Bringen Sie mich bitte in die {street} {house}.
The road to {city} is closed. => Die Straße nach {city} ist gesperrt.
It's {far} from {city} to {city:b}. => Von {city} nach {city:b} sind es {far}.
"""
SLOTS = {
    "place": PLACES, "some": [e for e in PLACES if e[0] in SOME], "mark": [e for e in PLACES if e[0] in LANDMARKS],
    "side": words("left=linken; right=rechten"), "lr": words("left=links; right=rechts"),
    "nth": [("first", {"acc": "erste", "dat": "ersten", "nom": "erste"}), ("second", {"acc": "zweite", "dat": "zweiten", "nom": "zweite"}),
            ("third", {"acc": "dritte", "dat": "dritten", "nom": "dritte"}), ("fourth", {"acc": "vierte", "dat": "vierten", "nom": "vierte"})],
    "cross": words("street=die Straße; bridge=die Brücke; market square=den Marktplatz; river=den Fluss; tracks=die Gleise; park=den Park"),
    "street": [(s, s) for s in "Hauptstraße Bahnhofstraße Schillerstraße Gartenstraße Lindenstraße Goethestraße Bergstraße Schulstraße "
               "Kirchgasse Marktstraße Parkstraße Mozartstraße Rosengasse Wiesenstraße Poststraße Waldstraße Bachgasse Ringstraße "
               "Beethovenstraße Königstraße Seestraße Friedrichstraße".split()],
    "far": lambda rng: (lambda n, u: (f"{n} {u[0]}", f"{n} {u[1]}"))(rng.randrange(20, 990), rng.choice([("km", "km"), ("miles", "Meilen"), ("kilometres", "Kilometer")])),
    "zip": lambda rng: (lambda n: (n, n))(f"{rng.randrange(10000, 99999)}"),
    "adj": words("five=fünf; ten=zehn; fifteen=fünfzehn; twenty=zwanzig; thirty=dreißig; two=zwei; three=drei"),
    "by": words("bus=dem Bus; car=dem Auto; tram=der Straßenbahn; underground=der U-Bahn; bike=dem Fahrrad; train=dem Zug; taxi=dem Taxi"),
}
