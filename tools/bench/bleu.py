#!/usr/bin/env python3
"""Corpus BLEU of a translation against one reference.

Papineni et al. 2002 as the WMT evaluations compute it and sacrebleu reports it (Post 2018): the "13a"
tokenizer, case kept, 4-grams, and for each order without a match the exponential smoothing of
mteval-v13a.pl.
"""

import argparse
import collections
import dataclasses
import math
import re
import sys

MAX_ORDER = 4

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
# ASCII punctuation and symbols but for ' , - and the full stop.
_SYMBOL = re.compile(r"([!-&(-+/:-@\[-`{-~])")
_MARK_AFTER_NO_DIGIT = re.compile(r"([^0-9])([.,])")
_MARK_BEFORE_NO_DIGIT = re.compile(r"([.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")


def tokenize(line):
    """The tokens of a segment, by the language-independent rules of mteval-v13a.pl."""
    text = line.replace("<skipped>", "")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    text = f" {text} "
    text = _SYMBOL.sub(r" \1 ", text)
    # Full stops and commas belong to a number when digits are on both sides.
    text = _MARK_AFTER_NO_DIGIT.sub(r"\1 \2 ", text)
    text = _MARK_BEFORE_NO_DIGIT.sub(r" \1 \2", text)
    text = _DASH_AFTER_DIGIT.sub(r"\1 \2 ", text)
    return text.split()


@dataclasses.dataclass
class Bleu:
    """Score and precisions are in percent."""

    score: float
    precisions: list
    brevity_penalty: float
    hypothesis_tokens: int
    reference_tokens: int

    def __str__(self):
        precisions = "/".join(f"{p:.1f}" for p in self.precisions)
        return (f"BLEU = {self.score:.2f} {precisions} (BP = {self.brevity_penalty:.3f}, "
                f"hypothesis {self.hypothesis_tokens}, reference {self.reference_tokens} tokens)")


def _ngrams(tokens, order):
    return collections.Counter(
        tuple(tokens[i:i + order]) for i in range(len(tokens) - order + 1))


def corpus_bleu(hypotheses, references):
    """BLEU of a list of segments against as many references."""
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references")
    matches = [0] * MAX_ORDER
    totals = [0] * MAX_ORDER
    hypothesis_tokens = reference_tokens = 0
    for hypothesis, reference in zip(hypotheses, references):
        ours, theirs = tokenize(hypothesis), tokenize(reference)
        hypothesis_tokens += len(ours)
        reference_tokens += len(theirs)
        for order in range(1, MAX_ORDER + 1):
            found = _ngrams(ours, order)
            matches[order - 1] += (found & _ngrams(theirs, order)).total()
            totals[order - 1] += found.total()

    precisions = []
    unmatched = 1
    for match, total in zip(matches, totals):
        if match == 0:
            unmatched *= 2  # the k-th order without a match counts as 1 / 2^k matches
        precisions.append(100 * (match or 1 / unmatched) / total if total else 0.0)
    if hypothesis_tokens == 0:
        penalty = 0.0
    else:
        penalty = min(1.0, math.exp(1 - reference_tokens / hypothesis_tokens))
    score = 0.0
    if any(matches) and all(precisions):
        score = penalty * math.exp(sum(math.log(p) for p in precisions) / MAX_ORDER)
    return Bleu(score, precisions, penalty, hypothesis_tokens, reference_tokens)


def read_lines(path):
    """The lines of a UTF-8 file as nibu-translate counts them: ended by LF alone."""
    with open(path, encoding="utf-8", newline="\n") as file:
        try:
            return [line.rstrip("\r\n") for line in file]
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not UTF-8 text ({error})") from error


def main():
    parser = argparse.ArgumentParser(
        description="Corpus BLEU (13a tokenizer, exponential smoothing, case kept).")
    parser.add_argument("hypothesis", help="translation, a segment a line")
    parser.add_argument("reference", help="reference, line by line with the translation")
    arguments = parser.parse_args()
    try:
        print(corpus_bleu(read_lines(arguments.hypothesis), read_lines(arguments.reference)))
    except (OSError, ValueError) as error:
        print(f"bleu.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
