"""python -m nibu [--NAME=VALUE...] [TEXT...]: translates texts, or the lines of standard input as they come.

The names are those of nibu.options(), as in --beam_size=2, and --model, whose value is a path or a name;
--download fetches a model that is not there. The program nibu-translate does more.
"""

import os
import queue
import sys
import threading
from collections.abc import Iterable
from typing import Any

import nibu

_BOOLS = {"true": True, "yes": True, "false": False, "no": False}


def main(arguments: list[str]) -> int:
    """Translates as the arguments say. Returns the status of the process."""
    texts: list[str] = []
    named: dict[str, Any] = {}
    for i, argument in enumerate(arguments):
        if argument == "--":
            texts += arguments[i + 1 :]
            break
        name, equals, value = argument.removeprefix("--").partition("=")
        if argument in ("--help", "-h", "--version"):
            print(nibu.__version__ if argument == "--version" else __doc__)
            return 0
        if not argument.startswith("--"):
            texts.append(argument)
        else:
            named[name] = _BOOLS.get(value, value) if equals else True
    try:
        model = named.pop("model", "")
        if model is True:
            raise TypeError("--model needs a value, a path or a name")
        _translate(nibu.Translator(model, **named), texts or (line.rstrip("\n") for line in sys.stdin))
    except BrokenPipeError:  # the reader is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"nibu: error: {error}", file=sys.stderr)
        return 1
    return 0


def _translate(translator: nibu.Translator, lines: Iterable[str]) -> None:
    """Prints each translation as soon as it is there, while a thread reads further lines."""
    begun: queue.Queue[nibu.Future | Exception | None] = queue.Queue(maxsize=512 * translator.threads)

    def read() -> None:
        try:
            for line in lines:
                begun.put(translator.submit(line))
            begun.put(None)
        except Exception as error:  # pylint: disable=broad-exception-caught
            begun.put(error)

    threading.Thread(target=read, daemon=True).start()
    while (next_one := begun.get()) is not None:
        if isinstance(next_one, Exception):
            raise next_one
        print(next_one.result().text, flush=begun.empty())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
