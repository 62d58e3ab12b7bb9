"""The class Translator."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from nibu import _nibu

from . import _files, _streams
from ._arguments import Arguments, EndToken
from ._batches import AsyncScoringResult, AsyncTranslationResult, Pool, check_batch_type, wait
from ._model_files import ModelFiles, read_files
from ._options import SearchOptions
from ._results import ExecutionStats, GenerationStepResult, ScoringResult, TranslationResult
from ._session import Session
from ._state import log_info

_MOST_THREADS = 1024
_DEFAULT_INTRA_THREADS = 4
# nibu's own queue of sentences never fills: the batches are what is limited, as in CTranslate2.
_QUEUE_SIZE = 1 << 30

TokenizeFunction = Callable[[str], list[str]]
DetokenizeFunction = Callable[[list[str]], str]


class Translator:
    """Translates tokens with an encoder-decoder Transformer. Thread-safe.

    All its calls let other threads run while they wait. See CTranslate2's documentation for the meaning of each
    argument, and the README of this package for what is different here.
    """

    def __init__(self, model_path: str, device: str = "cpu", *, device_index: int | list[int] = 0,
                 compute_type: str | dict[str, str] = "default", inter_threads: int = 1, intra_threads: int = 0,
                 max_queued_batches: int = 0, flash_attention: bool = False, tensor_parallel: bool = False,
                 files: dict[str, Any] | None = None) -> None:
        """Loads a model from a directory or, with `files`, from memory; `model_path` is its name then.

        RuntimeError: there is no such model, or it cannot be read; ValueError: a setting is not supported.
        """
        arguments = Arguments("Translator", "constructor")
        self._compute_type_asked = _choose(arguments, compute_type, arguments.text("device", device))
        self._device_index = _device_indices(arguments, device_index)
        _check_device(device)
        workers = arguments.integer("inter_threads", inter_threads) * len(self._device_index)
        if workers < 1:
            raise ValueError("inter_threads must be at least 1")
        threads = _count_threads(workers, arguments.integer("intra_threads", intra_threads))
        if arguments.flag("flash_attention", flash_attention):
            raise ValueError("flash_attention is not supported: it is for GPUs")
        if arguments.flag("tensor_parallel", tensor_parallel):
            raise ValueError("tensor_parallel is not supported: it is for several GPUs")
        path = arguments.path("model_path", model_path)
        self._files = ModelFiles(path, None if files is None else read_files(files))
        self._workers = workers
        self._pool = Pool(workers, arguments.integer("max_queued_batches", max_queued_batches, least=None))
        self._engine = _nibu.Engine({"threads": threads, "queue_size": _QUEUE_SIZE})
        self._lock = threading.Lock()
        self._users = 0  # calls that are using the session
        self._session: Session | None = self._load()
        self._compute_type = self._session.compute_type
        log_info(f"loaded the model {path} on cpu: compute type {self._compute_type}, {threads} threads")

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
        return self._pool.queued

    @property
    def num_active_batches(self) -> int:
        """The number of batches that wait or are being translated."""
        return self._pool.active

    @property
    def tensor_parallel(self) -> bool:
        """False."""
        return False

    @property
    def model_is_loaded(self) -> bool:
        """Whether the model is loaded."""
        return self._session is not None

    def translate_batch(self, source: list[list[str]], target_prefix: Sequence[list[str] | None] | None = None,
                        *, max_batch_size: int = 0, batch_type: str = "examples", asynchronous: bool = False,
                        beam_size: int = 2, patience: float = 1, num_hypotheses: int = 1, length_penalty: float = 1,
                        coverage_penalty: float = 0, repetition_penalty: float = 1, no_repeat_ngram_size: int = 0,
                        disable_unk: bool = False, suppress_sequences: list[list[str]] | None = None,
                        end_token: EndToken | None = None, return_end_token: bool = False,
                        prefix_bias_beta: float = 0, max_input_length: int = 1024, max_decoding_length: int = 256,
                        min_decoding_length: int = 1, use_vmap: bool = False, return_scores: bool = False,
                        return_logits_vocab: bool = False, return_attention: bool = False,
                        return_alternatives: bool = False, min_alternative_expansion_prob: float = 0,
                        sampling_topk: int = 1, sampling_topp: float = 1, sampling_temperature: float = 1,
                        replace_unknowns: bool = False,
                        callback: Callable[[GenerationStepResult], bool | None] | None = None
                        ) -> list[TranslationResult] | list[AsyncTranslationResult]:
        """Translates examples, each a list of tokens. With `asynchronous`, returns as soon as they are queued."""
        options = SearchOptions(
            beam_size, patience, num_hypotheses, length_penalty, coverage_penalty, repetition_penalty,
            no_repeat_ngram_size, disable_unk, suppress_sequences, end_token, return_end_token, prefix_bias_beta,
            max_input_length, max_decoding_length, min_decoding_length, use_vmap, return_scores, return_logits_vocab,
            return_attention, return_alternatives, min_alternative_expansion_prob, sampling_topk, sampling_topp,
            sampling_temperature, replace_unknowns, callback)
        arguments = Arguments("translate_batch")
        options.check_types(arguments)
        source = arguments.batch("source", source)
        prefixes = arguments.optional_batch("target_prefix", target_prefix)
        max_batch_size = arguments.integer("max_batch_size", max_batch_size)
        batch_type = arguments.text("batch_type", batch_type)
        asynchronous = arguments.flag("asynchronous", asynchronous)
        if not source:
            none: list[TranslationResult] = []
            return none
        with self._use() as session:
            futures = session.translate(self._pool, source, prefixes, options, max_batch_size, batch_type)
            if asynchronous:
                return [AsyncTranslationResult(future) for future in futures]
            return wait(futures)

    def translate_iterable(self, source: Iterable[list[str]], target_prefix: Iterable[list[str]] | None = None,
                           max_batch_size: int = 32, batch_type: str = "examples", **kwargs: Any
                           ) -> Iterator[TranslationResult]:
        """Translates a stream of examples, of which no more than a few batches are read ahead."""
        columns = [source] if target_prefix is None else [source, target_prefix]
        yield from _streams.process(self.translate_batch, columns, max_batch_size, batch_type, kwargs)

    def generate_tokens(self, source: list[str], target_prefix: list[str] | None = None, *,
                        max_decoding_length: int = 256, min_decoding_length: int = 1, sampling_topk: int = 1,
                        sampling_topp: float = 1, sampling_temperature: float = 1, return_log_prob: bool = False,
                        repetition_penalty: float = 1, no_repeat_ngram_size: int = 0, disable_unk: bool = False,
                        suppress_sequences: list[list[str]] | None = None, end_token: EndToken | None = None,
                        max_input_length: int = 1024, use_vmap: bool = False) -> Iterator[GenerationStepResult]:
        """Yields the tokens of a translation as they are generated. Closing the generator ends the search."""
        options = SearchOptions(
            beam_size=1, max_decoding_length=max_decoding_length, min_decoding_length=min_decoding_length,
            sampling_topk=sampling_topk, sampling_topp=sampling_topp, sampling_temperature=sampling_temperature,
            return_scores=return_log_prob, repetition_penalty=repetition_penalty,
            no_repeat_ngram_size=no_repeat_ngram_size, disable_unk=disable_unk, suppress_sequences=suppress_sequences,
            end_token=end_token, max_input_length=max_input_length, use_vmap=use_vmap)
        arguments = Arguments("generate_tokens")
        options.check_types(arguments)
        source = arguments.tokens("source", source)
        prefix = [] if target_prefix is None else arguments.tokens("target_prefix", target_prefix)
        stream = _streams.TokenStream()
        options.callback = stream.put
        with self._use() as session:
            future = session.translate(self._pool, [source], [prefix], options, 0, "examples")[0]
        yield from stream.read(future)

    def translate_file(self, source_path: str, output_path: str, target_path: str | None = None, *,
                       max_batch_size: int = 32, read_batch_size: int = 0, batch_type: str = "examples",
                       beam_size: int = 2, patience: float = 1, num_hypotheses: int = 1, length_penalty: float = 1,
                       coverage_penalty: float = 0, repetition_penalty: float = 1, no_repeat_ngram_size: int = 0,
                       disable_unk: bool = False, suppress_sequences: list[list[str]] | None = None,
                       end_token: EndToken | None = None, prefix_bias_beta: float = 0,
                       max_input_length: int = 1024, max_decoding_length: int = 256, min_decoding_length: int = 1,
                       use_vmap: bool = False, with_scores: bool = False, sampling_topk: int = 1,
                       sampling_topp: float = 1, sampling_temperature: float = 1, replace_unknowns: bool = False,
                       source_tokenize_fn: TokenizeFunction | None = None,
                       target_tokenize_fn: TokenizeFunction | None = None,
                       target_detokenize_fn: DetokenizeFunction | None = None) -> ExecutionStats:
        """Translates a file line by line. Blanks separate the tokens, unless functions cut and join them."""
        options = SearchOptions(
            beam_size=beam_size, patience=patience, num_hypotheses=num_hypotheses, length_penalty=length_penalty,
            coverage_penalty=coverage_penalty, repetition_penalty=repetition_penalty,
            no_repeat_ngram_size=no_repeat_ngram_size, disable_unk=disable_unk, suppress_sequences=suppress_sequences,
            end_token=end_token, prefix_bias_beta=prefix_bias_beta, max_input_length=max_input_length,
            max_decoding_length=max_decoding_length, min_decoding_length=min_decoding_length, use_vmap=use_vmap,
            return_scores=with_scores, sampling_topk=sampling_topk, sampling_topp=sampling_topp,
            sampling_temperature=sampling_temperature, replace_unknowns=replace_unknowns)
        arguments = Arguments("translate_file")
        options.check_types(arguments)
        job = _files.FileJob(arguments, source_path, target_path, output_path, max_batch_size, read_batch_size,
                             batch_type, source_tokenize_fn, target_tokenize_fn, target_detokenize_fn)
        job.check_for_translation()
        with self._use() as session:
            return job.translate(session, self._pool, options)

    def score_batch(self, source: list[list[str]], target: list[list[str]], *, max_batch_size: int = 0,
                    batch_type: str = "examples", max_input_length: int = 1024, offset: int = 0,
                    asynchronous: bool = False) -> list[ScoringResult] | list[AsyncScoringResult]:
        """Computes the log-probability of each token of given translations, from token `offset` on."""
        arguments = Arguments("score_batch")
        source = arguments.batch("source", source)
        target = arguments.batch("target", target)
        max_batch_size = arguments.integer("max_batch_size", max_batch_size)
        batch_type = arguments.text("batch_type", batch_type)
        max_input_length = arguments.integer("max_input_length", max_input_length)
        offset = arguments.integer("offset", offset)
        asynchronous = arguments.flag("asynchronous", asynchronous)
        check_batch_type(batch_type)
        with self._use() as session:
            futures = session.score(self._pool, source, target, max_input_length, offset, max_batch_size, batch_type)
            if asynchronous:
                return [AsyncScoringResult(future) for future in futures]
            return wait(futures)

    def score_iterable(self, source: Iterable[list[str]], target: Iterable[list[str]], max_batch_size: int = 64,
                       batch_type: str = "examples", **kwargs: Any) -> Iterator[ScoringResult]:
        """Scores a stream of examples, of which no more than a few batches are read ahead."""
        yield from _streams.process(self.score_batch, [source, target], max_batch_size, batch_type, kwargs)

    def score_file(self, source_path: str, target_path: str, output_path: str, *, max_batch_size: int = 32,
                   read_batch_size: int = 0, batch_type: str = "examples", max_input_length: int = 1024,
                   offset: int = 0, with_tokens_score: bool = False,
                   source_tokenize_fn: TokenizeFunction | None = None,
                   target_tokenize_fn: TokenizeFunction | None = None,
                   target_detokenize_fn: DetokenizeFunction | None = None) -> ExecutionStats:
        """Scores a file's lines as translations of another's: writes the mean, the tokens and, if asked, each score."""
        arguments = Arguments("score_file")
        job = _files.FileJob(arguments, source_path, arguments.path("target_path", target_path), output_path,
                             max_batch_size, read_batch_size, batch_type, source_tokenize_fn, target_tokenize_fn,
                             target_detokenize_fn)
        job.check_for_scores()
        max_input_length = arguments.integer("max_input_length", max_input_length)
        offset = arguments.integer("offset", offset)
        with_tokens_score = arguments.flag("with_tokens_score", with_tokens_score)
        with self._use() as session:
            return job.score(session, self._pool, max_input_length, offset, with_tokens_score)

    def unload_model(self, to_cpu: bool = False) -> None:
        """Frees the model. Does nothing while it is in use, or if it is to be kept in the memory of the CPU."""
        if Arguments("unload_model").flag("to_cpu", to_cpu) or self._pool.active > 0:
            return
        with self._lock:
            if self._users == 0:
                self._session = None

    def load_model(self, keep_cache: bool = False) -> None:
        """Loads the model again after unload_model."""
        Arguments("load_model").flag("keep_cache", keep_cache)
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


def _choose(arguments: Arguments, compute_type: Any, device: str) -> str:
    """The compute type for a device; a dictionary gives one for each device."""
    if isinstance(compute_type, dict):
        types = {arguments.text("a key of compute_type", key): arguments.text("a value of compute_type", value)
                 for key, value in compute_type.items()}
        return types.get(device, "default")
    if not isinstance(compute_type, (str, bytes)):
        raise arguments.wrong("compute_type", "str or a dict of str", compute_type)
    return arguments.text("compute_type", compute_type)


def _device_indices(arguments: Arguments, device_index: Any) -> list[int]:
    if isinstance(device_index, (list, tuple)):
        indices = [arguments.integer("each device_index", index, least=None) for index in device_index]
    else:
        indices = [arguments.integer("device_index", device_index, least=None)]
    if not indices:
        raise ValueError("at least one device index is needed")
    for index in indices:
        if index != 0:
            raise ValueError(f"there is no device index {index}: the CPU's is 0")
    return indices


def _check_device(device: str | bytes) -> None:
    name = device.decode("utf-8", "replace") if isinstance(device, bytes) else device
    if name in ("cuda", "CUDA"):
        raise ValueError("the device cuda is not supported: this module translates on CPUs alone")
    if name not in ("cpu", "CPU", "auto", "AUTO"):
        raise ValueError(f"the device {name} is not supported: it may be cpu or auto")


def _count_threads(workers: int, intra_threads: int) -> int:
    """The number of threads that decode; without a choice, no more than there are cores."""
    if intra_threads > 0:
        return min(_MOST_THREADS, workers * intra_threads)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wish = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    each = int(wish) if wish.isdecimal() and int(wish) > 0 else _DEFAULT_INTRA_THREADS
    return min(_MOST_THREADS, max(workers, min(workers * each, cores)))
