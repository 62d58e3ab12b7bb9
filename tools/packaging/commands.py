"""Runs the programs that lie in a wheel beside this file, as nibu/_commands.py."""

import os
import pathlib
import sys


def run():
    """Becomes the program by whose name this was called."""
    program = pathlib.Path(__file__).parent / "bin" / pathlib.Path(sys.argv[0]).name
    os.execv(program, [str(program), *sys.argv[1:]])
