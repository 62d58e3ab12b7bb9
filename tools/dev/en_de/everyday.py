"""Ordinary sentences about family, home, school and work."""
from templates import nouns, words

KIN = nouns("""
brother = m Bruder
sister = f Schwester
son = m Sohn
daughter = f Tochter
mother = f Mutter
father = m Vater
wife = f Frau
husband = m Mann
cousin = m Cousin
grandfather = m Großvater
grandmother = f Großmutter
uncle = m Onkel
aunt = f Tante
boss = m Chef
""")
THINGS = nouns("""
car = n Auto
bicycle = n Fahrrad
door = f Tür
heating = f Heizung
washing machine = f Waschmaschine
dishwasher = f Spülmaschine
fridge = m Kühlschrank
printer = m Drucker
computer = m Computer
coffee machine = f Kaffeemaschine
television = m Fernseher
lamp = f Lampe
doorbell = f Klingel
oven = m Backofen
radio = n Radio
phone = n Telefon
""")
FORGOTTEN = nouns("""
book = n Buch
bag = f Tasche
jacket = f Jacke
phone = n Handy
wallet = f Brieftasche
laptop = m Laptop
scarf = m Schal
hat = m Hut
camera = f Kamera
key = m Schlüssel
""")
TEMPLATES = """
My {peer} is {few} years {cmp} than {who}. => {peer.mein} ist {few} Jahre {cmp} als {who}.
My {peer} is {few} years {cmp} than me. => {peer.mein} ist {few} Jahre {cmp} als ich.
My {kin} is {age} years old and lives in {city}. => {kin.mein} ist {age} Jahre alt und wohnt in {city}.
My {kin} works in a {work}. => {kin.mein} arbeitet {work}.
My {woman} is called {f}. => {woman.mein} heißt {f}.
My {man} is called {m}. => {man.mein} heißt {m}.
My {kin} has lived in {city} for {few} years. => {kin.mein} wohnt seit {few} Jahren in {city}.
My {kin} doesn't like {like}. => {kin.mein} mag {like.no}.
My {kin} likes {like}. => {kin.mein} mag {like}.
My {kin} is learning to {learn}. => {kin.mein} lernt {learn}.
I talked to my {kin} about it. => Ich habe mit {kin.meinem} darüber gesprochen.
I visited my {kin} in {city}. => Ich habe {kin.meinen} in {city} besucht.
I gave my {kin} a {gift}. => Ich habe {kin.meinem} {gift} geschenkt.
I have to pick up my {kin} at {time}. => Ich muss {kin.meinen} um {time} abholen.
I'm going to {city} with my {kin}. => Ich fahre mit {kin.meinem} nach {city}.
I got a letter from my {kin}. => Ich habe einen Brief von {kin.meinem} bekommen.
{who} is taller than {who:b}. => {who} ist größer als {who:b}.
{who} and {who:b} are getting married in {month}. => {who} und {who:b} heiraten im {month}.
{who} forgot the {forgot} at {where}. => {who} hat {forgot.acc} {where} vergessen.
I left my {forgot} at {where}. => Ich habe {forgot.meinen} {where} liegen lassen.
I can't find my {forgot} anywhere. => Ich kann {forgot.meinen} nirgends finden.
Whose {forgot} is this? => Wem gehört {forgot.dies}?
This {forgot} belongs to {who}. => {forgot.dies1} gehört {who}.
I bought a new {forgot}. => Ich habe {forgot.neu} gekauft.
The {thing} is broken. => {thing} ist kaputt.
The {thing} has been broken since {since}. => {thing} ist seit {since} kaputt.
The {thing} doesn't work anymore. => {thing} funktioniert nicht mehr.
The {thing} has to be repaired. => {thing} muss repariert werden.
The {thing} was repaired {ago}. => {thing} wurde {ago} repariert.
Can you repair the {thing}? => Können Sie {thing.acc} reparieren?
Who broke the {thing}? => Wer hat {thing.acc} kaputt gemacht?
We need a new {thing}. => Wir brauchen {thing.neu}.
We have bought a new {thing}. => Wir haben {thing.neu} gekauft.
Please turn off the {device}. => Bitte schalten Sie {device} aus.
Turn on the {device}, please. => Schalten Sie bitte {device} ein.
Could you turn down the {music}? => Könnten Sie {music} leiser stellen?
Please open the window. => Bitte öffnen Sie das Fenster.
Could you open the door, please? => Könnten Sie bitte die Tür öffnen?
You are not allowed to {forbidden} here. => Hier dürfen Sie nicht {forbidden}.
We are not allowed to {forbidden} in the office. => Wir dürfen im Büro nicht {forbidden}.
Am I allowed to {forbidden} here? => Darf ich hier {forbidden}?
You must not {forbidden} here. => Hier darf man nicht {forbidden}.
If {if}, we will {we}. => Wenn {if}, {we}.
If I have time, I will {then}. => Wenn ich Zeit habe, {then.ich}.
I will {then} if I have time. => Ich {then.will}, wenn ich Zeit habe.
When I was a child, I lived in {city}. => Als ich ein Kind war, wohnte ich in {city}.
When I was {age2}, we moved to {city}. => Als ich {age2} war, zogen wir nach {city}.
I have been living in {city} since {year}. => Ich wohne seit {year} in {city}.
I've been waiting for {few} hours. => Ich warte seit {few} Stunden.
I have known {who} for {few} years. => Ich kenne {who} seit {few} Jahren.
I have to {chore} today. => Ich muss heute {chore}.
I have already {done}. => Ich habe schon {done}.
I haven't {done} yet. => Ich habe {done.not}.
Have you {done}? => Hast du {done}?
Has anyone {done}? => Hat jemand {done}?
Don't forget to {chore}. => Vergiss nicht, {chore.zu}.
Could you {chore}, please? => Könntest du bitte {chore}?
Who is going to {chore}? => Wer wird {chore}?
I'll {chore} tomorrow. => Ich werde morgen {chore}.
I forgot to {chore}. => Ich habe vergessen, {chore.zu}.
Nobody knows {q}. => Niemand weiß, {q}.
I don't know {q}. => Ich weiß nicht, {q}.
Do you know {q}? => Weißt du, {q}?
Can you tell me {q}? => Können Sie mir sagen, {q}?
I'd like to know {q}. => Ich möchte wissen, {q}.
Nobody told me {q}. => Niemand hat mir gesagt, {q}.
I have {few} meetings on {day}. => Ich habe am {day} {few} Besprechungen.
The report must be ready by {time}. => Der Bericht muss bis {time} fertig sein.
{who} is on holiday until {until}. => {who} ist bis {until} im Urlaub.
{who} called at {time}. => {who} hat um {time} angerufen.
{who} will be back at {time}. => {who} ist um {time} zurück.
Mr. {sur} is in a meeting. => Herr {sur} ist in einer Besprechung.
Ms. {sur} is not in the office today. => Frau {sur} ist heute nicht im Büro.
The flat has {few} rooms. => Die Wohnung hat {few} Zimmer.
The flat is on the {floor} floor. => Die Wohnung ist im {floor} Stock.
The new neighbours come from {city}. => Die neuen Nachbarn kommen aus {city}.
Our neighbours have a {pet}. => Unsere Nachbarn haben {pet}.
She has a {pet}. => Sie hat {pet}.
The children are playing in the {play}. => Die Kinder spielen {play}.
The homework is due on {day}. => Die Hausaufgaben müssen bis {day} fertig sein.
The test is on {day}. => Der Test ist am {day}.
There are {small} pupils in the class. => In der Klasse sind {small} Schüler.
"""


def detailed(entry):
    english, forms = entry
    kind = forms["nom"].split(" ")[0]
    word = forms["bare"]
    return english, forms | {"dies": {"der": "dieser", "die": "diese", "das": "dieses"}[kind] + " " + word,
                             "dies1": {"der": "Dieser", "die": "Diese", "das": "Dieses"}[kind] + " " + word,
                             "neu": {"der": "einen neuen", "die": "eine neue", "das": "ein neues"}[kind] + " " + word}


def chore(english, infinitive, participle_english, participle, to):
    return english, {"nom": infinitive, "done": participle, "zu": to, "en": participle_english}


def not_yet(done):
    """den Brief geschrieben -> den Brief noch nicht geschrieben"""
    words_of = done.split(" ")
    return {"Milch gekauft": "noch keine Milch gekauft", "einen Tisch reserviert": "noch keinen Tisch reserviert"}.get(done) or " ".join(words_of[:-1] + ["noch nicht"] + words_of[-1:])


CHORES = [chore(*line.split("|")) for line in """
do the dishes|das Geschirr spülen|done the dishes|das Geschirr gespült|das Geschirr zu spülen
water the plants|die Blumen gießen|watered the plants|die Blumen gegossen|die Blumen zu gießen
take out the rubbish|den Müll rausbringen|taken out the rubbish|den Müll rausgebracht|den Müll rauszubringen
lock the door|die Tür abschließen|locked the door|die Tür abgeschlossen|die Tür abzuschließen
feed the cat|die Katze füttern|fed the cat|die Katze gefüttert|die Katze zu füttern
buy milk|Milch kaufen|bought milk|Milch gekauft|Milch zu kaufen
call the doctor|den Arzt anrufen|called the doctor|den Arzt angerufen|den Arzt anzurufen
pay the bill|die Rechnung bezahlen|paid the bill|die Rechnung bezahlt|die Rechnung zu bezahlen
clean the kitchen|die Küche putzen|cleaned the kitchen|die Küche geputzt|die Küche zu putzen
post the letter|den Brief einwerfen|posted the letter|den Brief eingeworfen|den Brief einzuwerfen
book a table|einen Tisch reservieren|booked a table|einen Tisch reserviert|einen Tisch zu reservieren
turn off the light|das Licht ausmachen|turned off the light|das Licht ausgemacht|das Licht auszumachen
set the alarm|den Wecker stellen|set the alarm|den Wecker gestellt|den Wecker zu stellen
write the report|den Bericht schreiben|written the report|den Bericht geschrieben|den Bericht zu schreiben
""".strip().splitlines()]
SLOTS = {
    "peer": [e for e in KIN if e[0] in ("brother", "sister", "cousin", "wife", "husband", "boss")],
    "woman": [e for e in KIN if e[1]["nom"].startswith("die ")], "man": [e for e in KIN if e[1]["nom"].startswith("der ")],
    "kin": KIN, "thing": [detailed(e) for e in THINGS], "forgot": [detailed(e) for e in FORGOTTEN], "chore": CHORES,
    "done": [(c[1]["en"], {"nom": c[1]["done"], "not": not_yet(c[1]["done"])}) for c in CHORES],
    "cmp": words("older=älter; younger=jünger"),
    "work": words("hospital=in einem Krankenhaus; bank=in einer Bank; school=in einer Schule; factory=in einer Fabrik; hotel=in einem Hotel; shop=in einem Geschäft"),
    "like": [(e, {"nom": g, "no": n}) for e, g, n in (("coffee", "Kaffee", "keinen Kaffee"), ("fish", "Fisch", "keinen Fisch"), ("cats", "Katzen", "keine Katzen"),
             ("cheese", "Käse", "keinen Käse"), ("dogs", "Hunde", "keine Hunde"), ("jazz", "Jazz", "keinen Jazz"), ("tea", "Tee", "keinen Tee"))],
    "learn": words("drive=Auto fahren; swim=schwimmen; cook=kochen; read=lesen; ski=Ski fahren; play the piano=Klavier spielen; play the guitar=Gitarre spielen"),
    "gift": words("book=ein Buch; watch=eine Uhr; ring=einen Ring; bicycle=ein Fahrrad; camera=eine Kamera; teddy bear=einen Teddybären; CD=eine CD; scarf=einen Schal"),
    "where": words("home=zu Hause; school=in der Schule; work=bei der Arbeit; the office=im Büro; the hotel=im Hotel; the restaurant=im Restaurant; "
                   "the library=in der Bibliothek; the gym=im Fitnessstudio"),
    "since": words("yesterday=gestern; Friday=Freitag; Tuesday=Dienstag; this morning=heute Morgen; last week=letzter Woche; the weekend=dem Wochenende; Sunday=Sonntag"),
    "ago": words("yesterday=gestern; last week=letzte Woche; two days ago=vor zwei Tagen; an hour ago=vor einer Stunde; on Monday=am Montag"),
    "device": words("light=das Licht; television=den Fernseher; radio=das Radio; computer=den Computer; heating=die Heizung; oven=den Backofen; printer=den Drucker"),
    "music": words("music=die Musik; radio=das Radio; television=den Fernseher"),
    "forbidden": words("smoke=rauchen; park=parken; take photos=fotografieren; swim=schwimmen; camp=zelten; eat=essen; cycle=Rad fahren; play football=Fußball spielen; "
                       "make noise=Lärm machen"),
    "if": words("it rains=es regnet; it snows=es schneit; the weather is bad=das Wetter schlecht ist; the bus is late=der Bus Verspätung hat; it is too cold=es zu kalt ist; "
                "the train is cancelled=der Zug ausfällt; you are tired=du müde bist"),
    "we": words("take a taxi=nehmen wir ein Taxi; stay in the hotel=bleiben wir im Hotel; go home=gehen wir nach Hause; cook at home=kochen wir zu Hause; watch a film=sehen "
                "wir uns einen Film an; go to the museum=gehen wir ins Museum; meet another day=treffen wir uns an einem anderen Tag"),
    "then": [(e, {"ich": a, "will": b}) for e, a, b in (
        ("call you", "rufe ich dich an", "rufe dich an"), ("visit you", "besuche ich dich", "besuche dich"), ("help you", "helfe ich dir", "helfe dir"),
        ("come to the party", "komme ich zur Party", "komme zur Party"), ("bake a cake", "backe ich einen Kuchen", "backe einen Kuchen"),
        ("write to you", "schreibe ich dir", "schreibe dir"), ("go shopping", "gehe ich einkaufen", "gehe einkaufen"))],
    "age2": words("six=sechs; ten=zehn; twelve=zwölf; five=fünf; fourteen=vierzehn; eighteen=achtzehn"),
    "q": words("""where the key is=wo der Schlüssel ist; when the shop opens=wann das Geschäft öffnet; why the train is late=warum der Zug Verspätung hat; who wrote the
        letter=wer den Brief geschrieben hat; what happened=was passiert ist; how old he is=wie alt er ist; why the shop was closed=warum das Geschäft geschlossen war; when
        the bus leaves=wann der Bus abfährt; where she lives=wo sie wohnt; how the film ends=wie der Film ausgeht; what time it starts=wann es anfängt; why the road is
        closed=warum die Straße gesperrt ist; who called=wer angerufen hat; how much it costs=wie viel es kostet; where the meeting takes place=wo die Besprechung stattfindet"""),
    "floor": words("first=ersten; second=zweiten; third=dritten; fourth=vierten; fifth=fünften; top=obersten"),
    "pet": words("dog=einen Hund; cat=eine Katze; rabbit=ein Kaninchen; parrot=einen Papagei; horse=ein Pferd; hamster=einen Hamster"),
    "play": words("garden=im Garten; park=im Park; living room=im Wohnzimmer; schoolyard=auf dem Schulhof; snow=im Schnee; sand=im Sand; kitchen=in der Küche"),
}
