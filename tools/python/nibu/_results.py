"""Translations, and translations on their way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from nibu import _nibu
from nibu._html import result_html

if TYPE_CHECKING:
    import numpy
    import numpy.typing


class Result:
    """The translations of a text, or the scores of a given one. str() is the best translation.

    Properties that are a hypothesis's own, such as `score` and `tokens`, are those of the best one.
    """

    __slots__ = ("_model", "_result", "source")

    def __init__(self, result: _nibu.Result, source: str | bytes, model: _nibu.Model) -> None:
        """Made by a Translator."""
        self._result = result
        self._model = model
        self.source = source

    @property
    def hypotheses(self) -> list[_nibu.Hypothesis]:
        """The translations, best first. A blank text has one empty hypothesis with score 0."""
        return self._result.hypotheses

    @property
    def text(self) -> str:
        """The text of the best translation."""
        return self._result.text

    @property
    def tokens(self) -> list[str]:
        """Its tokens, without the ends of sentences; those of a scored target have them."""
        return self._result.hypotheses[0].tokens

    @property
    def token_scores(self) -> list[float]:
        """The log-probability of each of its tokens."""
        return self._result.hypotheses[0].token_scores

    @property
    def score(self) -> float:
        """Its score: the log-probability, divided by a power of the length (see the option length_penalty)."""
        return self._result.hypotheses[0].score

    @property
    def log_prob(self) -> float:
        """The sum of the log-probabilities of its tokens, the ends of sentences included."""
        return self._result.hypotheses[0].log_prob

    @property
    def warnings(self) -> list[str]:
        """Reasons to look at it: short, long, repetition, unfinished, truncated, numbers, protected."""
        return self._result.hypotheses[0].warnings

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """Pairs of (source, target) tokens or words, with the options alignment and alignment_level."""
        return self._result.hypotheses[0].alignment

    @property
    def attention(self) -> numpy.typing.NDArray[numpy.float32] | None:
        """The attention of each target token (rows) to each source token, with alignment="soft"; else None."""
        return self._result.hypotheses[0].attention

    @property
    def source_language(self) -> str:
        """With src_lang="auto", the language that was translated from."""
        return self._result.source_language

    @property
    def source_tokens(self) -> int:
        """The number of tokens of the source."""
        return self._result.source_tokens

    @property
    def target_tokens(self) -> int:
        """The number of tokens of the best translation."""
        return self._result.target_tokens

    @property
    def too_long(self) -> bool:
        """Returns whether a sentence has more than max_input_length tokens."""
        return self._result.too_long

    @property
    def scored_whole(self) -> bool:
        """Returns whether a target was scored as one sentence, since source and target have not equally many."""
        return self._result.scored_whole

    def source_labels(self) -> list[str]:
        """The tokens or words of the source that `alignment` and `attention` count; empty if they are not known."""
        count = self._result.hypotheses[0].source_length
        for labels in (self._model.tokenize(self.source) if self._model.info["has_tokenizer"] else [], _words(self)):
            if len(labels) == count:
                return labels
        return []

    def to_json(self, id: int = 0) -> str:  # pylint: disable=redefined-builtin
        """Returns the line of nibu-translate --output_format=jsonl."""
        return self._result.json(self.source, id)

    def to_dict(self) -> dict[str, Any]:
        """Returns the same as a dict, without the id."""
        found: dict[str, Any] = json.loads(self.to_json())
        del found["id"]
        return found

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Result(text={self.text!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the translations and, with alignment="soft", the attention."""
        return result_html(self)


def _words(result: Result) -> list[str]:
    source = result.source
    return (source.decode(errors="replace") if isinstance(source, bytes) else source).split()


class Future:
    """A translation on its way. Any thread may use it, and `await` waits for it in asyncio."""

    __slots__ = ("_is_cancelled", "_make", "_on_token", "_pending")

    def __init__(self, pending: _nibu.Pending, make: Callable[[_nibu.Result], Result], on_token: OnToken | None) -> None:
        """Made by Translator.submit."""
        self._pending = pending
        self._make = make
        self._on_token = on_token
        self._is_cancelled = False

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the translation, at most `timeout` seconds, and returns it, or raises why there is none.

        TimeoutError: it is not there yet, or its own deadline has passed. concurrent.futures.CancelledError: it was
        cancelled.
        """
        result = self._pending.result(timeout)
        if self._on_token is not None and self._on_token.error is not None:
            raise self._on_token.error
        return self._make(result)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits as result does, and returns what it would raise about the translation; None: there is one."""
        try:
            self.result(timeout)
        except Exception as error:  # pylint: disable=broad-exception-caught
            if not self.done():
                raise
            return error
        return None

    def done(self) -> bool:
        """Returns whether there is a result, or an error."""
        return self._pending.done()

    def cancel(self) -> bool:
        """Ends the translation before its next step, unless it has ended. Returns whether it had not."""
        if self.done():
            return False
        self._is_cancelled = True
        self._pending.cancel()
        return True

    def cancelled(self) -> bool:
        """Returns whether it ended because it was cancelled."""
        return self.done() and isinstance(self.exception(), CancelledError)

    def add_done_callback(self, function: Callable[[Future], object]) -> None:
        """Calls function(future) once it has ended, at once if it has, else on a thread of the translator's.

        Other translations wait behind it there. What it raises is reported as an unraisable exception.
        """
        self._pending.add_done_callback(lambda: function(self))

    def __await__(self) -> Generator[Any, None, Result]:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not waiter.done():
                waiter.set_result(None)

        def wake_from_thread() -> None:
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:  # The loop was closed meanwhile.
                pass

        self._pending.add_done_callback(wake_from_thread)
        try:
            yield from waiter
        except asyncio.CancelledError:
            self.cancel()
            raise
        try:
            return self.result()
        except CancelledError as error:
            raise asyncio.CancelledError from error


class OnToken:
    """A function of the user's that is told of tokens, and what it has raised."""

    __slots__ = ("_function", "error")

    def __init__(self, function: Callable[[_nibu.Step], object]) -> None:
        self._function = function
        self.error: BaseException | None = None

    def __call__(self, step: _nibu.Step) -> bool:
        try:
            return self._function(step) is True
        except BaseException as error:  # pylint: disable=broad-exception-caught
            self.error = error
            return True
