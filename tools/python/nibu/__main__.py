"""python -m nibu [--NAME=VALUE...] [TEXT...]: translates texts, or the lines of standard input.

The names are those of nibu.options(), as in --beam_size=2, and --model, whose value is a path or a name;
--download fetches a model that is not there. The program nibu-translate does more.
"""

import sys
from typing import Any

import nibu


def main(arguments: list[str]) -> int:
    """Translates as the arguments say. Returns the status of the process."""
    texts: list[str] = []
    named: dict[str, Any] = {}
    for i, argument in enumerate(arguments):
        if argument == "--":
            texts += arguments[i + 1 :]
            break
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--"):
            texts.append(argument)
        elif name in ("help", "version"):
            print(__doc__ if name == "help" else nibu.__version__)
            return 0
        else:
            named[name] = value if equals else True
    try:
        translator = nibu.Translator(named.pop("model", ""), **named)
        lines = texts if texts else (line.rstrip("\n") for line in sys.stdin)
        for result in translator.translate_iterable(lines):
            print(result.text, flush=not texts)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"nibu: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
