#!/usr/bin/env python3
"""Writes English and German pairs for the bundled model, made of the templates and lists beside this file.

  pairs.py OUT.tsv [--seed=N]

Each line of OUT.tsv has the English, the German and the kind of the pair, between tabs; mix.py gives each kind its share.
No English line comes twice. No line of held_out.tsv is among them, whatever its capitals and punctuation, and none that
differs in one word from a held-out line of five words or more. The same seed gives the same pairs.
"""
import argparse
import collections
import random
import re

import amounts
import directions
import doctors
import everyday
import hours_and_days
import judge
import labels
import letters
import moments
import names
import restaurants
import shopping
import talk
import travel
from templates import expand

BASE = names.SLOTS | moments.SLOTS | amounts.SLOTS
# Kind, templates, slots, the most pairs of one template.
SOURCES = [
    ("fixed", letters.TEMPLATES_FIXED, letters.slots(BASE), 60),
    ("salutation", letters.TEMPLATES_SALUTATIONS, letters.slots(BASE), 150),
    ("letter", letters.TEMPLATES_CLOSINGS, letters.slots(BASE), 300),
    ("letter", letters.TEMPLATES_OPENINGS, letters.slots(BASE), 300),
    ("letter", letters.TEMPLATES_BODY, letters.slots(BASE), 100),
    ("ui", labels.TEMPLATES, BASE | labels.SLOTS, 200),
    ("time", hours_and_days.TEMPLATES, BASE | hours_and_days.SLOTS, 100),
    ("amount", amounts.TEMPLATES, BASE, 110),
    ("directions", directions.TEMPLATES, BASE | directions.SLOTS, 100),
    ("restaurant", restaurants.TEMPLATES, BASE | restaurants.SLOTS, 100),
    ("doctor", doctors.TEMPLATES, BASE | doctors.SLOTS, 100),
    ("travel", travel.TEMPLATES, BASE | travel.SLOTS, 100),
    ("shopping", shopping.TEMPLATES, BASE | shopping.SLOTS, 100),
    ("talk", talk.TEMPLATES, BASE | talk.SLOTS, 80),
    ("everyday", everyday.TEMPLATES, BASE | everyday.SLOTS, 80),
]
# The longest English line, in words.
LONGEST = 60


def key(english):
    """Returns a line without capitals and punctuation, to compare it with those of held_out.tsv."""
    return " ".join(re.findall(r"\w+", english.lower()))


class HeldOut:
    """The lines that no pair may have, and those of five words or more from which it must differ in two words."""

    def __init__(self):
        self.lines = {key(english) for _, english, _ in judge.cases()}
        self.patterns = {pattern for line in self.lines if len(line.split()) >= 5 for pattern in without_a_word(line)}

    def forbids(self, english):
        line = key(english)
        return line in self.lines or not self.patterns.isdisjoint(without_a_word(line))


def without_a_word(line):
    """Returns a line once for each of its words, with a mark in its place."""
    parts = line.split()
    return [" ".join(parts[:i] + ["*"] + parts[i + 1:]) for i in range(len(parts))]


def made(seed):
    """Yields (English, German, kind), the same English possibly more than once."""
    for english, german, kind in labels.forms():
        yield english, german, kind
    for english, german in labels.read("phrases.tsv"):
        yield english, german, "phrase"
    for number, (kind, templates, slots, most) in enumerate(SOURCES):
        for english, german in expand(random.Random(seed * 1000 + number), templates, slots, most):
            yield english, german, kind


def typographic(english):
    """Returns a line with typographic apostrophes and quotation marks."""
    english = re.sub(r"(?<=\w)'", "’", english)
    return re.sub(r'"([^"]*)"', r"“\1”", english)


def pairs(seed):
    """Returns {English: (German, kind)} without the lines that are held out."""
    held_out = HeldOut()
    chosen, rng = {}, random.Random(seed)
    for english, german, kind in made(seed):
        if not held_out.forbids(english) and len(english.split()) <= LONGEST:
            if rng.random() < 0.2:
                english = typographic(english)
            chosen.setdefault(english, (german, kind))
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chosen = pairs(arguments.seed)
    with open(arguments.out, "w", encoding="utf-8") as file:
        for english, (german, kind) in chosen.items():
            file.write(f"{english}\t{german}\t{kind}\n")
    kinds = collections.Counter(kind for _, kind in chosen.values())
    skeletons = sum(len(templates.strip().splitlines()) for _, templates, _, _ in SOURCES)
    print(f"{len(chosen)} pairs of {skeletons} templates, {len(labels.LABELS)} labels and {len(labels.SIGNS)} signs: "
          + ", ".join(f"{kind} {count}" for kind, count in kinds.items()))


if __name__ == "__main__":
    main()
