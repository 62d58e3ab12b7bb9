"""tools/bench/compare_peers.py with programs that are scripts."""

import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench" / "compare_peers.py"

# Copies the input to the output, which two flags name, after some time for each line, and notes its flags.
PROGRAM = """#!/bin/sh
echo "{name} ISA=$CT2_FORCE_CPU_ISA MKL=$CT2_USE_MKL $*" >> {log}
while [ $# -gt 0 ]; do
  case $1 in
    --src=*) in=${{1#*=}} ;;
    --out=*) out=${{1#*=}} ;;
    --src | -i) in=$2 ;;
    --out | -o) out=$2 ;;
  esac
  shift
done
{more}
while read -r line; do sleep {delay}; echo "$line"; done <"$in" >"$out"
"""


class ComparePeersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        self.source = self.folder / "pieces"
        self.source.write_text("▁A ▁dog\n" * 6, encoding="utf-8")

    def program(self, name, delay, more=""):
        path = self.folder / name
        path.write_text(PROGRAM.format(name=name, log=self.log, delay=delay, more=more))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return f"--{name}={path}"

    def compare(self, *flags):
        return subprocess.run([sys.executable, SCRIPT, "--model=m", f"--src={self.source}", "--cpu=", "--pairs=2", *flags],
                              text=True, capture_output=True, check=False)

    def test_each_back_end_of_ctranslate2(self):
        done = self.compare(self.program("nibu", 0.01), self.program("ct2", 0.05), "--output_length=2", "--beam_size=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertIn("nibu / it, quartiles", lines[0])
        own, *peers = lines[1:]
        self.assertEqual(own.split()[:1], ["nibu"])
        self.assertIn(len(peers), (2, 4))  # both back ends, with each of the instruction sets that there are
        for line in peers:
            self.assertRegex(line, r"^CTranslate2, \w+, (MKL|oneDNN) .* 12 ")
            ratio = float(line.split("(")[0].split()[-1])
            self.assertTrue(1.5 < ratio < 20, line)
            self.assertIn("100.0 %", line)
        calls = self.log.read_text()
        for expected in ("MKL=1 --model m", "MKL=0 --model m", "--min_decoding_length 2 --max_decoding_length 2",
                         "--beam_size 4", "--intra_threads 1", "--threads=1", "--tokenized"):
            self.assertIn(expected, calls)

    def test_what_cannot_run_is_left_out(self):
        done = self.compare(self.program("nibu", 0), self.program(
            "ct2", 0, 'if [ "$CT2_USE_MKL" = 1 ]; then echo "was not compiled with Intel MKL" >&2; exit 1; fi'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: CTranslate2", done.stderr)
        self.assertIn("was not compiled with Intel MKL", done.stderr)
        self.assertNotIn("MKL", done.stdout)
        self.assertIn("oneDNN", done.stdout)

    def test_marian_has_no_least_length(self):
        done = self.compare(self.program("nibu", 0), self.program("marian", 0), "--marian_config=decoder.yml",
                            "--output_length=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("note: Marian has no least length", done.stderr)
        self.assertIn("-c decoder.yml --cpu-threads 1", self.log.read_text())

    def test_failures_are_one_line(self):
        nibu = self.program("nibu", 0)
        for flags, word, status in (((), "give --ct2 or --marian", 2), (("--marian=x",), "needs --marian_config", 2),
                                    (("--marian=/nonexistent", "--marian_config=c"), "No such file", 1)):
            done = self.compare(nibu, *flags)
            self.assertEqual(done.returncode, status)
            self.assertIn(word, done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
