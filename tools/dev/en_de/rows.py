"""Writes the texts of the rows of the bundled model's card: rows.py TRAIN OUT

OUT gets SOURCE.en and SOURCE.de for each source of TRAIN/dev.tsv, and all.en and all.de, without the pairs of which
TRAIN/corpus has either side, whatever its capitals and punctuation.
"""
import glob
import lzma
import re
import sys


def key(text):
    return re.sub(r"[\W_]+", " ", text.lower()).strip()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    train, out = sys.argv[1:]
    known = set()
    for path in glob.glob(train + "/corpus/*.tsv.xz"):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            known.update(key(side) for line in file for side in line.rstrip("\n").split("\t"))
    kept = {}
    with open(train + "/dev.tsv", encoding="utf-8") as file:
        for line in file:
            source, english, german = line.rstrip("\n").split("\t")
            if key(english) not in known and key(german) not in known:
                kept.setdefault(source, []).append((english, german))
    kept["all"] = [pair for pairs in kept.values() for pair in pairs]
    for source, pairs in kept.items():
        for side, name in enumerate(("en", "de")):
            with open(f"{out}/{source}.{name}", "w", encoding="utf-8") as file:
                file.writelines(pair[side] + "\n" for pair in pairs)
    print({source: len(pairs) for source, pairs in kept.items()})


main()
