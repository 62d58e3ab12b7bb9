"""The class Translator."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from nibu import _nibu
from nibu._models import choose_model
from nibu._models import download as fetch
from nibu._options import sort_options, with_options
from nibu._results import Future, OnToken, Result

if TYPE_CHECKING:
    from typing import Unpack

    from nibu._options import AllOptions, Options

# The queue's room for sentences, unless the caller says otherwise: so much that submit hardly ever waits, which would
# stop an event loop. Lists and iterables have no more than some texts in it at a time.
_QUEUE_SIZE = 1 << 16

# The most texts of a list that are under way at a time, for each thread, so that other calls get their turns among
# those of a long list.
_AHEAD = 1024

Text = str | bytes
# A str is an Iterable[str], too, so these are named one by one; arrays and Series of others have no types of these.
Texts = list[str] | list[bytes] | list[Text] | tuple[Text, ...] | Iterator[Text] | ValuesView[Text]


class Translator:
    """Translates with a model. Any number of Python threads may share one; the model's threads are its own.

    Errors: ValueError for options and texts that make no sense (the message names the option), TypeError for options
    that do not exist, FileNotFoundError, TimeoutError where a request's time is over, MemoryError, and RuntimeError
    for a model that cannot be read, and in a child process that was forked: make the translator there.
    """

    @with_options("model", "speed", "text")
    def __init__(
        self,
        model: str | PathLike[str] | _nibu.Model = "",
        *,
        source: str = "",
        target: str = "",
        download: bool = False,
        threads_of: Translator | None = None,
        **options: Unpack[AllOptions],
    ) -> None:
        """Loads a model, or takes one that is loaded.

        `model` is the path or the name of a model of any supported format; the empty one is the bundled
        English-German model. In its place, the languages `source` and `target` choose among the installed models,
        two in a row with English in between if none translates directly. With `download`, a model that is not there
        is fetched by its name (see nibu.download). `threads_of` is a translator that this one shares its threads with. Options of
        translation are those of all calls that have no others.
        """
        sorted_options = sort_options(options)
        if source or target:
            if download:
                raise TypeError("download fetches a model by its name; source and target choose an installed one")
            if model or not (source and target):
                raise TypeError("source and target choose a model; give both, and no model")
            choice = choose_model(source, target)
            model = choice["path"]
            sorted_options["model"].setdefault("pivot", choice["pivot"])
            for name in ("src_lang", "tgt_lang"):
                if choice[name]:
                    sorted_options["text"].setdefault(name, choice[name])
        if isinstance(model, _nibu.Model):
            if sorted_options["model"]:
                raise TypeError(f"{next(iter(sorted_options['model']))} cannot be set for a model that is loaded")
            self._model = model
        else:
            self._model = _load(model, sorted_options["model"], download)
        if threads_of is None:
            self._engine = _nibu.Engine({"queue_size": _QUEUE_SIZE, **sorted_options["speed"]})
        elif not isinstance(threads_of, Translator):
            raise TypeError(f"threads_of must be a Translator, not {type(threads_of).__name__}")
        elif sorted_options["speed"]:
            raise TypeError(f"{next(iter(sorted_options['speed']))} is that of threads_of")
        else:
            self._engine = threads_of._engine
        self._defaults = sorted_options["text"]
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
        deadline: float | None = None,
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
        deadline: float | None = None,
        **options: Unpack[Options],
    ) -> list[Result]: ...

    @with_options("text")
    def translate(
        self,
        source: Text | Texts,
        /,
        *,
        target_prefix: Any = None,
        priority: int = 0,
        deadline: float | None = None,
        **options: Any,
    ) -> Result | list[Result]:
        """Translates a text, or a list of texts, whose results are in their order.

        Each line of a text is translated for itself. text="paragraphs" joins lines wrapped by hand, text="document"
        with markup="html" or "xml" translates a whole page, and markup alone keeps the tags within lines.
        `target_prefix` is what the translation begins with; for a list of texts, a list with one for each. Requests of
        higher priority are taken first; a request that has not ended after `deadline` seconds ends with TimeoutError.
        """
        is_one = isinstance(source, (str, bytes))
        texts = _texts("source", source)
        prefixes = target_prefix
        if target_prefix is not None:
            if isinstance(target_prefix, (str, bytes)) != is_one:
                raise TypeError("target_prefix must be a text for a text, and a list for a list of texts")
            if not is_one:
                _check_list("target_prefix", target_prefix)
            prefixes = [target_prefix] if is_one else list(target_prefix)
            for index, prefix in enumerate(prefixes):
                if prefix is not None:
                    _check_text(f"target_prefix[{index}]", prefix)
        results = self._run(texts, priority, deadline, options, target_prefix=prefixes)
        return results[0] if is_one else results

    @overload
    def __call__(self, source: Text, /, **options: Unpack[Options]) -> str: ...

    @overload
    def __call__(self, source: Texts, /, **options: Unpack[Options]) -> list[str]: ...

    @with_options("text")
    def __call__(self, source: Text | Texts, /, **options: Any) -> str | list[str]:
        """Translates as translate does, and returns the text alone: a str for a text, a list of them for texts."""
        found = self.translate(source, **options)
        return found.text if isinstance(found, Result) else [each.text for each in found]

    @with_options("text")
    def translate_tokens(self, sources: Iterable[Sequence[str]], **options: Unpack[Options]) -> list[Result]:
        """Translates lists of tokens (pieces of the model's vocabulary), such as those of `model.tokenize`."""
        lines = []
        for tokens in sources:
            if isinstance(tokens, (str, bytes)) or not all(isinstance(token, str) for token in tokens):
                raise TypeError("sources must be lists of tokens, one for each text")
            for token in tokens:
                if not token or " " in token or "\n" in token:
                    raise ValueError(f"the token {token!r} is empty or has a blank; no vocabulary has such tokens")
            lines.append(" ".join(tokens))
        named: Any = {**options, "tokenized": True}
        return self.translate(lines, **named)

    @with_options("text")
    def submit(
        self,
        source: Text,
        /,
        *,
        target_prefix: Text | None = None,
        priority: int = 0,
        deadline: float | None = None,
        on_token: Callable[[_nibu.Step], object] | None = None,
        **options: Unpack[Options],
    ) -> Future:
        """Begins to translate a text, and returns a Future of its Result.

        `await translator.submit(text)` gives the result in asyncio. `on_token` is called with each token as soon as it
        is chosen, by a thread of the translator's; where it returns True, the sentence ends. It needs beam_size=1.
        The call waits only while more than 65,536 sentences (the option queue_size) are under way.
        """
        listener = None if on_token is None else OnToken(on_token)
        plan = self._plan(options)
        _check_text("source", source)
        _check_request(priority, deadline)
        try:
            pending = self._engine.submit(
                source, plan, target_prefix=target_prefix, priority=priority, deadline=deadline, on_step=listener
            )
        except ValueError as error:
            raise ValueError(str(error).replace("on_step", "on_token")) from None
        return Future(listener)._begin(pending, source)

    @with_options("text")
    def translate_iterable(
        self,
        sources: Iterable[Text],
        /,
        *,
        ahead: int = 0,
        priority: int = 0,
        deadline: float | None = None,
        **options: Unpack[Options],
    ) -> Iterator[Result]:
        """Yields the translations of texts, in their order, and reads `ahead` texts further meanwhile.

        0 stands for as many as keep the threads busy. Nothing is read before the first result is asked for. What has
        been begun is cancelled where the iterator is closed. `priority` and `deadline` are those of each text.
        """
        if isinstance(sources, (str, bytes)):
            raise TypeError("sources must be texts, not a text; translate takes one")
        _check_list("sources", sources)
        _check_request(priority, deadline)
        if not isinstance(ahead, int) or ahead < 0:
            raise ValueError(f"ahead must be a whole number of at least 0, not {ahead!r}")
        plan = self._plan(options)
        return self._stream(iter(sources), plan, ahead or 512 * self.threads, priority, deadline)

    def _stream(
        self, sources: Iterator[Text], plan: _nibu.Plan, ahead: int, priority: int, deadline: float | None
    ) -> Iterator[Result]:
        waiting: deque[tuple[_nibu.Pending, Text]] = deque()

        def next_result() -> Result:
            pending, source = waiting.popleft()
            return Result(pending.result(), source)

        try:
            for index, source in enumerate(sources):
                _check_text(f"sources[{index}]", source)
                waiting.append((self._engine.submit(source, plan, priority=priority, deadline=deadline), source))
                if len(waiting) > ahead:
                    yield next_result()
            while waiting:
                yield next_result()
        finally:
            for pending, _ in waiting:
                pending.cancel()

    @overload
    def score(
        self,
        source: Text,
        target: Text,
        /,
        *,
        priority: int = 0,
        deadline: float | None = None,
        **options: Unpack[Options],
    ) -> Result: ...

    @overload
    def score(
        self,
        source: Texts,
        target: Texts,
        /,
        *,
        priority: int = 0,
        deadline: float | None = None,
        **options: Unpack[Options],
    ) -> list[Result]: ...

    @with_options("text")
    def score(
        self,
        source: Text | Texts,
        target: Text | Texts,
        /,
        *,
        priority: int = 0,
        deadline: float | None = None,
        **options: Any,
    ) -> Result | list[Result]:
        """Scores a given translation of a line, or those of a list of lines.

        The result has the target's tokens, the end of each sentence included, and the model's own log-probabilities
        of them; with the option min_decoding_length, those that a search would see.
        """
        is_one = isinstance(source, (str, bytes))
        if is_one != isinstance(target, (str, bytes)):
            raise TypeError("source and target must both be texts, or both be lists of texts")
        sources = _texts("source", source)
        results = self._run(sources, priority, deadline, options, target=_texts("target", target))
        return results[0] if is_one else results

    def _run(
        self,
        texts: list[Text],
        priority: int,
        deadline: float | None,
        options: Mapping[str, Any],
        **of_each: Sequence[Text | None] | None,
    ) -> list[Result]:
        """Translates or scores texts, and returns their results in order, or raises the error of the first to have one.

        `of_each` are arguments of Engine.submit, with one for each text. Equal texts are translated once, unless they
        may have different results.
        """
        _check_request(priority, deadline)
        plan = self._plan(options)
        lists = {name: values for name, values in of_each.items() if values is not None}
        for name, values in lists.items():
            if len(values) != len(texts):
                raise ValueError(f"{name} must have one element for each text")
        _nibu.refuse_to_wait()
        ahead = _AHEAD * self.threads
        known: dict[tuple[Text | None, ...], _nibu.Pending] = {}
        begun: list[_nibu.Pending] = []
        try:
            try:
                for index, each in enumerate(zip(texts, *lists.values())):
                    if index >= ahead:
                        begun[index - ahead].result()
                    pending = known.get(each)
                    if pending is None:
                        own: dict[str, Any] = dict(zip(lists, each[1:]))
                        pending = self._engine.submit(
                            each[0], plan, priority=priority, deadline=deadline, key=index, **own
                        )
                    if plan.has_repeats:
                        known[each] = pending
                    begun.append(pending)
            except Exception:
                for pending in begun:  # whose errors come before this one
                    pending.result()
                raise
            return [Result(pending.result(), text) for pending, text in zip(begun, texts)]
        except BaseException:
            for pending in begun[-ahead:]:
                pending.cancel()
            raise

    def cancel_all(self) -> None:
        """Ends all requests of the translator's threads that have not ended."""
        self._engine.cancel_all()

    def close(self) -> None:
        """Cancels all requests and ends the threads. Not needed: a translator that is dropped finishes them."""
        self._engine.close()

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Translator({self._model.info['path']!r})"

    def _plan(self, options: Mapping[str, Any]) -> _nibu.Plan:
        sorted_options = sort_options(options)
        for kind in ("model", "speed"):
            if sorted_options[kind]:
                raise TypeError(f"{next(iter(sorted_options[kind]))} is an option of Translator(), not of a call")
        return self._engine.prepare(self._model, {**self._defaults, **sorted_options["text"]})


def _load(model: str | PathLike[str], options: Mapping[str, Any], download: bool) -> _nibu.Model:
    """Loads a model, which is fetched first if it is not there and `download` allows it."""
    try:
        return _nibu.Model(model, **options)
    except FileNotFoundError:
        if not download or not isinstance(model, str):
            raise
    return _nibu.Model(fetch(model), **options)


def _texts(name: str, source: Text | Texts) -> list[Text]:
    """Returns a text, or the texts of a list or of anything else that can be iterated over, as a list."""
    if isinstance(source, (str, bytes)):
        return [source]
    _check_list(name, source)
    texts: Any = source
    found: list[Text] = list(texts)
    for index, text in enumerate(found):
        _check_text(f"{name}[{index}]", text)
    return found


def _check_list(name: str, source: object) -> None:
    if isinstance(source, (Mapping, Set)):
        raise TypeError(f"{name} must have an order, and {type(source).__name__} is no list; give list(...)")
    if isinstance(source, (bytearray, memoryview)) or not isinstance(source, Iterable):
        raise TypeError(f"{name} must be str or bytes, or a list of them, not {type(source).__name__}")


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{name} must be str or bytes, not {type(text).__name__}")


def _check_request(priority: object, deadline: object) -> None:
    if not isinstance(priority, int):
        raise TypeError(f"priority must be an int, not {type(priority).__name__}")
    if not -(1 << 63) <= priority < 1 << 63:
        raise ValueError(f"priority must be a number of 64 bits, not {priority}")
    if deadline is not None and not isinstance(deadline, (int, float)):
        raise TypeError(f"deadline must be a number of seconds or None, not {type(deadline).__name__}")
