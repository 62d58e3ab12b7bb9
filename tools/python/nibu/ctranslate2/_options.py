"""The options of a search: CTranslate2's names, defaults and rules, and what nibu's options are for them."""

import dataclasses
from collections.abc import Callable
from typing import Any

from ._arguments import Arguments, EndToken

_MOST_INPUT = 1024

Callback = Callable[[Any], Any]


@dataclasses.dataclass
class SearchOptions:
    """The options of translate_batch; translate_file and generate_tokens have some of them."""

    beam_size: int = 2
    patience: float = 1
    num_hypotheses: int = 1
    length_penalty: float = 1
    coverage_penalty: float = 0
    repetition_penalty: float = 1
    no_repeat_ngram_size: int = 0
    disable_unk: bool = False
    suppress_sequences: list[list[str]] | None = None
    end_token: EndToken | None = None
    return_end_token: bool = False
    prefix_bias_beta: float = 0
    max_input_length: int = 1024
    max_decoding_length: int = 256
    min_decoding_length: int = 1
    use_vmap: bool = False
    return_scores: bool = False
    return_logits_vocab: bool = False
    return_attention: bool = False
    return_alternatives: bool = False
    min_alternative_expansion_prob: float = 0
    sampling_topk: int = 1
    sampling_topp: float = 1
    sampling_temperature: float = 1
    replace_unknowns: bool = False
    callback: Callback | None = None

    def check_types(self, arguments: Arguments) -> None:
        """Raises TypeError where a value has another type than CTranslate2 takes, and converts the others."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.type is int:
                value = arguments.integer(field.name, value)
            elif field.type is float:
                value = arguments.number(field.name, value)
            elif field.type is bool:
                value = arguments.flag(field.name, value)
            elif field.name == "callback":
                value = arguments.function(field.name, value)
            elif field.name == "end_token":
                value = arguments.end_token(field.name, value)
            elif value is not None:
                value = arguments.batch(field.name, value)
            setattr(self, field.name, value)

    @property
    def is_sampling(self) -> bool:
        """Whether tokens are drawn at random."""
        return self.sampling_topk != 1 and self.sampling_temperature != 0

    def check(self) -> None:
        """Raises ValueError where the values make no sense together, or are not supported."""
        most = max(1, int(self.beam_size * self.patience + 0.5))
        samples = self.beam_size == 1 and self.sampling_topk != 1
        wrong = {
            "beam_size must be > 0": self.beam_size == 0,
            "patience must be > 0": self.patience <= 0,
            "num_hypotheses must be > 0": self.num_hypotheses == 0,
            f"num_hypotheses = {self.num_hypotheses} is greater than beam_size * patience = {most}":
                self.num_hypotheses > most and not self.return_alternatives and not samples,
            f"the minimum decoding length, {self.min_decoding_length}, is greater than the maximum decoding length, "
            f"{self.max_decoding_length}": self.min_decoding_length > self.max_decoding_length,
            "max_decoding_length must be > 0": self.max_decoding_length == 0,
            "repetition_penalty must be > 0": self.repetition_penalty <= 0,
            "prefix_bias_beta must be < 1": self.prefix_bias_beta >= 1,
            "prefix_bias_beta does not go with return_alternatives":
                self.prefix_bias_beta > 0 and self.return_alternatives,
            "min_alternative_expansion_prob must be between 0 and 1":
                self.return_alternatives and not 0 <= self.min_alternative_expansion_prob <= 1,
            "callback goes neither with beam_size > 1 nor with prefix_bias_beta > 0":
                self.callback is not None and (self.beam_size != 1 or self.prefix_bias_beta > 0),
            "callback does not go with return_alternatives here":
                self.callback is not None and self.return_alternatives,
            "suppress_sequences has a token that is empty or has blanks, which is in no vocabulary":
                any(token.split() != [token] for sequence in self.suppress_sequences or [] for token in sequence),
            "sampling_topp must be between 0 and 1": not 0 < self.sampling_topp <= 1,
            "return_logits_vocab is not supported: nibu does not hand out the logits of the whole vocabulary":
                self.return_logits_vocab,
            "return_attention with return_end_token is not supported: the end token has no attention here":
                self.return_attention and self.return_end_token,
            "sampling_topk other than 1 is supported with beam_size=1 alone": self.is_sampling and self.beam_size != 1,
        }
        for message, is_wrong in wrong.items():
            if is_wrong:
                raise ValueError(message)

    def engine_options(self, end_tokens: list[str], longest: int, is_biased: bool) -> dict[str, Any]:
        """nibu's options for these, without the seed.

        `longest` is the number of tokens of the longest source, and `is_biased` says whether prefix_bias_beta counts,
        which it does for examples with a prefix.
        """
        options: dict[str, Any] = {
            **token_options(longest),
            "beam_size": self.beam_size,
            "patience": self.patience,
            "num_hypotheses": self.num_hypotheses,
            "length_penalty": self.length_penalty,
            "word_penalty": 0.0,
            "coverage_penalty": self.coverage_penalty,
            "repetition_penalty": self.repetition_penalty,
            "no_repeat_ngram_size": self.no_repeat_ngram_size,
            "disable_unk": self.disable_unk,
            "max_decoding_length": self.max_decoding_length,
            "min_decoding_length": self.min_decoding_length,
            "return_scores": self.return_scores,
            "replace_unknowns": self.replace_unknowns,
        }
        if self.beam_size == 1 and self.num_hypotheses == 1:
            options["patience"] = 1.0  # greedy search has no use for it
        if self.suppress_sequences:
            options["suppress_sequences"] = [" ".join(sequence) for sequence in self.suppress_sequences]
        if end_tokens:
            options["end_token"] = end_tokens
        if self.return_attention:
            options["alignment"] = "soft"
        if self.return_alternatives:
            options["return_alternatives"] = True
            options["min_alternative_expansion_prob"] = self.min_alternative_expansion_prob
        if is_biased:
            options["prefix_bias_beta"] = self.prefix_bias_beta
        if self.is_sampling:
            options["sampling_topk"] = self.sampling_topk
            options["sampling_topp"] = self.sampling_topp
            options["sampling_temperature"] = self.sampling_temperature
            options["return_scores"] = self.return_scores or self.num_hypotheses > 1  # by which samples are sorted
        return options


def token_options(longest: int) -> dict[str, Any]:
    """The options for lines of tokens, which nibu takes as they are. Sources of up to `longest` tokens are not cut."""
    most = _MOST_INPUT
    while most < longest:  # few different values, since nibu prepares options once
        most *= 2
    return {"tokenized": True, "split_sentences": False, "protect": "none", "long_input": "truncate",
            "search_compat": "ctranslate2", "max_input_length": most}


def key_of(options: dict[str, Any]) -> tuple[Any, ...]:
    """A key by which prepared options are found again."""
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in sorted(options.items()))
