"""Letters and mails: salutations, closings, and phrases between them."""
from templates import fill, nouns, words

# What follows a salutation on the same line begins in lower case in German. fo: formal, inf: informal.
FORMAL = words("""
thank you for your letter of {full}.=vielen Dank für Ihr Schreiben vom {full}.
thank you for your message.=vielen Dank für Ihre Nachricht.
thank you for your email of {full}.=vielen Dank für Ihre E-Mail vom {full}.
thank you for your interest in our products.=vielen Dank für Ihr Interesse an unseren Produkten.
thank you for your order.=vielen Dank für Ihre Bestellung.
thank you for your quick reply.=vielen Dank für Ihre schnelle Antwort.
I am writing to you about your invoice {code}.=ich schreibe Ihnen wegen Ihrer Rechnung {code}.
I would like to apply for the position.=ich möchte mich um die Stelle bewerben.
please find attached the documents you asked for.=anbei erhalten Sie die gewünschten Unterlagen.
we are pleased to send you our offer.=gerne senden wir Ihnen unser Angebot.
we regret to inform you that the event has been cancelled.=leider müssen wir Ihnen mitteilen, dass die Veranstaltung abgesagt wurde.
we are happy to confirm your booking.=gerne bestätigen wir Ihre Buchung.
unfortunately, I cannot attend the meeting on {date}.=leider kann ich an der Besprechung am {date} nicht teilnehmen.
I hereby cancel my contract with effect from {full}.=hiermit kündige ich meinen Vertrag zum {full}.
as agreed, I am sending you the contract.=wie vereinbart sende ich Ihnen den Vertrag.
""")
INFORMAL = words("""
thank you for your letter.=vielen Dank für deinen Brief.
thanks for your message.=danke für deine Nachricht.
thank you so much for the lovely present.=vielen Dank für das schöne Geschenk.
how are you?=wie geht es dir?
I hope you are well.=ich hoffe, es geht dir gut.
I'm sorry I haven't written for so long.=es tut mir leid, dass ich so lange nicht geschrieben habe.
happy birthday!=alles Gute zum Geburtstag!
can you call me tonight?=kannst du mich heute Abend anrufen?
I'll be in {city} next week.=ich bin nächste Woche in {city}.
would you like to come to dinner on {day}?=möchtest du am {day} zum Essen kommen?
thanks again for your help.=nochmals danke für deine Hilfe.
""")
THING = nouns("""
letter = m Brief
email = f E-Mail
message = f Nachricht
offer = n Angebot
enquiry = f Anfrage
order = f Bestellung
invitation = f Einladung
application = f Bewerbung
invoice = f Rechnung
reminder = f Mahnung
call = m Anruf
reply = f Antwort
feedback = f Rückmeldung
support = f Unterstützung
patience = f Geduld
visit = m Besuch
quick help = f schnelle Hilfe
""")
# Things that are attached; the German has no article in front of plurals.
ATTACHED = nouns("""
contract = m Vertrag
offer = n Angebot
report = m Bericht
price list = f Preisliste
form = n Formular
agenda = f Tagesordnung
minutes of the meeting = n Protokoll der Besprechung
invoice = f Rechnung
timetable = m Zeitplan
documents = p Unterlagen
photos = p Fotos
presentation = f Präsentation
draft = m Entwurf
list of participants = f Teilnehmerliste
""")
TEMPLATES_SALUTATIONS = """
Dear {f}, => Liebe {f},
Dear {m}, => Lieber {m},
Dear {f} and {m}, => Liebe {f}, lieber {m},
Dear {f} and {f:b}, => Liebe {f}, liebe {f:b},
Hello {who}, => Hallo {who},
Hi {who}, => Hallo {who},
Hi {who}! => Hallo {who}!
Hello {who}! => Hallo {who}!
Hey {who}, => Hey {who},
Hi {who} and {who:b}, => Hallo {who} und {who:b},
My dear {f}, => Meine liebe {f},
My dear {m}, => Mein lieber {m},
Dearest {f}, => Liebste {f},
Dearest {m}, => Liebster {m},
Good morning, {who}! => Guten Morgen, {who}!
Dear [Mr.|Mr] {sur}, => Sehr geehrter Herr {sur},
Dear [Mrs.|Mrs|Ms.|Ms|Miss] {sur}, => Sehr geehrte Frau {sur},
Dear [Mr.|Mr] {m} {sur}, => Sehr geehrter Herr {m} {sur},
Dear [Mrs.|Ms.|Ms] {f} {sur}, => Sehr geehrte Frau {f} {sur},
Dear [Dr.|Dr] {sur}, => Sehr geehrter Herr Dr. {sur},
Dear Dr. {f} {sur}, => Sehr geehrte Frau Dr. {f} {sur},
Dear Dr. {m} {sur}, => Sehr geehrter Herr Dr. {m} {sur},
Dear [Professor|Prof.] {sur}, => Sehr geehrter Herr Professor {sur},
Dear [Professor|Prof.] {f} {sur}, => Sehr geehrte Frau Professor {f} {sur},
Dear [Mr. and Mrs.|Mr and Mrs] {sur}, => Sehr geehrte Frau {sur}, sehr geehrter Herr {sur},
Dear Mr. {sur} and Ms. {sur:b}, => Sehr geehrter Herr {sur}, sehr geehrte Frau {sur:b},
Dear Ms. {sur} and Mr. {sur:b}, => Sehr geehrte Frau {sur}, sehr geehrter Herr {sur:b},
Dear {sur} family, => Liebe Familie {sur},
Good morning, Mr. {sur}. => Guten Morgen, Herr {sur}.
Good afternoon, Ms. {sur}. => Guten Tag, Frau {sur}.
Good evening, Mrs. {sur}. => Guten Abend, Frau {sur}.
Hello Mr. {sur}, => Hallo Herr {sur},
Hello Ms. {sur}, => Hallo Frau {sur},
Dear Sir or Madam, => Sehr geehrte Damen und Herren,
Dear Sir/Madam, => Sehr geehrte Damen und Herren,
Dear Sirs, => Sehr geehrte Damen und Herren,
Dear Madam or Sir, => Sehr geehrte Damen und Herren,
Ladies and gentlemen, => Sehr geehrte Damen und Herren,
Dear Madam, => Sehr geehrte Dame,
Dear Sir, => Sehr geehrter Herr,
To whom it may concern, => Sehr geehrte Damen und Herren,
Dear all, => Liebe alle,
Hello everyone, => Hallo zusammen,
Hi everyone, => Hallo zusammen,
Hi all, => Hallo zusammen,
Hello everybody, => Hallo zusammen,
Hi there! => Hallo!
Dear {group}, => Liebe {group},
Dear {group} and {group:b}, => Liebe {group}, liebe {group:b},
"""
TEMPLATES_CLOSINGS = """
[Yours sincerely|Yours faithfully|Yours truly|Sincerely|Sincerely yours|With kind regards|Kind regards], {who} {sur} => Mit freundlichen Grüßen, {who} {sur}
[Best regards|Regards|With best regards|Warm regards|Best], {who} => Viele Grüße, {who}
[Best wishes|All the best|Take care], {who} => Alles Gute, {who}
[Love|Lots of love|With love|All my love], {who} => Liebe Grüße, {who}
Yours, {f} => Deine {f}
Yours, {m} => Dein {m}
[Cheers|See you soon], {who} => Bis bald, {who}
"""
TEMPLATES_FIXED = """
Yours sincerely => Mit freundlichen Grüßen
Yours sincerely, => Mit freundlichen Grüßen
Yours faithfully => Mit freundlichen Grüßen
Yours faithfully, => Mit freundlichen Grüßen
Yours truly => Hochachtungsvoll
Sincerely => Mit freundlichen Grüßen
Sincerely yours, => Mit freundlichen Grüßen
Sincerely, => Mit freundlichen Grüßen
With kind regards => Mit freundlichen Grüßen
With kind regards, => Mit freundlichen Grüßen
With kindest regards => Mit freundlichen Grüßen
Kindest regards, => Mit freundlichen Grüßen
Best regards => Viele Grüße
Best regards, => Viele Grüße
With best regards => Mit besten Grüßen
Regards, => Viele Grüße
Regards => Viele Grüße
Many regards => Viele Grüße
Warm regards => Herzliche Grüße
Warm regards, => Herzliche Grüße
With warm regards => Mit herzlichen Grüßen
Warmest regards, => Herzliche Grüße
Best wishes => Alles Gute
Best wishes, => Alles Gute
With all good wishes => Mit allen guten Wünschen
All the best => Alles Gute
All the best, => Alles Gute
Love, => Liebe Grüße
Lots of love, => Viele liebe Grüße
With love => In Liebe
Hugs and kisses => Küsse und Umarmungen
Many thanks => Vielen Dank
Many thanks, => Vielen Dank
Thanks in advance. => Vielen Dank im Voraus.
Thank you in advance. => Vielen Dank im Voraus.
Many thanks in advance! => Vielen Dank im Voraus!
Greetings from {city} => Grüße aus {city}
Warm greetings from {city} => Herzliche Grüße aus {city}
Kind regards from {city} => Viele Grüße aus {city}
Best regards to your wife. => Viele Grüße an Ihre Frau.
Best regards to your family. => Viele Grüße an Ihre Familie.
Say hello to {who} for me. => Grüß {who} von mir.
Give my regards to {who}. => Grüßen Sie {who} von mir.
Please give my regards to your {kin}. => Bitte grüßen Sie {kin.ihren} von mir.
Give my love to your {kin}. => Grüß {kin.deinen} ganz lieb von mir.
"""
TEMPLATES_BODY = """
Thank you for your {thing}. => Vielen Dank für {thing.ihren}.
Thank you very much for your {thing}. => Vielen herzlichen Dank für {thing.ihren}.
Many thanks for your {thing}. => Besten Dank für {thing.ihren}.
We thank you for your {thing}. => Wir danken Ihnen für {thing.ihren}.
Thanks for your {thing}! => Danke für {thing.deinen}!
Thank you for your {mail} of {full}. => Vielen Dank für {mail.ihren} vom {full}.
Thank you for your {mail} dated {full}. => Vielen Dank für {mail.ihren} vom {full}.
We refer to your {mail} of {full}. => Wir beziehen uns auf {mail.ihren} vom {full}.
We have received your {mail} of {full}. => Wir haben {mail.ihren} vom {full} erhalten.
I have received your {mail}. => Ich habe {mail.ihren} erhalten.
In reply to your {mail} of {full}, we would like to inform you of the following. => In Antwort auf {mail.ihren} vom {full} teilen wir Ihnen Folgendes mit.
I am writing [about|regarding|with regard to] {subject}. => Ich schreibe Ihnen wegen {subject.gen}.
I have a question about {subject}. => Ich habe eine Frage zu {subject.dat}.
Please find attached the {att}. => Im Anhang finden Sie {att.acc}.
Attached you will find the {att}. => Im Anhang finden Sie {att.acc}.
Please find the {att} attached. => Im Anhang finden Sie {att.acc}.
Please find enclosed the {att}. => Anbei erhalten Sie {att.acc}.
I have attached the {att}. => Ich habe {att.acc} angehängt.
I am sending you the {att}. => Ich sende Ihnen {att.acc}.
Could you please send me the {att}? => Könnten Sie mir bitte {att.acc} schicken?
Please send me the {att} by {until}. => Bitte senden Sie mir {att.acc} bis {until}.
Have you received the {att}? => Haben Sie {att.acc} erhalten?
I have not yet received the {att}. => Ich habe {att.acc} noch nicht erhalten.
I forgot to attach the {att}. => Ich habe vergessen, {att.acc} anzuhängen.
Please sign the {att} and send it back to us. => Bitte unterschreiben Sie {att.acc} und schicken Sie alles an uns zurück.
Please check the {att} carefully. => Bitte prüfen Sie {att.acc} sorgfältig.
I'll send you the {att} tomorrow. => Ich schicke Ihnen {att.acc} morgen.
We will send you the {att} by post. => Wir schicken Ihnen {att.acc} per Post.
I look forward to hearing from you. => Ich freue mich darauf, von Ihnen zu hören.
I am looking forward to hearing from you. => Ich freue mich darauf, von Ihnen zu hören.
We look forward to hearing from you. => Wir freuen uns darauf, von Ihnen zu hören.
I look forward to your {looked}. => Ich freue mich auf {looked.ihren}.
We look forward to your {looked}. => Wir freuen uns auf {looked.ihren}.
We are looking forward to your {looked}. => Wir freuen uns auf {looked.ihren}.
I'm looking forward to your {looked}. => Ich freue mich auf {looked.ihren}.
I look forward to seeing you on {day}. => Ich freue mich darauf, Sie am {day} zu sehen.
I look forward to meeting you. => Ich freue mich darauf, Sie kennenzulernen.
I'm looking forward to seeing you again. => Ich freue mich darauf, dich wiederzusehen.
We look forward to welcoming you in {city}. => Wir freuen uns darauf, Sie in {city} zu begrüßen.
If you have any questions, please do not hesitate to contact me. => Wenn Sie Fragen haben, können Sie sich gerne an mich wenden.
If you have any further questions, please do not hesitate to contact us. => Bei weiteren Fragen stehen wir Ihnen gerne zur Verfügung.
Please do not hesitate to contact us. => Bitte zögern Sie nicht, sich mit uns in Verbindung zu setzen.
Please let me know if you need anything else. => Bitte sagen Sie mir Bescheid, wenn Sie noch etwas brauchen.
Please let me know if {day} suits you. => Bitte sagen Sie mir, ob Ihnen {day} passt.
Please let us know by {until} whether you can come. => Bitte teilen Sie uns bis {until} mit, ob Sie kommen können.
Please confirm receipt of this email. => Bitte bestätigen Sie den Erhalt dieser E-Mail.
Please reply to this email. => Bitte antworten Sie auf diese E-Mail.
Please do not reply to this email. => Bitte antworten Sie nicht auf diese E-Mail.
Sorry for the late reply. => Entschuldigen Sie bitte die späte Antwort.
I apologize for the delay. => Ich bitte um Entschuldigung für die Verzögerung.
We apologize for the inconvenience. => Wir bitten um Entschuldigung für die Unannehmlichkeiten.
We apologise for any inconvenience. => Wir bitten um Entschuldigung für etwaige Unannehmlichkeiten.
Unfortunately, I cannot come on {day}. => Leider kann ich am {day} nicht kommen.
Unfortunately, we cannot accept your offer. => Leider können wir Ihr Angebot nicht annehmen.
Unfortunately, the item is no longer available. => Leider ist der Artikel nicht mehr lieferbar.
We regret to inform you that your application was not successful. => Leider müssen wir Ihnen mitteilen, dass Ihre Bewerbung nicht erfolgreich war.
We are pleased to inform you that your application was successful. => Wir freuen uns, Ihnen mitteilen zu können, dass Ihre Bewerbung erfolgreich war.
We are pleased to confirm your appointment on {date} at {time}. => Gerne bestätigen wir Ihren Termin am {date} um {time}.
I am writing to apply for the position of {job}. => Ich möchte mich um die Stelle als {job} bewerben.
I am writing to complain about the {complaint}. => Ich möchte mich über {complaint} beschweren.
I am writing to ask whether you have a room free {period}. => Ich möchte fragen, ob Sie {period} ein Zimmer frei haben.
I am writing to cancel my {contract}. => Ich schreibe Ihnen, um {contract} zu kündigen.
I would like to cancel my {contract}. => Ich möchte {contract} kündigen.
I hereby cancel my {contract} as of {full}. => Hiermit kündige ich {contract} zum {full}.
I would like to thank you for your help. => Ich möchte mich für Ihre Hilfe bedanken.
I would like to invite you to my birthday party on {date}. => Ich möchte dich zu meiner Geburtstagsfeier am {date} einladen.
We would like to invite you to our {event}. => Wir möchten Sie zu unserer {event} einladen.
You are invited to our {event} on {date}. => Sie sind zu unserer {event} am {date} eingeladen.
As discussed on the phone, I am sending you the {att}. => Wie am Telefon besprochen, sende ich Ihnen {att.acc}.
Thank you for the pleasant phone call. => Vielen Dank für das angenehme Telefonat.
I hope you are well. => Ich hoffe, es geht Ihnen gut.
I hope this email finds you well. => Ich hoffe, es geht Ihnen gut.
I hope to see you soon. => Ich hoffe, Sie bald zu sehen.
I will get back to you as soon as possible. => Ich melde mich so bald wie möglich bei Ihnen.
We will get back to you within {small} days. => Wir melden uns innerhalb von {small} Tagen bei Ihnen.
In urgent cases, please contact [Mr.|Mr] {sur}. => In dringenden Fällen wenden Sie sich bitte an Herrn {sur}.
In urgent cases, please contact my colleague {f} {sur}. => In dringenden Fällen wenden Sie sich bitte an meine Kollegin {f} {sur}.
Yesterday I spoke to Ms. {sur}. => Gestern habe ich mit Frau {sur} gesprochen.
Mr. {sur} will call you on {day}. => Herr {sur} wird Sie am {day} anrufen.
Mrs. {sur} is on holiday until {until}. => Frau {sur} ist bis {until} im Urlaub.
Could I speak to Mr. {sur}, please? => Könnte ich bitte mit Herrn {sur} sprechen?
May I introduce you to Mr. {sur}? => Darf ich Ihnen Herrn {sur} vorstellen?
Here is the address of Mr. {sur}. => Hier ist die Adresse von Herrn {sur}.
Please forward this message to Mr. {sur}. => Bitte leiten Sie diese Nachricht an Herrn {sur} weiter.
Subject: {topic} => Betreff: {topic}
Re: {topic} => Betreff: {topic}
Attention: Ms. {sur} => Zu Händen von Frau {sur}
Attention: Mr. {sur} => Zu Händen von Herrn {sur}
PS: {who} says hello. => PS: {who} lässt grüßen.
P.S. Say hello to {who}! => P.S. Grüß {who} von mir!
Enclosures => Anlagen
Enclosure: {att} => Anlage: {att.bare}
Attachment: {att} => Anhang: {att.bare}
Merry Christmas and a happy New Year! => Frohe Weihnachten und ein gutes neues Jahr!
Merry Christmas, {who}! => Frohe Weihnachten, {who}!
Happy Easter! => Frohe Ostern!
Happy New Year, {who}! => Frohes neues Jahr, {who}!
Happy birthday, {who}! => Alles Gute zum Geburtstag, {who}!
Happy birthday, dear {f}! => Alles Gute zum Geburtstag, liebe {f}!
Happy birthday, dear {m}! => Alles Gute zum Geburtstag, lieber {m}!
Congratulations, {who}! => Herzlichen Glückwunsch, {who}!
Get well soon, {who}! => Gute Besserung, {who}!
I wish you a speedy recovery. => Ich wünsche Ihnen eine schnelle Genesung.
I wish you and your family all the best. => Ich wünsche Ihnen und Ihrer Familie alles Gute.
We wish you a pleasant stay. => Wir wünschen Ihnen einen angenehmen Aufenthalt.
With deepest sympathy => In tiefer Anteilnahme
Please accept our sincere condolences. => Bitte nehmen Sie unsere aufrichtige Anteilnahme entgegen.
"""

TEMPLATES_OPENINGS = """
Dear [Mr.|Mr] {sur}, {formal} => Sehr geehrter Herr {sur}, {formal}
Dear [Ms.|Mrs.|Ms] {sur}, {formal} => Sehr geehrte Frau {sur}, {formal}
Dear Dr. {sur}, {formal} => Sehr geehrter Herr Dr. {sur}, {formal}
Dear Sir or Madam, {formal} => Sehr geehrte Damen und Herren, {formal}
Dear {f}, {informal} => Liebe {f}, {informal}
Dear {m}, {informal} => Lieber {m}, {informal}
Hi {who}, {informal} => Hallo {who}, {informal}
Hello {who}, {informal} => Hallo {who}, {informal}
"""


def opening(entries, base):
    """Returns a slot of the sentences that follow a salutation; base has the slots in them."""
    def value(rng):
        return fill(rng, " => ".join(rng.choice(entries)), base, lower=True)
    return value


def subject(english, genitive, dative):
    return english, {"gen": genitive, "dat": dative}


def choose(entries, *english):
    return [entry for entry in entries if entry[0] in english]


SLOTS = {
    "thing": THING, "att": ATTACHED,
    "mail": choose(THING, "letter", "email", "message", "offer", "enquiry", "order", "invitation", "application", "reminder"),
    "looked": choose(THING, "letter", "message", "offer", "application", "call", "reply", "feedback", "visit", "order"),
    "subject": [
        subject("your application", "Ihrer Bewerbung", "Ihrer Bewerbung"), subject("your order", "Ihrer Bestellung", "Ihrer Bestellung"),
        subject("our appointment", "unseres Termins", "unserem Termin"), subject("our meeting", "unserer Besprechung", "unserer Besprechung"),
        subject("the invoice", "der Rechnung", "der Rechnung"), subject("the contract", "des Vertrags", "dem Vertrag"),
        subject("your offer", "Ihres Angebots", "Ihrem Angebot"), subject("the project", "des Projekts", "dem Projekt"),
        subject("your advertisement", "Ihrer Anzeige", "Ihrer Anzeige"), subject("my stay", "meines Aufenthalts", "meinem Aufenthalt"),
        subject("the flat", "der Wohnung", "der Wohnung"), subject("the course", "des Kurses", "dem Kurs")],
    "group": words("""colleagues=Kolleginnen und Kollegen; friends=Freunde; parents=Eltern; students=Studierende; guests=Gäste;
        members=Mitglieder; neighbours=Nachbarn; readers=Leserinnen und Leser; children=Kinder; visitors=Besucher;
        grandparents=Großeltern; listeners=Zuhörer; pupils=Schülerinnen und Schüler; teachers=Lehrerinnen und Lehrer"""),
    "kin": nouns("""
wife = f Frau
husband = m Mann
sister = f Schwester
brother = m Bruder
family = f Familie
mother = f Mutter
father = m Vater
colleagues = p Kollegen
son = m Sohn
daughter = f Tochter
children = p Kinder, Kindern
"""),
    "job": words("""sales manager=Vertriebsleiter; nurse=Krankenpfleger; teacher=Lehrer; cook=Koch; secretary=Sekretärin; web
        designer=Webdesigner; software developer=Softwareentwickler; engineer=Ingenieur; accountant=Buchhalter; driver=Fahrer"""),
    "complaint": words("""quality of your products=die Qualität Ihrer Produkte; noise in the house=den Lärm im Haus; poor service=den
        schlechten Service; late delivery=die verspätete Lieferung; condition of the room=den Zustand des Zimmers"""),
    "contract": words("""contract=meinen Vertrag; membership=meine Mitgliedschaft; insurance=meine Versicherung; newspaper
        subscription=mein Zeitungsabo; mobile phone contract=meinen Handyvertrag; rental contract=meinen Mietvertrag"""),
    "event": words("""wedding=Hochzeit; summer party=Sommerparty; conference=Konferenz; exhibition=Ausstellung; garden
        party=Gartenparty; Christmas party=Weihnachtsfeier; housewarming party=Einweihungsparty"""),
    "topic": words("""Application=Bewerbung; Cancellation=Kündigung; Your invoice=Ihre Rechnung; Your order=Ihre Bestellung;
        Invitation=Einladung; Our appointment=Unser Termin; Complaint=Reklamation; Change of address=Adressänderung;
        Reminder=Mahnung; Quote=Angebot; Your enquiry=Ihre Anfrage; Minutes of the meeting=Protokoll der Besprechung;
        Delivery date=Liefertermin; Holiday request=Urlaubsantrag; Thank you=Danke; Project plan=Projektplan"""),
}


def slots(base):
    return base | SLOTS | {"formal": opening(FORMAL, base | SLOTS), "informal": opening(INFORMAL, base | SLOTS)}
