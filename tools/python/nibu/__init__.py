"""nibu: Transformer translation on CPUs.

    import nibu

    translator = nibu.Translator("models/opus-mt-en-de")
    print(translator.translate("Hello world!"))
    print(translator(["Hello world!", "How are you?"]))  # a list of str

A Translator loads a model, whose threads translate for any number of Python threads. Options are keyword
arguments and have the names of the command line's flags: `translator.translate(text, beam_size=2)`; `options()`
lists them. Texts are str or bytes. Bytes that are not UTF-8 are treated as unknown characters.

The package `nibu.ctranslate2` has the names and the behaviour of CTranslate2's Python package.
"""

from nibu._languages import detect, language_name, split_sentences
from nibu._models import download
from nibu._nibu import Hypothesis, Model, Step, __version__
from nibu._options import Options, options
from nibu._results import Future, Result
from nibu._translator import Translator

__all__ = [
    "Future",
    "Hypothesis",
    "Model",
    "Options",
    "Result",
    "Step",
    "Translator",
    "__version__",
    "detect",
    "download",
    "language_name",
    "options",
    "split_sentences",
]
