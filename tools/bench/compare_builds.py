#!/usr/bin/env python3
"""Two builds' speed against each other, on a machine that does other things, too: nibu-bench of both, in turns, and
the ratio of each pair's throughput.

    tools/bench/compare_builds.py ../before/build/release build/release --random_weights \
        --config=configs/transformer-base.json --compute_type=int8 --beam_size=1,4 --output_length=30 --threads=1
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

# The settings that tell the runs of a sweep apart.
SETTINGS = ("compute_type", "threads", "beam_size", "batch_size", "source_tokens")


class Failed(Exception):
    """A program did not run, and the message says which."""


def measure(build, cpu, flags):
    """Runs nibu-bench, and returns the figures of each run by its settings."""
    pin = ["taskset", "--cpu-list", cpu] if cpu else []
    command = [*pin, str(pathlib.Path(build) / "bin" / "nibu-bench"), "--json", *flags]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}; give two folders with builds of nibu") from error
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    return {tuple(run[name] for name in SETTINGS): run for run in runs}


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3


def report(old, new):
    """The runs of both builds with one setting, in the order in which they were made."""
    speeds = [[run["tokens_per_second"] for run in runs] for runs in (old, new)]
    low, median, high = quartiles([b / a for a, b in zip(*speeds)])
    words = [f"{name}={new[0][name]}" for name in SETTINGS[:-1]]
    words.append(f"sentences={new[0]['sentences']}")
    return (f"{' '.join(words)}: {statistics.median(speeds[0]):.1f} and {statistics.median(speeds[1]):.1f} tokens/s, "
            f"best {max(speeds[0]):.1f} and {max(speeds[1]):.1f}; "
            f"new / old {median:.3f} ({low:.3f} to {high:.3f}), best {max(speeds[1]) / max(speeds[0]):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Other flags are nibu-bench's. Prints medians, quartiles and the best.")
    parser.add_argument("old", help="a build folder")
    parser.add_argument("new", help="another one")
    parser.add_argument("--pairs", type=int, default=9, help="runs of each (default: 9)")
    parser.add_argument("--cpu", default="0", help="CPUs to keep to, as taskset has them; empty: any (default: 0)")
    options, flags = parser.parse_known_args()
    if options.pairs < 1:
        parser.error("--pairs must be at least 1")
    old, new = [], []
    try:
        for pair in range(options.pairs):
            # Either build begins every other time, since the first one may find the machine in another state.
            sides = [(options.old, old), (options.new, new)]
            for build, runs in sides if pair % 2 == 0 else reversed(sides):
                runs.append(measure(build, options.cpu, flags))
    except Failed as error:
        print(f"compare_builds: {error}", file=sys.stderr)
        return 1
    settings = [key for key in new[0] if key in old[0]]
    if not settings:
        print("compare_builds: the builds have no run in common", file=sys.stderr)
        return 1
    for key in settings:
        print(report([runs[key] for runs in old], [runs[key] for runs in new]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
