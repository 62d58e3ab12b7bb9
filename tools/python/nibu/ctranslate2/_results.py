"""The results that a Translator returns."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from nibu import _nibu

T = TypeVar("T")
# An example that was begun: a function that waits for its result and returns it, or raises why there is none, and the
# request that it waits for, if there is one.
Begun = tuple[Callable[[], T], _nibu.Pending | None]


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


class AsyncResult(Generic[T]):
    """A result that may be still under way. Thread-safe."""

    def __init__(self, take: Callable[[], T], pending: _nibu.Pending | None, end: Callable[[], object]) -> None:
        """`take` and `pending`: see Begun. `end` is called once the result, or an error, is there.

        The engine's threads call it, but result and done may notice the end before they do. So these call it as well,
        and whoever has seen the end finds its effects.
        """
        self._take = take
        self._pending = pending
        self._end = end
        self.add_done_callback(end)

    def result(self) -> T:
        """Waits for the result and returns it. An error is raised at every call."""
        try:
            return self._take()
        finally:
            self.done()

    def done(self) -> bool:
        """Returns whether the result, or an error, is there."""
        is_done = self._pending is None or self._pending.done()
        if is_done:
            self._end()
        return is_done

    def add_done_callback(self, function: Callable[[], object]) -> None:
        """Has a function called by another thread once the result, or an error, is there; at once if it is."""
        if self._pending is None:
            function()
        else:
            self._pending.add_done_callback(function)

    def cancel(self) -> None:
        """Ends the request if it is under way."""
        if self._pending is not None:
            self._pending.cancel()


class AsyncTranslationResult(AsyncResult[TranslationResult]):
    """A TranslationResult that may be still under way."""


class AsyncScoringResult(AsyncResult[ScoringResult]):
    """A ScoringResult that may be still under way."""


def raise_later(error: Exception) -> Begun[Any]:
    """Returns an example whose result is an error."""

    def take() -> Any:
        raise error

    return take, None
