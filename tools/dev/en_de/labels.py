"""Labels of buttons and menus, alone in several forms and in sentences; warnings and signs in capitals."""
import pathlib
import re

SMALL_WORDS = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "my", "of", "on", "or", "the", "to", "with", "your"}


def read(name):
    rows = pathlib.Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [tuple(row.split("\t")) for row in rows]


LABELS = read("labels.tsv")
SIGNS = read("signs.tsv")


def title_case(english):
    head, *rest = english.split(" ")
    return " ".join([head] + [word if word.lower() in SMALL_WORDS else word[:1].upper() + word[1:] for word in rest])


def capitals(german):
    return german.replace("ß", "SS").upper()


def in_sentences():
    """Returns the labels that can stand between quotation marks in a sentence."""
    return [(e, g) for e, g in LABELS if not re.search(r"[.?!]$", e) and len(e) > 2]


def menus():
    names = ("File", "Edit", "View", "Tools", "Insert", "Settings", "Options", "Help", "Window", "Format")
    return [entry for entry in LABELS if entry[0] in names]


TEMPLATES = """
Click "{label}". => Klicken Sie auf „{label}“.
Click on "{label}". => Klicken Sie auf „{label}“.
Press "{label}" to continue. => Drücken Sie auf „{label}“, um fortzufahren.
Tap "{label}". => Tippen Sie auf „{label}“.
Then click the "{label}" button. => Klicken Sie dann auf die Schaltfläche „{label}“.
Select "{label}" from the menu. => Wählen Sie im Menü „{label}“ aus.
Choose "{label}" in the "{menu}" menu. => Wählen Sie im Menü „{menu}“ den Befehl „{label}“.
The "{label}" button does not work. => Die Schaltfläche „{label}“ funktioniert nicht.
Where is the "{label}" button? => Wo ist die Schaltfläche „{label}“?
I can't find the "{label}" button. => Ich finde die Schaltfläche „{label}“ nicht.
{label} ({count}) => {label} ({count})
{label}: {count} => {label}: {count}
{count}. {label} => {count}. {label}
Please log out before you leave. => Bitte melden Sie sich ab, bevor Sie gehen.
Please log out when you have finished. => Bitte melden Sie sich ab, wenn Sie fertig sind.
Don't forget to log out. => Vergessen Sie nicht, sich abzumelden.
I can't log in. => Ich kann mich nicht anmelden.
I can't log in to my account. => Ich kann mich nicht bei meinem Konto anmelden.
You must sign in to write a comment. => Sie müssen sich anmelden, um einen Kommentar zu schreiben.
You have to log in first. => Sie müssen sich zuerst anmelden.
You are not signed in. => Sie sind nicht angemeldet.
Sign in with your username and password. => Melden Sie sich mit Ihrem Benutzernamen und Ihrem Passwort an.
To log out, click here. => Klicken Sie hier, um sich abzumelden.
You will be logged out in {count} minutes. => Sie werden in {count} Minuten abgemeldet.
You have {count} new messages. => Sie haben {count} neue Nachrichten.
You have {count} unread messages. => Sie haben {count} ungelesene Nachrichten.
{count} items in your cart => {count} Artikel in Ihrem Warenkorb
{count} results found => {count} Ergebnisse gefunden
{count} files selected => {count} Dateien ausgewählt
{count} files have been deleted. => {count} Dateien wurden gelöscht.
{count} photos were uploaded. => {count} Fotos wurden hochgeladen.
{count} minutes left => Noch {count} Minuten
{count} minutes ago => Vor {count} Minuten
{count} hours ago => Vor {count} Stunden
{count} days ago => Vor {count} Tagen
{count} comments => {count} Kommentare
{outof} => {outof}
Page {outof} => Seite {outof}
Step {outof} => Schritt {outof}
Downloading file {outof} => Datei {outof} wird heruntergeladen
Your password must have at least {small} characters. => Ihr Passwort muss mindestens {small} Zeichen haben.
Your password has been changed. => Ihr Passwort wurde geändert.
Your account has been created. => Ihr Konto wurde erstellt.
Your account has been deleted. => Ihr Konto wurde gelöscht.
Your settings have been saved. => Ihre Einstellungen wurden gespeichert.
Your session has expired. => Ihre Sitzung ist abgelaufen.
Your order has been placed. => Ihre Bestellung wurde aufgegeben.
The file could not be opened. => Die Datei konnte nicht geöffnet werden.
The file could not be saved. => Die Datei konnte nicht gespeichert werden.
The page could not be found. => Die Seite wurde nicht gefunden.
The username or password is incorrect. => Der Benutzername oder das Passwort ist falsch.
Please enter a valid date. => Bitte geben Sie ein gültiges Datum ein.
Please enter your phone number. => Bitte geben Sie Ihre Telefonnummer ein.
Please choose a stronger password. => Bitte wählen Sie ein stärkeres Passwort.
Please check your internet connection. => Bitte überprüfen Sie Ihre Internetverbindung.
Please restart your computer. => Bitte starten Sie Ihren Computer neu.
Please accept our terms and conditions. => Bitte akzeptieren Sie unsere Allgemeinen Geschäftsbedingungen.
A new version is available. => Eine neue Version ist verfügbar.
"""
def out_of(rng):
    """Returns "3 of 12"."""
    count = rng.randrange(2, 120)
    at = rng.randrange(1, count + 1)
    return f"{at} of {count}", f"{at} von {count}"


SLOTS = {"label": in_sentences(), "menu": menus(), "count": lambda rng: (lambda n: (str(n), str(n)))(rng.randrange(2, 120)), "outof": out_of}


def forms():
    """Yields each label as it is, with the capitals of a title, with a colon, in lower case, with dots, and in capitals."""
    for english, german in LABELS:
        yield english, german, "label"
        if title_case(english) != english:
            yield title_case(english), german, "label"
        if english[-1].isalnum():
            yield english + ":", german + ":", "label-form"
            if " " in english:  # a word alone in lower case is rather a word than a label
                if english.lower() != english:
                    yield english.lower(), german, "label-form"
                yield english + "...", german + " ...", "label-form"
        if len(english) > 3 and english.upper() != english:
            yield english.upper(), capitals(german), "capitals"
    for english, german in SIGNS:
        yield english, german, "sign"
        if not english.endswith(("!", ".", "?")):
            yield english + "!", german + "!", "sign"
        yield english.upper(), capitals(german), "capitals"
        if not english.endswith(("!", ".", "?")):
            yield english.upper() + "!", capitals(german) + "!", "capitals"
