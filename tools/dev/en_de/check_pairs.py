"""Checks a file of pairs.py: check_pairs.py PAIRS.tsv

Fails if an English line comes twice, if a line of held_out.tsv (whatever its capitals and punctuation) or one that is too
close to it is among them, if
a pair has more than 60 words, if a template left a bracket or two spaces, or if both sides have different digits where
the German keeps them (it changes hours of the afternoon, months and the marks in numbers).
"""
import re
import sys

from pairs import HeldOut


def faults(rows):
    held_out = HeldOut()
    seen = set()
    for english, german, _ in rows:
        if english in seen:
            yield f"twice: {english}"
        seen.add(english)
        if held_out.forbids(english):
            yield f"held out: {english}"
        if max(len(english.split()), len(german.split())) > 60 or not german:
            yield f"length: {english} => {german}"
        if re.search(r"[{}\[\]|]|  ", english + german) or english != english.strip() or german != german.strip():
            yield f"left over: {english} => {german}"
        if not re.search(r"\d[ap]m|[ap]\.?m\b|/|noon|midnight", english, re.I):
            if sorted(re.findall(r"\d", english)) != sorted(re.findall(r"\d", german)):
                yield f"digits: {english} => {german}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    found = list(faults(rows))
    print("\n".join(found[:20] + [f"{len(rows)} pairs, {len(found)} faults"]))
    sys.exit(bool(found))


main()
