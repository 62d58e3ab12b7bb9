"""The results that a Translator returns."""

import dataclasses
import warnings
from typing import Any


@dataclasses.dataclass(frozen=True, eq=False)
class TranslationResult:
    """The translations of one example, best first.

    `scores` is empty unless return_scores was set, and `attention` unless return_attention was; the latter is
    indexed by hypothesis, target token and source token. `logits` is always empty.
    """

    hypotheses: list[list[str]]
    scores: list[float] = dataclasses.field(default_factory=list)
    attention: list[list[list[float]]] = dataclasses.field(default_factory=list)
    logits: list[Any] = dataclasses.field(default_factory=list)

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """A hypothesis as a dictionary, the form of results in old versions of CTranslate2."""
        warnings.warn("a TranslationResult is no longer a list of dictionaries: read its attributes hypotheses, "
                      "scores and attention", DeprecationWarning, stacklevel=2)
        if not isinstance(index, int) or index < 0:
            raise TypeError("__getitem__(): incompatible function arguments: the index must be an int of at least 0")
        if index >= len(self.hypotheses):
            raise IndexError(f"there are {len(self.hypotheses)} hypotheses")
        hypothesis: dict[str, Any] = {"tokens": self.hypotheses[index]}
        if self.scores:
            hypothesis["score"] = self.scores[index]
        if self.attention:
            hypothesis["attention"] = self.attention[index]
        return hypothesis


@dataclasses.dataclass(frozen=True, eq=False)
class ScoringResult:
    """The log-probability of each token of a target; the end of sentence is the last token."""

    tokens: list[str]
    log_probs: list[float]


@dataclasses.dataclass(frozen=True, eq=False)
class GenerationStepResult:
    """A token that was just generated. `batch_id` is the index of its example, `log_prob` may be None."""

    step: int
    batch_id: int
    token_id: int
    hypothesis_id: int
    token: str
    log_prob: float | None
    logits: Any | None
    is_last: bool


@dataclasses.dataclass(frozen=True, eq=False)
class ExecutionStats:
    """The work done for a file: output tokens (of the best hypotheses), examples, and time in milliseconds."""

    num_tokens: int
    num_examples: int
    total_time_in_ms: float
