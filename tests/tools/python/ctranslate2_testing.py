"""Helpers of the tests of nibu.ctranslate2: arguments, the model, and sentences in its tokens.

Arguments: NIBU_TRANSLATE TESTDATA [SHARED]. The model is the bundled one in CTranslate2's format, which
ctranslate2_model.py writes.
"""

import json
import os
import pathlib
import sys
import tempfile

import ctranslate2_model

TESTDATA = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2] / "testdata")
SHARED = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
BUNDLED = pathlib.Path(__file__).parents[3] / "models" / "pretrained" / "en-de"

DOGS = "▁Two ▁dogs ▁are ▁playing ▁in ▁the ▁snow .".split()
HUNDE = "▁Zwei ▁Hunde ▁spielen ▁im ▁Schnee .".split()
MAN = "▁A ▁man ▁is ▁playing ▁guitar .".split()
MANN = "▁Ein ▁Mann ▁spielt ▁Gitarre .".split()

folder = tempfile.TemporaryDirectory(prefix="nibu-ctranslate2-")
ids = json.loads((BUNDLED / "vocab.json").read_text(encoding="utf-8"))
TOKENS = [token for token, _ in sorted(ids.items(), key=lambda item: item[1]) if token != "<pad>"]
MODEL = ctranslate2_model.write(BUNDLED, os.path.join(folder.name, "en-de"), TOKENS)


def path_of(name):
    return os.path.join(folder.name, name)


def with_shortlist(name, tokens):
    """The model with a vmap.txt of these tokens for all sources."""
    return ctranslate2_model.write(BUNDLED, path_of(name), TOKENS, "\t" + " ".join(tokens) + "\n")


def best(results):
    return [result.hypotheses[0] for result in results]
