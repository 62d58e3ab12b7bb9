"""Batches: how examples are divided into them, how many are under way, and the futures of their results."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from nibu import _nibu

from ._results import ScoringResult, TranslationResult

T = TypeVar("T")


def check_batch_type(batch_type: str) -> None:
    """Raises ValueError unless batch_type is "examples" or "tokens"."""
    if batch_type not in ("examples", "tokens"):
        raise ValueError(f"batch_type must be examples or tokens, not {batch_type}: an invalid batch type")


def divide(lengths: Sequence[int], max_batch_size: int, batch_type: str) -> list[list[int]]:
    """Divides examples of these lengths into batches, from the longest to the shortest: lists of their indices.

    A batch has at most max_batch_size examples or, with batch_type "tokens", padded tokens; a single example may be
    longer. 0: all examples are one batch.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    if max_batch_size == 0:
        return [order] if order else []
    batches: list[list[int]] = []
    longest = 0
    for index in order:
        if batches:
            longest = max(longest, lengths[index])
            size = (len(batches[-1]) + 1) * (longest if batch_type == "tokens" else 1)
            if size <= max_batch_size:
                batches[-1].append(index)
                continue
        batches.append([index])
        longest = lengths[index]
    return batches


class Pool:
    """Counts the batches of a translator, and lets no more of them wait than it has room for."""

    def __init__(self, workers: int, max_queued_batches: int) -> None:
        """`max_queued_batches`: 0 means four for each worker; a negative number sets no limit."""
        self._workers = workers
        self._room: int | None = None
        if max_queued_batches >= 0:
            self._room = workers + (max_queued_batches or 4 * workers)
        self._active = 0
        self._changed = threading.Condition()

    def enter(self) -> None:
        """Counts a batch; waits while the queue is full."""
        with self._changed:
            while self._room is not None and self._active >= self._room:
                self._changed.wait()
            self._active += 1

    def leave(self) -> None:
        """Ends a batch."""
        with self._changed:
            self._active -= 1
            self._changed.notify()

    @property
    def active(self) -> int:
        """The batches that wait or are being translated."""
        return self._active

    @property
    def queued(self) -> int:
        """The batches that wait."""
        return max(0, self._active - self._workers)


class Batch:
    """A batch under way; it leaves the pool with the last of its examples."""

    def __init__(self, pool: Pool, examples: int) -> None:
        self._pool = pool
        self._missing = examples
        self._lock = threading.Lock()
        pool.enter()

    def example(self) -> Callable[[], None]:
        """A function that ends one of the examples, however often it is called."""
        is_under_way = True

        def end() -> None:
            nonlocal is_under_way
            with self._lock:
                if not is_under_way:
                    return
                is_under_way = False
                self._missing -= 1
                is_last = self._missing == 0
            if is_last:
                self._pool.leave()

        return end


class Future(Generic[T]):
    """The result of an example: a value, an error, or a request that is under way. Thread-safe."""

    def __init__(self) -> None:
        self._value: T | None = None
        self._error: BaseException | None = None
        self._pending: _nibu.Pending | None = None
        self._convert: Callable[[_nibu.Result], T] | None = None
        self._end: Callable[[], None] | None = None

    def set_value(self, value: T) -> None:
        """Gives the result."""
        self._value = value

    def set_error(self, error: BaseException) -> None:
        """Gives the error."""
        self._error = error

    def set_pending(self, pending: _nibu.Pending, convert: Callable[[_nibu.Result], T]) -> None:
        """Gives the request, and a function that makes the result from the request's."""
        self._convert = convert
        self._pending = pending

    def set_end(self, end: Callable[[], None]) -> None:
        """Gives a function that is to be called once the request has ended.

        It is called at that time from another thread, and before anybody is told by this object, whatever comes first:
        a batch whose results have been read is no longer active.
        """
        self._end = end
        self.when_done(end)

    def result(self) -> T:
        """Waits for the result, without the GIL; raises the error at every call."""
        pending, convert = self._pending, self._convert
        if pending is not None and convert is not None:
            try:
                self._value = convert(pending.result())
            except Exception as error:  # kept for further calls
                self._error = error
            self._tell()
            self._pending = None
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def done(self) -> bool:
        """Whether the result, or an error, is there."""
        pending = self._pending
        is_done = pending is None or pending.done()
        if is_done:
            self._tell()
        return is_done

    def _tell(self) -> None:
        if self._end is not None:
            self._end()

    def when_done(self, function: Callable[[], object]) -> None:
        """Calls `function` once the result, or an error, is there."""
        pending = self._pending
        if pending is None:
            function()
        else:
            pending.add_done_callback(function)

    def cancel(self) -> None:
        """Ends the request if it is under way."""
        pending = self._pending
        if pending is not None:
            pending.cancel()


def wait(futures: Sequence[Future[T]]) -> list[T]:
    """The results of all futures; an error, or Ctrl-C, cancels those that are still under way."""
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        raise


class _AsyncResult(Generic[T]):
    def __init__(self, future: Future[T]) -> None:
        self._future = future

    def result(self) -> T:
        """Waits for the result and returns it. An error is raised at every call."""
        return self._future.result()

    def done(self) -> bool:
        """Returns whether the result, or an error, is there."""
        return self._future.done()


class AsyncTranslationResult(_AsyncResult[TranslationResult]):
    """A TranslationResult that may be still under way."""


class AsyncScoringResult(_AsyncResult[ScoringResult]):
    """A ScoringResult that may be still under way."""
