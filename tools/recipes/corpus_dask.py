#!/usr/bin/python3
"""corpus_dask.py IN OUT [--column=NAME] [--OPTION=VALUE ...]: translates the lines of IN, or a column of a CSV file, with
Dask: on the cluster that $DASK_SCHEDULER_ADDRESS names, or with a process per core of this machine. Dask repeats what a
worker had that was killed. The options are those of nibu.Translator."""
import os
import sys

import dask.bag
import dask.config
from distributed import Client, WorkerPlugin, get_worker

dask.config.set({"dataframe.query-planning": False})  # which would need pyarrow
import dask.dataframe  # noqa: E402  pylint: disable=wrong-import-position


class Nibu(WorkerPlugin):
    """Loads the model once in each worker, in those that come later, too."""

    def __init__(self, options):
        self.options = {"threads": 1, **options}
        self.name = f"nibu {self.options}"  # another client of the cluster may have another model

    def setup(self, worker):
        import nibu  # pylint: disable=import-outside-toplevel  # only workers need it
        self.translator = nibu.Translator(**self.options)


def translate_lines(lines, plugin):
    """For a bag: bag.map_partitions(translate_lines, plugin.name)."""
    lines = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    return get_worker().plugins[plugin].translator(lines)


def translate_column(column, plugin):
    """For a column: frame[name].map_partitions(translate_column, plugin.name, meta=(name, object))."""
    texts = get_worker().plugins[plugin].translator(column.tolist())
    return type(column)(texts, column.index, object, column.name)


def main(source, out, *flags):
    options = dict(flag.removeprefix("--").split("=", 1) for flag in flags)
    column = options.pop("column", None)
    size = options.pop("blocksize", "1MiB")
    plugin = Nibu(options)
    if os.path.isfile(source) and os.path.getsize(source) == 0:  # Dask finds no file in it
        with open(out, "w", encoding="utf-8"):
            return
    if column:
        frame = dask.dataframe.read_csv(source, blocksize=size, dtype=str, keep_default_na=False)
        frame[column] = frame[column].map_partitions(translate_column, plugin.name, meta=(column, object))
        parts = frame.to_delayed()
    else:
        # Without a delimiter Dask would end lines at a CR, too.
        lines = dask.bag.read_text(source, size, linedelimiter="\n")
        parts = lines.map_partitions(translate_lines, plugin.name).to_delayed()
    address = dask.config.get("scheduler-address", None)
    with (Client(address) if address else Client(threads_per_worker=1)) as client:
        getattr(client, "register_plugin", client.register_worker_plugin)(plugin)
        with open(out + ".tmp", "w", encoding="utf-8", newline="") as file:
            futures = client.compute(parts)[::-1]
            for number in range(len(futures)):
                part = futures.pop().result()  # in order; then no worker keeps it
                file.write(part.to_csv(index=False, header=number == 0) if column else
                           "".join(line + "\n" for line in part))
                file.flush()
    os.replace(out + ".tmp", out)


if __name__ == "__main__":
    if len(sys.argv) < 3 or not all(flag.startswith("--") and "=" in flag for flag in sys.argv[3:]):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main(*sys.argv[1:])
    except (OSError, KeyError, TypeError, ValueError) as error:
        print(f"corpus_dask.py: error: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
