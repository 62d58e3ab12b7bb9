"""The package nibu.ctranslate2: models, files, and programs that are run with it.

    ctranslate2_files_test.py NIBU_TRANSLATE TESTDATA [SHARED]
"""

import io
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import ctranslate2_model
from ctranslate2_testing import CAPTIONS_MODEL, DOGS, HUNDE, MAN, MANN, MODEL, SHARED, TESTDATA, best, folder, path_of
from nibu import _nibu, ctranslate2


class Loading(unittest.TestCase):
    """Paths, devices, types, memory."""

    def test_paths(self):
        with self.assertRaisesRegex(RuntimeError, "open file 'model.bin'"):
            ctranslate2.Translator("no such model")
        unicode = path_of("模型, 二")
        os.symlink(MODEL, unicode)
        self.assertEqual(best(ctranslate2.Translator(unicode).translate_batch([MAN])), [MANN])
        self.assertTrue(ctranslate2.contains_model(MODEL))
        self.assertFalse(ctranslate2.contains_model(folder.name))

    def test_damaged(self):
        broken = path_of("broken")
        os.mkdir(broken)
        for content in (b"", b"\6\0\0\0", b"\6\0\0\0\x10\0Trans", b"\xff" * 100):
            pathlib.Path(broken, "model.bin").write_bytes(content)
            with self.assertRaisesRegex(RuntimeError, "broken"):
                ctranslate2.Translator(broken)

    def test_no_decoder_start(self):
        files = {name: pathlib.Path(MODEL, name).read_bytes() for name in os.listdir(MODEL)}
        files["config.json"] = json.dumps(json.loads(files["config.json"]) | {"decoder_start_token": None}).encode()
        with self.assertRaisesRegex(RuntimeError, "decoder_start_token"):
            ctranslate2.Translator("mbart", files=files)

    def test_devices(self):
        for indices in ([], [0, 1], 1):
            with self.assertRaisesRegex(ValueError, "device index"):
                ctranslate2.Translator(MODEL, device_index=indices)
        for device in ("cuda", "tpu"):
            with self.assertRaisesRegex(ValueError, device):
                ctranslate2.Translator(MODEL, device)
        self.assertEqual(ctranslate2.Translator(MODEL, "auto").device, "cpu")
        self.assertEqual(ctranslate2.get_cuda_device_count(), 0)

    def test_types(self):
        self.assertEqual(ctranslate2.Translator(MODEL).compute_type, "float32")
        for asked in ("int8", "int8_float32", {"cuda": "float16", "cpu": "int8"}):
            self.assertEqual(ctranslate2.Translator(MODEL, compute_type=asked).compute_type, "int8_float32")
        self.assertEqual(ctranslate2.Translator(MODEL, compute_type={"cuda": "int8"}).compute_type, "float32")
        for asked in ("float64", "float16", "int16"):
            with self.assertRaisesRegex(ValueError, f"compute type {asked}"):
                ctranslate2.Translator(MODEL, compute_type=asked)
        with self.assertRaisesRegex(TypeError, "incompatible constructor arguments"):
            ctranslate2.Translator(MODEL, compute_type=["int8"])
        self.assertLessEqual({"float32", "int8", "int8_float32"}, ctranslate2.get_supported_compute_types("cpu"))

    def test_what_is_refused(self):
        for option in ("flash_attention", "tensor_parallel"):
            with self.assertRaisesRegex(ValueError, option):
                ctranslate2.Translator(MODEL, **{option: True})
        with self.assertRaises(TypeError):
            ctranslate2.Translator(MODEL, "cpu", 0)
        for name in ("Generator", "Encoder", "StorageView"):
            with self.assertRaisesRegex(RuntimeError, f"{name} cannot be used"):
                getattr(ctranslate2, name)(MODEL)
        for refused in (ctranslate2.converters.openai_gpt2.OpenAIGPT2Converter, ctranslate2.models.Whisper,
                        ctranslate2.specs.TransformerSpec):
            with self.assertRaisesRegex(RuntimeError, "cannot be used"):
                refused()

    def test_properties(self):
        translator = ctranslate2.Translator(MODEL, inter_threads=2, intra_threads=1)
        self.assertEqual((translator.device, translator.device_index, translator.num_translators,
                          translator.num_queued_batches, translator.num_active_batches, translator.model_is_loaded,
                          translator.tensor_parallel), ("cpu", [0], 2, 0, 0, True, False))

    def test_memory(self):
        contents = {name: pathlib.Path(MODEL, name).read_bytes() for name in os.listdir(MODEL)}
        handles = {name: io.BytesIO(content) for name, content in contents.items()}
        for files in (contents, handles):
            translator = ctranslate2.Translator("name", files=files)
            for handle in handles.values() if files is handles else ():
                handle.close()
            self.assertEqual(best(translator.translate_batch([MAN])), [MANN])
            translator.unload_model()
            translator.load_model()
            self.assertEqual(best(translator.translate_batch([MAN])), [MANN])
        for files in (3, {"model.bin": "text"}, {1: b""}):
            with self.assertRaises(TypeError):
                ctranslate2.Translator("name", files=files)
        with self.assertRaisesRegex(RuntimeError, "open file"):
            ctranslate2.Translator("name", files={})

    def test_unload(self):
        translator = ctranslate2.Translator(MODEL)
        translator.unload_model(to_cpu=True)
        self.assertTrue(translator.model_is_loaded)
        translator.unload_model()
        self.assertFalse(translator.model_is_loaded)
        for call in (lambda: translator.translate_batch([MAN]), lambda: translator.score_batch([MAN], [MANN]),
                     lambda: list(translator.generate_tokens(MAN))):
            with self.assertRaisesRegex(RuntimeError, "unloaded"):
                call()
        translator.load_model()
        self.assertEqual(best(translator.translate_batch([MAN])), [MANN])

    def test_other_formats(self):
        self.assertEqual(best(ctranslate2.Translator(str(CAPTIONS_MODEL)).translate_batch([DOGS])), [HUNDE])

    def test_log(self):
        self.assertEqual(ctranslate2.get_log_level(), logging.WARNING)
        program = ("import logging, sys\nfrom nibu import ctranslate2\n"
                   "ctranslate2.set_log_level(getattr(logging, sys.argv[2]))\nctranslate2.Translator(sys.argv[1])\n")
        for level, lines in {"INFO": 1, "WARNING": 0}.items():
            said = subprocess.run([sys.executable, "-B", "-c", program, MODEL, level], check=True, capture_output=True)
            self.assertEqual(len(said.stderr.splitlines()), lines)
        with self.assertRaises(ValueError):
            ctranslate2.set_log_level(11)


class Files(unittest.TestCase):
    """translate_file and score_file."""

    @classmethod
    def setUpClass(cls):
        cls.translator = ctranslate2.Translator(MODEL)

    def setUp(self):
        self.source, self.target, self.output = (path_of(name) for name in ("source.txt", "target.txt", "output.txt"))
        self.write(self.source, DOGS, MAN)

    def write(self, path, *lines):
        pathlib.Path(path).write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")

    def lines(self):
        return pathlib.Path(self.output).read_text(encoding="utf-8").splitlines()

    def test_translate(self):
        stats = self.translator.translate_file(self.source, self.output)
        self.assertEqual(self.lines(), [" ".join(HUNDE), " ".join(MANN)])
        self.assertEqual((stats.num_tokens, stats.num_examples), (len(HUNDE) + len(MANN), 2))
        self.assertIsInstance(stats.total_time_in_ms, float)
        self.assertEqual(repr(stats), f"ExecutionStats(num_tokens={stats.num_tokens}, num_examples=2, "
                                      f"total_time_in_ms={stats.total_time_in_ms})")
        self.translator.translate_file(self.source, self.output, with_scores=True, num_hypotheses=2, max_batch_size=1)
        scores = [float(line.split(" ||| ")[0]) for line in self.lines()]
        self.assertEqual(len(scores), 4)
        self.assertGreaterEqual(scores[0], scores[1])

    def test_prefixes(self):
        self.write(self.target, ["▁Die", "▁Hunde"])
        with self.assertRaisesRegex(RuntimeError, "has less examples"):
            self.translator.translate_file(self.source, self.output, self.target)
        self.write(self.target, ["▁Die", "▁Hunde"], [])
        self.translator.translate_file(self.source, self.output, self.target)
        self.assertTrue(self.lines()[0].startswith("▁Die ▁Hunde "))
        self.assertEqual(self.lines()[1], " ".join(MANN))

    def test_functions(self):
        def tokenize(line):
            return ["▁" + word if word != "." else word for word in line.split()]

        def detokenize(tokens):
            return "".join(tokens).replace("▁", " ").strip()

        pathlib.Path(self.source).write_text("Two dogs are playing in the snow .\r\n\n", encoding="utf-8")
        for options, missing in (({"source_tokenize_fn": tokenize}, "target_detokenize_fn"),
                                 ({"target_detokenize_fn": detokenize}, "source_tokenize_fn"),
                                 ({"source_tokenize_fn": tokenize, "target_detokenize_fn": detokenize,
                                   "target_path": self.source}, "target_tokenize_fn")):
            with self.assertRaisesRegex(ValueError, missing):
                self.translator.translate_file(self.source, self.output, **options)
        functions = {"source_tokenize_fn": tokenize, "target_detokenize_fn": detokenize}
        self.translator.translate_file(self.source, self.output, **functions)
        self.assertEqual(self.lines(), ["Zwei Hunde spielen im Schnee.", ""])
        pathlib.Path(self.target).write_text("Die Hunde\n\n", encoding="utf-8")
        self.translator.translate_file(self.source, self.output, self.target, target_tokenize_fn=tokenize, **functions)
        self.assertTrue(self.lines()[0].startswith("Die Hunde "))

    def test_score(self):
        self.write(self.target, HUNDE, MANN)
        for with_scores in (True, False):
            stats = self.translator.score_file(self.source, self.target, self.output, with_tokens_score=with_scores)
            self.assertEqual((stats.num_tokens, stats.num_examples), (len(HUNDE) + len(MANN) + 2, 2))
            fields = self.lines()[0].split(" ||| ")
            self.assertEqual(fields[1], " ".join(HUNDE + ["</s>"]))
            self.assertEqual(len(fields), 3 if with_scores else 2)
            if with_scores:
                scores = [float(score) for score in fields[2].split()]
                self.assertAlmostEqual(float(fields[0]), sum(scores) / len(scores), places=5)

    def test_errors(self):
        for call in (lambda: self.translator.translate_file("no such file", self.output),
                     lambda: self.translator.translate_file(self.source, folder.name)):
            with self.assertRaisesRegex(RuntimeError, "cannot open the file"):
                call()
        with self.assertRaisesRegex(ValueError, "max_batch_size"):
            self.translator.translate_file(self.source, self.output, max_batch_size=0)


class Multilingual(unittest.TestCase):
    """NLLB and M2M-100: languages are tokens that the caller gives."""

    def test_equals_the_reference(self):
        for name in ("nllb", "m2m"):
            original = TESTDATA / name
            size = json.loads((original / "config.json").read_text(encoding="utf-8"))["vocab_size"]
            tokens = [token.replace(" ", "") for token in _nibu.Model(str(original)).source_pieces(range(size))]
            translator = ctranslate2.Translator(ctranslate2_model.write(original, path_of(name), tokens))
            # The reference generates no languages, and neither do models that were trained.
            languages = [[token] for token in tokens if "_" in token or token == "<s>" or token.startswith("<unused")]
            for case in json.loads((original / "expected.json").read_text(encoding="utf-8")):
                frame = case["frame"]
                source = [tokens[i] for i in frame["source_prefix"] + case["source"] + frame["source_suffix"]]
                prefix = [tokens[i] for i in frame["decoder_start"][1:]]
                expected = prefix + [tokens[i] for i in case["tokens"]]
                result = translator.translate_batch([source], [prefix], beam_size=1, max_decoding_length=13,
                                                    suppress_sequences=languages)[0]
                self.assertEqual(result.hypotheses, [expected])
            empty = translator.translate_batch([["</s>", source[0]]], [prefix])
            self.assertEqual(best(empty), [prefix])
            # Without an end of its own in the model, an empty source has nothing to be scored by.
            scored = translator.score_batch([[]], [["a", "</s>"]])[0]
            self.assertEqual((scored.tokens, scored.log_probs), (["a", "</s>", "</s>"], [0, 0, 0]))


    def test_hugging_face_directories(self):
        for name in ("nllb", "m2m"):
            original = TESTDATA / name
            size = json.loads((original / "config.json").read_text(encoding="utf-8"))["vocab_size"]
            tokens = _nibu.Model(str(original)).source_pieces(range(size))
            named = path_of(f"{name}-named")
            converter = ctranslate2.converters.TransformersConverter(str(original), copy_files=["config.json"])
            self.assertEqual(converter.convert(named), named)
            self.assertTrue(ctranslate2.contains_model(named))
            self.assertTrue(os.path.exists(os.path.join(named, "config.json")))
            converted = ctranslate2_model.write(original, path_of(f"{name}-converted"), tokens)
            frames = [case["frame"] | {"text": case["source"]} for case in
                      json.loads((original / "expected.json").read_text(encoding="utf-8"))]
            sources = [[tokens[i] for i in frame["source_prefix"] + frame["text"] + frame["source_suffix"]]
                       for frame in frames]
            prefixes = [[tokens[i] for i in frame["decoder_start"][1:]] for frame in frames]
            found = []
            for path in (converted, str(original), named):
                translator = ctranslate2.Translator(path)
                results = translator.translate_batch(sources, prefixes, beam_size=3, num_hypotheses=2,
                                                     return_scores=True, max_decoding_length=9)
                self.assertEqual([best([result])[0][:1] for result in results], prefixes)
                found.append([(each.hypotheses, [round(score, 4) for score in each.scores]) for each in results])
            self.assertEqual(found[1:], [found[0]] * 2)
        with self.assertRaisesRegex(RuntimeError, "already exists"):
            converter.convert(named)
        self.assertEqual(converter.convert(named, quantization="int8", force=True), named)
        self.assertEqual(ctranslate2.Translator(named).compute_type, "int8_float32")
        with self.assertRaisesRegex(RuntimeError, "shortlist"):
            converter.convert(path_of("x"), vmap="vmap.txt")
        with self.assertRaisesRegex(ValueError, "quantization"):
            converter.convert(path_of("x"), quantization="int5")
        # A converter never removes the model itself.
        own = path_of("own")
        shutil.copytree(original, os.path.join(own, "model"))
        converter = ctranslate2.converters.TransformersConverter(os.path.join(own, "model"))
        for output in (os.path.join(own, "model"), own):
            with self.assertRaisesRegex(RuntimeError, "the model itself"):
                converter.convert(output, force=True)
        converter.convert(path_of("moved"))
        shutil.rmtree(own)
        with self.assertRaisesRegex(RuntimeError, "which is gone"):
            ctranslate2.Translator(path_of("moved"))
        pathlib.Path(named, "nibu_source.json").write_text("{}", encoding="utf-8")
        with self.assertRaisesRegex(RuntimeError, "damaged"):
            ctranslate2.Translator(named)


class Programs(unittest.TestCase):
    """python3 -m nibu.ctranslate2."""

    def run_program(self, *arguments):
        return subprocess.run([sys.executable, "-B", "-m", "nibu.ctranslate2", *arguments], capture_output=True,
                              text=True, check=False, cwd=folder.name)

    def test_program(self):
        pathlib.Path(path_of("helper.py")).write_text("from ctranslate2 import Translator\n", encoding="utf-8")
        pathlib.Path(path_of("program.py")).write_text(
            "import atexit, sys\n"
            "import ctranslate2\n"
            "from ctranslate2.converters import TransformersConverter\n"
            "import ctranslate2.converters.marian, ctranslate2.models, ctranslate2.specs\n"
            "import helper\n"
            "atexit.register(lambda: print(sys.modules['__main__'].last))\n"
            "last = 'the end'\n"
            "print(ctranslate2.__name__, __name__, sys.argv[1:])\n"
            "print(helper.Translator(sys.argv[1]).translate_batch([['▁Two', '▁dogs', '.']])[0].hypotheses)\n"
            "if len(sys.argv) > 2: sys.exit(3)\n"
            "raise KeyError('mine')\n", encoding="utf-8")
        for front in (["program.py"], ["-m", "program"]):
            ended = self.run_program(*front, MODEL, "-m")
            self.assertEqual((ended.returncode, ended.stderr), (3, ""))
            self.assertEqual(ended.stdout.splitlines(),
                             [f"nibu.ctranslate2 __main__ {[MODEL, '-m']}", "[['▁Zwei', '▁Hunde', '.']]", "the end"])
            failed = self.run_program(*front, MODEL)
            self.assertEqual(failed.returncode, 1)
            frames = [line for line in failed.stderr.splitlines() if line.startswith("  File ")]
            self.assertEqual(len(frames), 1, failed.stderr)
            self.assertIn('program.py", line 11', frames[0])

    def test_command_line(self):
        self.assertEqual(self.run_program("--help").returncode, 0)
        self.assertEqual(self.run_program().returncode, 2)
        self.assertEqual(self.run_program("-m").returncode, 2)
        for arguments in (["no_such_program.py"], ["-m", "no_such_module"]):
            failed = self.run_program(*arguments)
            self.assertEqual(failed.returncode, 1)
            self.assertEqual(len(failed.stderr.splitlines()), 1)


class OlderFiles(unittest.TestCase):
    """Models of CTranslate2's own tests."""

    def setUp(self):
        if SHARED is None or not (SHARED / "models" / "ct2").exists():
            print("skipped: the models of CTranslate2's tests (shared/models/ct2) are not there")
            self.skipTest("no models")

    def test_old_binary_versions(self):
        source = [list("آتزمون"), list("آتشيسون")]
        for name, saved in {"": "float32", "-i8": "int8_float32", "-i16": "float32"}.items():
            translator = ctranslate2.Translator(str(SHARED / "models" / "ct2" / "v2" / f"aren-transliteration{name}"))
            self.assertEqual(translator.compute_type, saved)
            self.assertEqual(best(translator.translate_batch(source)), [list("atzmon"), list("achison")])
            empty = translator.score_batch([[]], [["a"]])[0]
            self.assertEqual((empty.tokens, empty.log_probs), (["a", "</s>"], [0, 0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
