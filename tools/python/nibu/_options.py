"""The options that keyword arguments name, and how they are sorted."""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, TypeVar

from nibu import _nibu


class Options(TypedDict, total=False):
    """Options of translation, as keyword arguments. `nibu.options()` has their help and default values."""

    # Languages and text.
    src_lang: str
    tgt_lang: str
    text: Literal["lines", "paragraphs", "document"]
    markup: Literal["none", "html", "xml"]
    markup_attributes: bool
    wrap: int
    tokenized: bool
    split_sentences: bool
    split_language: str
    protect: str
    protect_pattern: str
    # Phrases of the source, and those that are to stand for them in the translation. Needs a beam.
    glossary: Mapping[str, str] | Sequence[tuple[str, str]]
    # Lengths.
    min_decoding_length: int
    max_decoding_length: int
    max_input_length: int
    long_input: Literal["split", "truncate", "error"]
    # Search.
    beam_size: int
    patience: float
    num_hypotheses: int
    search_compat: Literal["nibu", "ctranslate2", "marian", "huggingface"]
    length_penalty: float
    word_penalty: float
    coverage_penalty: float
    repetition_penalty: float
    no_repeat_ngram_size: int
    disable_unk: bool
    on_repetition: Literal["keep", "retry"]
    suppress_sequences: str | Sequence[str]
    end_token: str | Sequence[str]
    prefix_bias_beta: float
    return_alternatives: bool
    min_alternative_expansion_prob: float
    sampling_topk: int
    sampling_topp: float
    sampling_temperature: float
    seed: int
    # Result.
    replace_unknowns: bool
    alignment: Literal["none", "hard", "soft"]
    alignment_level: Literal["pieces", "words"]
    alignment_layer: int
    alignment_heads: int
    # False spares greedy search some work: its scores are sums of logits then, not of log-probabilities.
    return_scores: bool


class ModelOptions(TypedDict, total=False):
    """Options of a model that is loaded."""

    compute_type: Literal["auto", "float32", "bfloat16", "int8", "int4"]
    sentencepiece: str | PathLike[str]
    shortlist: str | PathLike[str]
    pivot: str
    draft_model: str | PathLike[str]
    encoder_attention: str
    cross_attention: str
    ensemble_weights: str | Sequence[float]
    # Languages of a multilingual model are tokens that sources and prefixes have to have, as in CTranslate2.
    languages_as_tokens: bool


class AllOptions(Options, ModelOptions, total=False):
    """Those, and the options of translation and threads: what a Translator takes when it is made."""

    threads: int
    batch_size: int
    batch_type: Literal["examples", "tokens"]
    matmul: Literal["auto", "onednn"]
    queue_size: int


_TABLE = _nibu.option_table()
_KINDS: dict[str, str] = {row["name"]: row["of"] for row in _TABLE} | {
    "glossary": "text",
    "return_scores": "text",
    "languages_as_tokens": "model",
}


def options() -> list[dict[str, Any]]:
    """Returns the options: for each a dict of name, help, group, type, values, default, and `of`.

    `of` is "text" for options of translation, "model" and "speed" for those that a Translator takes when it is made.
    """
    return [dict(row) for row in _TABLE]


_F = TypeVar("_F", bound=Callable[..., Any])


def with_options(*kinds: str) -> Callable[[_F], _F]:
    """Names the options of these kinds one by one in a function's signature, which shells and notebooks complete."""

    def sign(function: _F) -> _F:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        types = {**Options.__annotations__, **AllOptions.__annotations__}
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=types[name])
            for name, kind in _KINDS.items()
            if kind in kinds
        ]
        function.__signature__ = signature.replace(parameters=own + named)  # type: ignore[attr-defined]
        return function

    return sign


def sort_options(named: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns options by kind: "model", "speed" and "text". TypeError: there is no such option."""
    sorted_options: dict[str, dict[str, Any]] = {"model": {}, "speed": {}, "text": {}}
    for name, value in named.items():
        if name not in _KINDS:
            close = difflib.get_close_matches(name, _KINDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else "; nibu.options() lists them"
            raise TypeError(f"there is no option {name}{hint}")
        sorted_options[_KINDS[name]][name] = value
    return sorted_options
