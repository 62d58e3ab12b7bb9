"""tools/bench/compare_peers.py with programs that are scripts."""

import argparse
import contextlib
import io
import os
import pathlib
import runpy
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench" / "compare_peers.py"

# The log of CTranslate2, which says what it took; the stub has oneDNN in int8 alone.
LOG = """
echo " - Selected ISA: ${CT2_FORCE_CPU_ISA:-AVX2}" >&2
echo " - SGEMM backend: OpenBLAS (packed: false)" >&2
[ "$CT2_USE_MKL" = 1 ] && b=MKL || b=DNNL; echo " - GEMM_S8 backend: $b (packed: false, u8s8 preferred: true)" >&2
"""

# Copies the input to the output, which two flags name, and notes its flags.
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
cat "$in" >"$out"
"""


class ComparePeersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        self.source = self.folder / "pieces"
        # nibu would translate equal lines once, so that the script leaves the second ones out.
        self.source.write_text("".join(f"▁dog ▁{i % 6}\n" for i in range(12)) + "\n", encoding="utf-8")

    def program(self, name, more=""):
        path = self.folder / name
        path.write_text(PROGRAM.format(name=name, log=self.log, more=more))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return f"--{name}={path}"

    @staticmethod
    def program_with(module, start, seconds):
        program = module["Program"]("x", None)
        program.start, program.seconds = start, seconds
        return program

    def compare(self, *flags):
        return subprocess.run([sys.executable, SCRIPT, "--model=m", f"--src={self.source}", "--cpu=", "--pairs=2", *flags],
                              text=True, capture_output=True, check=False)

    def test_each_back_end_of_ctranslate2(self):
        done = self.compare(self.program("nibu"), self.program("ct2", LOG), "--output_length=2", "--beam_size=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        workload, head, own, *peers = done.stdout.splitlines()
        self.assertIn("6 sentences, int8, beam 4, batch 32, one thread of ", workload)
        self.assertIn("nibu / it, quartiles", head)
        self.assertEqual(own.split()[:1], ["nibu"])
        # Both back ends, with each of the instruction sets that there are, and oneDNN without AMX where there is AMX.
        self.assertIn(len(peers), (2, 4, 6))
        for line in peers:
            self.assertRegex(line, r"^CTranslate2, AVX\w+, (MKL|oneDNN) .* 12 ")
            self.assertIn("100.0 %", line)
        calls = self.log.read_text()
        for expected in ("MKL=1 --model m", "MKL=0 --model m", "--min_decoding_length 2 --max_decoding_length 2",
                         "--beam_size 4", "--intra_threads 1", "--threads=1", "--tokenized"):
            self.assertIn(expected, calls)

    def test_ways_of_a_cpu_with_amx(self):
        ways = list(runpy.run_path(str(SCRIPT))["ways_of_ct2"]({"avx512f", "amx_int8"}))
        self.assertEqual(len(ways), 6)
        limited = [way for way in ways if "DNNL_MAX_CPU_ISA" in way]
        self.assertEqual([way["CT2_FORCE_CPU_ISA"] for way in limited], ["", "AVX512"])
        self.assertTrue(all(way["CT2_USE_MKL"] == "0" for way in limited))

    def test_a_limit_of_the_callers_reaches_no_program(self):
        more = 'if [ -n "$DNNL_MAX_CPU_ISA" ]; then echo limited >&2; exit 1; fi'
        os.environ["DNNL_MAX_CPU_ISA"] = "AVX2"
        self.addCleanup(os.environ.pop, "DNNL_MAX_CPU_ISA")
        done = self.compare(self.program("nibu", more), self.program("marian", more), "--marian_config=decoder.yml")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_cannot_run_is_left_out(self):
        done = self.compare(self.program("nibu"), self.program(
            "ct2", LOG + 'if [ "$CT2_USE_MKL" = 1 ]; then echo "was not compiled with Intel MKL" >&2; exit 1; fi'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: CTranslate2", done.stderr)
        self.assertEqual(done.stderr.count("was not compiled with Intel MKL"), 1)
        self.assertNotIn("MKL", done.stdout)
        self.assertIn("oneDNN", done.stdout)

    def test_the_back_end_is_the_one_of_the_log(self):
        done = self.compare(self.program("nibu"), self.program("ct2", LOG), "--compute_type=float32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CTranslate2, AVX2, OpenBLAS", done.stdout)

    def test_marian_has_no_least_length(self):
        done = self.compare(self.program("nibu"), self.program("marian"), "--marian_config=decoder.yml",
                            "--output_length=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("note: Marian has no least length", done.stderr)
        self.assertIn("-c decoder.yml --cpu-threads 1", self.log.read_text())

    def test_ratios_are_of_tokens_per_second_after_the_start(self):
        module = runpy.run_path(str(SCRIPT))
        nibu, peer = (module["Program"](name, None) for name in ("nibu", "peer"))
        self.assertEqual(list(module["warnings_of"]([self.program_with(module, 2, [3])], "", 0)),
                         ["x: its start takes most of the time, so that its figures say little; give more lines"])
        nibu.tokens, nibu.start, nibu.seconds, nibu.lines = 60, 1, [3, 3, 3], ["a", "b"]
        peer.tokens, peer.start, peer.seconds, peer.lines = 40, 2, [10, 6, 4], ["a", "c"]
        options = argparse.Namespace(compute_type="int8", beam_size=1, batch_size=32)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            module["report"]([nibu, peer], 2, "Some CPU", options)
        _, _, own, other = out.getvalue().splitlines()
        self.assertRegex(own, r"^nibu +1\.00 +3\.00 +60 +29\.5 +100\.0 %$")
        self.assertRegex(other, r"^peer +2\.00 +6\.00 +40 +9\.8 +3\.03 \(1\.51 to 6\.05\) +50\.0 %$")

    def test_a_program_must_write_all_lines(self):
        done = self.compare(self.program("nibu"), "--ct2=/bin/true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("CTranslate2: wrote 0 lines for 1", done.stderr)
        self.source.write_text("▁dog\n", encoding="utf-8")
        done = self.compare(self.program("nibu"), self.program("ct2"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("has a single line", done.stderr)

    def test_failures_are_one_line(self):
        nibu = self.program("nibu")
        for flags, word, status in (((), "give --ct2 or --marian", 2), (("--marian=x",), "needs --marian_config", 2),
                                    (("--marian=/nonexistent", "--marian_config=c"), "No such file", 1)):
            done = self.compare(nibu, *flags)
            self.assertEqual(done.returncode, status)
            self.assertIn(word, done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
