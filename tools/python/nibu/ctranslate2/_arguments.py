"""Checks of arguments: they accept what CTranslate2's functions accept, and raise TypeError for the rest."""

import operator
from collections.abc import Callable
from typing import Any

Tokens = list[str]
EndToken = str | list[str] | list[int]


class Arguments:
    """Checks the arguments of one function; the errors name it and the argument."""

    def __init__(self, function: str, kind: str = "function") -> None:
        self._front = f"{function}(): incompatible {kind} arguments: "

    def wrong(self, name: str, wanted: str, value: object) -> TypeError:
        """The error for an argument of a wrong type."""
        return TypeError(f"{self._front}{name} must be {wanted}, not {type(value).__name__}")

    def text(self, name: str, value: Any) -> str:
        """A string, or bytes in UTF-8."""
        if isinstance(value, str):
            return value
        if isinstance(value, bytes):
            return value.decode("utf-8")
        raise self.wrong(name, "str", value)

    def path(self, name: str, value: Any) -> str:
        """A path as a string."""
        return self.text(name, value)

    def integer(self, name: str, value: Any, least: int | None = 0) -> int:
        """An integer of at least `least`; a float is refused even if it is a whole number."""
        if type(value) is not int:
            if isinstance(value, float):
                raise self.wrong(name, "int", value)
            try:
                value = operator.index(value)
            except TypeError:
                raise self.wrong(name, "int", value) from None
        if least is not None and value < least:
            raise TypeError(f"{self._front}{name} must be at least {least}, not {value}")
        return int(value)

    def number(self, name: str, value: Any) -> float:
        """A float, or what converts to one; strings are refused."""
        if isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            raise self.wrong(name, "float", value)
        return float(value)

    def flag(self, name: str, value: Any) -> bool:
        """A truth value; None is false."""
        if value is None or isinstance(value, bool):
            return bool(value)
        if isinstance(value, (str, bytes, list, tuple, dict)) or not hasattr(value, "__bool__"):
            raise self.wrong(name, "bool", value)
        return bool(value)

    def function(self, name: str, value: Any) -> Callable[..., Any] | None:
        """A callable or None."""
        if value is not None and not callable(value):
            raise self.wrong(name, "callable or None", value)
        return value  # type: ignore[no-any-return]

    def tokens(self, name: str, value: Any) -> Tokens:
        """A sequence of strings."""
        values = self._list(name, value, "a list of str")
        if all(type(token) is str for token in values):
            return values
        return [self.text(f"each token of {name}", token) for token in values]

    def batch(self, name: str, value: Any) -> list[Tokens]:
        """A sequence of sequences of strings."""
        return [self.tokens(f"each example of {name}", tokens)
                for tokens in self._list(name, value, "a list of lists of str")]

    def optional_batch(self, name: str, value: Any) -> list[Tokens]:
        """The same or None, which may also stand for one of the sequences; both become empty lists."""
        if value is None:
            return []
        return [[] if tokens is None else self.tokens(f"each example of {name}", tokens)
                for tokens in self._list(name, value, "a list of lists of str")]

    def end_token(self, name: str, value: Any) -> EndToken | None:
        """A token, a list of tokens, a list of ids, or None."""
        wanted = "str, a list of str or a list of int"
        if value is None or isinstance(value, str):
            return value
        values = self._list(name, value, wanted)
        if all(isinstance(token, str) for token in values):
            return values
        if any(isinstance(token, str) for token in values):
            raise self.wrong(name, wanted, value)
        return [self.integer(f"each id of {name}", token) for token in values]

    def _list(self, name: str, value: Any, wanted: str) -> list[Any]:
        if type(value) is list:
            return value
        if isinstance(value, (str, bytes, dict)) or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
            raise self.wrong(name, wanted, value)
        return list(value)
