"""Languages and sentences of texts."""

from collections.abc import Sequence
from functools import lru_cache

from nibu import _nibu

_detector = lru_cache(maxsize=16)(_nibu.LanguageDetector)
_splitter = lru_cache(maxsize=16)(_nibu.SentenceSplitter)


def detect(text: str | bytes, among: Sequence[str] = (), *, markup: str = "none") -> list[tuple[str, float]]:
    """Returns the languages that a text may be in, the most probable first, each with its probability.

    `among` has the codes of the languages to choose from; a short list helps with short texts. An empty one stands
    for all that are known. The list is empty where nothing can be told, as for a text without letters.
    """
    if isinstance(among, str):
        raise TypeError("among must be a list of languages")
    return _detector(tuple(among)).detect(text, markup)


def split_sentences(text: str | bytes, language: str = "en") -> list[str]:
    """Returns the sentences of a text, as a Translator splits it. What is between them is white space."""
    return _splitter(language).split(text)


def language_name(code: str) -> str:
    """Returns the English name of a language, for example German for de or deu."""
    return _nibu.language_name(code)
