"""Helpers of the tests of nibu.ctranslate2: arguments, the model, and sentences in its tokens.

Arguments: NIBU_TRANSLATE CAPTIONS_MODEL TESTDATA [SHARED]. MODEL is the captions model in CTranslate2's
format, which ctranslate2_model.py writes.
"""

import json
import os
import pathlib
import sys
import tempfile

import ctranslate2_model

CAPTIONS_MODEL, TESTDATA = map(pathlib.Path, sys.argv[2:4])
SHARED = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None

DOGS = "▁Two ▁dogs ▁are ▁playing ▁in ▁the ▁snow .".split()
HUNDE = "▁Zwei ▁Hunde ▁spielen ▁im ▁Schnee .".split()
MAN = "▁A ▁man ▁is ▁playing ▁guitar .".split()
MANN = "▁Ein ▁Mann ▁spielt ▁Gitarre .".split()

folder = tempfile.TemporaryDirectory(prefix="nibu-ctranslate2-")
ids = json.loads((CAPTIONS_MODEL / "vocab.json").read_text(encoding="utf-8"))
TOKENS = [token for token, _ in sorted(ids.items(), key=lambda item: item[1]) if token != "<pad>"]
MODEL = ctranslate2_model.write(CAPTIONS_MODEL, os.path.join(folder.name, "en-de"), TOKENS)


def path_of(name):
    return os.path.join(folder.name, name)


def with_shortlist(name, tokens):
    """The model with a vmap.txt of these tokens for all sources."""
    return ctranslate2_model.write(CAPTIONS_MODEL, path_of(name), TOKENS, "\t" + " ".join(tokens) + "\n")


def best(results):
    return [result.hypotheses[0] for result in results]
