"""Trains, airports and hotels."""
from templates import nouns, words

TICKETS = words("""
one ticket=eine Fahrkarte; two tickets=zwei Fahrkarten; three tickets=drei Fahrkarten; a single ticket=eine einfache Fahrkarte;
a return ticket=eine Rückfahrkarte; two return tickets=zwei Rückfahrkarten; four tickets=vier Fahrkarten;
a single=eine einfache Fahrkarte; a return=eine Rückfahrkarte; a one-way ticket=eine einfache Fahrkarte; a child ticket=eine
Kinderfahrkarte; a first-class ticket=eine Fahrkarte erster Klasse; one adult and one child=einmal Erwachsene und einmal Kind;
three single tickets=drei einfache Fahrkarten; two one-way tickets=zwei einfache Fahrkarten; four return tickets=vier Rückfahrkarten
""")
ROOMS = words("""
a room=ein Zimmer; a single room=ein Einzelzimmer; a double room=ein Doppelzimmer; a quiet room=ein ruhiges Zimmer; two rooms=zwei
Zimmer; a room with a bath=ein Zimmer mit Bad; a room with a shower=ein Zimmer mit Dusche; a room with a balcony=ein Zimmer mit
Balkon; a room with a view of the sea=ein Zimmer mit Meerblick; a twin room=ein Zweibettzimmer; two single rooms=zwei
Einzelzimmer; a room with breakfast=ein Zimmer mit Frühstück; a non-smoking room=ein Nichtraucherzimmer; a family room=ein Familienzimmer
""")
NIGHTS = words("one night=eine Nacht; two nights=zwei Nächte; four nights=vier Nächte; five nights=fünf Nächte; a week=eine Woche; "
               "two weeks=zwei Wochen; one week=eine Woche; the weekend=das Wochenende; six nights=sechs Nächte")
IN_THE_ROOM = nouns("""
heating = f Heizung
shower = f Dusche
television = m Fernseher
toilet = f Toilette
air conditioning = f Klimaanlage
light = n Licht
Wi-Fi = n WLAN
telephone = n Telefon
hairdryer = m Föhn
lift = m Aufzug
window = n Fenster
key card = f Schlüsselkarte
safe = m Safe
coffee machine = f Kaffeemaschine
""")
LUGGAGE = nouns("""
passport = m Pass
suitcase = m Koffer
ticket = f Fahrkarte
handbag = f Handtasche
wallet = f Brieftasche
rucksack = m Rucksack
camera = f Kamera
phone = n Handy
umbrella = m Regenschirm
credit card = f Kreditkarte
jacket = f Jacke
purse = n Portemonnaie
boarding pass = f Bordkarte
""")
TEMPLATES = """
{ticket} to {city}, please. => {ticket} nach {city}, bitte.
{ticket} to {city} for {day}, please. => {ticket} nach {city} für {day}, bitte.
I'd like {ticket} to {city}, please. => Ich hätte gern {ticket} nach {city}, bitte.
A ticket to {city}, please. => Eine Fahrkarte nach {city}, bitte.
How much is a ticket to {city}? => Wie viel kostet eine Fahrkarte nach {city}?
How much is a return ticket to {city}? => Wie viel kostet eine Rückfahrkarte nach {city}?
A return ticket to {city} costs {price}. => Eine Rückfahrkarte nach {city} kostet {price}.
Single or return? => Einfach oder hin und zurück?
First or second class? => Erste oder zweite Klasse?
I'd like to reserve a seat. => Ich möchte einen Sitzplatz reservieren.
I'd like a window seat, please. => Ich hätte gern einen Fensterplatz.
I'd like an aisle seat, please. => Ich hätte gern einen Gangplatz.
Window or aisle? => Fenster oder Gang?
When does the next train to {city} leave? => Wann fährt der nächste Zug nach {city}?
When does the last train to {city} leave? => Wann fährt der letzte Zug nach {city}?
What time does the train to {city} leave? => Um wie viel Uhr fährt der Zug nach {city}?
What time does the train from {city} arrive? => Um wie viel Uhr kommt der Zug aus {city} an?
When do we arrive in {city}? => Wann kommen wir in {city} an?
What time do we get to {city}? => Um wie viel Uhr sind wir in {city}?
Which platform does the train leave from? => Von welchem Gleis fährt der Zug ab?
Which platform does the train from {city} arrive at? => Auf welchem Gleis kommt der Zug aus {city} an?
What platform does the {city} train leave from? => Von welchem Gleis fährt der Zug nach {city} ab?
From which platform does the train to {city} depart? => Von welchem Gleis fährt der Zug nach {city} ab?
The train to {city} leaves from platform {platform}. => Der Zug nach {city} fährt von Gleis {platform} ab.
The train to {city} is on platform {platform}. => Der Zug nach {city} steht auf Gleis {platform}.
The train to {city} leaves from platform {platform} at {time}. => Der Zug nach {city} fährt um {time} von Gleis {platform} ab.
The train from {city} will arrive at platform {platform}. => Der Zug aus {city} kommt auf Gleis {platform} an.
Platform {platform} is over there. => Gleis {platform} ist dort drüben.
Is this the train to {city}? => Ist das der Zug nach {city}?
Does this train stop in {city}? => Hält dieser Zug in {city}?
Does this train go to {city}? => Fährt dieser Zug nach {city}?
This train does not stop in {city}. => Dieser Zug hält nicht in {city}.
Do I have to change in {city}? => Muss ich in {city} umsteigen?
Where do I have to change? => Wo muss ich umsteigen?
Do we have to change trains in {city}? => Müssen wir in {city} umsteigen?
You have to change in {city}. => Sie müssen in {city} umsteigen.
You have to change trains [twice|two times]. => Sie müssen zweimal umsteigen.
Is there a direct train to {city}? => Gibt es einen direkten Zug nach {city}?
The train is {minutes} minutes late. => Der Zug hat {minutes} Minuten Verspätung.
The train to {city} is {minutes} minutes late. => Der Zug nach {city} hat {minutes} Minuten Verspätung.
The train to {city} is running {minutes} minutes late. => Der Zug nach {city} hat {minutes} Minuten Verspätung.
The bus is {minutes} minutes late. => Der Bus hat {minutes} Minuten Verspätung.
My flight was delayed by {minutes} minutes. => Mein Flug hatte {minutes} Minuten Verspätung.
The flight to {city} is delayed by about {few} hours. => Der Flug nach {city} hat etwa {few} Stunden Verspätung.
The train to {city} is delayed. => Der Zug nach {city} hat Verspätung.
The train was on time. => Der Zug war pünktlich.
The train to {city} has been cancelled. => Der Zug nach {city} fällt aus.
All trains to {city} have been cancelled. => Alle Züge nach {city} fallen aus.
My flight has been cancelled. => Mein Flug wurde gestrichen.
The flight from {city} was cancelled. => Der Flug aus {city} wurde gestrichen.
The flight from {city} has landed. => Das Flugzeug aus {city} ist gelandet.
I missed my train. => Ich habe meinen Zug verpasst.
I missed the train to {city}. => Ich habe den Zug nach {city} verpasst.
We missed our connection in {city}. => Wir haben unseren Anschluss in {city} verpasst.
I missed my flight to {city}. => Ich habe meinen Flug nach {city} verpasst.
The journey takes {few} hours. => Die Fahrt dauert {few} Stunden.
The journey from {city} to {city:b} takes {few} hours. => Die Fahrt von {city} nach {city:b} dauert {few} Stunden.
The flight to {city} takes {few} hours. => Der Flug nach {city} dauert {few} Stunden.
The tickets, please. => Die Fahrkarten, bitte.
Your ticket, please. => Ihre Fahrkarte, bitte.
Where can I buy a ticket? => Wo kann ich eine Fahrkarte kaufen?
Where is the ticket machine? => Wo ist der Fahrkartenautomat?
The ticket machine is out of order. => Der Fahrkartenautomat ist defekt.
Where are the lockers? => Wo sind die Schließfächer?
Where is the left-luggage office? => Wo ist die Gepäckaufbewahrung?
Where can I leave my luggage? => Wo kann ich mein Gepäck lassen?
Is this seat free? => Ist dieser Platz frei?
Sorry, this seat is taken. => Entschuldigung, dieser Platz ist besetzt.
That is my seat. => Das ist mein Platz.
Flight {flight} to {city} is now boarding at gate {gate}. => Flug {flight} nach {city} ist jetzt an Gate {gate} zum Einsteigen bereit.
The flight to {city} leaves from gate {gate}. => Der Flug nach {city} geht von Gate {gate} ab.
Please go to gate {gate}. => Bitte gehen Sie zu Gate {gate}.
Boarding starts at {time}. => Das Boarding beginnt um {time}.
Flight number: {flight} => Flugnummer: {flight}
Where is the check-in counter? => Wo ist der Check-in-Schalter?
Where is gate {gate}? => Wo ist Gate {gate}?
Your passport, please. => Ihren Pass, bitte.
May I see your passport, please? => Darf ich bitte Ihren Pass sehen?
Do you have any hand luggage? => Haben Sie Handgepäck?
Do you have anything to declare? => Haben Sie etwas zu verzollen?
I have nothing to declare. => Ich habe nichts zu verzollen.
My luggage has not arrived. => Mein Gepäck ist nicht angekommen.
My suitcase is damaged. => Mein Koffer ist beschädigt.
Where can I get my luggage? => Wo bekomme ich mein Gepäck?
Where do I collect my suitcase? => Wo kann ich meinen Koffer abholen?
You can collect your luggage at {pm}. => Sie können Ihr Gepäck um {pm} abholen.
I have lost my {lost}. => Ich habe {lost.meinen} verloren.
I've lost my {lost}. => Ich habe {lost.meinen} verloren.
My {lost} has been stolen. => {lost.mein} wurde gestohlen.
Someone has stolen my {lost}. => Jemand hat {lost.meinen} gestohlen.
I left my {lost} on the {vehicle}. => Ich habe {lost.meinen} {vehicle} liegen lassen.
She left her {lost} on the {vehicle}. => Sie hat {lost.acc} {vehicle} liegen lassen.
I have left my {lost} at the hotel. => Ich habe {lost.meinen} im Hotel vergessen.
Have you seen my {lost}? => Haben Sie {lost.meinen} gesehen?
I can't find my {lost}. => Ich kann {lost.meinen} nicht finden.
Where is my {lost}? => Wo ist {lost.mein}?
Don't forget your {lost}. => Vergessen Sie {lost.ihren} nicht.
How do I get from the airport to the city centre? => Wie komme ich vom Flughafen in die Innenstadt?
Is there a bus to the airport? => Gibt es einen Bus zum Flughafen?
Have a good flight! => Guten Flug!
Have a good trip! => Gute Reise!
Have a safe journey! => Gute Reise!
I would like to book {room}. => Ich möchte {room} buchen.
I'd like to book {room} for {nights}. => Ich möchte {room} für {nights} buchen.
I'd like to reserve {room} {period}. => Ich möchte {period} {room} reservieren.
I'd like {room} for {nights}, please. => Ich hätte gern {room} für {nights}, bitte.
{room} for {nights}, please. => {room} für {nights}, bitte.
{room}, please. => {room}, bitte.
Do you have {room} for {nights}? => Haben Sie {room} für {nights}?
Do you still have {room} free? => Haben Sie noch {room} frei?
We have booked {room}. => Wir haben {room} gebucht.
How much is {room} per night? => Wie viel kostet {room} pro Nacht?
Do you have any rooms available? => Haben Sie noch Zimmer frei?
I have a reservation. => Ich habe reserviert.
I have booked a room in the name of {sur}. => Ich habe ein Zimmer auf den Namen {sur} gebucht.
I have a booking under the name of {sur}. => Ich habe eine Buchung auf den Namen {sur}.
We have a reservation under the name of {sur}. => Wir haben eine Reservierung auf den Namen {sur}.
My name is {who} {sur}. => Mein Name ist {who} {sur}.
You have room {room2}. => Sie haben Zimmer {room2}.
Your room is number {room2}. => Sie haben Zimmer Nummer {room2}.
The key to room {room2}, please. => Den Schlüssel für Zimmer {room2}, bitte.
Here is your key. => Hier ist Ihr Schlüssel.
The {device} in room {room2} does not work. => {device} in Zimmer {room2} funktioniert nicht.
The {device} in my room is broken. => {device} in meinem Zimmer ist kaputt.
The {device} doesn't work. => {device} funktioniert nicht.
Is breakfast included? => Ist das Frühstück inbegriffen?
What time is breakfast? => Um wie viel Uhr gibt es Frühstück?
Breakfast is included in the price. => Das Frühstück ist im Preis inbegriffen.
Is there Wi-Fi in the room? => Gibt es WLAN im Zimmer?
What is the Wi-Fi password? => Wie lautet das WLAN-Passwort?
When do I have to check out? => Wann muss ich auschecken?
I'd like to check out. => Ich möchte auschecken.
I'd like to check in. => Ich möchte einchecken.
We're leaving tomorrow at {am}. => Wir reisen morgen um {am} ab.
We'll stay for {nights}. => Wir bleiben {nights}.
Could you wake me at {am}, please? => Könnten Sie mich bitte um {am} wecken?
Could you call me a taxi, please? => Könnten Sie mir bitte ein Taxi rufen?
Please order a taxi for {time}. => Bitte bestellen Sie ein Taxi für {time}.
The room is too [loud|noisy]. => Das Zimmer ist zu laut.
There are no towels in my room. => In meinem Zimmer sind keine Handtücher.
Could I have another pillow, please? => Könnte ich bitte noch ein Kissen haben?
Can I leave my luggage here until {pm}? => Kann ich mein Gepäck bis {pm} hierlassen?
Are pets allowed? => Sind Haustiere erlaubt?
Is there a swimming pool in the hotel? => Gibt es im Hotel ein Schwimmbad?
We are going to {city} by train. => Wir fahren mit dem Zug nach {city}.
We are flying to {city} on {date}. => Wir fliegen am {date} nach {city}.
I'm from {city}. => Ich komme aus {city}.
I have never been to {city}. => Ich war noch nie in {city}.
Have you ever been to {city}? => Waren Sie schon einmal in {city}?
How was your trip to {city}? => Wie war Ihre Reise nach {city}?
We spent two weeks in {city}. => Wir haben zwei Wochen in {city} verbracht.
"""
SLOTS = {
    "ticket": TICKETS, "room": ROOMS, "nights": NIGHTS, "device": IN_THE_ROOM, "lost": LUGGAGE,
    "room2": lambda rng: (lambda n: (n, n))(str(rng.randrange(101, 600))),
    "flight": lambda rng: (lambda n: (n, n))(rng.choice(["LH", "BA", "AF", "OS", "EW", "KL"]) + rng.choice(["", " "]) + str(rng.randrange(100, 9999))),
    "vehicle": words("train=im Zug; bus=im Bus; plane=im Flugzeug; tram=in der Straßenbahn; underground=in der U-Bahn; ferry=auf der Fähre"),
}
