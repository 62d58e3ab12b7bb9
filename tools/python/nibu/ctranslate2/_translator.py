"""The class Translator."""

import contextlib
import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Unpack, overload

from nibu import _nibu

from ._arguments import Signed, check_options, checked
from ._batches import Queue, Row, cancel, read_size, stream, wait
from ._files import DetokenizeFunction, LineFiles, TokenizeFunction
from ._model_files import ModelFiles, read_files
from ._module import check_device
from ._options import DEFAULTS, FileOptions, SearchOptions, TokenOptions
from ._results import AsyncResult, ExecutionStats, GenerationStepResult, ScoringResult, TranslationResult
from ._session import Scoring, Session, Translation
from ._state import log_info

_MOST_THREADS = 1024
_DEFAULT_INTRA_THREADS = 4
# nibu's own queue of sentences never fills: the batches are what is limited, as in CTranslate2.
_QUEUE_SIZE = 1 << 30


class Translator:
    """Translates tokens with an encoder-decoder Transformer. Thread-safe.

    All its calls let other threads run while they wait. See CTranslate2's documentation for the meaning of each
    argument, and the README of this package for what is different here.
    """

    @checked
    def __init__(self, model_path: str, device: str = "cpu", *, device_index: Signed | list[Signed] = 0,
                 compute_type: str | dict[str, str] = "default", inter_threads: int = 1, intra_threads: int = 0,
                 max_queued_batches: Signed = 0, flash_attention: bool = False, tensor_parallel: bool = False,
                 files: dict[str, Any] | None = None) -> None:
        """Loads a model from a directory or, with `files`, from memory; `model_path` is its name then.

        RuntimeError: there is no such model, or it cannot be read; ValueError: a setting is not supported.
        """
        check_device(device)
        types = compute_type if isinstance(compute_type, dict) else {device: compute_type}
        self._compute_type_asked = types.get(device, "default")
        self._device_index = device_index if isinstance(device_index, list) else [device_index]
        if set(self._device_index) != {0}:
            raise ValueError(f"there is no device index {device_index}: the CPU's is 0")
        workers = inter_threads * len(self._device_index)
        if workers < 1:
            raise ValueError("inter_threads must be at least 1")
        threads = _count_threads(workers, intra_threads)
        if flash_attention:
            raise ValueError("flash_attention is not supported: it is for GPUs")
        if tensor_parallel:
            raise ValueError("tensor_parallel is not supported: it is for several GPUs")
        self._files = ModelFiles(model_path, None if files is None else read_files(files))
        self._workers = workers
        self._queue = Queue(workers, max_queued_batches, threads)
        self._engine = _nibu.Engine({"threads": threads, "queue_size": _QUEUE_SIZE})
        self._lock = threading.Lock()
        self._users = 0  # calls that are using the session
        self._session: Session | None = self._load()
        self._compute_type = self._session.compute_type
        log_info(f"loaded the model {model_path} on cpu: compute type {self._compute_type}, {threads} threads")

    @property
    def device(self) -> str:
        """The device: cpu."""
        return "cpu"

    @property
    def device_index(self) -> list[int]:
        """The indices of the devices: [0]."""
        return list(self._device_index)

    @property
    def compute_type(self) -> str:
        """The type in which matrices are multiplied."""
        return self._compute_type

    @property
    def num_translators(self) -> int:
        """The number of batches that may be translated at the same time."""
        return self._workers

    @property
    def num_queued_batches(self) -> int:
        """The number of batches that wait."""
        return self._queue.queued

    @property
    def num_active_batches(self) -> int:
        """The number of batches that wait or are being translated."""
        return self._queue.active

    @property
    def tensor_parallel(self) -> bool:
        """False."""
        return False

    @property
    def model_is_loaded(self) -> bool:
        """Whether the model is loaded."""
        return self._session is not None

    @overload
    def translate_batch(self, source: list[list[str]], target_prefix: Sequence[list[str] | None] | None = ..., *,
                        max_batch_size: int = ..., batch_type: str = ..., asynchronous: Literal[False] = ...,
                        **options: Unpack[SearchOptions]) -> list[TranslationResult]: ...

    @overload
    def translate_batch(self, source: list[list[str]], target_prefix: Sequence[list[str] | None] | None = ..., *,
                        max_batch_size: int = ..., batch_type: str = ..., asynchronous: Literal[True],
                        **options: Unpack[SearchOptions]) -> list[AsyncResult[TranslationResult]]: ...

    @overload
    def translate_batch(self, source: list[list[str]], target_prefix: Sequence[list[str] | None] | None = ..., *,
                        max_batch_size: int = ..., batch_type: str = ..., asynchronous: bool,
                        **options: Unpack[SearchOptions]
                        ) -> list[TranslationResult] | list[AsyncResult[TranslationResult]]: ...

    @checked
    def translate_batch(self, source: list[list[str]], target_prefix: Sequence[list[str] | None] | None = None,
                        *, max_batch_size: int = 0, batch_type: str = "examples", asynchronous: bool = False,
                        **options: Unpack[SearchOptions]
                        ) -> list[TranslationResult] | list[AsyncResult[TranslationResult]]:
        """Translates examples, each a list of tokens. With `asynchronous`, returns as soon as they are queued."""
        if not source:
            none: list[TranslationResult] = []
            return none
        with self._use() as session:
            prefixes = [prefix or [] for prefix in target_prefix or []] or [[]] * len(source)
            job = Translation(session, {**DEFAULTS, **options}, source)
            results = self._queue.submit(job, _rows(source, prefixes), max_batch_size, batch_type, asynchronous)
        if asynchronous:
            return results
        return wait(results)

    def translate_iterable(self, source: Iterable[list[str]], target_prefix: Iterable[list[str]] | None = None,
                           max_batch_size: int = 32, batch_type: str = "examples", **options: Any
                           ) -> Iterator[TranslationResult]:
        """Translates a stream of examples, of which no more than a few batches are read ahead.

        The options are those of translate_batch.
        """
        rows = _zip(source) if target_prefix is None else _zip(source, target_prefix)
        yield from stream(self.translate_batch, rows, read_size(max_batch_size), max_batch_size=max_batch_size,
                          batch_type=batch_type, **options)

    def generate_tokens(self, source: list[str], target_prefix: list[str] | None = None, *,
                        return_log_prob: bool = False, **options: Unpack[TokenOptions]
                        ) -> Iterator[GenerationStepResult]:
        """Yields the tokens of a translation as they are generated. Closing the generator ends the search."""
        check_options("generate_tokens", options, TokenOptions)
        steps: queue.SimpleQueue[GenerationStepResult | None] = queue.SimpleQueue()
        results: Any = self.translate_batch([source], [target_prefix], asynchronous=True, beam_size=1,
                                            return_scores=return_log_prob, callback=steps.put, **options)
        results[0].add_done_callback(lambda: steps.put(None))
        try:
            yield from iter(steps.get, None)
        finally:
            cancel(results)
        results[0].result()  # raises the error if there is one

    @checked
    def translate_file(self, source_path: str, output_path: str, target_path: str | None = None, *,
                       max_batch_size: int = 32, read_batch_size: int = 0, batch_type: str = "examples",
                       with_scores: bool = False, source_tokenize_fn: TokenizeFunction | None = None,
                       target_tokenize_fn: TokenizeFunction | None = None,
                       target_detokenize_fn: DetokenizeFunction | None = None,
                       **options: Unpack[FileOptions]) -> ExecutionStats:
        """Translates a file line by line. Blanks separate the tokens, unless functions cut and join them."""
        files = LineFiles(source_path, target_path, output_path, max_batch_size, read_batch_size, batch_type,
                          source_tokenize_fn, target_tokenize_fn, target_detokenize_fn)
        files.check_for_translation()
        with self._use():
            return files.run(self.translate_batch, lambda result: files.translation_lines(result, with_scores),
                             lambda result: len(result.hypotheses[0]), return_scores=with_scores, **options)

    @overload
    def score_batch(self, source: list[list[str]], target: list[list[str]], *, max_batch_size: int = ...,
                    batch_type: str = ..., max_input_length: int = ..., offset: int = ...,
                    asynchronous: Literal[False] = ...) -> list[ScoringResult]: ...

    @overload
    def score_batch(self, source: list[list[str]], target: list[list[str]], *, max_batch_size: int = ...,
                    batch_type: str = ..., max_input_length: int = ..., offset: int = ...,
                    asynchronous: Literal[True]) -> list[AsyncResult[ScoringResult]]: ...

    @overload
    def score_batch(self, source: list[list[str]], target: list[list[str]], *, max_batch_size: int = ...,
                    batch_type: str = ..., max_input_length: int = ..., offset: int = ...,
                    asynchronous: bool) -> list[ScoringResult] | list[AsyncResult[ScoringResult]]: ...

    @checked
    def score_batch(self, source: list[list[str]], target: list[list[str]], *, max_batch_size: int = 0,
                    batch_type: str = "examples", max_input_length: int = 1024, offset: int = 0,
                    asynchronous: bool = False) -> list[ScoringResult] | list[AsyncResult[ScoringResult]]:
        """Computes the log-probability of each token of given translations, from token `offset` on."""
        with self._use() as session:
            job = Scoring(session, source, max_input_length, offset)
            results = self._queue.submit(job, _rows(source, target), max_batch_size, batch_type, asynchronous)
        if asynchronous:
            return results
        return wait(results)

    def score_iterable(self, source: Iterable[list[str]], target: Iterable[list[str]], max_batch_size: int = 64,
                       batch_type: str = "examples", **options: Any) -> Iterator[ScoringResult]:
        """Scores a stream of examples, of which no more than a few batches are read ahead.

        The options are those of score_batch.
        """
        yield from stream(self.score_batch, _zip(source, target), read_size(max_batch_size),
                          max_batch_size=max_batch_size, batch_type=batch_type, **options)

    @checked
    def score_file(self, source_path: str, target_path: str, output_path: str, *, max_batch_size: int = 32,
                   read_batch_size: int = 0, batch_type: str = "examples", max_input_length: int = 1024,
                   offset: int = 0, with_tokens_score: bool = False,
                   source_tokenize_fn: TokenizeFunction | None = None,
                   target_tokenize_fn: TokenizeFunction | None = None,
                   target_detokenize_fn: DetokenizeFunction | None = None) -> ExecutionStats:
        """Scores a file's lines as translations of another's: writes the mean, the tokens and, if asked, each score."""
        files = LineFiles(source_path, target_path, output_path, max_batch_size, read_batch_size, batch_type,
                          source_tokenize_fn, target_tokenize_fn, target_detokenize_fn)
        files.check_for_scores()
        with self._use():
            return files.run(self.score_batch, lambda result: [files.score_line(result, with_tokens_score)],
                             lambda result: len(result.tokens), max_input_length=max_input_length, offset=offset)

    @checked
    def unload_model(self, to_cpu: bool = False) -> None:
        """Frees the model. Does nothing while it is in use, or if it is to be kept in the memory of the CPU."""
        if to_cpu or self._queue.active > 0:
            return
        with self._lock:
            if self._users == 0:
                self._session = None

    @checked
    def load_model(self, keep_cache: bool = False) -> None:
        """Loads the model again after unload_model."""
        with self._lock:
            if self._session is None:
                self._session = self._load()

    def _load(self) -> Session:
        return Session(self._files, self._compute_type_asked, self._engine)

    @contextlib.contextmanager
    def _use(self) -> Iterator[Session]:
        """The session, which stays loaded meanwhile. RuntimeError: the model was unloaded."""
        with self._lock:
            session = self._session
            if session is None:
                raise RuntimeError("the model of this translator was unloaded; call load_model")
            self._users += 1
        try:
            yield session
        finally:
            with self._lock:
                self._users -= 1


def _rows(source: list[list[str]], target: list[list[str]]) -> list[tuple[list[str], list[str]]]:
    """Returns sources with their targets. RuntimeError: there are too few targets."""
    if len(target) < len(source):
        raise RuntimeError(f"one input has less examples than the other: {len(target)}, not {len(source)}")
    return list(zip(source, target))


def _zip(*columns: Iterable[Any]) -> Iterator[Row]:
    """Yields rows of parallel iterables. ValueError: they do not have the same length."""
    missing = object()
    for row in itertools.zip_longest(*columns, fillvalue=missing):
        if any(value is missing for value in row):
            raise ValueError("the iterables do not have the same length")
        yield row


def _count_threads(workers: int, intra_threads: int) -> int:
    """The number of threads that decode; without a choice, no more than there are cores."""
    if intra_threads > 0:
        return min(_MOST_THREADS, workers * intra_threads)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wish = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    each = int(wish) if wish.isdecimal() and int(wish) > 0 else _DEFAULT_INTRA_THREADS
    return min(_MOST_THREADS, max(workers, min(workers * each, cores)))
