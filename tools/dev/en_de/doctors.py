"""At the doctor's, at the dentist's and in the pharmacy."""
from templates import nouns, words

SYMPTOMS = words("""
a headache=Kopfschmerzen
a stomach ache=Bauchschmerzen
a toothache=Zahnschmerzen
an earache=Ohrenschmerzen
back pain=Rückenschmerzen
a backache=Rückenschmerzen
a cough=Husten
a bad cough=starken Husten
a cold=eine Erkältung
a bad cold=eine starke Erkältung
a fever=Fieber
a high temperature=hohes Fieber
a runny nose=Schnupfen
diarrhoea=Durchfall
a rash=einen Ausschlag
the flu=die Grippe
chest pain=Schmerzen in der Brust
heartburn=Sodbrennen
hay fever=Heuschnupfen
high blood pressure=Bluthochdruck
pain in my knee=Schmerzen im Knie
a swollen foot=einen geschwollenen Fuß
a migraine=Migräne
""")
# The German of "something for a headache" has no article.
AGAINST = words("""
a cough=Husten
toothache=Zahnschmerzen
a toothache=Zahnschmerzen
a cold=eine Erkältung
a fever=Fieber
stomach ache=Bauchschmerzen
back pain=Rückenschmerzen
diarrhoea=Durchfall
hay fever=Heuschnupfen
insect bites=Insektenstiche
sunburn=Sonnenbrand
travel sickness=Reisekrankheit
heartburn=Sodbrennen
a runny nose=Schnupfen
earache=Ohrenschmerzen
the pain=die Schmerzen
mosquito bites=Mückenstiche
headaches=Kopfschmerzen
period pain=Regelschmerzen
a hoarse voice=Heiserkeit
""")
PARTS = nouns("""
head = m Kopf
back = m Rücken
knee = n Knie
arm = m Arm
leg = n Bein
foot = m Fuß
hand = f Hand
shoulder = f Schulter
neck = m Nacken
stomach = m Bauch
tooth = m Zahn
ear = n Ohr
throat = m Hals
finger = m Finger
""")
BROKEN = nouns("arm = m Arm\nleg = n Bein\nfoot = m Fuß\nfinger = m Finger\nhand = f Hand\nnose = f Nase\ntoe = m Zeh")
FAMILY = words("""my son=mein Sohn; my daughter=meine Tochter; my wife=meine Frau; my husband=mein Mann; my mother=meine Mutter;
my father=mein Vater; the child=das Kind; the baby=das Baby; my grandmother=meine Großmutter; he=er; she=sie; the boy=der Junge""")
TIMES_A_DAY = words("""once=einmal; twice=zweimal; three times=dreimal; four times=viermal""")
DOSE = words("""a tablet=eine Tablette; two tablets=zwei Tabletten; one pill=eine Tablette; half a tablet=eine halbe Tablette;
ten drops=zehn Tropfen; a spoonful=einen Löffel; one capsule=eine Kapsel; this medicine=dieses Medikament; five millilitres=fünf Milliliter""")
TEMPLATES = """
I have {symptom}. => Ich habe {symptom}.
I've got {symptom}. => Ich habe {symptom}.
I have {symptom} and {symptom:b}. => Ich habe {symptom} und {symptom:b}.
I have had {symptom} since {since}. => Ich habe seit {since} {symptom}.
I've had {symptom} for {fewdays}. => Ich habe seit {fewdays} {symptom}.
{patient} has {symptom}. => {patient} hat {symptom}.
{patient} has {symptom} and {symptom:b}. => {patient} hat {symptom} und {symptom:b}.
{patient} has had {symptom} since {since}. => {patient} hat seit {since} {symptom}.
{patient} has had {symptom} for {fewdays}. => {patient} hat seit {fewdays} {symptom}.
{patient} has had a temperature for {fewdays}. => {patient} hat seit {fewdays} Fieber.
{patient} has a temperature of {fever} degrees. => {patient} hat {fever} Grad Fieber.
{patient} is running a temperature. => {patient} hat Fieber.
{patient} is ill. => {patient} ist krank.
{patient} has to stay in bed. => {patient} muss im Bett bleiben.
{patient} is allergic to {allergy}. => {patient} ist gegen {allergy} allergisch.
I have a sore throat. => Ich habe Halsschmerzen.
{patient} has a sore throat. => {patient} hat Halsschmerzen.
I've had a sore throat for {fewdays}. => Ich habe seit {fewdays} Halsschmerzen.
Do you have {symptom}? => Haben Sie {symptom}?
How long have you had {symptom}? => Seit wann haben Sie {symptom}?
My {part} hurts. => {part.mein} tut weh.
My {part} really hurts. => {part.mein} tut sehr weh.
Does your {part} hurt? => Tut {part.ihr} weh?
I have a pain in my {part}. => Ich habe Schmerzen {part.im}.
I hurt my {part}. => Ich habe mir {part.acc} verletzt.
I have broken my {broken}. => Ich habe mir {broken.acc} gebrochen.
I think I have broken my {broken}. => Ich glaube, ich habe mir {broken.acc} gebrochen.
He has broken his {broken}. => Er hat sich {broken.acc} gebrochen.
She broke her {broken} when she was skiing. => Sie hat sich beim Skifahren {broken.acc} gebrochen.
I have cut my finger. => Ich habe mich in den Finger geschnitten.
I have burned my hand. => Ich habe mir die Hand verbrannt.
I feel sick. => Mir ist schlecht.
I feel dizzy. => Mir ist schwindelig.
I'm cold. => Mir ist kalt.
I feel better today. => Heute geht es mir besser.
I don't feel well. => Ich fühle mich nicht wohl.
I'm not feeling well. => Ich fühle mich nicht wohl.
I can't sleep at night. => Ich kann nachts nicht schlafen.
I'm pregnant. => Ich bin schwanger.
I'm diabetic. => Ich bin Diabetiker.
I'm allergic to {allergy}. => Ich bin gegen {allergy} allergisch.
Are you allergic to {allergy}? => Sind Sie gegen {allergy} allergisch?
Do you have any allergies? => Haben Sie Allergien?
Do you take any medication? => Nehmen Sie Medikamente ein?
Are you taking any other medicines? => Nehmen Sie noch andere Medikamente ein?
Where exactly does it hurt? => Wo genau tut es weh?
Does it hurt here? => Tut es hier weh?
It hurts here. => Hier tut es weh.
It doesn't hurt. => Es tut nicht weh.
What's the matter? => Was fehlt Ihnen?
How are you feeling today? => Wie fühlen Sie sich heute?
Please open your mouth. => Bitte öffnen Sie den Mund.
Please take off your {clothes}. => Bitte ziehen Sie {clothes} aus.
Please lie down. => Bitte legen Sie sich hin.
Breathe in deeply. => Atmen Sie tief ein.
I'll give you an injection. => Ich gebe Ihnen eine Spritze.
I'll write you a prescription. => Ich schreibe Ihnen ein Rezept.
I will prescribe you {prescribed}. => Ich verschreibe Ihnen {prescribed}.
The doctor prescribed {prescribed}. => Der Arzt hat {prescribed} verschrieben.
Take {dose} {often} a day. => Nehmen Sie {often} täglich {dose} ein.
Take {dose} {often} a day {meal}. => Nehmen Sie {often} täglich {dose} {meal} ein.
Take {dose} [every morning|in the morning]. => Nehmen Sie morgens {dose} ein.
Take {dose} in the evening. => Nehmen Sie abends {dose} ein.
Take {dose} every {six} hours. => Nehmen Sie alle {six} Stunden {dose} ein.
Take {dose} {meal}. => Nehmen Sie {dose} {meal} ein.
Take {dose} with a glass of water. => Nehmen Sie {dose} mit einem Glas Wasser ein.
You should take {dose} {often} a day. => Sie sollten {often} täglich {dose} einnehmen.
Do not take more than {few} tablets a day. => Nehmen Sie nicht mehr als {few} Tabletten am Tag ein.
How often do I have to take the tablets? => Wie oft muss ich die Tabletten einnehmen?
How often should I take this medicine? => Wie oft soll ich dieses Medikament einnehmen?
Apply the ointment {often} a day. => Tragen Sie die Salbe {often} täglich auf.
Shake well before use. => Vor Gebrauch gut schütteln.
Do you have anything for {against}? => Haben Sie etwas gegen {against}?
I need something for {against}. => Ich brauche etwas gegen {against}.
I'd like something for {against}. => Ich hätte gern etwas gegen {against}.
Could you give me something for {against}? => Könnten Sie mir etwas gegen {against} geben?
Can you recommend anything for {against}? => Können Sie etwas gegen {against} empfehlen?
These tablets are for {against}. => Diese Tabletten sind gegen {against}.
This syrup helps with {against}. => Dieser Saft hilft gegen {against}.
I need {buy}. => Ich brauche {buy}.
I'd like {buy}, please. => Ich hätte gern {buy}, bitte.
Do you need a prescription for this? => Braucht man dafür ein Rezept?
You can only get this on prescription. => Das bekommen Sie nur auf Rezept.
Here is the prescription. => Hier ist das Rezept.
Where is the nearest pharmacy? => Wo ist die nächste Apotheke?
Is there an emergency pharmacy? => Gibt es eine Notapotheke?
I need a doctor. => Ich brauche einen Arzt.
Call a doctor! => Rufen Sie einen Arzt!
Call an ambulance! => Rufen Sie einen Krankenwagen!
Please call an ambulance. => Bitte rufen Sie einen Krankenwagen.
Help! => Hilfe!
This is an emergency. => Das ist ein Notfall.
There has been an accident. => Es ist ein Unfall passiert.
I'd like to make an appointment. => Ich möchte einen Termin vereinbaren.
I'd like to make an appointment with {doctor}. => Ich möchte einen Termin bei {doctor} vereinbaren.
I'd like to make an appointment for {day}. => Ich möchte einen Termin für {day} vereinbaren.
I'd like to make an appointment for tomorrow. => Ich möchte einen Termin für morgen vereinbaren.
Can I have an appointment this week? => Kann ich diese Woche einen Termin bekommen?
Can I come on {day} at {time}? => Kann ich am {day} um {time} kommen?
I have an appointment with {doctor} at {time}. => Ich habe um {time} einen Termin bei {doctor}.
Your next appointment is on {date} at {time}. => Ihr nächster Termin ist am {date} um {time}.
I have to cancel my appointment on {day}. => Ich muss meinen Termin am {day} absagen.
Could I come on {day} instead? => Könnte ich stattdessen am {day} kommen?
{doctor} is on holiday this week. => {doctor} ist diese Woche im Urlaub.
The doctor will see you now. => Der Arzt hat jetzt Zeit für Sie.
Please take a seat in the waiting room. => Bitte nehmen Sie im Wartezimmer Platz.
You have to wait about {minutes} minutes. => Sie müssen etwa {minutes} Minuten warten.
Do you have your insurance card with you? => Haben Sie Ihre Versichertenkarte dabei?
When were you born? => Wann sind Sie geboren?
How tall are you? => Wie groß sind Sie?
How much do you weigh? => Wie viel wiegen Sie?
The operation went well. => Die Operation ist gut verlaufen.
He is in hospital. => Er ist im Krankenhaus.
She had to go to hospital. => Sie musste ins Krankenhaus.
She was operated on yesterday. => Sie wurde gestern operiert.
I had to go to the dentist. => Ich musste zum Zahnarzt.
The dentist had to pull out a tooth. => Der Zahnarzt musste einen Zahn ziehen.
I've lost a filling. => Ich habe eine Füllung verloren.
I need new glasses. => Ich brauche eine neue Brille.
You need to rest. => Sie müssen sich ausruhen.
You should drink a lot of water. => Sie sollten viel Wasser trinken.
You should stop smoking. => Sie sollten mit dem Rauchen aufhören.
You will soon be well again. => Sie werden bald wieder gesund.
Stay in bed for {few} days. => Bleiben Sie {few} Tage im Bett.
Get well soon, {who}! => Gute Besserung, {who}!
I hope you feel better soon. => Ich hoffe, es geht Ihnen bald besser.
Bless you! => Gesundheit!
"""
SLOTS = {
    "symptom": SYMPTOMS, "against": AGAINST, "part": PARTS, "broken": BROKEN, "patient": FAMILY, "often": TIMES_A_DAY, "dose": DOSE,
    "since": words("""this morning=heute Morgen; yesterday evening=gestern Abend; last night=letzter Nacht; Monday=Montag; Friday=Freitag;
        the weekend=dem Wochenende; last week=letzter Woche; Sunday=Sonntag"""),
    "fewdays": words("""two days=zwei Tagen; three days=drei Tagen; a week=einer Woche; two weeks=zwei Wochen; a few days=ein paar Tagen;
        four days=vier Tagen; several weeks=mehreren Wochen; a month=einem Monat"""),
    "fever": lambda rng: (lambda a, b: (f"{a}.{b}", f"{a},{b}"))(rng.randrange(38, 41), rng.randrange(1, 10)),
    "allergy": words("""penicillin=Penizillin; antibiotics=Antibiotika; nuts=Nüsse; pollen=Pollen; cats=Katzen; aspirin=Aspirin; dust=Staub;
        bee stings=Bienenstiche; latex=Latex; dogs=Hunde; grass=Gräser; certain painkillers=bestimmte Schmerzmittel"""),
    "clothes": words("shirt=Ihr Hemd; shoes=Ihre Schuhe; jacket=Ihre Jacke; jumper=Ihren Pullover"),
    "prescribed": words("""an antibiotic=ein Antibiotikum; eye drops=Augentropfen; an ointment=eine Salbe; stronger tablets=stärkere Tabletten;
        a cough syrup=einen Hustensaft; painkillers=Schmerzmittel; a nasal spray=ein Nasenspray; sleeping pills=Schlaftabletten"""),
    "meal": words("after meals=nach dem Essen; before meals=vor dem Essen; with food=zum Essen; after breakfast=nach dem Frühstück; "
                  "before going to bed=vor dem Schlafengehen"),
    "six": words("four=vier; six=sechs; eight=acht; twelve=zwölf"),
    "buy": words("""plasters=Pflaster; a bandage=einen Verband; painkillers=Schmerztabletten; cough sweets=Hustenbonbons; sun cream=Sonnencreme;
        a thermometer=ein Fieberthermometer; eye drops=Augentropfen; throat tablets=Halstabletten; a nasal spray=ein Nasenspray"""),
    "doctor": words("""Dr. Weber=Dr. Weber; Dr. Miller=Dr. Miller; Dr. Klein=Dr. Klein; Dr. Brown=Dr. Brown; Dr. Wagner=Dr. Wagner;
        Dr. Novak=Dr. Novak; Dr. Keller=Dr. Keller; Dr. Evans=Dr. Evans"""),
}
