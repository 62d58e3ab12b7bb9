"""Checks of arguments: they accept what CTranslate2's functions accept, and raise TypeError for the rest.

CTranslate2's functions are C++, where pybind11 converts the arguments to the parameters' types. Here the types are the
annotations, and the conversions are the same.
"""

import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

EndToken = str | list[str] | list[int]
Signed = Annotated[int, "may be negative"]  # other integers may not


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function or method: its arguments are converted to the types of its annotations."""
    signature = inspect.signature(function)
    kinds = typing.get_type_hints(function, include_extras=True)
    options = next((name for name, parameter in signature.parameters.items()
                    if parameter.kind is inspect.Parameter.VAR_KEYWORD), "")
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        for parameter, value in bound.arguments.items():
            if parameter == options:
                bound.arguments[parameter] = check_options(name, value, typing.get_args(kinds[options])[0])
            elif parameter in kinds:
                bound.arguments[parameter] = check(name, parameter, value, kinds[parameter])
        return function(*bound.args, **bound.kwargs)

    return call


def check_options(function: str, options: Mapping[str, object], kind: type) -> dict[str, Any]:
    """Returns keyword arguments, converted to the types of a TypedDict. TypeError: it does not have one of them."""
    kinds = typing.get_type_hints(kind, include_extras=True)
    for name in options:
        if name not in kinds:
            raise TypeError(f"{function}(): incompatible function arguments: {name} is an unexpected keyword argument")
    return {name: check(function, name, value, kinds[name]) for name, value in options.items()}


def check(function: str, name: str, value: object, kind: Any) -> Any:
    """Returns an argument of a function, converted to the type `kind`. TypeError: it cannot be."""
    try:
        return _convert(value, kind)
    except TypeError:
        what = "constructor" if function[0].isupper() else "function"
        raise TypeError(f"{function}(): incompatible {what} arguments: {name} must be "
                        f"{inspect.formatannotation(kind)}, not {value!r:.100}") from None


def _convert(value: Any, kind: Any) -> Any:
    """Returns a value as one of the type `kind`. Raises TypeError if that cannot be."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind in _CONVERTERS:
        return _CONVERTERS[kind](value)
    if origin in (typing.Union, types.UnionType):
        return _convert_to_one(value, inner)
    if origin in (list, Sequence):
        if isinstance(value, (str, bytes, dict)) or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
            raise TypeError
        if inner[0] is str and type(value) is list and all(type(token) is str for token in value):
            return value  # the tokens of an example, of which there are many
        return [_convert(element, inner[0]) for element in value]
    if origin is dict:
        if not isinstance(value, dict):
            raise TypeError
        return {_convert(key, inner[0]): _convert(element, inner[1]) for key, element in value.items()}
    if kind is not Any and not callable(value):
        raise TypeError
    return value


def _convert_to_one(value: Any, kinds: tuple[Any, ...]) -> Any:
    for kind in kinds:
        try:
            return _convert(value, kind)
        except TypeError:
            pass
    raise TypeError


def _text(value: Any) -> str:
    if not isinstance(value, (str, bytes)):
        raise TypeError
    return value if isinstance(value, str) else value.decode("utf-8")


def _count(value: Any) -> int:
    number = operator.index(value)  # refuses a float even if it is a whole number
    if number < 0:
        raise TypeError
    return number


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _flag(value: Any) -> bool:
    if value is not None and not hasattr(value, "__bool__"):  # strings and lists have none
        raise TypeError
    return bool(value)


def _none(value: Any) -> None:
    if value is not None:
        raise TypeError


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    str: _text, int: _count, Signed: operator.index, float: _number, bool: _flag,
    type(None): _none,
}
