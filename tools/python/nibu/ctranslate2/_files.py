"""Translation and scoring of files of lines."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from ._arguments import check
from ._batches import Row, check_batch_type, read_size, stream
from ._results import ExecutionStats, ScoringResult, TranslationResult

TokenizeFunction = Callable[[str], list[str]]
DetokenizeFunction = Callable[[list[str]], str]


@dataclasses.dataclass
class LineFiles:
    """The arguments that translate_file and score_file share: files, batches, and functions for their lines."""

    source_path: str
    target_path: str | None
    output_path: str
    max_batch_size: int
    read_batch_size: int
    batch_type: str
    source_tokenize_fn: TokenizeFunction | None
    target_tokenize_fn: TokenizeFunction | None
    target_detokenize_fn: DetokenizeFunction | None

    def __post_init__(self) -> None:
        """Raises ValueError for batches that make no sense."""
        check_batch_type(self.batch_type)
        ahead = read_size(self.max_batch_size)
        self.read_batch_size = self.read_batch_size or ahead

    def check_for_translation(self) -> None:
        """Raises ValueError if some but not all functions are there that a translation needs."""
        if (self.source_tokenize_fn is None) != (self.target_detokenize_fn is None):
            raise ValueError("source_tokenize_fn and target_detokenize_fn need each other")
        if self.target_path is not None and self.source_tokenize_fn is not None and self.target_tokenize_fn is None:
            raise ValueError("target_tokenize_fn is needed for target_path, since source_tokenize_fn is given")

    def check_for_scores(self) -> None:
        """Raises ValueError if some but not all functions are there."""
        if len({self.source_tokenize_fn is None, self.target_tokenize_fn is None,
                self.target_detokenize_fn is None}) > 1:
            raise ValueError("source_tokenize_fn, target_tokenize_fn and target_detokenize_fn need each other")

    def run(self, function: Callable[..., Any], lines: Callable[[Any], Iterable[str]], count: Callable[[Any], int],
            **options: Any) -> ExecutionStats:
        """Calls `function` (translate_batch or score_batch) with the options, and writes the lines of each result.

        `count` counts a result's tokens for the statistics.
        """
        examples = tokens = 0
        with contextlib.ExitStack() as files:
            source = files.enter_context(_open(self.source_path, "r"))
            output = files.enter_context(_open(self.output_path, "w"))
            target = None if self.target_path is None else files.enter_context(_open(self.target_path, "r"))
            begin = time.perf_counter()
            for result in stream(function, self._rows(source, target), self.read_batch_size,
                                 max_batch_size=self.max_batch_size, batch_type=self.batch_type, **options):
                output.writelines(f"{line}\n" for line in lines(result))
                examples += 1
                tokens += count(result)
        return ExecutionStats(tokens, examples, (time.perf_counter() - begin) * 1000)

    def translation_lines(self, result: TranslationResult, with_scores: bool) -> list[str]:
        """Returns a line for each hypothesis."""
        hypotheses = map(self._detokenize, result.hypotheses)
        if not with_scores:
            return list(hypotheses)
        return [f"{score:.6g} ||| {hypothesis}" for score, hypothesis in zip(result.scores, hypotheses)]

    def score_line(self, result: ScoringResult, with_tokens_score: bool) -> str:
        """Returns the mean log-probability, the tokens and, if asked, each log-probability."""
        scores = result.log_probs
        mean = sum(scores) / len(scores) if scores else 0.0
        line = f"{mean:.6g} ||| {self._detokenize(result.tokens)}"
        return line + " |||" + "".join(f" {score:.6g}" for score in scores) if with_tokens_score else line

    def _rows(self, source: IO[str], target: IO[str] | None) -> Iterator[Row]:
        for line in source:
            tokens = self._tokenize("source_tokenize_fn", line)
            if target is None:
                yield (tokens,)
                continue
            other = target.readline()
            if not other:
                raise RuntimeError(f"{self.target_path} has less examples than {self.source_path}")
            yield tokens, self._tokenize("target_tokenize_fn", other)

    def _tokenize(self, name: str, line: str) -> list[str]:
        line = line.removesuffix("\n").removesuffix("\r")
        function: TokenizeFunction | None = getattr(self, name)
        if function is None:
            return [token for token in line.split(" ") if token]
        return function(line)

    def _detokenize(self, tokens: list[str]) -> str:
        if self.target_detokenize_fn is None:
            return " ".join(tokens)
        line: str = check("target_detokenize_fn", "its result", self.target_detokenize_fn(tokens), str)
        return line


def _open(path: str, mode: str) -> IO[Any]:
    try:
        return open(path, mode, encoding="utf-8", errors="replace" if mode == "r" else "strict", newline="\n")
    except OSError as error:
        raise RuntimeError(f"cannot open the file {path}: {error.strerror}") from error
