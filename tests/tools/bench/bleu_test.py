"""tools/bench/bleu.py on values worked out by hand."""

import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench"
sys.path.insert(0, str(TOOLS))
import bleu  # noqa: E402


class TokenizeTest(unittest.TestCase):
    def check(self, line, tokens):
        self.assertEqual(bleu.tokenize(line), tokens.split())

    def test_punctuation_stands_alone(self):
        self.check('He said: "Go!" (now) [a] {b}', 'He said : " Go ! " ( now ) [ a ] { b }')
        self.check("a/b\\c_d^e`f~g", "a / b \\ c _ d ^ e ` f ~ g")
        self.check("$5 + 10% = #3 @x <y>; a*b|c?", "$ 5 + 10 % = # 3 @ x < y > ; a * b | c ?")

    def test_stops_and_commas_stay_in_numbers(self):
        self.check("It is 3.5, or 1,000.", "It is 3.5 , or 1,000 .")
        self.check("e.g. 5.a b.5", "e . g . 5 . a b . 5")

    def test_dashes_and_apostrophes(self):
        self.check("well-known 1990-2000 don't", "well-known 1990 - 2000 don't")

    def test_entities_and_blanks(self):
        self.check("a &lt;b&gt; &quot;c&quot; &amp; d", 'a < b > " c " & d')
        self.check(" \t a<skipped>  b ", "a b")
        self.check("", "")

    def test_other_scripts_are_left_alone(self):
        self.check("Größe: 5 €, „gut“.", "Größe : 5 € , „gut“ .")


class CorpusBleuTest(unittest.TestCase):
    def check(self, hypotheses, references, score):
        result = bleu.corpus_bleu(hypotheses, references)
        self.assertAlmostEqual(result.score, score, places=9)
        return result

    def test_identical_text(self):
        text = ["A man is riding a bicycle.", "Two dogs are playing in the snow."]
        result = self.check(text, text, 100)
        self.assertEqual(result.brevity_penalty, 1)
        self.assertEqual(result.precisions, [100] * 4)

    def test_precisions(self):
        # The reference has 5 of 6 unigrams, 4 of 5 bigrams, 3 of 4 trigrams and 2 of 3 4-grams.
        result = self.check(["a b c d e x"], ["a b c d e f"],
                            100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** (1 / 4))
        self.assertEqual((result.hypothesis_tokens, result.reference_tokens), (6, 6))

    def test_counts_are_clipped(self):
        # The unigrams count 2 x a and 1 x b, the bigrams a b and b a, the trigram a b a; no 4-gram: 1/2 of 4.
        result = self.check(["a b a a a a a"], ["a b a c c c c"],
                            100 * (3 / 7 * 2 / 6 * 1 / 5 * 0.5 / 4) ** (1 / 4))
        self.assertAlmostEqual(result.precisions[0], 300 / 7)

    def test_smoothing_halves_again(self):
        # 2 of 4 unigrams; then no match: 1/2 of 3, 1/4 of 2, 1/8 of 1.
        self.check(["a x b y"], ["a z b w"], 100 * (2 / 4 * 0.5 / 3 * 0.25 / 2 * 0.125) ** (1 / 4))

    def test_brevity_penalty(self):
        result = self.check(["a b c d"], ["a b c d e f"], 100 * math.exp(1 - 6 / 4))
        self.assertAlmostEqual(result.brevity_penalty, math.exp(-0.5))
        # Longer than the reference costs precision alone.
        self.check(["a b c d e"], ["a b c d"], 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4))

    def test_counts_are_summed_over_the_corpus(self):
        # The precisions are 6 of 8, 4 of 6, 2 of 4 and 1 of 2; the score is not the mean of two scores.
        self.check(["a b c d", "e f x y"], ["a b c d", "e f g h"],
                   100 * (6 / 8 * 4 / 6 * 2 / 4 * 1 / 2) ** (1 / 4))

    def test_case_counts(self):
        self.assertLess(bleu.corpus_bleu(["A b c d e"], ["a b c d e"]).score, 100)

    def test_nothing(self):
        self.check([""], ["a b c d"], 0)
        self.check([], [], 0)
        self.check(["x y z u v"], ["a b c d e"], 0)
        self.check(["a b c"], ["a b c"], 0)  # has no 4-gram

    def test_lengths_differ(self):
        with self.assertRaises(ValueError):
            bleu.corpus_bleu(["a"], ["a", "b"])


class CommandTest(unittest.TestCase):
    def run_on(self, hypothesis, reference):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("hyp", "ref")]
            for path, content in zip(paths, (hypothesis, reference)):
                path.write_bytes(content)
            return subprocess.run([sys.executable, TOOLS / "bleu.py", *paths], text=True,
                                  capture_output=True, check=False)

    def test_prints_the_score(self):
        done = self.run_on("a b c d\r\ne\u2028f g h i\n".encode(), "a b c d\ne\u2028f g h i".encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000, "
                                      "hypothesis 9, reference 9 tokens)\n")

    def test_fails_with_one_line(self):
        done = self.run_on(b"a\n", b"a\nb\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "bleu.py: error: 1 hypotheses for 2 references\n")
        done = self.run_on(b"a\xff\n", b"a\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not UTF-8 text", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
