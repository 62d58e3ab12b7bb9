"""Streams: iterables of examples, and the tokens of an example as they are generated."""

import collections
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ._batches import Future, check_batch_type
from ._results import GenerationStepResult, TranslationResult

_READ_AHEAD = 16  # batches
_MISSING = object()


def process(function: Callable[..., Any], columns: Sequence[Iterable[Any]], max_batch_size: int, batch_type: str,
            options: dict[str, Any]) -> Iterator[Any]:
    """Calls `function` (translate_batch or score_batch) for parts of a stream, and yields its results in order.

    `columns` are the parallel iterables that it is called with. ValueError: they have different lengths.
    """
    if max_batch_size < 1:
        raise ValueError(f"max_batch_size must be >= 1, not {max_batch_size}")
    check_batch_type(batch_type)
    options = {**options, "max_batch_size": max_batch_size, "batch_type": batch_type, "asynchronous": True}
    size = max_batch_size * (_READ_AHEAD if max_batch_size > 1 else 1)
    results: collections.deque[Any] = collections.deque()
    try:
        for part in _parts(columns, size, batch_type):
            results.extend(function(*part, **options))
            while results and results[0].done():
                yield results.popleft().result()
        while results:
            yield results.popleft().result()
    finally:
        for result in results:  # the generator was closed, or an error came out
            result._future.cancel()


def _parts(columns: Sequence[Iterable[Any]], size: int, batch_type: str) -> Iterator[list[list[Any]]]:
    """Parts of the columns of at most `size` examples, or padded tokens of the first column."""
    part: list[list[Any]] = [[] for _ in columns]
    longest = 0
    for example in itertools.zip_longest(*columns, fillvalue=_MISSING):
        if any(value is _MISSING for value in example):
            raise ValueError("the iterables do not have the same length")
        longest = max(longest, len(example[0]))
        count = len(part[0]) + 1
        if part[0] and count * (longest if batch_type == "tokens" else 1) > size:
            yield part
            part = [[] for _ in columns]
            longest = len(example[0])
        for column, value in zip(part, example):
            column.append(value)
    if part[0]:
        yield part


class TokenStream:
    """Passes the steps of a search to the thread that reads them."""

    def __init__(self) -> None:
        self._steps: queue.SimpleQueue[GenerationStepResult | None] = queue.SimpleQueue()
        self._closed = threading.Event()

    def put(self, step: GenerationStepResult) -> bool:
        """Takes a step. Returns whether nobody reads any more, so that the search ends."""
        self._steps.put(step)
        return self._closed.is_set()

    def read(self, future: Future[TranslationResult]) -> Iterator[GenerationStepResult]:
        """Yields the steps, and raises the error if there is one."""
        future.when_done(lambda: self._steps.put(None))
        try:
            while True:
                step = self._steps.get()
                if step is None:
                    break
                yield step
        finally:
            self._closed.set()
            future.cancel()
        future.result()
