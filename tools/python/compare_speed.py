#!/usr/bin/env python3
"""Compares the throughput of the Python package with that of nibu-translate.

    compare_speed.py BUILD [LINES] [ROUNDS]

BUILD is a build folder with both. Each round runs every way once, in turns; the best time of each counts. The time
that loading a model takes is left out: on the command line, it is that of a run without lines.
"""

import itertools
import pathlib
import subprocess
import sys
import time

OPTIONS = {"compute_type": "int8", "beam_size": 1, "threads": 2}


def seconds(function):
    """The time that a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main():
    build = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    sys.path.insert(0, str(build / "python"))
    import nibu  # pylint: disable=import-outside-toplevel

    source = pathlib.Path(__file__).resolve().parents[2]
    testdata = source / "tests" / "testdata"
    model = testdata / "captions"
    captions = (testdata / "multi30k.en").read_text(encoding="utf-8").splitlines()
    # Lines that all differ: equal ones are translated once on the command line.
    lines = [f"{number} {line}" for number, line in zip(range(count), itertools.cycle(captions))]
    command = [build / "bin" / "nibu-translate", f"--model={model}"]
    command += (f"--{name}={value}" for name, value in OPTIONS.items())

    def run(text):
        subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, check=True)

    translator = nibu.Translator(model, **OPTIONS)
    text = "".join(f"{line}\n" for line in lines)
    ways = {
        "nibu-translate": lambda: run(text),
        "nothing": lambda: run(""),
        "translate": lambda: [result.text for result in translator.translate(lines)],
        "translate_iterable": lambda: [result.text for result in translator.translate_iterable(lines)],
        "submit": lambda: [future.result().text for future in [translator.submit(line) for line in lines]],
    }
    best = {}
    for _ in range(rounds):
        for name, way in ways.items():
            best[name] = min(best.get(name, float("inf")), seconds(way))
    base = best["nibu-translate"] - best.pop("nothing")
    print(f"nibu-translate: {count / base:.0f} lines/s, the start left out")
    del best["nibu-translate"]
    for name, took in best.items():
        print(f"{name}: {count / took:.0f} lines/s, {base / took:.3f} of it")


if __name__ == "__main__":
    main()
