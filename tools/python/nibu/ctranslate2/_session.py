"""A loaded model, and the requests that are made of it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from nibu import _nibu

from . import _state, _tokens
from ._batches import Batch, Future, Pool, check_batch_type, divide
from ._model_files import ModelFacts, ModelFiles, choose_compute_type
from ._options import SearchOptions, key_of, token_options
from ._results import GenerationStepResult, ScoringResult, TranslationResult

_MOST_PLANS = 32


class Session:
    """A model in memory. Thread-safe."""

    def __init__(self, files: ModelFiles, compute_type: str, engine: _nibu.Engine) -> None:
        """`compute_type` is one of CTranslate2's. ValueError: it is not supported; RuntimeError: no such model."""
        self.facts: ModelFacts = files.read_facts()
        self._files = files
        self._engine = engine
        self._compute_type = choose_compute_type(compute_type, self.facts)
        self.model = self._load("none")
        self._model_with_shortlist: _nibu.Model | None = None
        self._plans: dict[tuple[Any, ...], _nibu.Plan] = {}
        self._lock = threading.Lock()

    @property
    def compute_type(self) -> str:
        """The type in effect, in CTranslate2's words."""
        name = str(self.model.info["compute_type"])
        return "int8_float32" if name == "int8" else name

    def _load(self, shortlist: str) -> _nibu.Model:
        with self._files.directory() as folder:
            try:
                return _nibu.Model(folder, compute_type=self._compute_type, shortlist=shortlist)
            except MemoryError:
                raise
            except (ValueError, OSError, RuntimeError) as error:
                raise RuntimeError(str(error).replace(folder, self._files.path)) from error

    def plan(self, options: dict[str, Any], use_vmap: bool = False) -> _nibu.Plan:
        """Prepares options, or finds them prepared."""
        use_vmap = use_vmap and self.facts.has_shortlist
        key = (use_vmap, key_of(options))
        with self._lock:
            if key in self._plans:
                return self._plans[key]
            model = self.model
            if use_vmap:
                if self._model_with_shortlist is None:
                    self._model_with_shortlist = self._load("")
                model = self._model_with_shortlist
            plan = self._engine.prepare(model, options)
            if len(self._plans) >= _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = plan
            return plan

    def translate(self, pool: Pool, source: list[list[str]], prefixes: list[list[str]], options: SearchOptions,
                  max_batch_size: int, batch_type: str) -> list[Future[TranslationResult]]:
        """Queues examples, which takes as long as the queue is full. `prefixes` is empty or as long as `source`.

        Errors are those of the futures. RuntimeError: there are too few prefixes.
        """
        check_batch_type(batch_type)
        prefixes = _pad(prefixes, source)
        futures: list[Future[TranslationResult]] = [Future() for _ in source]
        translation = _Translation(self, options, source)
        for indices in divide([len(tokens) for tokens in source], max_batch_size, batch_type):
            _run(pool, indices, futures,
                 lambda index, future: translation.submit(self._engine, index, source[index], prefixes[index], future))
        return futures

    def score(self, pool: Pool, source: list[list[str]], target: list[list[str]], max_input_length: int, offset: int,
              max_batch_size: int, batch_type: str) -> list[Future[ScoringResult]]:
        """Queues pairs to be scored; as above."""
        check_batch_type(batch_type)
        target = _pad(target, source)
        futures: list[Future[ScoringResult]] = [Future() for _ in source]
        cut = [_tokens.truncate(tokens, max_input_length, self.facts) for tokens in source]
        longest = max([len(tokens) for tokens in cut], default=0)
        for indices in divide([len(tokens) for tokens in source], max_batch_size, batch_type):
            _run(pool, indices, futures, lambda index, future: self._score(
                cut[index], target[index], max_input_length, offset, longest, future))
        return futures

    def _score(self, source: list[str], target: list[str], max_input_length: int, offset: int, longest: int,
               future: Future[ScoringResult]) -> None:
        if max_input_length > 0:
            target = target[:max(0, max_input_length - 1)]
        if not source:
            if self.facts.source_extra > 0:
                raise ValueError("an empty source cannot be scored with this model, which adds tokens to it")
            tokens = self.model.target_pieces(self.model.target_ids(target)) + [self.facts.eos_token]
            future.set_value(ScoringResult(tokens, [0.0] * len(tokens)))
            return
        # A minimum would take the end of sentence out of the distribution of the first token.
        plan = self.plan({**token_options(longest), "min_decoding_length": 0})
        pending = self._engine.submit(_tokens.join(source), plan, target=_tokens.join(target))

        def convert(result: _nibu.Result) -> ScoringResult:
            best = result.hypotheses[0]
            return ScoringResult(best.tokens[offset:], best.token_scores[offset:])

        future.set_pending(pending, convert)


def _pad(streams: list[list[str]], source: list[list[str]]) -> list[list[str]]:
    if not streams:
        return [[] for _ in source]
    if len(streams) < len(source):
        raise RuntimeError(f"one input has less examples than the other: {len(streams)}, not {len(source)}")
    return streams


def _run(pool: Pool, indices: Sequence[int], futures: Sequence[Future[Any]],
         submit: Callable[[int, Future[Any]], None]) -> None:
    """Queues a batch. An error that an example meets is kept for its future."""
    batch = Batch(pool, len(indices))
    ends = [batch.example() for _ in indices]
    for at, index in enumerate(indices):
        try:
            submit(index, futures[index])
        except Exception as error:
            futures[index].set_error(error)
        except BaseException:  # Ctrl-C: the rest is not queued
            for end in ends[at:]:
                end()
            for future in futures:
                future.cancel()
            raise
        futures[index].set_end(ends[at])


class _Translation:
    """What the examples of one call have in common."""

    def __init__(self, session: Session, options: SearchOptions, source: list[list[str]]) -> None:
        self._session = session
        self._options = options
        facts = session.facts
        self._longest = max([len(_tokens.truncate(tokens, options.max_input_length, facts)) for tokens in source],
                            default=0)
        self._is_checked = False
        self._plans: dict[bool, _nibu.Plan] = {}

    def submit(self, engine: _nibu.Engine, index: int, source: list[str], prefix: list[str],
               future: Future[TranslationResult]) -> None:
        """Submits an example, or gives its future the result at once."""
        if _tokens.is_empty(source, self._session.facts):
            future.set_value(self._empty_result(source, prefix))
            return
        plan = self._plan(is_biased=self._options.prefix_bias_beta > 0 and bool(prefix))
        key = _state.next_sample() if self._options.is_sampling else 0
        steps = _Steps(self._options, index) if self._options.callback is not None else None
        cut = _tokens.truncate(source, self._options.max_input_length, self._session.facts)
        pending = engine.submit(_tokens.join(cut), plan, target_prefix=_tokens.join(prefix) if prefix else None,
                                key=key, on_step=steps)

        def convert(result: _nibu.Result) -> TranslationResult:
            if steps is not None and steps.error is not None:
                raise steps.error
            return self._convert(result, source, cut)

        future.set_pending(pending, convert)

    def _plan(self, is_biased: bool) -> _nibu.Plan:
        if is_biased not in self._plans:
            self._options.check()
            options = self._options.engine_options(self._end_tokens(), self._longest, is_biased)
            if self._options.is_sampling:
                options["seed"] = _state.seed()
            self._plans[is_biased] = self._session.plan(options, self._options.use_vmap)
        return self._plans[is_biased]

    def _end_tokens(self) -> list[str]:
        given = self._options.end_token
        if not given:
            return []
        if isinstance(given, str):
            return [given]
        ids = [token for token in given if isinstance(token, int)]
        return self._session.model.target_pieces(ids) if ids else [str(token) for token in given]

    def _empty_result(self, source: list[str], prefix: list[str]) -> TranslationResult:
        options, model = self._options, self._session.model
        hypothesis = model.target_pieces(model.target_ids(prefix[:options.max_decoding_length])) if prefix else []
        count = options.num_hypotheses
        attention = [[0.0] * len(source) for _ in hypothesis]
        return TranslationResult([list(hypothesis) for _ in range(count)],
                                 [0.0] * count if options.return_scores else [],
                                 [[list(row) for row in attention] for _ in range(count)]
                                 if options.return_attention else [])

    def _convert(self, result: _nibu.Result, source: list[str], cut: list[str]) -> TranslationResult:
        options = self._options
        hypotheses = result.hypotheses
        if options.is_sampling:
            hypotheses.sort(key=lambda hypothesis: -hypothesis.score)
        tokens = [_tokens.restore(hypothesis.tokens, cut) for hypothesis in hypotheses]
        if options.return_end_token:
            for each, hypothesis in zip(tokens, hypotheses):
                if hypothesis.end_token:
                    each.append(hypothesis.end_token)
        scores = [hypothesis.score for hypothesis in hypotheses] if options.return_scores else []
        attention = []
        if options.return_attention:
            attention = [_widen(hypothesis.attention, len(cut), len(source)) for hypothesis in hypotheses]
        return TranslationResult(tokens, scores, attention)


class _Steps:
    """Hands the steps of an example's search to the caller's callback; what that raises ends the search."""

    def __init__(self, options: SearchOptions, index: int) -> None:
        self._options = options
        self._index = index
        self.error: BaseException | None = None

    def __call__(self, step: _nibu.Step) -> bool:
        callback = self._options.callback
        if callback is None or self.error is not None:
            return True
        try:
            return bool(callback(GenerationStepResult(
                step=step.position, batch_id=self._index, token_id=step.id, hypothesis_id=step.hypothesis,
                token=step.token, log_prob=step.log_prob if self._options.return_scores else None, logits=None,
                is_last=step.is_last)))
        except BaseException as error:  # raised by the example's result
            self.error = error
            return True


def _widen(attention: Any, read: int, length: int) -> list[list[float]]:
    """Rows of attention with a place for each token of the source: 0 for those that were cut off.

    nibu leaves out language tokens at the beginning; they get 0 as well.
    """
    rows: list[list[float]] = attention.tolist() if attention is not None else []
    return [[0.0] * (read - len(row)) + row + [0.0] * (length - read) for row in rows]
