"""python3 -m nibu.ctranslate2: runs a program for which `import ctranslate2` means nibu.ctranslate2.

Nothing is installed under the other name: the program's own process alone takes one module for the other.
"""

import builtins
import os
import runpy
import sys
import types
from typing import Any, List, Optional, Type

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


def main(arguments: List[str]) -> Optional[int]:
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
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return None
    sys.argv = arguments
    _run_program(arguments[0])
    return None


def _run_program(path: str) -> None:
    """Runs a file as python3 does: its directory comes first in sys.path, and its namespace is __main__."""
    if os.path.isdir(path) or not path.endswith(".py") and _is_archive(path):
        del sys.path[0]
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"nibu.ctranslate2: cannot open {path}: {error.strerror}")
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=path, __builtins__=builtins, __spec__=None)
    sys.modules["__main__"] = program
    exec(compile(source, path, "exec", dont_inherit=True), program.__dict__)


def _is_archive(path: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(path)


def _hide_own_frames() -> None:
    """Lets a traceback begin at the program's first frame."""
    show = sys.excepthook
    own = (__file__, runpy.__file__, "<frozen runpy>")

    def show_program(kind: Type[BaseException], error: BaseException, trace: Optional[types.TracebackType]) -> Any:
        while trace is not None and trace.tb_frame.f_code.co_filename in own:
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
