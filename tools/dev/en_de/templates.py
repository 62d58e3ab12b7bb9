"""Fills templates of an English and a German sentence from lists of words.

A template is a line "ENGLISH => GERMAN". {slot} takes an entry of a list, the same one on both sides; {slot:b} takes
another entry of the same list. An entry is a pair (English, German), or (English, forms), where forms has the German in
several cases, and {slot.acc} takes one of them. [a|b] on either side takes one of the alternatives.
"""
import re

SLOT = re.compile(r"\{(\w+?)(?:\.(\w+))?(?::(\w+))?\}")
CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
# Words that begin with the letter of a vowel and the sound of a consonant, and the other way round.
AN = re.compile(r"\b([Aa]) (?=[aeioAEIO](?!uro|ne\b|ne-|nce)|u(?!ni|se|su)|hour|honest|8|11\b|18\b)")

ARTICLES = {
    "m": dict(nom="der", acc="den", dat="dem", ein="ein", einen="einen", einem="einem", zu="zum", an="am", im="im",
              ins="in den", bei="beim", von="vom", auf="auf dem"),
    "f": dict(nom="die", acc="die", dat="der", ein="eine", einen="eine", einem="einer", zu="zur", an="an der", im="in der",
              ins="in die", bei="bei der", von="von der", auf="auf der"),
    "n": dict(nom="das", acc="das", dat="dem", ein="ein", einen="ein", einem="einem", zu="zum", an="am", im="im",
              ins="ins", bei="beim", von="vom", auf="auf dem"),
    "p": dict(nom="die", acc="die", dat="den", ein="", einen="", einem="", zu="zu den", an="an den", im="in den",
              ins="in die", bei="bei den", von="von den", auf="auf den"),
}
DATIVE = {"dat", "einem", "zu", "an", "im", "bei", "von", "auf", "meinem", "ihrem", "deinem"}
ACCUSATIVE = {"acc", "einen", "ins", "meinen", "ihren", "deinen"}


def noun(english, gender, german, dative=None, accusative=None):
    """Returns an entry with a noun's forms: with its articles, with prepositions, with possessives, and bare.

    dative and accusative are the noun itself in these cases where it changes (den Kollegen, den Kindern).
    """
    forms = {}
    articles = dict(ARTICLES[gender])
    for owner, stem in (("mein", "mein"), ("ihr", "Ihr"), ("dein", "dein")):
        ending = {"m": ("", "en", "em"), "f": ("e", "e", "er"), "n": ("", "", "em"), "p": ("e", "e", "en")}[gender]
        articles |= {owner: stem + ending[0], owner + "en": stem + ending[1], owner + "em": stem + ending[2]}
    for case, article in articles.items():
        word = (dative or german) if case in DATIVE else (accusative or german) if case in ACCUSATIVE else german
        forms[case] = f"{article} {word}".strip()
    forms["bare"] = german
    forms["next"] = f"{articles['nom']} nächste {german}"
    forms["rel"] = {"m": "er", "f": "sie", "n": "es", "p": "sie"}[gender]
    return english, forms


def nouns(text):
    """Reads nouns from lines "ENGLISH = m GERMAN[, DATIVE[, ACCUSATIVE]]"."""
    entries = []
    for line in text.strip().splitlines():
        english, german = line.split(" = ")
        gender, words = german.split(" ", 1)
        entries.append(noun(english.strip(), gender, *words.split(", ")))
    return entries


def words(text):
    """Reads entries from lines "ENGLISH = GERMAN", or of several such between semicolons."""
    entries = []
    for part in text.split(";") if ";" in text else text.splitlines():
        if part.strip():
            english, german = part.split("=")
            entries.append((" ".join(english.split()), " ".join(german.split())))
    return entries


def same(text):
    """Returns entries of names, which are the same in both languages."""
    return [(name.strip(), name.strip()) for name in text.replace("\n", " ").split(",")]


def capitalized(sentence):
    return sentence[:1].upper() + sentence[1:]


def polish(english, german):
    """Corrects what depends on neighbouring words: an, two full stops, the comma behind "am Dienstag, dem 5. Mai"."""
    english = AN.sub(r"\1n ", english)
    english = re.sub(r"\b([ap]\.m\.)\.", r"\1", english)
    english = re.sub(r"\b(Mr|Mrs|Ms|Dr|St)\.\.", r"\1.", english)
    german = re.sub(r"(\w+(?:tag|woch), de[mnr] \d+\. \w+(?: \d{4})?) (?=[^\W\d])", r"\1, ", german)
    german = re.sub(r"(?<=\d)\.\.|(?<=\bStr)\.\.|(?<=Mio)\.\.", ".", german)
    return english, re.sub(" +", " ", german)


def pick(rng, slots, name):
    source = slots[name]
    return source(rng) if callable(source) else rng.choice(source)


def form(entry, case):
    """Returns the German of an entry, in a case where it has several forms."""
    german = entry[1]
    if isinstance(german, dict):
        return german[case or "nom"]
    if case:
        raise KeyError(f"{entry[0]!r} has no form {case}")
    return german


def fill(rng, template, slots, lower=False):
    """Returns (English, German) of a template with random entries; lower: neither begins a sentence."""
    chosen = {}

    def entry(match):
        key = (match[1], match[3])
        for _ in range(20):
            if key in chosen:
                break
            new = pick(rng, slots, match[1])
            if new not in [e for (name, _), e in chosen.items() if name == match[1]]:
                chosen[key] = new
        else:
            raise ValueError(f"{template}: no further entry for {key}")
        return chosen[key]

    english, german = template.split(" => ")
    english, german = (CHOICE.sub(lambda m: rng.choice(m[1].split("|")), side) for side in (english, german))
    big = english[0] == "{" or english[:1].isupper()
    english = SLOT.sub(lambda m: entry(m)[0], english)
    german = SLOT.sub(lambda m: form(entry(m), m[2]), german)
    if big and not lower:
        english, german = capitalized(english), capitalized(german)
    return polish(english, german)


def size(template, slots):
    """Returns about how many pairs a template can give."""
    english = template.split(" => ")[0]
    count = 1
    for match in CHOICE.finditer(english):
        count *= match[1].count("|") + 1
    for name in {(m[1], m[3]) for m in SLOT.finditer(english)}:
        count *= 300 if callable(slots[name[0]]) else len(slots[name[0]])
    return count


def expand(rng, text, slots, most):
    """Yields up to `most` different pairs of each template in the lines of a text."""
    for template in text.strip().splitlines():
        if not template.strip() or template.startswith("#"):
            continue
        seen = set()
        wanted = min(most, size(template, slots))
        for _ in range(3 * wanted):
            pair = fill(rng, template.strip(), slots)
            if pair not in seen:
                seen.add(pair)
                yield pair
            if len(seen) >= wanted:
                break
