"""tools/bench/plot_bench.py on a few lines of nibu-bench --json."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench" / "plot_bench.py"
SVG = "{http://www.w3.org/2000/svg}"


def line(**changes):
    run = {"model": "models/<a> & b", "isa": "avx2", "compute_type": "int8", "threads": 1,
           "beam_size": 4, "batch_size": 8, "source_file": None, "source_sha256": None, "source_length": 32,
           "output_length": 30, "search": {}, "encoder_attention": "full", "draft_model": "", "shortlist": "none",
           "matmul": "auto", "version": "0.1.0", "cpu": "Some CPU", "sentences": 10, "source_tokens": 320,
           "seconds": 1.0, "tokens_per_second": 1000.0, "peak_rss_bytes": 50000000}
    return json.dumps({**run, **changes}) + "\n"


def plot(lines):
    return subprocess.run([sys.executable, SCRIPT], input="".join(lines), text=True,
                          capture_output=True, check=False)


class PlotBenchTest(unittest.TestCase):
    def draw(self, lines):
        done = plot(lines)
        self.assertEqual(done.returncode, 0, done.stderr)
        return ElementTree.fromstring(done.stdout)

    def series(self, svg):
        """[(label, [(x, y), ...]), ...]"""
        found = []
        for group in svg.iter(SVG + "g"):
            self.assertEqual(group.get("class"), "series")
            points = group.find(SVG + "polyline").get("points").split()
            self.assertEqual(len(group.findall(SVG + "circle")), len(points))
            found.append((group.find(SVG + "title").text,
                          [tuple(float(c) for c in point.split(",")) for point in points]))
        return found

    def texts(self, svg):
        return [element.text for element in svg.iter(SVG + "text")]

    def test_attention_by_length(self):
        def point(mechanism, length, seconds):
            return json.dumps({"what": "attention", "mechanism": mechanism, "isa": "avx2",
                               "compute_type": "float32", "length": length, "seconds": seconds,
                               "peak_bytes": 1}) + "\n"
        svg = self.draw([point("full", 64, 0.001), point("full", 128, 0.01),
                         point("window:64", 64, 0.001), point("window:64", 128, 0.002),
                         json.dumps({"what": "attention", "mechanism": "full", "exponent": 2}) + "\n"])
        (full, full_points), (window, window_points) = self.series(svg)
        self.assertEqual((full, window), ("full", "window:64"))
        self.assertEqual(full_points[0], window_points[0])
        self.assertLess(full_points[1][1], window_points[1][1])  # longer: higher up
        self.assertIn("full: 128: 10 ms", [e.text for e in svg.iter(SVG + "title")])
        self.assertIn("attention, avx2, float32", self.texts(svg))

    def test_a_series_for_each_compute_type(self):
        svg = self.draw([line(compute_type=kind, batch_size=batch, tokens_per_second=speed * batch)
                         for kind, speed in (("float32", 50), ("int8", 100))
                         for batch in (4, 1, 2, 8)])
        (plain, plain_points), (fast, fast_points), *memory = self.series(svg)
        self.assertEqual((plain, fast), ("float32", "int8"))
        self.assertEqual(len(memory), 2)
        # Doublings are equally far apart, in order; twice the speed is twice as high.
        xs = [x for x, _ in fast_points]
        self.assertEqual(xs, sorted(xs))
        for i in range(2):
            self.assertAlmostEqual(xs[i + 1] - xs[i], xs[i + 2] - xs[i + 1], delta=0.2)
        zero = 2 * plain_points[0][1] - fast_points[0][1]
        for (_, plain_y), (_, fast_y) in zip(plain_points, fast_points):
            self.assertAlmostEqual(zero - fast_y, 2 * (zero - plain_y), delta=0.5)
        texts = self.texts(svg)
        for expected in ("1", "2", "4", "8", "0", "800", "float32", "int8", "batch size (log scale)",
                         "target tokens per second", "peak memory in MB", "Memory by batch size"):
            self.assertIn(expected, texts)
        # The title has all constant settings, except for ordinary values.
        self.assertIn("models/<a> & b, avx2, 1 thread, beam 4, source 32, output 30, nibu 0.1.0, Some CPU",
                      " ".join(texts).replace("\u00a0", " "))
        self.assertNotIn("Throughput by source length", texts)

    def test_each_swept_setting_has_its_panels(self):
        svg = self.draw([line(batch_size=batch, source_length=tokens, threads=threads)
                         for batch in (1, 64) for tokens in (16, 512) for threads in (1, 2)])
        labels = [label for label, _ in self.series(svg)]
        by_batch = ["1 thread, source 16", "2 threads, source 16", "1 thread, source 512", "2 threads, source 512"]
        by_source = ["1 thread, batch 1", "2 threads, batch 1", "1 thread, batch 64", "2 threads, batch 64"]
        by_threads = ["batch 1, source 16", "batch 1, source 512", "batch 64, source 16", "batch 64, source 512"]
        self.assertEqual(labels, 2 * by_batch + 2 * by_source + 2 * by_threads)
        self.assertIn("512", self.texts(svg))

    def test_runs_that_differ_in_anything_are_not_merged(self):
        for name, values in (("encoder_attention", ("full", "pool:width=3")), ("draft_model", ("", "small")),
                             ("shortlist", ("none", "lex.bin")), ("matmul", ("auto", "onednn")),
                             ("version", ("0.1.0", "0.2.0")), ("cpu", ("One", "Other")), ("output_length", (0, 30)),
                             ("source_sha256", ("aa" * 32, "bb" * 32)), ("search", ({}, {"patience": 2})),
                             ("search", ({"patience": 1.5}, {"patience": 2})), ("lines", (10, 20)),
                             ("a setting of a later version", (None, 1))):
            runs = [line(batch_size=batch, **{name: value}) for value in values for batch in (1, 2)]
            series = self.series(self.draw(runs))
            self.assertEqual(len(series), 4, (name, series))  # two lines of throughput, two of memory
            self.assertEqual(len({label for label, _ in series}), 2, (name, series))

    def test_length_of_source_and_output(self):
        svg = self.draw([line(source_length=tokens, output_length=tokens) for tokens in (16, 64, 256)])
        self.assertEqual([len(points) for _, points in self.series(svg)], [3, 3])
        self.assertIn("tokens of a source, and of its output (log scale)", self.texts(svg))

    def test_quality_against_time(self):
        svg = self.draw([line(compute_type=kind, beam_size=beam, seconds=seconds * beam, bleu=30 + beam / 4, chrf=60.0,
                              equal_lines=1.0)
                         for kind, seconds in (("float32", 2), ("int8", 1)) for beam in (1, 4)])
        texts = self.texts(svg)
        for expected in ("Throughput by beam size", "BLEU by time (numbers: beam size)", "chrF by time (numbers: beam size)", "1", "4"):
            self.assertIn(expected, texts)
        *_, (plain, plain_points), (fast, fast_points) = self.series(svg)[:-2]
        self.assertEqual((plain, fast), ("float32", "int8"))
        self.assertLess(fast_points[0][0], plain_points[0][0])  # faster: further left
        self.assertEqual(fast_points[0][1], plain_points[0][1])
        self.assertLess(fast_points[1][1], fast_points[0][1])  # better: higher up

    def test_everything_is_inside(self):
        svg = self.draw([line(batch_size=batch, beam_size=beam, tokens_per_second=3.7 * batch)
                         for batch in (3, 5, 200) for beam in range(1, 40)])
        self.assertEqual(len(self.series(svg)), 2 * 39 + 2 * 3)  # by batch size, and by beam size
        self.assertEqual(len({(group.get("stroke"), group.find(SVG + "polyline").get("stroke-dasharray"))
                              for group in svg.iter(SVG + "g")}), 21)
        width, height = float(svg.get("width")), float(svg.get("height"))
        for element in svg.iter():
            for name, most in (("x", width), ("x2", width), ("cx", width), ("y", height),
                               ("y2", height), ("cy", height)):
                self.assertTrue(0 <= float(element.get(name, 0)) <= most, element.attrib)

    def test_the_fastest_of_equal_runs_and_no_automatic_batch(self):
        svg = self.draw([line(batch_size=1, tokens_per_second=900), line(batch_size=0),
                         line(batch_size=2, tokens_per_second=10, seconds=80),
                         line(batch_size=2, tokens_per_second=800)])
        (label, points), _ = self.series(svg)
        self.assertEqual((label, len(points)), ("int8", 2))
        self.assertIn("int8: 2: 800 tokens/s", [e.text for e in svg.iter(SVG + "title")])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            runs, out = pathlib.Path(folder, "runs"), pathlib.Path(folder, "out.svg")
            runs.write_text(line(batch_size=1) + "\n" + line(batch_size=2), encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, runs, f"--out={out}"], check=False)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(len(self.series(ElementTree.parse(out).getroot())), 2)

    def test_fails_with_one_line(self):
        for lines, expected in (([], "nothing to draw"), ([line()], "nothing to draw"),
                                ([line(), "{}\n"], "standard input:2: not a line of nibu-bench"),
                                (["[1]\n"], "standard input:1: not a line"),
                                ([line(tokens_per_second="x")], "standard input:1: not a line")):
            done = plot(lines)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("plot_bench.py: error: "), done.stderr)
            self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
