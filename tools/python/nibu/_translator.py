"""The class Translator."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from nibu import _nibu
from nibu._options import sort_options
from nibu._results import Future, OnToken, Result

if TYPE_CHECKING:
    from typing import Unpack

    from nibu._options import AllOptions, Options

# Of the plans that a translator keeps, one for each combination of options.
_MOST_PLANS = 100

Text = str | bytes
Texts = list[str] | list[bytes] | list[Text] | tuple[Text, ...]


class Translator:
    """Translates with a model. Any number of Python threads may share one; the model's threads are its own.

    Errors: ValueError for options and texts that make no sense (the message names the option), TypeError for options
    that do not exist, FileNotFoundError, TimeoutError where a request's time is over, MemoryError, and RuntimeError
    for a model that cannot be read, and in a child process that was forked: make the translator there.
    """

    def __init__(
        self,
        model: str | PathLike[str] | _nibu.Model = "",
        *,
        threads_of: Translator | None = None,
        **options: Unpack[AllOptions],
    ) -> None:
        """Loads a model, or takes one that is loaded.

        `model` is the path or the name of a model of any supported format; the empty one is the bundled
        English-German model. `threads_of` is a translator that this one shares its threads with. Options of
        translation are those of all calls that have no others.
        """
        sorted_options = sort_options(options)
        if isinstance(model, _nibu.Model):
            if sorted_options["model"]:
                raise TypeError(f"{next(iter(sorted_options['model']))} cannot be set for a model that is loaded")
            self._model = model
        else:
            self._model = _nibu.Model(model, **sorted_options["model"])
        if threads_of is None:
            self._engine = _nibu.Engine(sorted_options["speed"])
        elif sorted_options["speed"]:
            raise TypeError(f"{next(iter(sorted_options['speed']))} is that of threads_of")
        else:
            self._engine = threads_of._engine
        self._defaults = sorted_options["text"]
        self._plans: dict[object, _nibu.Plan] = {}
        self._lock = threading.Lock()
        self._plan({})

    @property
    def model(self) -> _nibu.Model:
        """The model, for its facts (`model.info`), its tokenizers and vocabularies, and other translators."""
        return self._model

    @property
    def threads(self) -> int:
        """The number of threads that decode."""
        return self._engine.threads

    @overload
    def translate(
        self,
        source: Text,
        /,
        *,
        target_prefix: Text | None = None,
        priority: int = 0,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> Result: ...

    @overload
    def translate(
        self,
        source: Texts,
        /,
        *,
        target_prefix: Sequence[Text | None] | None = None,
        priority: int = 0,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> list[Result]: ...

    def translate(
        self,
        source: Text | Texts,
        /,
        *,
        target_prefix: Any = None,
        priority: int = 0,
        timeout: float | None = None,
        **options: Any,
    ) -> Result | list[Result]:
        """Translates a text, or a list of texts, whose results are in their order.

        Each line of a text is translated for itself. text="paragraphs" joins lines wrapped by hand, text="document"
        with markup="html" or "xml" translates a whole page, and markup alone keeps the tags within lines.
        `target_prefix` is what the translation begins with; for a list of texts, a list with one for each. Requests of
        higher priority are taken first; after `timeout` seconds a request ends with TimeoutError.
        """
        is_one = isinstance(source, (str, bytes))
        texts: list[Text] = [source] if isinstance(source, (str, bytes)) else list(source)
        prefixes = [target_prefix] if is_one and target_prefix is not None else target_prefix
        plan = self._plan(options)
        found = self._engine.run(texts, plan, target_prefixes=prefixes, priority=priority, timeout=timeout)
        results = [Result(result, text, self._model) for result, text in zip(found, texts)]
        return results[0] if is_one else results

    def translate_tokens(self, sources: Iterable[Sequence[str]], **options: Unpack[Options]) -> list[Result]:
        """Translates lists of tokens (pieces of the model's vocabulary), such as those of `model.tokenize`."""
        named: Any = {**options, "tokenized": True}
        return self.translate([" ".join(tokens) for tokens in sources], **named)

    def submit(
        self,
        source: Text,
        /,
        *,
        target_prefix: Text | None = None,
        priority: int = 0,
        timeout: float | None = None,
        on_token: Callable[[_nibu.Step], object] | None = None,
        **options: Unpack[Options],
    ) -> Future:
        """Begins to translate a text, and returns a Future of its Result; it waits while the queue is full.

        `await translator.submit(text)` gives the result in asyncio. `on_token` is called with each token as soon as it
        is chosen, by a thread of the translator's; where it returns True, the sentence ends. It needs beam_size=1.
        """
        told = None if on_token is None else OnToken(on_token)
        pending = self._engine.submit(
            source,
            self._plan(options),
            target_prefix=target_prefix,
            priority=priority,
            timeout=timeout,
            on_step=told,
        )
        return Future(pending, lambda result: Result(result, source, self._model), told)

    def translate_iterable(
        self, sources: Iterable[Text], /, *, ahead: int = 0, **options: Unpack[Options]
    ) -> Iterator[Result]:
        """Yields the translations of texts, in their order, and reads `ahead` texts further meanwhile.

        0 stands for as many as keep the threads busy. Nothing is read before the first result is asked for. What has
        been begun is cancelled where the iterator is closed.
        """
        plan = self._plan(options)
        ahead = ahead or 512 * self.threads
        waiting: deque[tuple[_nibu.Pending, Text]] = deque()

        def next_result() -> Result:
            pending, source = waiting.popleft()
            return Result(pending.result(), source, self._model)

        try:
            for source in sources:
                waiting.append((self._engine.submit(source, plan), source))
                if len(waiting) > ahead:
                    yield next_result()
            while waiting:
                yield next_result()
        finally:
            for pending, _ in waiting:
                pending.cancel()

    @overload
    def score(self, source: Text, target: Text, /, **options: Unpack[Options]) -> Result: ...

    @overload
    def score(self, source: Texts, target: Texts, /, **options: Unpack[Options]) -> list[Result]: ...

    def score(
        self, source: Text | Texts, target: Text | Texts, /, **options: Any
    ) -> Result | list[Result]:
        """Scores a given translation of a line, or those of a list of lines.

        The result has the target's tokens, the end of each sentence included, and their log-probabilities.
        """
        is_one = isinstance(source, (str, bytes))
        if is_one != isinstance(target, (str, bytes)):
            raise TypeError("source and target must both be texts, or both be lists of texts")
        sources: list[Text] = [source] if isinstance(source, (str, bytes)) else list(source)
        targets: list[Text] = [target] if isinstance(target, (str, bytes)) else list(target)
        found = self._engine.run(sources, self._plan(options), targets=targets)
        results = [Result(result, text, self._model) for result, text in zip(found, sources)]
        return results[0] if is_one else results

    def cancel_all(self) -> None:
        """Ends all requests of the translator's threads that have not ended."""
        self._engine.cancel_all()

    def close(self) -> None:
        """Cancels all requests and ends the threads. Not needed: a translator that is dropped finishes them."""
        self._plans.clear()
        self._engine.close()

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Translator({self._model.info['path']!r})"

    def _plan(self, options: Mapping[str, Any]) -> _nibu.Plan:
        key = tuple(sorted((name, _frozen(value)) for name, value in options.items()))
        found = self._plans.get(key)
        if found is not None:
            return found
        sorted_options = sort_options(options)
        for kind in ("model", "speed"):
            if sorted_options[kind]:
                raise TypeError(f"{next(iter(sorted_options[kind]))} is an option of Translator(), not of a call")
        plan = self._engine.prepare(self._model, {**self._defaults, **sorted_options["text"]})
        with self._lock:
            if len(self._plans) >= _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = plan
        return plan


def _frozen(value: object) -> object:
    """A value, or a tuple of the elements of a list: a key of a dict."""
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(element) for element in value)
    return value
