"""A loaded model, and the requests that calls make of it."""

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nibu import _nibu

from . import _options, _state, _tokens
from ._model_files import ModelFiles, choose_compute_type
from ._results import (AsyncResult, AsyncScoringResult, AsyncTranslationResult, Begun, GenerationStepResult,
                       ScoringResult, TranslationResult)


class Session:
    """A model in memory. Thread-safe."""

    def __init__(self, files: ModelFiles, compute_type: str, engine: _nibu.Engine) -> None:
        """`compute_type` is one of CTranslate2's. ValueError: it is not supported; RuntimeError: no such model."""
        self.engine = engine
        self._files = files
        with files.directory() as folder:
            self.facts = files.read_facts(folder)
            self._compute_type = choose_compute_type(compute_type, self.facts)
            self.model = self._load(folder, "none")
        self._lock = threading.Lock()
        self._with_shortlist: _nibu.Model | None = None

    @property
    def compute_type(self) -> str:
        """The type in effect, in CTranslate2's words."""
        name = str(self.model.info["compute_type"])
        return "int8_float32" if name == "int8" else name

    @property
    def model_with_shortlist(self) -> _nibu.Model:
        """The model for use_vmap, which is another one if the model's files have a shortlist."""
        if not self.facts.has_shortlist:
            return self.model
        with self._lock:
            if self._with_shortlist is None:
                with self._files.directory() as folder:
                    self._with_shortlist = self._load(folder, "")
            return self._with_shortlist

    def _load(self, folder: str, shortlist: str) -> _nibu.Model:
        try:
            options: Any = {"compute_type": self._compute_type, "shortlist": shortlist, "languages_as_tokens": True}
            return _nibu.Model(folder, **options)
        except MemoryError:
            raise
        except (ValueError, OSError, RuntimeError) as error:
            raise RuntimeError(str(error).replace(folder, self._files.path)) from error


class Translation:
    """What the examples of one call of translate_batch have in common: their options."""

    kind: type[AsyncResult[TranslationResult]] = AsyncTranslationResult

    def __init__(self, session: Session, options: Mapping[str, Any], source: Sequence[list[str]]) -> None:
        self._session = session
        self._options = options
        self._plans: dict[bool, _nibu.Plan] = {}
        self._cut = [_tokens.truncate(tokens, options["max_input_length"], session.facts) for tokens in source]

    def begin(self, index: int, source: list[str], prefix: list[str]) -> Begun[TranslationResult]:
        """Submits an example, unless its source is empty. ValueError: the options make no sense."""
        if _tokens.is_empty(source, self._session.facts):
            return lambda: self._empty_result(source, prefix), None
        steps = None if self._options["callback"] is None else _Steps(self._options, index)
        cut = self._cut[index]
        pending = self._session.engine.submit(
            _tokens.join(cut), self._plan(bool(prefix)), target_prefix=_tokens.join(prefix) if prefix else None,
            key=_state.next_sample() if _options.is_sampling(self._options) else 0, on_step=steps)

        def take() -> TranslationResult:
            result = pending.result()
            if steps is not None and steps.error is not None:
                raise steps.error
            return self._convert(result, source, cut)

        return take, pending

    def _plan(self, has_prefix: bool) -> _nibu.Plan:
        """Returns the plan for examples with a prefix, or without: prefix_bias_beta holds for the former alone."""
        if has_prefix not in self._plans:
            self._plans[has_prefix] = self._make_plan(has_prefix)
        return self._plans[has_prefix]

    def _make_plan(self, has_prefix: bool) -> _nibu.Plan:
        options, session = self._options, self._session
        _options.check(options)
        wanted = _options.nibu_options(options, max(map(len, self._cut)), has_prefix)
        if _options.is_sampling(options):
            wanted["seed"] = _state.seed()
        if options["end_token"]:
            wanted["end_token"] = self._end_tokens(options["end_token"])
        return session.engine.prepare(session.model_with_shortlist if options["use_vmap"] else session.model, wanted)

    def _end_tokens(self, given: Any) -> list[str]:
        tokens: list[str] = [given] if isinstance(given, str) else given
        return self._session.model.target_pieces(given) if isinstance(given[0], int) else tokens

    def _empty_result(self, source: list[str], prefix: list[str]) -> TranslationResult:
        options, model = self._options, self._session.model
        hypothesis = model.target_pieces(model.target_ids(prefix[:options["max_decoding_length"]])) if prefix else []
        every = range(options["num_hypotheses"])
        return TranslationResult(
            [list(hypothesis) for _ in every],
            [0.0 for _ in every] if options["return_scores"] else [],
            [[[0.0] * len(source) for _ in hypothesis] for _ in every] if options["return_attention"] else [])

    def _convert(self, result: _nibu.Result, source: list[str], cut: list[str]) -> TranslationResult:
        options = self._options
        hypotheses = result.hypotheses
        if _options.is_sampling(options):
            hypotheses.sort(key=lambda hypothesis: -hypothesis.score)
        tokens = [_tokens.restore(hypothesis.tokens, cut) for hypothesis in hypotheses]
        if options["return_end_token"]:
            for each, hypothesis in zip(tokens, hypotheses):
                if hypothesis.end_token:
                    each.append(hypothesis.end_token)
        return TranslationResult(
            tokens,
            [hypothesis.score for hypothesis in hypotheses] if options["return_scores"] else [],
            [_widen(hypothesis.attention_rows, len(cut), len(source)) for hypothesis in hypotheses]
            if options["return_attention"] else [])


class Scoring:
    """What the examples of one call of score_batch have in common."""

    kind: type[AsyncResult[ScoringResult]] = AsyncScoringResult

    def __init__(self, session: Session, source: Sequence[list[str]], max_input_length: int, offset: int) -> None:
        self._session = session
        self._most = max_input_length
        self._offset = offset
        self._cut = [_tokens.truncate(tokens, max_input_length, session.facts) for tokens in source]

    def begin(self, index: int, source: list[str], target: list[str]) -> Begun[ScoringResult]:
        """Submits an example, unless its source is empty. ValueError: it must not be."""
        model, facts = self._session.model, self._session.facts
        if self._most > 0:
            target = target[:max(0, self._most - 1)]
        if not source:
            if facts.source_extra > 0:
                raise ValueError("an empty source cannot be scored with this model, which adds tokens to it")
            tokens = model.target_pieces(model.target_ids(target)) + [facts.eos_token]
            return lambda: ScoringResult(tokens, [0.0] * len(tokens)), None
        pending = self._session.engine.submit(_tokens.join(self._cut[index]), self._plan, target=_tokens.join(target))

        def take() -> ScoringResult:
            best = pending.result().hypotheses[0]
            return ScoringResult(best.tokens[self._offset:], best.token_scores[self._offset:])

        return take, pending

    @functools.cached_property
    def _plan(self) -> _nibu.Plan:
        # Without a minimal length, nibu excludes no token, as CTranslate2 does.
        return self._session.engine.prepare(self._session.model, _options.token_options(max(map(len, self._cut))))


class _Steps:
    """Hands the steps of an example's search to the caller's callback; what that raises ends the search."""

    def __init__(self, options: Mapping[str, Any], index: int) -> None:
        self._callback: Callable[[GenerationStepResult], Any] = options["callback"]
        self._has_scores = options["return_scores"]
        self._index = index
        self.error: BaseException | None = None

    def __call__(self, step: _nibu.Step) -> bool:
        if self.error is not None:
            return True
        try:
            return bool(self._callback(GenerationStepResult(
                step=step.position, batch_id=self._index, token_id=step.id, hypothesis_id=step.hypothesis,
                token=step.token, log_prob=step.log_prob if self._has_scores else None, logits=None,
                is_last=step.is_last)))
        except BaseException as error:  # raised by the example's result
            self.error = error
            return True


def _widen(rows: list[list[float]], read: int, length: int) -> list[list[float]]:
    """Returns rows of attention with a place for each token of the source: 0 for those that were cut off.

    nibu leaves out language tokens at the beginning; they get 0 as well.
    """
    return [[0.0] * (read - len(row)) + row + [0.0] * (length - read) for row in rows]
