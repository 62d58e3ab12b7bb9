"""Amounts of money, percentages, measures, plain numbers and phone numbers, in the English and the German form."""

SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
KLEIN = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
TENS = [("twenty", "zwanzig"), ("thirty", "dreißig"), ("fifty", "fünfzig"), ("a hundred", "hundert"),
        ("two hundred", "zweihundert"), ("five hundred", "fünfhundert"), ("a thousand", "tausend")]


def german(english):
    """1,250.50 -> 1.250,50"""
    return english.replace(",", "#").replace(".", ",").replace("#", ".")


def figure(rng):
    """Returns a price without currency, in English."""
    kind = rng.random()
    if kind < 0.35:
        return f"{rng.randrange(1, 100)}.{rng.choice(['99', '50', '95', '90', '49', '00', f'{rng.randrange(100):02}'])}"
    if kind < 0.60:
        return str(rng.choice([rng.randrange(2, 100), 5 * rng.randrange(1, 20), 10 * rng.randrange(1, 100)]))
    if kind < 0.72:
        return str(rng.randrange(100, 1000))
    if kind < 0.90:
        return f"{rng.choice([rng.randrange(1000, 10000), 50 * rng.randrange(20, 200), 100 * rng.randrange(10, 1000)]):,}"
    return f"{rng.randrange(1000, 100000):,}.{rng.choice(['00', '50', f'{rng.randrange(100):02}'])}"


def money(rng, english=None):
    """Returns an amount: $19.99 -> 19,99 $, 1,250 euros -> 1.250 Euro."""
    english = english or figure(rng)
    amount = german(english)
    kind = rng.random()
    if kind < 0.26:
        return f"${english}", f"{amount} $"
    if kind < 0.48:
        return f"€{english}", f"{amount} €"
    if kind < 0.60:
        return f"£{english}", f"{amount} £"
    if kind < 0.72:
        return f"{english} dollars", f"{amount} Dollar"
    if kind < 0.86:
        return f"{english} euros", f"{amount} Euro"
    if kind < 0.90:
        return f"{english} pounds", f"{amount} Pfund"
    if kind < 0.93:
        code = rng.choice(["EUR", "USD", "GBP", "CHF"])
        return rng.choice([(f"{code} {english}", f"{amount} {code}"), (f"{english} {code}", f"{amount} {code}")])
    if kind < 0.95:
        return f"{english} Swiss francs", f"{amount} Schweizer Franken"
    if kind < 0.97:
        return f"{english} €", f"{amount} €"
    number = rng.choice(TENS)
    coin = rng.choice([("euros", "Euro"), ("dollars", "Dollar"), ("pounds", "Pfund")])
    return f"{number[0]} {coin[0]}", f"{number[1]} {coin[1]}"


def price(rng):
    """Returns an amount that small things cost."""
    if rng.random() < 0.3:
        return money(rng, str(rng.randrange(2, 60)))
    return money(rng, f"{rng.randrange(1, 60)}.{rng.choice(['99', '50', '95', '90', '49', '20', f'{rng.randrange(100):02}'])}")


def cents(rng):
    number = 5 * rng.randrange(1, 20)
    return f"{number} cents", f"{number} Cent"


def large(rng):
    """Returns an amount in millions or billions."""
    number = rng.choice([f"{rng.randrange(2, 100)}", f"{rng.randrange(1, 40)}.{rng.randrange(1, 10)}", f"{rng.randrange(100, 900)}"])
    unit = rng.choice([("million", "Millionen"), ("million", "Millionen"), ("billion", "Milliarden")])
    coin = rng.choice([("$", "dollars", "Dollar"), ("€", "euros", "Euro"), ("£", "pounds", "Pfund")])
    value = f"{german(number)} {unit[1]} {coin[2]}"
    if rng.random() < 0.5:
        return f"{coin[0]}{number} {unit[0]}", value
    return f"{number} {unit[0]} {coin[1]}", value


def percent(rng):
    number = rng.choice([str(rng.randrange(2, 100)), f"{rng.randrange(1, 30)}.{rng.randrange(1, 10)}", str(5 * rng.randrange(1, 20)),
                         f"0.{rng.randrange(1, 10)}"])
    kind = rng.random()
    if kind < 0.5:
        return f"{number}%", f"{german(number)} %"
    return f"{number} {rng.choice(['percent', 'per cent'])}", f"{german(number)} Prozent"


def number(rng):
    """Returns a count of two or more."""
    n = rng.choice([rng.randrange(2, 13), rng.randrange(13, 100), rng.randrange(100, 1000), rng.randrange(1000, 100000)])
    return f"{n:,}", f"{n:,}".replace(",", ".")


def few(rng):
    n = rng.randrange(2, 13)
    return (SMALL[n], KLEIN[n]) if rng.random() < 0.6 else (str(n), str(n))


def decimal(rng, top=100):
    text = rng.choice([f"{rng.randrange(1, top)}.{rng.randrange(1, 10)}", f"{rng.randrange(2, top)}", f"0.{rng.randrange(1, 10)}",
                       f"{rng.randrange(1, top)}.{rng.randrange(1, 100):02}"])
    return text, german(text)


def unit(names):
    """Returns a slot of a decimal number with one of the units."""
    def value(rng):
        a, b = decimal(rng)
        english, unit_name = rng.choice(names)
        if a == "1":
            a = b = "2"
        return f"{a} {english}", f"{b} {unit_name}"
    return value


weight = unit([("kg", "kg"), ("kilograms", "Kilogramm"), ("kilos", "Kilo"), ("tons", "Tonnen"), ("g", "g"), ("grams", "Gramm"),
               ("pounds", "Pfund")])
distance = unit([("km", "km"), ("kilometres", "Kilometer"), ("kilometers", "Kilometer"), ("miles", "Meilen"), ("metres", "Meter"),
                 ("meters", "Meter"), ("m", "m"), ("feet", "Fuß")])
length = unit([("cm", "cm"), ("centimetres", "Zentimeter"), ("metres", "Meter"), ("mm", "mm"), ("inches", "Zoll"), ("m", "m")])
volume = unit([("litres", "Liter"), ("liters", "Liter"), ("ml", "ml"), ("l", "l"), ("gallons", "Gallonen")])
area = unit([("square metres", "Quadratmeter"), ("square meters", "Quadratmeter"), ("square feet", "Quadratfuß"),
             ("hectares", "Hektar")])
speed = unit([("km/h", "km/h"), ("miles per hour", "Meilen pro Stunde"), ("kilometres per hour", "Kilometer pro Stunde")])
memory = unit([("GB", "GB"), ("MB", "MB"), ("TB", "TB"), ("gigabytes", "Gigabyte"), ("megabytes", "Megabyte")])


def temperature(rng):
    n = rng.choice([str(rng.randrange(-20, 41)), f"{rng.randrange(1, 40)}.{rng.randrange(1, 10)}"])
    kind = rng.randrange(4)
    if kind == 0:
        hot = str(rng.randrange(20, 110))
        return f"{hot} °F", f"{hot} °F"
    if kind == 1:
        return f"{n} °C", f"{german(n)} °C"
    if kind == 2:
        return f"{n}°C", f"{german(n)} °C"
    warm = str(rng.randrange(2, 40))
    return rng.choice([(f"{warm} degrees", f"{warm} Grad"), (f"{warm} degrees Celsius", f"{warm} Grad Celsius"),
                       (f"{warm} degrees Fahrenheit", f"{warm} Grad Fahrenheit")])


def phone(rng):
    def digits(n):
        return "".join(str(rng.randrange(10)) for _ in range(n))
    text = rng.choice([f"+49 {rng.randrange(30, 900)} {digits(7)}", f"0{rng.randrange(30, 900)} {digits(6)}", f"(555) {digits(3)}-{digits(4)}",
                       f"+1 {rng.randrange(200, 900)} {digits(3)} {digits(4)}", f"0{rng.randrange(150, 180)}/{digits(8)}",
                       f"+44 20 {digits(4)} {digits(4)}", f"0{rng.randrange(30, 90)}-{digits(8)}", f"{rng.randrange(1, 10)}{digits(5)}",
                       f"{rng.randrange(200, 900)}-{digits(3)}-{digits(4)}", f"+43 1 {digits(3)} {digits(2)} {digits(2)}"])
    return text, text


def code(rng):
    """Returns a number of an order, booking, invoice or customer."""
    letters = "ABCDEFGHKLMNPRSTUVWXZ"
    text = rng.choice([str(rng.randrange(1000, 10**7)), f"{rng.choice(letters)}{rng.choice(letters)}-{rng.randrange(1000, 99999)}",
                       f"{rng.randrange(2020, 2031)}-{rng.randrange(10, 9999):04}", f"{rng.choice(letters)}{rng.randrange(100, 99999)}"])
    return text, text


def digits(low, high):
    def value(rng):
        n = str(rng.randrange(low, high))
        return n, n
    return value


SLOTS = {"money": money, "price": price, "cents": cents, "large": large, "percent": percent, "number": number, "few": few, "weight": weight,
         "distance": distance, "length": length, "volume": volume, "area": area, "speed": speed, "memory": memory,
         "temperature": temperature, "phone": phone, "code": code, "age": digits(3, 95), "minutes": digits(2, 60),
         "room": digits(101, 999), "house": digits(1, 140), "gate": digits(1, 80), "platform": digits(2, 24), "bus": digits(2, 300),
         "small": digits(2, 20)}

TEMPLATES = """
It costs {money}. => Es kostet {money}.
That costs {money}. => Das kostet {money}.
[It only costs|It costs only] {money}. => Es kostet nur {money}.
That will be {price}, please. => Das macht {price}, bitte.
That's {price} altogether. => Das macht zusammen {price}.
The total is {money}. => Die Gesamtsumme beträgt {money}.
The total amount is {money}. => Der Gesamtbetrag beträgt {money}.
Your total comes to {money}. => Ihre Gesamtsumme beträgt {money}.
The price is {money} including VAT. => Der Preis beträgt {money} inklusive Mehrwertsteuer.
The price [was reduced|has been reduced] from {money} to {money:b}. => Der Preis wurde von {money} auf {money:b} gesenkt.
Prices start at {money}. => Die Preise beginnen bei {money}.
Admission is {price} for adults and {price:b} for children. => Der Eintritt kostet {price} für Erwachsene und {price:b} für Kinder.
A single ticket costs {price}. => Eine Einzelfahrkarte kostet {price}.
The ticket costs {price}. => Die Fahrkarte kostet {price}.
The tickets cost {price} each. => Die Karten kosten jeweils {price}.
The book costs {price}. => Das Buch kostet {price}.
The shirt costs {price}. => Das Hemd kostet {price}.
The jacket costs {money}. => Die Jacke kostet {money}.
The phone costs {money}. => Das Handy kostet {money}.
The shoes cost {price}. => Die Schuhe kosten {price}.
A coffee costs {price} here. => Ein Kaffee kostet hier {price}.
The rent is {money} a month. => Die Miete beträgt {money} im Monat.
The rent is {money} per month including heating. => Die Miete beträgt {money} pro Monat inklusive Heizung.
The deposit is {money}. => Die Kaution beträgt {money}.
The fee is {money} per person. => Die Gebühr beträgt {money} pro Person.
The room costs {money} per night. => Das Zimmer kostet {money} pro Nacht.
The repair will cost about {money}. => Die Reparatur wird etwa {money} kosten.
He paid {money} for the car. => Er hat für das Auto {money} bezahlt.
I paid {price} for the concert tickets. => Ich habe {price} für die Konzertkarten bezahlt.
We paid {price} for dinner. => Wir haben für das Abendessen {price} bezahlt.
She spent {money} on clothes. => Sie hat {money} für Kleidung ausgegeben.
He earns {money} [a|per] month. => Er verdient {money} im Monat.
She earns {price} [an|per] hour. => Sie verdient {price} pro Stunde.
You owe me {money}. => Du schuldest mir {money}.
I owe him {money}. => Ich schulde ihm {money}.
Can you lend me {money}? => Kannst du mir {money} leihen?
You save {money}. => Sie sparen {money}.
You can save up to {money}. => Sie können bis zu {money} sparen.
Please transfer {money} to our account. => Bitte überweisen Sie {money} auf unser Konto.
{money} has been transferred to your account. => {money} wurden auf Ihr Konto überwiesen.
We have charged {money} to your credit card. => Wir haben Ihre Kreditkarte mit {money} belastet.
You will receive a refund of {money}. => Sie erhalten eine Rückerstattung in Höhe von {money}.
The invoice for {money} is due on {date}. => Die Rechnung über {money} ist am {date} fällig.
The invoice amount is {money}. => Der Rechnungsbetrag beträgt {money}.
Invoice number {code}, amount {money} => Rechnungsnummer {code}, Betrag {money}
Free delivery on orders over {money}. => Kostenlose Lieferung ab einem Bestellwert von {money}.
[Delivery|Shipping] costs {price}. => Der Versand kostet {price}.
Shipping: {price} => Versand: {price}
Total: {money} => Gesamt: {money}
Subtotal: {money} => Zwischensumme: {money}
Price: {money} => Preis: {money}
Discount: {percent} => Rabatt: {percent}
only {price} => nur {price}
from {money} => ab {money}
{money} per month => {money} pro Monat
{price} per person => {price} pro Person
The minimum order value is {money}. => Der Mindestbestellwert beträgt {money}.
He won {money} in the lottery. => Er hat {money} im Lotto gewonnen.
They raised {money} for the school. => Sie haben {money} für die Schule gesammelt.
The budget is {large}. => Das Budget beträgt {large}.
The company invested {large} in the new factory. => Das Unternehmen investierte {large} in die neue Fabrik.
The project cost {large}. => Das Projekt kostete {large}.
The city is spending {large} on new schools. => Die Stadt gibt {large} für neue Schulen aus.
Sales rose to {large}. => Der Umsatz stieg auf {large}.
The damage is estimated at {large}. => Der Schaden wird auf {large} geschätzt.
An apple costs {cents}. => Ein Apfel kostet {cents}.
The plastic bag costs {cents}. => Die Plastiktüte kostet {cents}.
Do you have change for {money}? => Können Sie {money} wechseln?
Prices [rose|increased|went up] by {percent}. => Die Preise sind um {percent} gestiegen.
Prices fell by {percent} last year. => Die Preise sind im vergangenen Jahr um {percent} gesunken.
Sales [rose|increased] by {percent} in {month}. => Der Umsatz stieg im {month} um {percent}.
Unemployment fell to {percent}. => Die Arbeitslosigkeit sank auf {percent}.
The interest rate is {percent}. => Der Zinssatz beträgt {percent}.
The interest rate was raised to {percent}. => Der Zinssatz wurde auf {percent} erhöht.
The inflation rate was {percent} in {month}. => Die Inflationsrate lag im {month} bei {percent}.
Save {percent} on your first order. => Sparen Sie {percent} bei Ihrer ersten Bestellung.
We offer a {percent} discount. => Wir bieten {percent} Rabatt.
You get {percent} off. => Sie erhalten {percent} Rabatt.
{percent} off everything => {percent} Rabatt auf alles
Up to {percent} off => Bis zu {percent} Rabatt
{percent} of the members agreed. => {percent} der Mitglieder stimmten zu.
About {percent} of the pupils come by bus. => Etwa {percent} der Schüler kommen mit dem Bus.
The battery is at {percent}. => Der Akku ist bei {percent}.
The download is {percent} complete. => Der Download ist zu {percent} abgeschlossen.
The parcel weighs {weight}. => Das Paket wiegt {weight}.
The suitcase weighs {weight}. => Der Koffer wiegt {weight}.
The baby weighs {weight}. => Das Baby wiegt {weight}.
She has lost {small} kilos. => Sie hat {small} Kilo abgenommen.
Hand luggage may weigh up to {small} kg. => Das Handgepäck darf bis zu {small} kg wiegen.
The village is {distance} away. => Das Dorf ist {distance} entfernt.
It is {small} kilometres to {city}. => Bis {city} sind es {small} Kilometer.
He runs {distance} every day. => Er läuft jeden Tag {distance}.
The hotel is {distance} from the beach. => Das Hotel liegt {distance} vom Strand entfernt.
We walked {distance} today. => Wir sind heute {distance} gelaufen.
The table is {length} long. => Der Tisch ist {length} lang.
The shelf is {length} wide and {length:b} high. => Das Regal ist {length} breit und {length:b} hoch.
The snow is {length} deep. => Der Schnee ist {length} tief.
The bottle holds {volume}. => Die Flasche fasst {volume}.
Add {volume} of water. => Geben Sie {volume} Wasser hinzu.
The flat has {area}. => Die Wohnung hat {area}.
The garden covers {area}. => Der Garten ist {area} groß.
The car was doing {speed}. => Das Auto fuhr {speed}.
The speed limit is {speed}. => Die Höchstgeschwindigkeit beträgt {speed}.
The file is {memory} in size. => Die Datei ist {memory} groß.
The download is {memory}. => Der Download ist {memory} groß.
It is {temperature} outside. => Draußen sind es {temperature}.
It is {temperature} today. => Heute sind es {temperature}.
It is {temperature} in {city}. => In {city} sind es {temperature}.
The oven should be at {temperature}. => Der Ofen sollte {temperature} haben.
Wash at {temperature}. => Bei {temperature} waschen.
Store below {temperature}. => Unter {temperature} lagern.
The temperature [rose|climbed] to {temperature}. => Die Temperatur stieg auf {temperature}.
The temperature will drop to {temperature} tonight. => Die Temperatur wird heute Nacht auf {temperature} sinken.
The water temperature is {temperature}. => Die Wassertemperatur beträgt {temperature}.
My [phone number|telephone number] is {phone}. => Meine Telefonnummer ist {phone}.
You can reach me [at|on] {phone}. => Sie erreichen mich unter {phone}.
Please call {phone}. => Bitte rufen Sie {phone} an.
Call us at {phone}. => Rufen Sie uns unter {phone} an.
Phone: {phone} => Telefon: {phone}
Tel.: {phone} => Tel.: {phone}
Fax: {phone} => Fax: {phone}
Mobile: {phone} => Mobil: {phone}
For more information, call {phone}. => Für weitere Informationen rufen Sie {phone} an.
The emergency number is {phone}. => Die Notrufnummer ist {phone}.
{number} people came to the concert. => {number} Menschen kamen zu dem Konzert.
The town has {number} inhabitants. => Die Stadt hat {number} Einwohner.
We have sold {number} copies. => Wir haben {number} Exemplare verkauft.
There are {number} books in the library. => In der Bibliothek gibt es {number} Bücher.
My order number is {code}. => Meine Bestellnummer lautet {code}.
Your customer number is {code}. => Ihre Kundennummer lautet {code}.
Your booking number is {code}. => Ihre Buchungsnummer lautet {code}.
Your invoice {code} for {money} => Ihre Rechnung {code} über {money}
He is {age} years old. => Er ist {age} Jahre alt.
My {age}-year-old neighbour => Mein {age}-jähriger Nachbar
Out of {number} visitors, only {few} complained. => Von {number} Besuchern haben sich nur {few} beschwert.
"""
