#!/usr/bin/env python3
"""Throughput against batch size and source length, or the time of attention's mechanisms against
length, as SVG, from the lines of nibu-bench --json.

    nibu-bench --json --batch_size=1,2,4,8,16,32,64 --compute_type=float32,int8 > runs.jsonl
    nibu-bench attention --json --lengths=64,256,1024,4096,16384 > runs.jsonl
    tools/bench/plot_bench.py --out=bench.svg runs.jsonl
"""

import argparse
import json
import math
import sys
from xml.sax import saxutils

# Okabe and Ito's colours, which stay apart for colour-blind eyes; a second round is dashed.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("", "7 4", "2 3")

LEFT, TOP, WIDTH, HEIGHT = 80, 56, 560, 320  # of a panel's plotting area, in pixels
PANEL = TOP + HEIGHT + 64  # from one panel to the next
LEGEND_LINE = 18
CHARACTER = 7  # pixels, about, of the legend's text


class BadInput(Exception):
    """What is wrong with which line."""


def read_run(line):
    """The facts of a run that matter here."""
    run = json.loads(line)
    if "what" in run:
        return {
            "model": run["what"] if "isa" in run else "",
            "isa": str(run.get("isa")),
            "mechanism": str(run["mechanism"]),
            "type": str(run.get("compute_type")),
            "length": int(run.get("length", 0)),  # 0: the summary of a mechanism
            "milliseconds": 1000 * float(run.get("seconds", 0)),
        }
    return {
        "model": str(run["model"]),
        "isa": str(run["isa"]),
        "type": str(run["compute_type"]),
        "threads": int(run["threads"]),
        "beam": int(run["beam_size"]),
        "batch": int(run["batch_size"]),
        "source": round(run["source_tokens"] / run["sentences"], 1),
        "speed": float(run["tokens_per_second"]),
    }


def read_runs(name, lines):
    runs = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            runs.append(read_run(line))
        except (ValueError, TypeError, KeyError, ZeroDivisionError) as error:
            raise BadInput(f"{name}:{number}: not a line of nibu-bench --json ({error!r})") from error
    return runs


def describe(field, value):
    if field == "threads":
        return "1 thread" if value == 1 else f"{value} threads"
    if field == "batch":
        return "batch auto" if value == 0 else f"batch {value}"
    if field == "source":
        return f"source {value:g}"
    if field == "beam":
        return f"beam {value}"
    return str(value)


def group(runs, axis, value):
    """Series of a panel, as {label: {x: value}}: runs alike in all but the axis. Of runs alike in
    everything the fastest counts. Labels say what differs between series."""
    runs = [run for run in runs if run.get(axis, 0) > 0]  # the engine's own choice of a batch is 0
    if len({run[axis] for run in runs}) < 2:
        return {}
    fields = [f for f in runs[0] if f not in (axis, value)]
    fastest = max if value == "speed" else min
    telling = [f for f in fields if len({run[f] for run in runs}) > 1] or ["type"]
    series = {}
    for run in runs:
        label = ", ".join(describe(field, run[field]) for field in telling)
        points = series.setdefault(label, {})
        points[run[axis]] = fastest(run[value], points.get(run[axis], run[value]))
    return series


def nice_step(most, steps=5):
    """A round distance between the ticks of an axis from 0 to `most`."""
    raw = most / steps
    power = 10 ** math.floor(math.log10(raw))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if raw <= power * factor * 1.0001)


def text(x, y, content, **attributes):
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{saxutils.escape(content)}</text>'


def linear_scale(values):
    """From 0 to a round number: (place of a value, from 0 to 1; ticks)."""
    most = max(values) or 1
    step = nice_step(most)
    ceiling = step * math.ceil(most / step)
    return lambda y: y / ceiling, [i * step for i in range(round(ceiling / step) + 1)]


def log_scale(values):
    """The same, between powers of ten."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return (lambda y: (math.log10(y) - low) / max(1, high - low),
            [10.0 ** i for i in range(low, high + 1)])


def draw_panel(title, axis_name, value_name, scale, series, top):
    """One diagram, its plotting area's upper edge at `top`."""
    xs = [x for points in series.values() for x in points]
    low, high = math.floor(math.log2(min(xs))), math.ceil(math.log2(max(xs)))
    unit = "ms" if scale is log_scale else "tokens/s"
    place, ticks = scale([y for points in series.values() for y in points.values()])

    def at_x(x):
        return LEFT + 12 + (WIDTH - 24) * (math.log2(x) - low) / (high - low)

    def at_y(y):
        return top + HEIGHT * (1 - place(y))

    out = [text(LEFT, top - 20, title, font_size=15, font_weight="bold")]
    for tick in ticks:
        y = at_y(tick)
        out.append(f'<line class="grid" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(text(LEFT - 8, y + 4, f"{tick:,.10g}", text_anchor="end"))
    for exponent in range(low, high + 1):
        x = at_x(2.0 ** exponent)
        out.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{top + HEIGHT}" '
                   f'y2="{top + HEIGHT + 5}"/>')
        out.append(text(x, top + HEIGHT + 20, f"{2.0 ** exponent:g}", text_anchor="middle"))
    out.append(f'<line class="axis" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{top + HEIGHT}" '
               f'y2="{top + HEIGHT}"/>')
    out.append(text(LEFT + WIDTH / 2, top + HEIGHT + 42, axis_name, text_anchor="middle"))
    middle = top + HEIGHT / 2
    out.append(text(18, middle, value_name, text_anchor="middle",
                    transform=f"rotate(-90 18 {middle:.1f})"))
    for i, (label, points) in enumerate(series.items()):
        color, dash = COLORS[i % len(COLORS)], DASHES[i // len(COLORS) % len(DASHES)]
        places = [(at_x(x), at_y(y), x, y) for x, y in sorted(points.items())]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in places)
        out.append(f'<g class="series" stroke="{color}" fill="{color}">'
                   f'<title>{saxutils.escape(label)}</title>'
                   f'<polyline points="{line}" fill="none" stroke-width="2"'
                   + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        out.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" stroke="none"><title>'
                   f'{saxutils.escape(label)}: {at:g}: {value:,.4g} {unit}</title></circle>'
                   for x, y, at, value in places)
        out.append("</g>")
        legend = top + 8 + i * LEGEND_LINE
        start = LEFT + WIDTH + 20
        out.append(f'<line x1="{start}" x2="{start + 24}" y1="{legend}" y2="{legend}" '
                   f'stroke="{color}" stroke-width="2"'
                   + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        out.append(text(start + 32, legend + 4, label))
    return out


def draw(runs):
    """The SVG of all panels that have something to show."""
    panels = []
    speed, time = "target tokens per second", "milliseconds (log scale)"
    for axis, value, title, axis_name, value_name, scale in (
            ("batch", "speed", "Throughput by batch size", "batch size (log scale)", speed,
             linear_scale),
            ("source", "speed", "Throughput by source length", "tokens of a source (log scale)", speed,
             linear_scale),
            ("length", "milliseconds", "Time by length", "positions (log scale)", time, log_scale)):
        series = group(runs, axis, value)
        if series:
            panels.append((title, axis_name, value_name, scale, series))
    if not panels:
        raise BadInput("nothing to draw: the runs differ neither in batch size nor in length")
    runs = [run for run in runs if run.get("length") != 0]
    alike = [runs[0][field] for field in ("model", "isa") if len({run[field] for run in runs}) == 1]
    longest = max(len(label) for *_, series in panels for label in series)
    width = LEFT + WIDTH + 60 + CHARACTER * longest
    body = []
    top = TOP + 24
    for title, axis_name, value_name, scale, series in panels:
        body.extend(draw_panel(title, axis_name, value_name, scale, series, top))
        top += max(PANEL, len(series) * LEGEND_LINE + TOP)
    height = top - TOP + 16
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" fill="#222">',
        "<style>.grid{stroke:#ddd}.tick,.axis{stroke:#444}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        text(LEFT, 24, ", ".join(alike), fill="#666"),
        *body,
        "</svg>",
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description="Draws throughput against batch size and source length as SVG.")
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
