"""Batches: what CTranslate2's callers can see of them.

nibu puts sentences together by itself, and a result does not depend on what is translated beside it. So a batch here
is only a number of consecutive examples that count as one for num_active_batches and max_queued_batches.
"""

import collections
import functools
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from ._results import AsyncResult, Begun, raise_later

T = TypeVar("T")
Row = tuple[Any, ...]  # an example: the tokens of its source and, for some calls, of its target

_READ_AHEAD = 16  # batches
_EXAMPLES_PER_THREAD = 128


class Job(Protocol[T]):
    """What the examples of one call have in common."""

    kind: type[AsyncResult[T]]

    def begin(self, index: int, source: list[str], target: list[str]) -> Begun[T]:
        """Submits an example, or raises why it cannot be."""


def check_batch_type(batch_type: str) -> None:
    """Raises ValueError unless batch_type is "examples" or "tokens"."""
    if batch_type not in ("examples", "tokens"):
        raise ValueError(f"batch_type must be examples or tokens, not {batch_type}: an invalid batch type")


def read_size(max_batch_size: int) -> int:
    """Returns how many examples (or tokens) of a stream are read at a time, as CTranslate2 does.

    ValueError: max_batch_size is 0 or less.
    """
    if max_batch_size < 1:
        raise ValueError(f"max_batch_size must be > 0, not {max_batch_size}")
    return max_batch_size * (_READ_AHEAD if max_batch_size > 1 else 1)


def parts(rows: Iterable[Row], most: int, batch_type: str) -> Iterator[list[Row]]:
    """Yields consecutive parts of the rows, with at most `most` examples or, as batch_type says, padded source tokens.

    A single example may be longer. 0: all rows are one part.
    """
    check_batch_type(batch_type)
    part: list[Row] = []
    longest = 0
    for row in rows:
        longest = max(longest, len(row[0]))
        size = (len(part) + 1) * (longest if batch_type == "tokens" else 1)
        if part and 0 < most < size:
            yield part
            part, longest = [], len(row[0])
        part.append(row)
    if part:
        yield part


class Queue:
    """Submits examples in batches, and lets no more batches wait than it has room for. Thread-safe."""

    def __init__(self, workers: int, max_queued_batches: int, threads: int) -> None:
        """`max_queued_batches`: 0 means four for each worker; a negative number sets no limit."""
        self._workers = workers
        self._most = workers + (max_queued_batches or 4 * workers) if max_queued_batches >= 0 else math.inf
        # Argos Translate asks for batches of one or two sentences. With four of them under way, nibu takes twice the
        # time that it takes with many. So calls that wait for their results do not wait for room as long as there are
        # fewer examples than this. Those that do not wait keep CTranslate2's limit, so that streams are not read far
        # ahead.
        self._enough = _EXAMPLES_PER_THREAD * threads if max_queued_batches == 0 else 0
        self._active = 0
        self._examples = 0  # of the active batches, without those that have ended
        self._ended = threading.Condition()

    @property
    def active(self) -> int:
        """The number of batches that wait or are being translated."""
        return self._active

    @property
    def queued(self) -> int:
        """The number of batches that wait."""
        return max(0, self._active - self._workers)

    def submit(self, job: Job[T], rows: Sequence[Row], max_batch_size: int, batch_type: str,
               asynchronous: bool) -> list[AsyncResult[T]]:
        """Begins all examples, and waits while the queue is full. Errors are those of the results."""
        enough = 0 if asynchronous else self._enough
        results: list[AsyncResult[T]] = []
        batch: set[int] = set()
        try:
            for part in parts(rows, max_batch_size, batch_type):
                batch = self._begin(range(len(results), len(results) + len(part)), enough)
                for index, row in enumerate(part, len(results)):
                    try:
                        begun = job.begin(index, *row)
                    except Exception as error:
                        begun = raise_later(error)
                    results.append(job.kind(*begun, functools.partial(self._end, batch, index)))
        except BaseException:  # Ctrl-C: the rest is not submitted
            for index in tuple(batch):
                self._end(batch, index)
            cancel(results)
            raise
        return results

    def _begin(self, examples: range, enough: int) -> set[int]:
        """Waits for room, and begins a batch. Returns its examples that have not ended."""
        with self._ended:
            self._ended.wait_for(lambda: self._active < self._most or self._examples < enough)
            self._active += 1
            self._examples += len(examples)
        return set(examples)

    def _end(self, batch: set[int], example: int) -> None:
        """Ends an example, unless it has ended, and its batch with the last one."""
        with self._ended:
            if example not in batch:
                return
            batch.remove(example)
            self._examples -= 1
            self._active -= not batch
            if not batch or self._examples < self._enough:
                self._ended.notify_all()


def cancel(results: Iterable[AsyncResult[Any]]) -> None:
    """Ends the requests of those results that are still under way."""
    for result in results:
        result.cancel()


def wait(results: Sequence[AsyncResult[T]]) -> list[T]:
    """Returns the values of all results; an error, or Ctrl-C, cancels those that are still under way."""
    try:
        return [result.result() for result in results]
    except BaseException:
        cancel(results)
        raise


def stream(function: Callable[..., Any], rows: Iterable[Row], size: int, **options: Any) -> Iterator[Any]:
    """Calls `function` (translate_batch or score_batch) for parts of a stream of rows, and yields its results in order.

    A part has at most `size` examples, or source tokens.
    """
    options["asynchronous"] = True
    results: collections.deque[AsyncResult[Any]] = collections.deque()
    try:
        for part in parts(rows, size, options["batch_type"]):
            results.extend(function(*map(list, zip(*part)), **options))
            while results and results[0].done():
                yield results.popleft().result()
        while results:
            yield results.popleft().result()
    finally:
        cancel(results)  # those that are left after an error, or after the generator was closed
