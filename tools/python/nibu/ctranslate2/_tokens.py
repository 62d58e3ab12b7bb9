"""Lists of tokens: as lines of text for nibu, and cut at a length."""

import re
from collections.abc import Sequence

from ._model_files import HIDDEN_PADDING, PADDING, STAND_IN, ModelFacts

_BLANKS = re.compile(r"[ \t\r\n\v\f]")


def join(tokens: Sequence[str]) -> str:
    """The tokens with blanks between them. One that is empty or has blanks is replaced by an unknown token."""
    line = " ".join(tokens)
    if line.split() == tokens:
        return line
    return " ".join(f"{STAND_IN}{i}" if not token or _BLANKS.search(token) else token
                    for i, token in enumerate(tokens))


def restore(hypothesis: list[str], source: Sequence[str]) -> list[str]:
    """The hypothesis with tokens of its own in place of those that stand for others."""
    if not any(token.startswith(STAND_IN) for token in hypothesis):
        return hypothesis

    def original(token: str) -> str:
        if token == HIDDEN_PADDING:
            return PADDING
        return source[int(token[len(STAND_IN):])] if token.startswith(STAND_IN) else token

    return [original(token) for token in hypothesis]


def is_empty(source: Sequence[str], facts: ModelFacts) -> bool:
    """Whether a source consists of nothing but special tokens: begin, end, and a language behind the end."""
    length = len(source)
    if length == 1:
        return source[0] in (facts.bos_token, facts.eos_token)
    if length >= 2:
        length -= source[0] == facts.bos_token
        if source[-1] == facts.eos_token:
            length -= 1
        elif source[-2] == facts.eos_token:
            length -= 2
    return length <= 0


def truncate(source: list[str], most: int, facts: ModelFacts) -> list[str]:
    """The first tokens of a source, so that there are at most `most` with those that the model adds; 0: all.

    An end of sentence, and a language behind it, stay at the end.
    """
    extra = facts.source_extra
    if most == 0 or len(source) + extra <= most:
        return source
    if facts.add_source_eos:
        return source[:max(1, most - extra)]
    room = max(1, most - extra)
    if source[-1] == facts.eos_token:
        return source[:room - 1] + source[-1:]
    if room >= 2 and len(source) >= 2 and source[-2] == facts.eos_token:
        return source[:room - 2] + source[-2:]
    return source[:room]
