"""Translations, and translations on their way."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from nibu import _nibu
from nibu._html import result_html

if TYPE_CHECKING:
    import numpy
    import numpy.typing


class Result:
    """The translations of a text, or the scores of a given one. str() is the best translation.

    Properties that are a hypothesis's own, such as `score` and `tokens`, are those of the best one. A result is plain
    data: it keeps no model, two are equal if all of their fields are, and it can be copied, pickled and sent to other
    processes. In an f-string it is its text.
    """

    __slots__ = ("_result", "source")

    def __init__(self, result: _nibu.Result, source: str | bytes) -> None:
        """Made by a Translator."""
        self._result = result
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
        """The tokens or words of the source that `alignment` and `attention` count, without tags; empty without them.

        A protected part, such as a URL, stands in place of the word that the model read for it.
        """
        return self._result.source_labels

    def to_json(self, id: int = 0) -> str:  # pylint: disable=redefined-builtin
        """Returns the line of nibu-translate --output_format=jsonl; `id` is a number from 0."""
        if not isinstance(id, int) or not 0 <= id < 1 << 64:
            raise ValueError(f"id must be a number from 0 to 2^64 - 1, not {id!r}")
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

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        return self.source == other.source and self._result == other._result

    def __hash__(self) -> int:
        return hash((self.source, self.text))

    def __reduce__(self) -> tuple[type[Result], tuple[_nibu.Result, str | bytes]]:
        return Result, (self._result, self.source)

    def _repr_html_(self) -> str:
        """What a notebook shows: the translations and, with alignment="soft", the attention."""
        return result_html(self)


def restore_result(state: tuple[Any, ...]) -> _nibu.Result:
    """For pickle."""
    return _nibu.restore_result(state)


def restore_hypothesis(state: tuple[Any, ...]) -> _nibu.Hypothesis:
    """For pickle."""
    return _nibu.restore_hypothesis(state)


class Future(concurrent.futures.Future[Result]):
    """A translation on its way: a concurrent.futures.Future for any thread, which asyncio can await and wait for.

    Functions of add_done_callback are called on a thread of the translator's, where other translations wait behind
    them: `result`, `exception` and `await` raise RuntimeError there for translations that have not ended, and
    concurrent.futures.wait and as_completed, which know no such thread, would wait for ever. Functions that are added
    within an event loop are called by the loop, as asyncio's own futures have it.
    """

    def __init__(self, on_token: OnToken | None) -> None:
        """Made by Translator.submit."""
        super().__init__()
        self._on_token = on_token
        self._process = os.getpid()
        self._pending: _nibu.Pending | None = None
        self._in_loops: list[_InLoop] = []

    def _begin(self, pending: _nibu.Pending, source: str | bytes) -> Future:
        """Takes the request that this is the future of."""
        self._pending = pending
        pending.add_done_callback(lambda: self._end(pending, source))
        return self

    def _end(self, pending: _nibu.Pending, source: str | bytes) -> None:
        """Takes what the request has ended with."""
        result, error = None, None
        try:
            result = Result(pending.result(), source)
            error = None if self._on_token is None else self._on_token.error
        except concurrent.futures.CancelledError:
            super().cancel()
        except Exception as raised:  # pylint: disable=broad-exception-caught
            error = raised
        self._pending = None
        if not self.set_running_or_notify_cancel():
            return
        if error is not None:
            self.set_exception(error)
        elif result is not None:
            self.set_result(result)

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the translation, at most `timeout` seconds, and returns it, or raises why there is none.

        TimeoutError: it is not there yet, or its own deadline has passed. concurrent.futures.CancelledError: it was
        cancelled.
        """
        self._check()
        try:
            return super().result(timeout)
        except concurrent.futures.CancelledError:
            _nibu.leave_at_end()  # a daemon thread ends silently
            raise

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits as result does, and returns what it would raise about the translation; None: there is one."""
        self._check()
        return super().exception(timeout)

    def cancel(self) -> bool:
        """Ends the translation before its next step, unless it has ended. Returns whether it had not."""
        pending = self._pending
        is_cancelled = super().cancel()
        if is_cancelled and pending is not None:
            pending.cancel()
        return is_cancelled

    def add_done_callback(self, fn: Callable[[Any], object]) -> None:
        """Calls fn(future) once it has ended, at once if it has."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            super().add_done_callback(fn)
            return
        self._in_loops.append(_InLoop(loop, fn))
        super().add_done_callback(self._in_loops[-1])

    def remove_done_callback(self, fn: Callable[[Any], object]) -> int:
        """Forgets a function that was added within an event loop, as asyncio.wait does. Returns how often it was."""
        removed = [each for each in self._in_loops if each.function == fn]
        for each in removed:
            each.function = None
            self._in_loops.remove(each)
        own: Any = self  # the standard library has no function for this
        with own._condition:
            own._done_callbacks = [each for each in own._done_callbacks if each not in removed]
        return len(removed)

    def _check(self) -> None:
        if self.done():
            return
        if self._process != os.getpid():
            raise RuntimeError("the translation was begun by a parent process; make a translator in this one")
        _nibu.refuse_to_wait()

    def __await__(self) -> Generator[Any, None, Result]:
        self._check()
        return asyncio.wrap_future(self).__await__()


class _InLoop:
    """A function that is to be called by an event loop."""

    __slots__ = ("_loop", "function")

    def __init__(self, loop: asyncio.AbstractEventLoop, function: Callable[[Any], object]) -> None:
        self._loop = loop
        self.function: Callable[[Any], object] | None = function

    def __call__(self, future: Any) -> None:
        if self.function is not None:
            with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile.
                self._loop.call_soon_threadsafe(self._call, future)

    def _call(self, future: Future) -> None:
        if self.function is not None:
            self.function(future)


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
