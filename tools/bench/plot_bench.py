#!/usr/bin/env python3
"""The runs of nibu-bench --json as SVG: throughput, memory and quality, or the time of attention's mechanisms.

    nibu-bench --json --batch_size=1,4,16,64 --compute_type=float32,int8 | tools/bench/plot_bench.py --out=bench.svg
    nibu-bench --json --beam_size=1,2,4,8 --src=SOURCE --ref=REFERENCE | tools/bench/plot_bench.py --out=bench.svg
    nibu-bench attention --json --lengths=64,256,1024,4096,16384 | tools/bench/plot_bench.py --out=bench.svg

Batch, source length, beam and threads are the axis of a panel if they have several values. Runs share a line if they are
alike in all settings but that one; what all runs have in common stands in the title.
"""

import argparse
import dataclasses
import json
import math
import sys
import textwrap
from typing import Callable
from xml.sax import saxutils

# The figures of a run. All other fields are settings, so that a new one cannot be overlooked.
FIGURES = {
    "sentences", "source_tokens", "target_tokens", "seconds", "tokens_per_second", "sentences_per_second", "latency_ms",
    "line_latency_ms", "load_seconds", "peak_rss_bytes", "weight_bytes", "profile", "matmul_seconds", "matmul_kernels",
    "matmul_floor_seconds", "matmul_floor_ratio", "limit_seconds", "limit_ratio", "peak_operations_per_second",
    "peak_bytes_per_second", "bleu", "chrf", "equal_lines", "peak_bytes", "stored_bytes", "error", "exponent"}

# Members that are drawn.
NUMBERS = {"batch_size", "source_length", "output_length", "beam_size", "threads", "length", "seconds", "bleu", "chrf"}

# Values of settings that need no mention in the title.
ORDINARY = {"repeat": 1, "output_length": 0, "split_sentences": True, "encoder_attention": "full", "cross_attention": "full",
            "shortlist": "none", "matmul": "auto"}

# Okabe and Ito's colours, which stay apart for colour-blind eyes; a second round is dashed.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("", "7 4", "2 3")

LEFT, TOP, WIDTH, HEIGHT = 80, 56, 560, 320  # of a panel's plotting area, in pixels
PANEL = TOP + HEIGHT + 64  # from one panel to the next
LEGEND_LINE = 18
CHARACTER = 7  # pixels, about, of the legend's text


class BadInput(Exception):
    """The message says which line is wrong, and in what way."""


@dataclasses.dataclass(frozen=True)
class Run:
    settings: dict
    figures: dict

    def key(self, *without):
        """Equal for two runs if and only if they differ in these settings at most."""
        return json.dumps({name: value for name, value in self.settings.items() if name not in without}, sort_keys=True)


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    axis: str
    value: str
    unit: str
    x_scale: Callable
    y_scale: Callable
    series: dict  # of each label: [(x, y, note), ...]; a note stands beside its point


def number(run, name):
    """A member that has to be a number."""
    value = run[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} is no number")
    return value


def read_run(line):
    run = json.loads(line)
    if not isinstance(run, dict):
        raise ValueError("it is no object")
    for name in NUMBERS & run.keys():
        if run[name] is not None or name in ("seconds", "bleu"):
            number(run, name)
    if ("bleu" in run) != ("chrf" in run):
        raise ValueError("bleu and chrf belong together")
    settings = {name: value for name, value in run.items() if name not in FIGURES and name != "search"}
    settings.update({f"search {name}": value for name, value in run.get("search", {}).items()})
    figures = {name: run[name] for name in FIGURES & run.keys()}
    if "what" in run:
        if "seconds" in run:
            figures["milliseconds"] = 1000 * number(run, "seconds")
    else:
        figures["tokens_per_second"] = number(run, "tokens_per_second")
        figures["peak_mb"] = number(run, "peak_rss_bytes") / 1e6
    return Run(settings, figures)


def read_runs(name, lines):
    runs = []
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            runs.append(read_run(line))
        except (ValueError, KeyError) as error:
            said = f"{error} is missing" if isinstance(error, KeyError) else error
            raise BadInput(f"{name}:{at}: not a line of nibu-bench --json: {said}") from error
    return runs


def describe(name, value):
    """A setting in words."""
    counted = {"threads": "thread", "lines": "line"}
    if name in counted:
        return f"{value} {counted[name]}" + ("" if value == 1 else "s")
    prefixes = {"batch_size": "batch", "beam_size": "beam", "output_length": "output", "source_length": "source",
                "version": "nibu"}
    if name == "batch_size" and value == 0:
        return "batch auto"
    if name == "source_length" and value == 0:
        return "source 12 to 47"
    if name in prefixes:
        return f"{prefixes[name]} {value}"
    if name in ("source_sha256", "reference_sha256"):
        return f"{'text' if name == 'source_sha256' else 'reference'} {str(value)[:8]}"
    if name == "reference_file":
        return f"reference {value}"
    if name in ("model", "isa", "cpu", "compute_type", "what", "mechanism", "source_file"):
        return str(value)
    return f"{name.removeprefix('search ')} {value}"


def names_of(runs):
    return list(dict.fromkeys(name for run in runs for name in run.settings))


def values_of(name, runs):
    return list(dict.fromkeys(json.dumps(run.settings.get(name)) for run in runs))


def series_of(runs, axis, *coupled):
    """The runs that are alike in all but the axis and what goes with it, by what tells them from the others."""
    telling = [name for name in names_of(runs) if name not in (axis, *coupled) and len(values_of(name, runs)) > 1]
    # The checksum tells nothing more if each text has a name of its own.
    for text_of in ("source", "reference"):
        file, checksum = f"{text_of}_file", f"{text_of}_sha256"
        if file in telling and len(values_of(checksum, runs)) == len(values_of(file, runs)):
            telling = [name for name in telling if name != checksum]
    found = {}
    for run in runs:
        found.setdefault(run.key(axis, *coupled), []).append(run)
    labels = {}
    for alike in found.values():
        alike.sort(key=lambda run: run.settings[axis])
        shown = telling or (["compute_type"] if "compute_type" in alike[0].settings else [])
        label = ", ".join(describe(name, alike[0].settings[name]) for name in shown if name in alike[0].settings)
        label = label or "no such option"  # others have one that is in no ordinary run
        while label in labels:  # settings that only some of the runs have
            label += " "
        labels[label] = alike
    return labels


def sweep(runs, axis, title, axis_name, *values):
    """A panel for each of the values against a setting, if that has several."""
    runs = [run for run in runs if (run.settings.get(axis) or 0) > 0]  # the engine's own choice of a batch is 0
    if len(values_of(axis, runs)) < 2:
        return
    coupled = ()
    if axis == "source_length" and all(r.settings.get("output_length") == r.settings[axis] for r in runs):
        coupled, axis_name = ("output_length",), "tokens of a source, and of its output (log scale)"
    for name, what, value_name, unit, scale in values:
        measured = [run for run in runs if name in run.figures]
        if measured:
            yield Panel(f"{what} by {title}", axis_name, value_name, unit, log2_scale, scale, {
                label: [(run.settings[axis], run.figures[name], "") for run in alike]
                for label, alike in series_of(measured, axis, *coupled).items()})


def panels_of(runs):
    """All panels that have something to show. Of runs alike in everything the fastest counts."""
    fastest = {}
    for run in sorted(runs, key=lambda run: run.figures.get("seconds", 0)):
        fastest.setdefault(run.key(), run)
    runs = [run for run in runs if fastest[run.key()] is run]
    speed = ("tokens_per_second", "Throughput", "target tokens per second", "tokens/s", linear_scale)
    memory = ("peak_mb", "Memory", "peak memory in MB", "MB", linear_scale)
    for axis, title, axis_name in (("batch_size", "batch size", "batch size"),
                                   ("source_length", "source length", "tokens of a source"),
                                   ("beam_size", "beam size", "beam size"), ("threads", "threads", "threads")):
        yield from sweep(runs, axis, title, f"{axis_name} (log scale)", speed, memory)
    yield from sweep(runs, "length", "length", "positions (log scale)",
                     ("milliseconds", "Time", "milliseconds (log scale)", "ms", log_scale))
    scored = [run for run in runs if "bleu" in run.figures]
    for name, title in (("bleu", "BLEU"), ("chrf", "chrF")) if len(scored) > 1 else ():
        # A line joins the beam sizes, which are noted beside its points.
        yield Panel(f"{title} by time (numbers: beam size)", "seconds", title, title, linear_scale, near_scale, {
            label: [(run.figures["seconds"], run.figures[name], str(run.settings["beam_size"])) for run in alike]
            for label, alike in series_of(scored, "beam_size").items()})


def title_of(runs):
    """The settings that all runs have in common."""
    alike = [(name, runs[0].settings.get(name)) for name in names_of(runs) if len(values_of(name, runs)) == 1]
    # A line break within a setting would be hard to read.
    return ", ".join(describe(name, value).replace(" ", "\u00a0") for name, value in alike
                     if value not in (None, "") and ORDINARY.get(name) != value and not name.endswith("sha256"))


def nice_step(most, steps=5):
    """A round distance between the ticks of an axis from 0 to `most`."""
    raw = most / steps
    power = 10 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if raw <= power * factor * 1.0001)


def text(x, y, content, **attributes):
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{saxutils.escape(content)}</text>'


def even_scale(low, high):
    """From a round number to a round number: (place of a value, from 0 to 1; ticks)."""
    step = nice_step((high - low) or 1)
    first, last = math.floor(low / step), math.ceil(high / step)
    return (lambda y: (y / step - first) / max(1, last - first)), [i * step for i in range(first, last + 1)]


def linear_scale(values):
    """The same from 0 on."""
    return even_scale(0, max(values))


def near_scale(values):
    """The same around the values alone."""
    return even_scale(min(values), max(values))


def log_scale(values, base=10, log=math.log10):
    """The same, between powers of ten."""
    low, high = math.floor(log(min(values))), math.ceil(log(max(values)))
    return (lambda y: (log(y) - low) / max(1, high - low)), [float(base) ** i for i in range(low, high + 1)]


def log2_scale(values):
    return log_scale(values, 2, math.log2)


def draw_panel(panel, top):
    """One diagram, its plotting area's upper edge at `top`."""
    points_of_all = [point for points in panel.series.values() for point in points]
    x_place, x_ticks = panel.x_scale([x for x, _, _ in points_of_all])
    y_place, y_ticks = panel.y_scale([y for _, y, _ in points_of_all])

    def at_x(x):
        return LEFT + 12 + (WIDTH - 24) * x_place(x)

    def at_y(y):
        return top + HEIGHT * (1 - y_place(y))

    out = [text(LEFT, top - 20, panel.title, font_size=15, font_weight="bold")]
    for tick in y_ticks:
        y = at_y(tick)
        out.append(f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(text(LEFT - 8, y + 4, f"{tick:,.10g}", text_anchor="end"))
    for tick in x_ticks:
        x = at_x(tick)
        out.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{top + HEIGHT}" '
                   f'y2="{top + HEIGHT + 5}"/>')
        out.append(text(x, top + HEIGHT + 20, f"{tick:.10g}", text_anchor="middle"))
    out.append(f'<line class="axis" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{top + HEIGHT}" '
               f'y2="{top + HEIGHT}"/>')
    out.append(text(LEFT + WIDTH / 2, top + HEIGHT + 42, panel.axis, text_anchor="middle"))
    middle = top + HEIGHT / 2
    out.append(text(18, middle, panel.value, text_anchor="middle", transform=f"rotate(-90 18 {middle:.1f})"))
    for i, (label, points) in enumerate(panel.series.items()):
        color, dash = COLORS[i % len(COLORS)], DASHES[i // len(COLORS) % len(DASHES)]
        places = [(at_x(x), at_y(y), x, y, note) for x, y, note in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in places)
        out.append(f'<g class="series" stroke="{color}" fill="{color}">'
                   f'<title>{saxutils.escape(label)}</title>'
                   f'<polyline points="{line}" fill="none" stroke-width="2"'
                   + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        out.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" stroke="none"><title>'
                   f'{saxutils.escape(f"{label} {note}".strip())}: {at:.4g}: {value:,.4g} {panel.unit}</title></circle>'
                   for x, y, at, value, note in places)
        # Most lines rise, so that there is room below them.
        out.extend(text(min(x + 6, LEFT + WIDTH - CHARACTER * len(note)), y + 14, note, stroke="none")
                   for x, y, _, _, note in places if note)
        out.append("</g>")
        legend = top + 8 + i * LEGEND_LINE
        start = LEFT + WIDTH + 20
        out.append(f'<line x1="{start}" x2="{start + 24}" y1="{legend}" y2="{legend}" '
                   f'stroke="{color}" stroke-width="2"'
                   + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        out.append(text(start + 32, legend + 4, label))
    return out


def draw(runs):
    """The SVG of all panels."""
    panels = list(panels_of(runs))
    if not panels:
        raise BadInput("nothing to draw: neither batch, source length, beam nor threads has several values, and there "
                       "are no two runs with a score")
    longest = max(len(label) for panel in panels for label in panel.series)
    width = LEFT + WIDTH + 60 + CHARACTER * longest
    # The lines that end a table of mechanisms have no settings but these.
    title = textwrap.wrap(title_of([run for run in runs if "exponent" not in run.figures]), (width - LEFT) // CHARACTER)
    body = [text(LEFT, 24 + 16 * i, line, fill="#666") for i, line in enumerate(title)]
    top = TOP + 24 + 16 * (len(title) - 1)
    for panel in panels:
        body.extend(draw_panel(panel, top))
        top += max(PANEL, len(panel.series) * LEGEND_LINE + TOP)
    height = top - TOP + 16
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" fill="#222">',
        "<style>.grid{stroke:#ddd}.tick,.axis{stroke:#444}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *body,
        "</svg>",
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", default=["-"],
                        help="files of nibu-bench --json lines; - (default): standard input")
    parser.add_argument("--out", default="-", help="the SVG; - (default): standard output")
    arguments = parser.parse_args()
    try:
        runs = []
        for name in arguments.runs:
            if name == "-":
                runs.extend(read_runs("standard input", sys.stdin))
            else:
                with open(name, encoding="utf-8") as file:
                    try:
                        runs.extend(read_runs(name, file))
                    except UnicodeDecodeError as error:
                        raise BadInput(f"{name}: not UTF-8 text ({error})") from error
        svg = draw(runs)
        if arguments.out == "-":
            sys.stdout.write(svg)
        else:
            with open(arguments.out, "w", encoding="utf-8") as file:
                file.write(svg)
    except (OSError, UnicodeDecodeError, BadInput) as error:
        print(f"plot_bench.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
