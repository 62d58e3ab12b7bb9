"""What is global in CTranslate2: the seed of random generators, and the level of logging."""

import itertools
import logging
import os
import secrets
import threading
from collections.abc import Iterator

from ._arguments import Signed, checked

_LEVELS = (logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG, logging.NOTSET)

_lock = threading.Lock()
_seed = secrets.randbits(63)
_draws: Iterator[int] = itertools.count()
_level = logging.WARNING


@checked
def set_random_seed(seed: Signed) -> None:
    """Seeds sampling: from here on, the same calls draw the same samples."""
    global _seed, _draws
    with _lock:
        _seed = seed % 2**63
        _draws = itertools.count()


def seed() -> int:
    """The seed in effect."""
    return _seed


def next_sample() -> int:
    """The number of the next sampled example since the seed was set."""
    with _lock:
        return next(_draws) % 2**44


def get_log_level() -> int:
    """Returns the level of logging, as a level of Python's logging module."""
    return _level


def set_log_level(level: int) -> None:
    """Sets the level of logging: one of those of Python's logging module, CRITICAL to NOTSET."""
    global _level
    if level not in _LEVELS:
        raise ValueError(f"{level} is not a level of Python's logging module")
    _level = level


def log_info(message: str) -> None:
    """Writes a line to the standard error stream of the process, if the level of logging is INFO or below."""
    if _level <= logging.INFO:
        os.write(2, f"[nibu.ctranslate2] [info] {message}\n".encode("utf-8", "replace"))
