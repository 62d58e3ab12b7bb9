"""The Python package nibu: texts, options, results, errors.

    translator_test.py NIBU_TRANSLATE CAPTIONS_MODEL TESTDATA
"""

import copy
import gc
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import weakref

import nibu
from nibu import _nibu

LINE = "A man is riding a bicycle."
TRANSLATION = "Ein Mann fährt Fahrrad."
PROGRAM, MODEL, TESTDATA = sys.argv[1:4]


def captions(**options):
    """A translator of the captions model, whose results are the same on all CPUs."""
    return nibu.Translator(MODEL, compute_type="float32", threads=2, **options)


class Texts(unittest.TestCase):
    """Texts of all kinds, and their translations."""

    @classmethod
    def setUpClass(cls):
        cls.translator = captions()

    def test_text_or_list(self):
        result = self.translator.translate(LINE)
        self.assertIsInstance(result, nibu.Result)
        self.assertEqual(str(result), TRANSLATION)
        self.assertEqual(result.text, TRANSLATION)
        self.assertEqual(result.source, LINE)
        self.assertEqual(repr(result), f"Result(text={TRANSLATION!r})")
        for texts in ([LINE, "", "Two dogs."], (LINE, "", "Two dogs.")):
            results = self.translator.translate(texts)
            self.assertEqual([each.text for each in results], [TRANSLATION, "", "Zwei Hunde."])
            self.assertEqual([each.source for each in results], list(texts))
        self.assertEqual(self.translator.translate([]), [])
        self.assertEqual(self.translator.translate("").hypotheses[0].score, 0)

    def test_equals_the_command_line(self):
        lines = (pathlib.Path(TESTDATA) / "multi30k.en").read_text(encoding="utf-8").splitlines()[:40]
        command = [PROGRAM, f"--model={MODEL}", "--compute_type=float32", "--beam_size=3", "--num_hypotheses=2",
                   "--output_format=jsonl", "--alignment=soft"]
        said = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True).stdout
        results = self.translator.translate(lines, beam_size=3, num_hypotheses=2, alignment="soft")
        self.assertEqual([each.to_json(i) for i, each in enumerate(results)], said.splitlines())
        streamed = self.translator.translate_iterable(iter(lines), beam_size=3, num_hypotheses=2, alignment="soft")
        self.assertEqual([each.to_json(i) for i, each in enumerate(streamed)], said.splitlines())

    def test_any_bytes(self):
        self.assertEqual(self.translator.translate(LINE.encode()).text, TRANSLATION)
        for text in (b"\xff\xfe two dogs \x00", "\ud800 two dogs", "two\x00dogs", "\r", "\U0010ffff"):
            self.assertIsInstance(self.translator.translate(text).text, str)
            self.assertIsInstance(self.translator.translate(text).to_dict(), dict)
        for wrong in (None, 3, [LINE, None], [3], {"a": 1}.values(), {"a": "b"}, {"a"}):
            with self.assertRaises(TypeError):
                self.translator.translate(wrong)
        with self.assertRaisesRegex(TypeError, r"^source\[1\] must be str or bytes, not NoneType"):
            self.translator.translate([LINE, None])

    def test_whatever_can_be_iterated_over(self):
        import numpy  # pylint: disable=import-outside-toplevel

        for texts in (iter([LINE]), {"a": LINE}.values(), numpy.array([LINE]), (line for line in [LINE])):
            self.assertEqual([each.text for each in self.translator.translate(texts)], [TRANSLATION])
        self.assertEqual(self.translator(LINE), TRANSLATION)
        self.assertEqual(self.translator(iter([LINE, ""])), [TRANSLATION, ""])

    def test_lines_and_documents(self):
        lines = f"{LINE}\r\n\nTwo dogs.\n"
        self.assertEqual(self.translator.translate(lines).text, f"{TRANSLATION}\n\nZwei Hunde.\n")
        page = "<html><body><p>Two <i>dogs</i>.</p>\n<p>A man is\nriding a bicycle.</p></body></html>"
        said = self.translator.translate(page, text="document", markup="html")
        self.assertEqual(said.text, f"<html><body><p>Zwei <i>Hunde</i>.</p>\n<p>{TRANSLATION}</p></body></html>")
        wrapped = self.translator.translate("A man is\nriding a bicycle.\n", text="paragraphs")
        self.assertEqual(wrapped.text, f"{TRANSLATION}\n")

    def test_tokens(self):
        model = self.translator.model
        pieces = model.tokenize(LINE)
        self.assertEqual(model.source_pieces(model.source_ids(pieces)), pieces)
        result = self.translator.translate_tokens([pieces])[0]
        self.assertEqual(model.detokenize(result.tokens), TRANSLATION)
        self.assertEqual(model.target_pieces(model.target_ids(result.tokens)), result.tokens)
        self.assertEqual(model.tokenize_target(TRANSLATION), result.tokens)
        with self.assertRaises(ValueError):
            model.source_pieces([-1])

    def test_prefixes(self):
        self.assertTrue(self.translator.translate(LINE, target_prefix="Eine").text.startswith("Eine"))
        results = self.translator.translate([LINE, LINE], target_prefix=["Eine", None])
        self.assertTrue(results[0].text.startswith("Eine"))
        self.assertEqual(results[1].text, TRANSLATION)
        with self.assertRaisesRegex(ValueError, "target_prefix"):
            self.translator.translate([LINE], target_prefix=["a", "b"])

    def test_scores(self):
        translated = self.translator.translate(LINE)
        scored = self.translator.score(LINE, TRANSLATION)
        self.assertAlmostEqual(scored.log_prob, translated.log_prob, places=3)
        self.assertEqual(scored.tokens, translated.tokens + ["</s>"])
        self.assertEqual(len(scored.token_scores), len(scored.tokens))
        scores = self.translator.score([LINE, LINE], [TRANSLATION, "Eine Kuh."])
        self.assertGreater(scores[0].score, scores[1].score)
        for source, target, error in ((LINE, [LINE], TypeError), ([LINE], [], ValueError)):
            with self.assertRaises(error):
                self.translator.score(source, target)


class Results(unittest.TestCase):
    """The fields of results."""

    @classmethod
    def setUpClass(cls):
        cls.translator = captions()

    def test_facts(self):
        result = self.translator.translate(LINE, beam_size=3, num_hypotheses=3)
        self.assertEqual(len(result.hypotheses), 3)
        best = result.hypotheses[0]
        self.assertEqual((best.text, best.end_token, best.finished), (TRANSLATION, "</s>", True))
        self.assertEqual(best.length, len(best.tokens) + 1)
        self.assertAlmostEqual(best.score, best.log_prob / best.length, places=5)
        self.assertEqual(result.score, best.score)
        self.assertEqual([each["text"] for each in result.to_dict()["hypotheses"]],
                         [each.text for each in result.hypotheses])
        self.assertEqual(result.target_tokens, len(best.tokens))
        cut = self.translator.translate(LINE, max_decoding_length=2)
        self.assertFalse(cut.hypotheses[0].finished)
        self.assertEqual(cut.hypotheses[0].end_token, "")
        self.assertIn("unfinished", cut.warnings)

    def test_attention(self):
        import numpy  # pylint: disable=import-outside-toplevel

        self.assertIsNone(self.translator.translate(LINE).attention)
        result = self.translator.translate(LINE, alignment="soft")
        attention = result.attention
        self.assertEqual(attention.dtype, numpy.float32)
        self.assertEqual(attention.shape, (len(result.tokens), len(self.translator.model.tokenize(LINE))))
        self.assertEqual(result.source_labels(), self.translator.model.tokenize(LINE))
        best = attention.argmax(axis=1)
        self.assertEqual(result.alignment, [(source, target) for target, source in enumerate(best.tolist())])
        marked = self.translator.translate("Two <b>dogs</b> at http://x.de.", markup="html", alignment="hard",
                                           alignment_level="words")
        self.assertEqual(marked.source_labels(), ["Two", "dogs", "at", "http://x.de."])
        words = self.translator.translate(LINE, alignment="soft", alignment_level="words")
        self.assertEqual(words.source_labels(), LINE.split())

    def test_plain_data(self):
        result = self.translator.translate(LINE, num_hypotheses=2, alignment="soft")
        pickled = [pickle.loads(pickle.dumps(result, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
        for same in [*pickled, copy.copy(result), copy.deepcopy(result)]:
            self.assertEqual(same, result)
            self.assertEqual(hash(same), hash(result))
            self.assertEqual(same.to_json(), result.to_json())
            self.assertEqual(same.source_labels(), result.source_labels())
        self.assertEqual(pickle.loads(pickle.dumps(result.hypotheses)), result.hypotheses)
        self.assertNotEqual(result, self.translator.translate(LINE))
        self.assertNotEqual(result, TRANSLATION)
        self.assertEqual(f"{result:>30}", f"{TRANSLATION:>30}")
        odd = self.translator.translate(b"\xff\xfe two dogs")
        self.assertEqual(pickle.loads(pickle.dumps(odd)), odd)

    def test_keeps_no_model(self):
        model = nibu.Model(MODEL, compute_type="float32")
        gone = weakref.ref(model)
        translator = nibu.Translator(model, threads=1)
        results = [translator.translate(LINE), translator.submit(LINE).result()]
        results += translator.translate_iterable([LINE])
        translator.close()
        del model, translator
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual({str(result) for result in results}, {TRANSLATION})

    def test_notebooks_without_numpy(self):
        program = ("import sys; sys.modules['numpy'] = None; import nibu; "
                   f"result = nibu.Translator({MODEL!r}, threads=1).translate('Two dogs.', alignment='soft'); "
                   "print('<table>' in result._repr_html_())\n"
                   "try: result.attention\n"
                   "except ImportError: print('no attention')")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "True\nno attention\n")

    def test_notebooks(self):
        page = self.translator.translate("Two <dogs>.", alignment="soft")._repr_html_()
        self.assertIn("<table>", page)
        self.assertIn("&lt;dogs&gt;", page)
        self.assertNotIn("<dogs>", page)
        self.assertNotIn("<table>", self.translator.translate(LINE)._repr_html_())
        self.assertIn("<ol>", self.translator.translate(LINE, num_hypotheses=2)._repr_html_())

    def test_outlives_its_translator(self):
        result = captions().translate(LINE, num_hypotheses=2)
        hypotheses = result.hypotheses
        del result
        self.assertEqual(hypotheses[0].text, TRANSLATION)


class Options(unittest.TestCase):
    """Options, models and errors."""

    def test_every_option_has_a_type(self):
        typed = nibu._options.AllOptions.__annotations__  # pylint: disable=protected-access
        named = {row["name"] for row in nibu.options()}
        self.assertEqual(set(typed), named | {"glossary", "languages_as_tokens", "return_scores"})
        self.assertEqual({row["of"] for row in nibu.options()}, {"model", "speed", "text"})
        for row in nibu.options():
            for word in row["values"]:
                self.assertIn(f'"{word}"', str(typed[row["name"]]).replace("'", '"'), row["name"])

    def test_values(self):
        translator = captions(beam_size=1)
        greedy = translator.translate(LINE)
        self.assertEqual(greedy.text, captions().translate(LINE, beam_size=1).text)
        self.assertNotEqual(translator.translate(LINE, beam_size=4).score, 0)
        with self.assertRaisesRegex(ValueError, "num_hypotheses"):
            translator.translate(LINE, num_hypotheses=2)
        suppressed = translator.translate(LINE, suppress_sequences=["▁Fahrrad"])
        self.assertNotIn("▁Fahrrad", suppressed.tokens)
        for glossary in ([("dogs", "Katzen")], {"dogs": "Katzen"}):
            phrase = translator.translate("Two dogs.", beam_size=4, glossary=glossary)
            self.assertIn("Katzen", phrase.text)
        self.assertEqual(translator.translate(LINE, beam_size=None).text, greedy.text)
        unscored = translator.translate(LINE, return_scores=False)
        self.assertEqual(unscored.text, greedy.text)

    def test_wrong_options(self):
        translator = captions()
        for options, error, text in (
                ({"beam_sise": 3}, TypeError, "did you mean beam_size"),
                ({"zzz": 3}, TypeError, r"nibu\.options"),
                ({"threads": 2}, TypeError, "threads is an option of Translator"),
                ({"compute_type": "int8"}, TypeError, "compute_type"),
                ({"beam_size": 0}, ValueError, "beam_size"),
                ({"beam_size": "many"}, ValueError, "beam_size"),
                ({"beam_size": 1.5}, ValueError, "beam_size"),
                ({"markup": "rtf"}, ValueError, "markup"),
                ({"glossary": [("a", "b", "c")]}, ValueError, "glossary"),
                ({"priority": 1 << 70}, ValueError, "priority must be"),
                ({"tgt_lang": "xx"}, ValueError, "tgt_lang")):
            with self.assertRaisesRegex(error, text):
                translator.translate(LINE, **options)
        self.assertEqual(translator.translate(LINE).text, TRANSLATION)
        with self.assertRaisesRegex(ValueError, "threads"):
            nibu.Translator(threads=-1)
        with self.assertRaisesRegex(TypeError, "compute_type"):
            nibu.Translator(translator.model, compute_type="int8")
        with self.assertRaisesRegex(TypeError, "threads"):
            nibu.Translator(threads_of=translator, threads=1)

    def test_wrong_calls(self):
        translator = captions()
        for call in (lambda: nibu.detect("Guten Morgen", "de"), lambda: translator.translate_tokens(["A", "B"]),
                     lambda: translator.translate([LINE, LINE], target_prefix="Ei"), lambda: translator.translate({LINE}),
                     lambda: translator.translate(LINE, glossary="dog"), lambda: translator.translate_iterable(LINE),
                     lambda: translator.translate_iterable(3), lambda: translator.translate_iterable({LINE}),
                     lambda: translator.score([LINE], [None]), lambda: translator.translate(bytearray(b"A dog")),
                     lambda: translator.translate([LINE], target_prefix={"Ein": 1}), lambda: nibu.Translator(True),
                     lambda: nibu.Model(MODEL, languages_as_tokens="x"), lambda: translator.translate_iterable([LINE], beam=3),
                     lambda: nibu.Translator(threads_of=5),
                     lambda: translator.model.target_pieces(["a"])):
            with self.assertRaises(TypeError):
                call()
        for call in (lambda: translator.translate_tokens([["a b"]]), lambda: translator.model.target_pieces([10**30]),
                     lambda: translator.translate(LINE, beam_size=2) and translator.translate(LINE, beam_size=2.0)):
            with self.assertRaises(ValueError):
                call()
        for shown in (translator.model, translator.translate(LINE).hypotheses[0]):
            self.assertNotIn("object at", repr(shown))
        for documented in (nibu.Model, nibu.Model.tokenize, nibu.Hypothesis, nibu.Hypothesis.score, nibu.Step):
            self.assertGreater(len(documented.__doc__), 20)

    def test_models(self):
        with self.assertRaisesRegex(FileNotFoundError, "/no/such/model"):
            nibu.Translator("/no/such/model")
        self.assertEqual(nibu.Model.read_info(os.path.join(TESTDATA, "m2m"))["format"][:12], "Hugging Face")
        model = nibu.Model(pathlib.Path(TESTDATA) / "m2m", compute_type="float32")
        self.assertIn("de", model.info["source_languages"])
        first = nibu.Translator(MODEL, threads=1)
        second = nibu.Translator(model, threads_of=first, src_lang="de", tgt_lang="fr", max_decoding_length=5)
        self.assertEqual(first.threads, second.threads)
        self.assertIsInstance(second.translate(LINE).text, str)
        pivot = nibu.Translator(nibu.Model.pivot(first.model, nibu.Model(os.path.join(TESTDATA, "de-en"))))
        self.assertEqual(pivot.translate(LINE).text, LINE)
        self.assertEqual(repr(pivot), f"Translator({MODEL!r})")

    def test_signatures(self):
        for function in (nibu.Translator, nibu.Translator.translate, nibu.Translator.submit, nibu.Translator.__call__,
                         nibu.Translator.translate_iterable, nibu.Translator.score, nibu.Translator.translate_tokens):
            parameters = inspect.signature(function).parameters
            self.assertEqual(parameters["beam_size"].kind, inspect.Parameter.KEYWORD_ONLY)
            self.assertNotIn("options", parameters)
            self.assertEqual("threads" in parameters, function is nibu.Translator)

    def test_models_by_their_languages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, path in (("en-de", MODEL), ("de-en", os.path.join(TESTDATA, "de-en"))):
                os.symlink(os.path.abspath(path), os.path.join(folder, name))
            program = ("import nibu; t = nibu.Translator(source='de', target='en', threads=1); "
                       "print(t.model.info['path'])\n"
                       "try: nibu.Translator(source='de', target='fi')\n"
                       "except FileNotFoundError as error: print(error)")
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                                  env={**os.environ, "NIBU_MODELS": folder})
            path, error = done.stdout.splitlines()
            self.assertEqual(path, os.path.join(folder, "de-en"))
            self.assertIn("nibu-get-model", error)
        for wrong in ({"source": "de"}, {"model": MODEL, "source": "de", "target": "en"}):
            with self.assertRaises(TypeError):
                nibu.Translator(**wrong)

    def test_downloads(self):
        with self.assertRaisesRegex(RuntimeError, "unknown model"):
            nibu.download("no model at all")
        with self.assertRaises(FileNotFoundError):
            nibu.Translator("/no/such/model")

    def test_as_a_program(self):
        command = [sys.executable, "-m", "nibu", f"--model={MODEL}", "--compute_type=float32", "--threads=1"]
        done = subprocess.run([*command, LINE, "Two dogs."], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{TRANSLATION}\nZwei Hunde.\n")
        done = subprocess.run(command, input=f"{LINE}\n\n", capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"{TRANSLATION}\n\n")
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(f"{LINE}\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), f"{TRANSLATION}\n")  # before the input ends
            process.stdin.close()
        for flags in (["--help"], ["-h"], ["--version"]):
            subprocess.run([sys.executable, "-m", "nibu", *flags], capture_output=True, check=True)
        done = subprocess.run([*command, "--beam_sise=2"], input="", capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("did you mean beam_size", done.stderr)

    def test_closed(self):
        with captions() as translator:
            self.assertEqual(translator.translate(LINE).text, TRANSLATION)
        with self.assertRaisesRegex(RuntimeError, "closed"):
            translator.translate(LINE)
        translator.close()

    def test_languages(self):
        self.assertEqual(nibu.detect("Das ist ein Haus.", ["en", "de"])[0][0], "de")
        self.assertEqual(nibu.detect("123", ["en", "de"]), [])
        self.assertEqual(nibu.detect("<p class='this is english'>Das Haus</p>", ["en", "de"], markup="html")[0][0], "de")
        self.assertEqual(nibu.split_sentences("Hello Mr. Smith. How are you?"), ["Hello Mr. Smith.", "How are you?"])
        self.assertEqual(nibu.language_name("deu"), "German")
        with self.assertRaises(ValueError):
            nibu.split_sentences("Hello.", "not a language")
        self.assertEqual(nibu.__version__, _nibu.__version__)
        self.assertEqual(json.loads(json.dumps(nibu.options()))[0]["name"], nibu.options()[0]["name"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
