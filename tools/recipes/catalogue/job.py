"""What the command line asks for, IN OUT PROGRAM [--mark_fuzzy] [flags], and what all formats need."""

import gettext
import re
import sys

from messages import Message, arguments
from translate.lang import data

source, target, program, *flags = sys.argv[1:]
mark_fuzzy = "--mark_fuzzy" in flags
flags = [flag for flag in flags if flag != "--mark_fuzzy"]


def say(kind, what):
    print(f"catalogue.sh: {kind}: {what}", file=sys.stderr)


def fail(what, status=1):
    say("error", f"{source} {what}")
    sys.exit(status)


class Item:
    """A message with the texts of all its plural forms. put: gets their translations, if all are there."""

    def __init__(self, texts, put, may_number=True, escape=False):
        self.name, self.put, self.is_done = texts[0], put, False
        self.messages = [Message(text, may_number, escape) for text in texts] if put else []

    def finish(self):
        self.is_done = bool(self.messages) and all(message.translation is not None for message in self.messages)
        if self.is_done:
            self.put([message.translation for message in self.messages])


def language(said=None):
    """Returns the language to translate to: --tgt_lang, or what the file says, or the name of OUT (de.json)."""
    given = [flag.split("=", 1)[1] for flag in flags if re.match(r"--?tgt_lang=", flag)]
    named = re.search(r"(?:^|[/._-])([a-z]{2,3}(?:[-_][A-Z]{2})?)\.\w+$", target)
    named = named[1] if named and named[1][:3].rstrip("-_") in data.languages else None
    return given[-1] if given else said or named


def plural_rule(code):
    """Returns the number of plural forms of a language, and the function from a number to its form; or None twice."""
    name = (code or "").replace("-", "_")
    known = data.languages.get(name) or data.languages.get(name.split("_")[0])
    return (known[1], gettext.c2py(known[2])) if known else (None, None)


def form_texts(count, rule, one, other):
    """Returns the text for each plural form. The form of 1 gets the singular, unless other numbers have that form, too,
    and the singular does not say the number ("Delete this file")."""
    is_alone = sum(rule(n) == rule(1) for n in range(1000)) == 1
    first = one if count > 1 and (is_alone or arguments(one) == arguments(other)) else other
    return [first if form == rule(1) else other for form in range(count)]
