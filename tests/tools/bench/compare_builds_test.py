"""tools/bench/compare_builds.py on two builds that are scripts."""

import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench" / "compare_builds.py"

# Prints a run of each beam; every call is slower than the one before.
BENCH = """#!/bin/sh
echo "{speed} $*" >> {log}
n=$(grep -c '^{speed} ' {log})
for beam in 1 4; do
  echo '{{"compute_type": "int8", "threads": 1, "beam_size": '$beam', "batch_size": 64, "source_tokens": 320,' \\
       '"sentences": 10, "tokens_per_second": '$(({speed} * 10 / n / beam))'}}'
done
"""


def compare(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], text=True, capture_output=True, check=False)


class CompareBuildsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"

    def build(self, name, text):
        program = self.folder / name / "bin" / "nibu-bench"
        program.parent.mkdir(parents=True)
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return self.folder / name

    def test_pairs(self):
        old = self.build("old", BENCH.format(speed=100, log=self.log))
        new = self.build("new", BENCH.format(speed=150, log=self.log))
        done = compare(old, new, "--pairs=3", "--beam_size=1,4")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("beam_size=4", lines[1])
        self.assertIn("500.0 and 750.0 tokens/s, best 1000.0 and 1500.0; new / old 1.500", lines[0])
        calls = self.log.read_text().splitlines()
        self.assertEqual([call.split()[0] for call in calls], ["100", "150", "150", "100", "100", "150"])
        self.assertTrue(all(call.endswith("--json --beam_size=1,4") for call in calls))

    def test_failures_are_one_line(self):
        good = self.build("good", BENCH.format(speed=100, log=self.log))
        bad = self.build("bad", "#!/bin/sh\necho wrong flag >&2\nexit 2\n")
        for build, word in ((bad, "wrong flag"), (self.folder / "none", "give two folders")):
            done = compare(good, build, "--pairs=1", "--cpu=")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
