#!/usr/bin/env python3
"""Counts which translations of held_out.tsv are right, and prints the wrong ones.

  judge.py inputs                the English lines of held_out.tsv, for nibu-translate --src
  judge.py TRANSLATIONS [-v]     a file with one translation in each line; -v prints the right ones, too
  judge.py table TRANSLATIONS    the rows of a table for the model's card

Each row of held_out.tsv has a kind, an English line, and what counts as right: German lines, or behind ~ a Python
regular expression that has to match the whole line. No-break spaces count as spaces. The exit status is 1 if fewer than
NEEDED are right.
"""
import collections
import pathlib
import re
import sys

NEEDED = 100
HELD_OUT = pathlib.Path(__file__).with_name("held_out.tsv")


def cases():
    """Returns (kind, English, what counts as right) for each row."""
    rows = [line.split("\t") for line in HELD_OUT.read_text(encoding="utf-8").splitlines()]
    return [(row[0], row[1], row[2:]) for row in rows]


def is_right(german, answers):
    german = re.sub("[\u00a0\u202f]", " ", german).strip()
    return any(re.fullmatch(answer[1:], german) if answer.startswith("~") else answer == german for answer in answers)


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    if arguments == ["inputs"]:
        print("\n".join(english for _, english, _ in cases()))
        return 0
    if len(arguments) not in (1, 2) or arguments[:-1] not in ([], ["table"]):
        sys.exit(__doc__)
    translations = pathlib.Path(arguments[-1]).read_text(encoding="utf-8").splitlines()
    held_out = cases()
    if len(translations) != len(held_out):
        sys.exit(f"{arguments[-1]} has {len(translations)} lines, held_out.tsv {len(held_out)}")
    right, total = collections.Counter(), collections.Counter()
    for (kind, english, answers), german in zip(held_out, translations):
        good = is_right(german, answers)
        right[kind] += good
        total[kind] += 1
        if len(arguments) == 2:
            print(f"| {english} | {german} | {'' if good else 'wrong'} |")
        elif not good or "-v" in sys.argv:
            print(f"{'right' if good else 'wrong'}  {kind}: {english}  ->  {german}")
    if len(arguments) == 1:
        print(", ".join(f"{kind} {right[kind]}/{total[kind]}" for kind in total))
        print(f"{sum(right.values())} of {sum(total.values())} right")
    return 0 if sum(right.values()) >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
