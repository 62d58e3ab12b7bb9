"""The options of a search: CTranslate2's names, defaults and rules, and what nibu's options are for them."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from ._arguments import EndToken

_MOST_INPUT = 1024


class TokenOptions(TypedDict, total=False):
    """The options of generate_tokens."""

    max_decoding_length: int
    min_decoding_length: int
    sampling_topk: int
    sampling_topp: float
    sampling_temperature: float
    repetition_penalty: float
    no_repeat_ngram_size: int
    disable_unk: bool
    suppress_sequences: list[list[str]] | None
    end_token: EndToken | None
    max_input_length: int
    use_vmap: bool


class FileOptions(TokenOptions, total=False):
    """The options of translate_file."""

    beam_size: int
    patience: float
    num_hypotheses: int
    length_penalty: float
    coverage_penalty: float
    prefix_bias_beta: float
    replace_unknowns: bool


class SearchOptions(FileOptions, total=False):
    """The options of translate_batch."""

    return_end_token: bool
    return_scores: bool
    return_logits_vocab: bool
    return_attention: bool
    return_alternatives: bool
    min_alternative_expansion_prob: float
    callback: Callable[[Any], Any] | None


DEFAULTS: SearchOptions = {
    "max_decoding_length": 256, "min_decoding_length": 1, "sampling_topk": 1, "sampling_topp": 1.0,
    "sampling_temperature": 1.0, "repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "disable_unk": False,
    "suppress_sequences": None, "end_token": None, "max_input_length": 1024, "use_vmap": False,
    "beam_size": 2, "patience": 1.0, "num_hypotheses": 1, "length_penalty": 1.0, "coverage_penalty": 0.0,
    "prefix_bias_beta": 0.0, "replace_unknowns": False,
    "return_end_token": False, "return_scores": False, "return_logits_vocab": False, "return_attention": False,
    "return_alternatives": False, "min_alternative_expansion_prob": 0.0, "callback": None,
}

# Options that nibu has, too, with the same meaning.
_SAME = ("max_decoding_length", "min_decoding_length", "repetition_penalty", "no_repeat_ngram_size", "disable_unk",
         "beam_size", "patience", "num_hypotheses", "length_penalty", "coverage_penalty", "replace_unknowns",
         "return_scores", "return_alternatives")


def is_sampling(options: Mapping[str, Any]) -> bool:
    """Returns whether tokens are drawn at random."""
    return bool(options["sampling_topk"] != 1 and options["sampling_temperature"] != 0)


def check(options: Mapping[str, Any]) -> None:
    """Raises ValueError where CTranslate2's options make no sense together, or are not supported.

    nibu checks the others, and their ranges.
    """
    most = max(1, int(options["beam_size"] * options["patience"] + 0.5))
    has_any_number = options["return_alternatives"] or (options["beam_size"] == 1 and options["sampling_topk"] != 1)
    has_callback = options["callback"] is not None
    wrong = {
        f"num_hypotheses = {options['num_hypotheses']} is greater than beam_size * patience = {most}":
            options["num_hypotheses"] > most and not has_any_number,
        f"min_decoding_length = {options['min_decoding_length']} is greater than the maximum decoding length, "
        f"{options['max_decoding_length']}": options["min_decoding_length"] > options["max_decoding_length"],
        "patience must be > 0": options["patience"] <= 0,
        "prefix_bias_beta must be < 1": options["prefix_bias_beta"] >= 1,
        "prefix_bias_beta does not go with return_alternatives":
            options["prefix_bias_beta"] > 0 and options["return_alternatives"],
        "sampling_topp must be more than 0 and at most 1": not 0 < options["sampling_topp"] <= 1,
        "callback goes neither with beam_size > 1 nor with prefix_bias_beta > 0":
            has_callback and (options["beam_size"] != 1 or options["prefix_bias_beta"] > 0),
        "callback does not go with return_alternatives here": has_callback and options["return_alternatives"],
        "suppress_sequences has a token that is empty or has blanks, which is in no vocabulary":
            any(token.split() != [token] for sequence in options["suppress_sequences"] or [] for token in sequence),
        "return_logits_vocab is not supported: nibu does not hand out the logits of the whole vocabulary":
            options["return_logits_vocab"],
        "return_attention with return_end_token is not supported: the end token has no attention here":
            options["return_attention"] and options["return_end_token"],
    }
    for message, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(message)


def nibu_options(options: Mapping[str, Any], longest: int, has_prefix: bool) -> dict[str, Any]:
    """Returns nibu's options for these, without the seed and the end tokens.

    `longest` is the number of tokens of the longest source. Without a prefix, prefix_bias_beta does not count.
    """
    found: dict[str, Any] = {
        **token_options(longest),
        **{name: options[name] for name in _SAME},
        "word_penalty": 0.0,
    }
    if options["prefix_bias_beta"] > 0 and has_prefix:
        found["prefix_bias_beta"] = options["prefix_bias_beta"]
    if options["beam_size"] == 1 and options["num_hypotheses"] == 1:
        found["patience"] = 1.0  # greedy search has no use for it
    if options["suppress_sequences"]:
        found["suppress_sequences"] = [" ".join(sequence) for sequence in options["suppress_sequences"]]
    if options["return_attention"]:
        found["alignment"] = "soft"
    if options["return_alternatives"]:
        found["min_alternative_expansion_prob"] = options["min_alternative_expansion_prob"]
    if is_sampling(options):
        found.update({name: options[name] for name in ("sampling_topk", "sampling_topp", "sampling_temperature")})
        found["return_scores"] = options["return_scores"] or options["num_hypotheses"] > 1  # samples are sorted by them
    return found


def token_options(longest: int) -> dict[str, Any]:
    """Returns nibu's options for lines of tokens, which it takes as they are.

    Sources of up to `longest` tokens are not cut. That limit doubles rather than follows each call's longest source,
    since nibu makes tables for each of its values.
    """
    most = _MOST_INPUT
    while most < longest:
        most *= 2
    return {"tokenized": True, "split_sentences": False, "protect": "none", "long_input": "truncate",
            "search_compat": "ctranslate2", "max_input_length": most}
