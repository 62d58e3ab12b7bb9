"""python3 -m nibu.ctranslate2: runs a program for which `import ctranslate2` means nibu.ctranslate2.

Nothing is installed under the other name: the program's own process alone takes one module for the other.
"""

import builtins
import importlib.util
import os
import runpy
import sys
import types
import zipfile
from typing import Any

_NAME = "ctranslate2"
_USAGE = """usage: python3 -m nibu.ctranslate2 PROGRAM [ARGUMENT ...]
       python3 -m nibu.ctranslate2 -m MODULE [ARGUMENT ...]

Runs a Python program, or a module as python3 -m does, for which "import ctranslate2" means nibu.ctranslate2."""


def stand_in() -> None:
    """Enters nibu.ctranslate2 and its public submodules as ctranslate2 into the table of imported modules."""
    import nibu.ctranslate2

    own = nibu.ctranslate2.__name__
    for name, module in list(sys.modules.items()):
        rest = name[len(own):]
        if name == own or (name.startswith(own + ".") and not rest.startswith("._")):
            sys.modules[_NAME + rest] = module


def main(arguments: list[str]) -> int | None:
    """Runs the program that the command line names."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(_USAGE)
        return 0
    if not arguments or (arguments[0].startswith("-") and (arguments[0] != "-m" or len(arguments) < 2)):
        print(_USAGE, file=sys.stderr)
        return 2
    stand_in()
    _hide_own_frames()
    if arguments[0] == "-m":
        _run_module(arguments[1], arguments[2:])
    else:
        sys.argv = arguments
        _run_program(arguments[0])
    return None


def _run_program(path: str) -> None:
    """Runs a file as python3 does: its directory comes first in sys.path, and its namespace is __main__."""
    if os.path.isdir(path) or _is_archive(path):
        del sys.path[0]
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"nibu.ctranslate2: cannot open {path}: {error.strerror}")
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    _execute(compile(source, path, "exec", dont_inherit=True), __file__=path, __spec__=None)


def _run_module(name: str, arguments: list[str]) -> None:
    """Runs a module, or the module __main__ of a package, as python3 -m does."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
        code = spec.loader.get_code(spec.name) if spec is not None else None  # type: ignore[union-attr]
    except ImportError as error:
        sys.exit(f"nibu.ctranslate2: cannot import {name}: {error}")
    if spec is None or code is None:
        sys.exit(f"nibu.ctranslate2: there is no Python module {name} that can be run")
    sys.argv = [spec.origin or name, *arguments]
    _execute(code, __file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent,
             __spec__=spec)


def _execute(code: types.CodeType, **names: object) -> None:
    program = types.ModuleType("__main__")
    program.__dict__.update(names, __builtins__=builtins)
    sys.modules["__main__"] = program
    exec(code, program.__dict__)


def _is_archive(path: str) -> bool:
    return not path.endswith(".py") and zipfile.is_zipfile(path)


def _hide_own_frames() -> None:
    """Lets a traceback begin at the program's first frame."""
    show = sys.excepthook
    own = (__file__, runpy.__file__, "<frozen runpy>")

    def show_program(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> Any:
        while trace is not None and trace.tb_frame.f_code.co_filename in own:
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
