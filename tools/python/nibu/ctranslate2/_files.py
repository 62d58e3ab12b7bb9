"""Translation and scoring of files of lines."""

import collections
import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeVar

from ._arguments import Arguments
from ._batches import Future, Pool, check_batch_type
from ._options import SearchOptions
from ._results import ExecutionStats, ScoringResult, TranslationResult
from ._session import Session

_READ_AHEAD = 16  # batches

T = TypeVar("T")
Example = tuple[list[str], list[str]]  # source and target


@dataclasses.dataclass
class FileJob:
    """A file to be translated or scored: the arguments that translate_file and score_file share."""

    arguments: Arguments
    source_path: Any
    target_path: Any
    output_path: Any
    max_batch_size: Any
    read_batch_size: Any
    batch_type: Any
    source_tokenize_fn: Any
    target_tokenize_fn: Any
    target_detokenize_fn: Any

    def __post_init__(self) -> None:
        arguments = self.arguments
        self.source_path = arguments.path("source_path", self.source_path)
        self.output_path = arguments.path("output_path", self.output_path)
        if self.target_path is not None:
            self.target_path = arguments.path("target_path", self.target_path)
        self.max_batch_size = arguments.integer("max_batch_size", self.max_batch_size)
        self.read_batch_size = arguments.integer("read_batch_size", self.read_batch_size)
        self.batch_type = arguments.text("batch_type", self.batch_type)
        for name in ("source_tokenize_fn", "target_tokenize_fn", "target_detokenize_fn"):
            arguments.function(name, getattr(self, name))

    def check_for_translation(self) -> None:
        """Raises ValueError if some but not all functions are there that a translation needs."""
        if (self.source_tokenize_fn is None) != (self.target_detokenize_fn is None):
            raise ValueError("source_tokenize_fn and target_detokenize_fn need each other")
        if self.target_path is not None and self.source_tokenize_fn is not None and self.target_tokenize_fn is None:
            raise ValueError("target_tokenize_fn is needed for target_path, since source_tokenize_fn is given")
        self._check_batches()

    def check_for_scores(self) -> None:
        """Raises ValueError if some but not all functions are there."""
        functions = (self.source_tokenize_fn, self.target_tokenize_fn, self.target_detokenize_fn)
        if any(function is None for function in functions) and any(function is not None for function in functions):
            raise ValueError("source_tokenize_fn, target_tokenize_fn and target_detokenize_fn need each other")
        self._check_batches()

    def _check_batches(self) -> None:
        check_batch_type(self.batch_type)
        if self.max_batch_size == 0:
            raise ValueError("max_batch_size must be > 0")
        if self.read_batch_size == 0:
            self.read_batch_size = self.max_batch_size * (_READ_AHEAD if self.max_batch_size > 1 else 1)

    def translate(self, session: Session, pool: Pool, options: SearchOptions) -> ExecutionStats:
        """Writes the translations of the source's lines, each hypothesis on a line of its own."""

        def post(source: list[list[str]], target: list[list[str]]) -> list[Future[TranslationResult]]:
            return session.translate(pool, source, target, options, self.max_batch_size, self.batch_type)

        def write(output: IO[str], result: TranslationResult) -> int:
            for i, hypothesis in enumerate(result.hypotheses):
                front = f"{result.scores[i] if result.scores else 0:.6g} ||| " if options.return_scores else ""
                output.write(f"{front}{self._detokenize(hypothesis)}\n")
            return len(result.hypotheses[0])

        return self._run(post, write)

    def score(self, session: Session, pool: Pool, max_input_length: int, offset: int,
              with_tokens_score: bool) -> ExecutionStats:
        """Writes a line for each pair of lines: the mean log-probability, the tokens and, if asked, each score."""

        def post(source: list[list[str]], target: list[list[str]]) -> list[Future[ScoringResult]]:
            return session.score(pool, source, target, max_input_length, offset, self.max_batch_size, self.batch_type)

        def write(output: IO[str], result: ScoringResult) -> int:
            scores = result.log_probs
            mean = sum(scores) / len(scores) if scores else 0.0
            output.write(f"{mean:.6g} ||| {self._detokenize(result.tokens)}")
            if with_tokens_score:
                output.write(" |||" + "".join(f" {score:.6g}" for score in scores))
            output.write("\n")
            return len(scores)

        return self._run(post, write)

    def _run(self, post: Callable[[list[list[str]], list[list[str]]], list[Future[T]]],
             write: Callable[[IO[str], T], int]) -> ExecutionStats:
        examples = tokens = 0
        results: collections.deque[Future[T]] = collections.deque()
        with contextlib.ExitStack() as files:
            source = files.enter_context(_open(self.source_path, "r"))
            output = files.enter_context(_open(self.output_path, "w"))
            target = None if self.target_path is None else files.enter_context(_open(self.target_path, "r"))
            begin = time.perf_counter()
            try:
                for part in self._parts(self._examples(source, target)):
                    targets = [example[1] for example in part] if target is not None else []
                    results.extend(post([example[0] for example in part], targets))
                    while results and results[0].done():
                        examples, tokens = examples + 1, tokens + write(output, results.popleft().result())
                while results:
                    examples, tokens = examples + 1, tokens + write(output, results.popleft().result())
            finally:
                for future in results:
                    future.cancel()
        return ExecutionStats(tokens, examples, (time.perf_counter() - begin) * 1000)

    def _examples(self, source: IO[str], target: IO[str] | None) -> Iterator[Example]:
        for line in source:
            pieces = self._tokenize("source_tokenize_fn", self.source_tokenize_fn, line)
            if target is None:
                yield pieces, []
                continue
            other = target.readline()
            if not other:
                raise RuntimeError(f"{self.target_path} has less examples than {self.source_path}")
            yield pieces, self._tokenize("target_tokenize_fn", self.target_tokenize_fn, other)

    def _parts(self, examples: Iterator[Example]) -> Iterator[list[Example]]:
        """Parts of at most read_batch_size examples, or tokens of their sources."""
        part: list[Example] = []
        size = 0
        for example in examples:
            more = len(example[0]) if self.batch_type == "tokens" else 1
            if part and size + more > self.read_batch_size:
                yield part
                part, size = [], 0
            part.append(example)
            size += more
        if part:
            yield part

    def _tokenize(self, name: str, function: Callable[[str], Any] | None, line: str) -> list[str]:
        line = line[:-1] if line.endswith("\n") else line
        line = line[:-1] if line.endswith("\r") else line
        if function is None:
            return [token for token in line.split(" ") if token]
        return self.arguments.tokens(f"the result of {name}", function(line))

    def _detokenize(self, tokens: list[str]) -> str:
        if self.target_detokenize_fn is None:
            return " ".join(tokens)
        return self.arguments.text("the result of target_detokenize_fn", self.target_detokenize_fn(tokens))


def _open(path: str, mode: str) -> IO[str]:
    try:
        return open(path, mode, encoding="utf-8", errors="replace" if mode == "r" else "strict", newline="\n")
    except OSError as error:
        raise RuntimeError(f"cannot open the file {path}: {error.strerror}") from error
