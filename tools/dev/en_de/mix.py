"""Adds the pairs of pairs.py to the token ids and the order that the kit's prep2.py made of the corpus.

  mix.py CORPUS_WORK PAIRS.tsv WORK

WORK gets ids.npy, starts.npy, order.i32 and joint.model; lex.npy, the lexical table of the corpus from which the trainer
aligns words for the guided head, and state.raw are linked. Prints how many target tokens each kind has in a pass, and
their share. Fails if a pair has a piece <unk>.
"""
import collections
import os
import random
import shutil
import sys

import numpy
import sentencepiece

# How often a pass over the order has a pair of each kind; short lines have few tokens and need more. The trainer sees
# about one pass.
TIMES = {"fixed": 12, "label": 12, "sign": 8, "phrase": 6, "label-form": 2, "capitals": 3, "salutation": 1, "letter": 1, "ui": 1, "time": 0.7,
         "amount": 0.7, "directions": 2, "restaurant": 3, "doctor": 3, "travel": 1.5, "shopping": 1, "talk": 3, "everyday": 1.5}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    corpus, path, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    processor = sentencepiece.SentencePieceProcessor(model_file=corpus + "/joint.model")
    starts = numpy.load(corpus + "/starts.npy")
    order = numpy.fromfile(corpus + "/order.i32", numpy.int32)
    targets = starts[2::2] - starts[1::2]
    rng = random.Random(1)
    ids, ends, more, tokens, at = [], [], [], collections.Counter(), int(starts[-1])
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    for number, (english, german, kind) in enumerate(rows):
        for text in (english, german):
            pieces = processor.encode(text)
            if processor.unk_id() in pieces:
                sys.exit(f"{text!r} has a character that the vocabulary lacks")
            ids.append(numpy.array(pieces + [processor.piece_to_id("</s>")], numpy.uint16))
            at += len(pieces) + 1
            ends.append(at)
        copies = int(TIMES[kind]) + (rng.random() < TIMES[kind] % 1)
        more += [len(targets) + number] * copies
        tokens[kind] += copies * len(ids[-1])
    numpy.save(work + "/ids.npy", numpy.concatenate([numpy.load(corpus + "/ids.npy"), *ids]))
    numpy.save(work + "/starts.npy", numpy.concatenate([starts, numpy.array(ends, numpy.int64)]))
    numpy.concatenate([order, numpy.array(more, numpy.int32)]).tofile(work + "/order.i32")
    shutil.copy(corpus + "/joint.model", work + "/joint.model")
    for name in ("lex.npy", "state.raw"):
        if os.path.lexists(f"{work}/{name}"):
            os.remove(f"{work}/{name}")
        os.link(f"{corpus}/{name}", f"{work}/{name}")
    if os.path.exists(work + "/al.u8"):
        os.remove(work + "/al.u8")  # the trainer makes it, and would take one of other ids
    ours, theirs = sum(tokens.values()), int(targets[order].sum())
    print({kind: round(count / 1000) for kind, count in tokens.items()}, "thousand target tokens")
    print(f"{ours / 1e6:.2f} M of {(ours + theirs) / 1e6:.2f} M target tokens in a pass, {100 * ours / (ours + theirs):.1f} %")


main()
