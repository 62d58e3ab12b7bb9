"""kept_parts_test.py PROGRAM CAPTIONS SHARED: tools/bench/kept_parts.py with the captions model: no kind of part is
lost, doubled or moved, and the text around the parts is what it is without them, or better than without --protect.

Without SHARED/data the sentences are some of the test's own.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench" / "kept_parts.py"
PROGRAM, CAPTIONS, SHARED = sys.argv[1:4]
SENTENCES = ["A man is riding a bicycle.", "Two dogs run.", "A woman sings on the street.", "Three men play.",
             "A dog runs. It is brown.", "A girl in a Red shirt smiles.", "Four people eat."]


class KeptPartsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        source = pathlib.Path(SHARED) / "data" / "multi30k.val.en"
        with tempfile.NamedTemporaryFile("w", suffix=".en") as file:
            if not source.exists():
                print("skipped: kept_parts with 20 lines of Multi30k, since there is no", source)
                file.write("".join(line + "\n" for line in SENTENCES))
                file.flush()
                source = file.name
            done = subprocess.run([sys.executable, "-B", SCRIPT, PROGRAM, f"--src={source}", "--lines=20", "--random=100",
                                   "--", f"--model={CAPTIONS}", "--compute_type=float32"],
                                  capture_output=True, text=True, check=False)
        cls.status, cls.out, cls.err = done.returncode, done.stdout, done.stderr
        cls.rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()
                    if line.startswith("|")][2:]

    def test_every_kind_is_kept(self):
        self.assertEqual(self.status, 0, self.err)
        self.assertEqual(len(self.rows), 15, self.out)
        for name, lines, lost, doubled, score, _, lost_before, doubled_before, before, _ in self.rows:
            with self.subTest(name):
                self.assertGreater(int(lines), 0)
                self.assertEqual((lost, doubled), ("0", "0"))
                self.assertGreaterEqual(float(score), float(before) - 0.5)
                if name.split(",")[0].split(" ")[0] in ("user", "placeholder", "path", "code", "tags", "line"):
                    self.assertGreater(int(lost_before) + int(doubled_before), 0, "without --protect none is lost")

    def test_random_lines(self):
        self.assertIn("100 lines of two sentences and two parts: 0 lost, 0 doubled, 0 in the other sentence", self.out)
        self.assertRegex(self.out, r"take \d+\.\d\d times as long")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
