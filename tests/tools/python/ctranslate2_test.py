"""The package nibu.ctranslate2: what programs written for CTranslate2's Translator rely on when they translate.

    ctranslate2_test.py NIBU_TRANSLATE TESTDATA [SHARED]
"""

import inspect
import sys
import threading
import unittest
import warnings

from ctranslate2_testing import (CAPTIONS_MODEL, DOGS, HUNDE, MAN, MANN, MODEL, TESTDATA, TOKENS, best, with_shortlist)
from nibu import _nibu, ctranslate2


class Translating(unittest.TestCase):
    """translate_batch and what is built on it."""

    @classmethod
    def setUpClass(cls):
        cls.translator = ctranslate2.Translator(MODEL, intra_threads=2)

    def refuses(self, error, words, **options):
        with self.assertRaisesRegex(error, words):
            self.translator.translate_batch([DOGS], **options)

    def test_batch(self):
        for options in ({}, {"max_batch_size": 1}, {"max_batch_size": 20, "batch_type": "tokens"}):
            results = self.translator.translate_batch([MAN, DOGS], return_scores=True, **options)
            self.assertEqual(best(results), [MANN, HUNDE])
            self.assertLess(results[0].scores[0], 0)
            self.assertEqual(results[0].attention, [])
            self.assertEqual(repr(results[0]), f"TranslationResult(hypotheses={[MANN]}, scores={results[0].scores}, "
                                               "attention=[], logits=[])")
        self.assertEqual(self.translator.translate_batch([]), [])
        self.assertEqual(self.translator.translate_batch([DOGS])[0].scores, [])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(results[1][0], {"tokens": HUNDE, "score": results[1].scores[0]})
            self.assertEqual(len(results[1]), 1)
            with self.assertRaises(IndexError):
                results[1][1]
        self.assertEqual(caught[0].category, DeprecationWarning)

    def test_equals_ctranslate2(self):
        lines = (TESTDATA / "multi30k.en").read_text(encoding="utf-8").splitlines()[:40]
        tokenize = _nibu.Model(str(CAPTIONS_MODEL)).tokenize
        source = [tokenize(line) for line in lines]
        for name, beam in {"greedy": 1, "beam4": 4}.items():
            golden = (TESTDATA / f"multi30k.en-de.{name}.pieces").read_text(encoding="utf-8").splitlines()[:40]
            results = self.translator.translate_batch(source, beam_size=beam, max_batch_size=7, return_scores=True)
            for result, line in zip(results, golden):
                score, tokens = line.split("\t")
                self.assertEqual(result.hypotheses[0], tokens.split(" "))
                self.assertAlmostEqual(result.scores[0], float(score), delta=2e-5)

    def test_types(self):
        for source in (DOGS, [[1]], 3, [DOGS, None], "text"):
            with self.assertRaisesRegex(TypeError, "incompatible function arguments"):
                self.translator.translate_batch(source)
        for options in ({"beam_size": 2.0}, {"beam_size": -1}, {"length_penalty": "1"}, {"end_token": [1, "a"]},
                        {"use_vmap": "yes"}, {"callback": 1}):
            self.refuses(TypeError, next(iter(options)), **options)
        self.refuses(TypeError, "unexpected", beam=1)
        self.refuses(ValueError, "batch type", batch_type="words")
        self.assertEqual(best(self.translator.translate_batch((tuple(MAN),), beam_size=True)), [MANN])

    def test_wrong_values(self):
        self.refuses(ValueError, "is greater than", min_decoding_length=10, max_decoding_length=5)
        self.refuses(ValueError, "is greater than", num_hypotheses=3)
        self.refuses(ValueError, "beam_size", beam_size=0)
        self.refuses(ValueError, "callback", callback=print)
        self.refuses(ValueError, "return_logits_vocab", return_logits_vocab=True)
        self.refuses(ValueError, "sampling_topk", sampling_topk=5)
        self.refuses(ValueError, "prefix_bias_beta", prefix_bias_beta=1, target_prefix=[MANN])
        self.refuses(ValueError, "end_token", end_token="no token")
        self.refuses(ValueError, "suppress_sequences", suppress_sequences=[["zyxzyx"]])
        self.refuses(ValueError, "suppress_sequences", suppress_sequences=[["▁A ▁man"]])
        with self.assertRaisesRegex(RuntimeError, "less examples"):
            self.translator.translate_batch([MAN, DOGS], [["▁Die"]])

    def test_asynchronous(self):
        results = self.translator.translate_batch([MAN, DOGS], asynchronous=True)
        self.assertIsInstance(results[0], ctranslate2.AsyncTranslationResult)
        self.assertEqual([result.result().hypotheses[0] for result in results], [MANN, HUNDE])
        self.assertTrue(results[1].done())
        failed = self.translator.translate_batch([DOGS], max_decoding_length=0, asynchronous=True)[0]
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "max_decoding_length|is greater than"):
                failed.result()
            self.assertTrue(failed.done())

    def test_batches_under_way(self):
        translator = ctranslate2.Translator(MODEL, max_queued_batches=2)
        longest = {"min_decoding_length": 256, "asynchronous": True, "max_batch_size": 1}
        results = translator.translate_batch([DOGS] * 3, **longest)
        self.assertEqual((translator.num_active_batches, translator.num_queued_batches), (3, 2))
        translator.unload_model()
        self.assertTrue(translator.model_is_loaded)
        results += translator.translate_batch([DOGS] * 2, **longest)  # waits for room
        self.assertLessEqual(translator.num_active_batches, 3)
        self.assertEqual({len(result.result().hypotheses[0]) for result in results}, {256})
        # A call that waits for its results has more of such small batches under way.
        options = longest | {"asynchronous": False}
        call = threading.Thread(target=self.translator.translate_batch, args=([DOGS] * 20,), kwargs=options)
        call.start()
        most = 0
        while call.is_alive():
            most = max(most, self.translator.num_active_batches)
            call.join(0.001)
        self.assertGreater(most, 10)

    def test_threads(self):
        expected = best(self.translator.translate_batch([DOGS, MAN] * 5, beam_size=3))
        found = []

        def translate():
            found.append(best(self.translator.translate_batch([DOGS, MAN] * 5, beam_size=3, max_batch_size=3)))

        threads = [threading.Thread(target=translate) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 4)

    def test_iterable(self):
        read = []

        def source(count):
            for i in range(count):
                read.append(i)
                yield DOGS if i % 2 else MAN

        results = self.translator.translate_iterable(source(5), return_scores=True, max_batch_size=2)
        self.assertTrue(inspect.isgenerator(results))
        self.assertEqual(best(results), [MANN, HUNDE, MANN, HUNDE, MANN])
        del read[:]
        results = self.translator.translate_iterable(source(1000), max_batch_size=1)
        next(results)
        results.close()
        self.assertLess(len(read), 50)
        prefixes = [["▁Die"], ["▁Das"]]
        results = self.translator.translate_iterable(iter([DOGS, MAN]), iter(prefixes))
        self.assertEqual([tokens[:1] for tokens in best(results)], prefixes)
        for arguments in (([DOGS, MAN], prefixes[:1]), ([DOGS], prefixes)):
            with self.assertRaisesRegex(ValueError, "length"):
                list(self.translator.translate_iterable(*arguments))
        self.assertEqual(list(self.translator.translate_iterable(iter([]))), [])
        with self.assertRaisesRegex(ValueError, "max_batch_size"):
            next(self.translator.translate_iterable([DOGS], max_batch_size=0))

    def test_prefixes(self):
        results = self.translator.translate_batch([DOGS, MAN], [["▁Die", "▁Hunde"], None])
        self.assertEqual(best(results)[0][:2], ["▁Die", "▁Hunde"])
        self.assertEqual(best(results)[1], MANN)
        for beam in (1, 2):
            free = self.translator.translate_batch([DOGS, MAN], beam_size=beam, return_scores=True)
            for beta, start in {0.9999999: ["▁Die", "▁Hunde"], 1e-7: HUNDE[:2]}.items():
                biased = self.translator.translate_batch([DOGS, MAN], [["▁Die", "▁Hunde"], []], beam_size=beam,
                                                         prefix_bias_beta=beta, return_scores=True)
                self.assertEqual(best(biased)[0][:2], start)
                self.assertEqual(best(biased)[1], best(free)[1])
            self.assertAlmostEqual(biased[0].scores[0], free[0].scores[0], places=5)

    def test_shortlist(self):
        words = ["▁Hund", "▁spielt", "▁Schnee", "▁Der", "▁im", "."]
        translator = ctranslate2.Translator(with_shortlist("shortlist", words))
        self.assertEqual(best(translator.translate_batch([DOGS])), [HUNDE])
        common = set(words) | {"</s>", "<unk>"}
        for beam in (1, 2):
            few = translator.translate_batch([DOGS], beam_size=beam, use_vmap=True, min_decoding_length=1)
            self.assertLessEqual(set(best(few)[0]), common)
            few = translator.translate_batch([DOGS], [["▁Zwei"]], beam_size=beam, use_vmap=True)
            self.assertEqual(best(few)[0][0], "▁Zwei")
            for n in (1, 2):
                few = translator.translate_batch([DOGS * 3], beam_size=beam, use_vmap=True, no_repeat_ngram_size=n,
                                                 max_decoding_length=8)
                tokens = best(few)[0]
                grams = list(zip(*(tokens[i:] for i in range(n))))
                self.assertEqual(len(grams), len(set(grams)))
            few = translator.translate_batch([DOGS], beam_size=beam, use_vmap=True,
                                             suppress_sequences=[["▁Der"], ["▁im", "▁Schnee"]])
            self.assertNotIn("▁Der", best(few)[0])
            self.assertNotIn("▁im ▁Schnee", " ".join(best(few)[0]))
        few = translator.translate_batch([DOGS], [["▁Der"]], num_hypotheses=2, return_alternatives=True, use_vmap=True)
        self.assertEqual(len(few[0].hypotheses), 2)
        # Without a file, use_vmap means nothing.
        self.assertEqual(best(self.translator.translate_batch([DOGS], use_vmap=True)), [HUNDE])

    def test_lengths_and_counts(self):
        self.assertEqual(best(self.translator.translate_batch([DOGS], max_decoding_length=2)), [HUNDE[:2]])
        self.assertGreaterEqual(len(best(self.translator.translate_batch([DOGS], min_decoding_length=9))[0]), 9)
        result = self.translator.translate_batch([DOGS], beam_size=4, num_hypotheses=3, return_scores=True)[0]
        self.assertEqual(len(result.hypotheses), 3)
        self.assertEqual(result.scores, sorted(result.scores, reverse=True))
        # The end of sentence counts among the tokens of a source, and stays at its end.
        cut = self.translator.translate_batch([DOGS], max_input_length=5)
        self.assertEqual(best(cut), best(self.translator.translate_batch([DOGS[:4]])))
        long = self.translator.translate_batch([DOGS * 150], max_input_length=0, max_decoding_length=3)
        self.assertEqual(len(best(long)[0]), 3)

    def test_end_tokens(self):
        for end in ("▁im", ["▁im"], [TOKENS.index("▁im")]):
            self.assertEqual(best(self.translator.translate_batch([DOGS], end_token=end)), [HUNDE[:3]])
        self.assertEqual(best(self.translator.translate_batch([DOGS], end_token="▁im", return_end_token=True)),
                         [HUNDE[:4]])
        self.assertEqual(best(self.translator.translate_batch([DOGS], return_end_token=True)), [HUNDE + ["</s>"]])

    def test_attention(self):
        try:
            import numpy  # pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            print("skipped: attention, since there is no NumPy")
            self.skipTest("no NumPy")
        result = self.translator.translate_batch([DOGS], return_attention=True, num_hypotheses=2)[0]
        for hypothesis, attention in zip(result.hypotheses, result.attention):
            self.assertEqual(len(attention), len(hypothesis))
            for row in attention:
                self.assertEqual([type(value) for value in row], [float] * len(DOGS))
                self.assertLess(sum(row), 1.001)
        row = self.translator.translate_batch([DOGS], return_attention=True, max_input_length=5)[0].attention[0][0]
        self.assertEqual(row[4:], [0.0] * 4)

    def test_alternatives(self):
        result = self.translator.translate_batch([DOGS], [["▁Zwei"]], num_hypotheses=5, return_alternatives=True)[0]
        self.assertEqual(result.hypotheses[0], HUNDE)
        self.assertEqual(len({tokens[1] for tokens in result.hypotheses}), 5)

    def test_sampling(self):
        options = {"beam_size": 1, "sampling_topk": 0, "num_hypotheses": 5, "return_scores": True}

        def draw():
            return [result.hypotheses for result in self.translator.translate_batch([DOGS, DOGS], **options)]

        ctranslate2.set_random_seed(7)
        first, second = draw(), draw()
        self.assertNotEqual(first[0], first[1])
        self.assertNotEqual(first, second)
        ctranslate2.set_random_seed(7)
        self.assertEqual(draw(), first)
        scores = self.translator.translate_batch([DOGS], **options)[0].scores
        self.assertEqual(scores, sorted(scores, reverse=True))
        cold = self.translator.translate_batch([DOGS], beam_size=1, sampling_topk=10, sampling_temperature=0)
        self.assertEqual(best(cold), best(self.translator.translate_batch([DOGS], beam_size=1)))

    def test_unknown_tokens(self):
        source = DOGS[:1] + ["zyx w"] + DOGS[2:]
        unknown = self.translator.translate_batch([source, DOGS[:1] + ["<unk>"] + DOGS[2:], DOGS[:1] + [""] + DOGS[2:]])
        self.assertEqual(best(unknown)[:1] * 2, best(unknown)[1:])
        forced = self.translator.translate_batch([source], [["▁Zwei", "<unk>"]], replace_unknowns=True)
        self.assertIn(best(forced)[0][1], source)

    def test_empty(self):
        results = self.translator.translate_batch([[], DOGS, ["</s>"], []], [["▁Die", "qq"], None, None, None],
                                                  num_hypotheses=2, return_scores=True)
        self.assertEqual(results[0].hypotheses, [["▁Die", "<unk>"]] * 2)
        self.assertEqual(best(results)[1], HUNDE)
        for result in results[2:]:
            self.assertEqual((result.hypotheses, result.scores), ([[], []], [0.0, 0.0]))


class Streaming(unittest.TestCase):
    """generate_tokens and callbacks."""

    @classmethod
    def setUpClass(cls):
        cls.translator = ctranslate2.Translator(MODEL)

    def test_tokens(self):
        expected = self.translator.translate_batch([DOGS], beam_size=1, return_scores=True)[0]
        for with_scores in (True, False):
            steps = self.translator.generate_tokens(DOGS, return_log_prob=with_scores)
            self.assertTrue(inspect.isgenerator(steps))
            steps = list(steps)
            self.assertIsInstance(steps[0], ctranslate2.GenerationStepResult)
            self.assertEqual([step.token for step in steps], expected.hypotheses[0] + ["</s>"])
            self.assertEqual([step.step for step in steps], list(range(len(steps))))
            self.assertEqual([TOKENS[step.token_id] for step in steps], [step.token for step in steps])
            self.assertEqual([step.is_last for step in steps], [False] * (len(steps) - 1) + [True])
            if with_scores:
                mean = sum(step.log_prob for step in steps) / len(steps)
                self.assertAlmostEqual(mean, expected.scores[0], places=5)
            else:
                self.assertEqual({step.log_prob for step in steps}, {None})
        self.assertEqual([step.token for step in self.translator.generate_tokens(DOGS, ["▁Die"])][0], "▁Die")
        self.assertEqual(list(self.translator.generate_tokens([])), [])

    def test_errors_and_close(self):
        steps = self.translator.generate_tokens(DOGS, min_decoding_length=2, max_decoding_length=1)
        with self.assertRaisesRegex(ValueError, "decoding length"):
            next(steps)
        steps = self.translator.generate_tokens(DOGS, min_decoding_length=256)
        next(steps)
        steps.close()
        self.assertEqual(best(self.translator.translate_batch([DOGS])), [HUNDE])

    def test_callbacks(self):
        seen = {}

        def collect(step):
            seen.setdefault((step.batch_id, step.hypothesis_id), []).append(step.token)

        self.translator.translate_batch([DOGS, MAN], beam_size=1, sampling_topk=20, num_hypotheses=3, callback=collect)
        self.assertEqual(sorted(seen), [(i, n) for i in range(2) for n in range(3)])
        seen.clear()

        def stop(step):
            collect(step)
            return step.batch_id == 1

        prefixes = [["▁Ein"], ["▁Das"], ["▁Zwei"]]
        results = self.translator.translate_batch([MAN[:i] for i in (4, 5, 6)], prefixes, max_batch_size=2,
                                                  beam_size=1, callback=stop)
        self.assertEqual([seen[i, 0][0] for i in range(3)], ["▁Ein", "▁Das", "▁Zwei"])
        self.assertEqual(results[1].hypotheses, [["▁Das"]])
        self.assertGreater(len(results[0].hypotheses[0]), 2)

    def test_failing_callback(self):
        def fail(step):
            raise KeyError(step.token)

        with self.assertRaises(KeyError):
            self.translator.translate_batch([DOGS], beam_size=1, callback=fail)
        self.assertEqual(self.translator.num_active_batches, 0)


class Scoring(unittest.TestCase):
    """score_batch and what is built on it."""

    @classmethod
    def setUpClass(cls):
        cls.translator = ctranslate2.Translator(MODEL)

    def test_scores(self):
        sources, targets = [DOGS, MAN], [HUNDE, MANN]
        results = self.translator.score_batch(sources, targets, max_batch_size=1)
        translated = self.translator.translate_batch(sources, return_scores=True)
        for result, target, translation in zip(results, targets, translated):
            self.assertEqual(result.tokens, target + ["</s>"])
            # A translation's first token is chosen without the end of sentence.
            self.assertAlmostEqual(sum(result.log_probs) / len(result.tokens), translation.scores[0], places=3)
        later = [result.result() for result in self.translator.score_batch(sources, targets, asynchronous=True)]
        streamed = list(self.translator.score_iterable(iter(sources), iter(targets)))
        for others in (later, streamed):
            self.assertEqual([other.log_probs for other in others], [result.log_probs for result in results])
        offset = self.translator.score_batch([DOGS], [HUNDE], offset=2)[0]
        self.assertEqual((offset.tokens, offset.log_probs), (results[0].tokens[2:], results[0].log_probs[2:]))
        cut = self.translator.score_batch([DOGS], [HUNDE], max_input_length=4)[0]
        self.assertEqual(cut.tokens, HUNDE[:3] + ["</s>"])

    def test_edges(self):
        self.assertEqual(self.translator.score_batch([], []), [])
        self.assertEqual(self.translator.score_batch([DOGS], [[]])[0].tokens, ["</s>"])
        self.assertEqual(self.translator.score_batch([DOGS], [["qq"]])[0].tokens, ["<unk>", "</s>"])
        with self.assertRaisesRegex(RuntimeError, "less examples"):
            self.translator.score_batch([DOGS, MAN], [HUNDE])
        with self.assertRaisesRegex(RuntimeError, "less examples"):
            self.translator.score_batch([DOGS], [])
        with self.assertRaisesRegex(ValueError, "length"):
            next(self.translator.score_iterable([DOGS], []))
        self.assertEqual(list(self.translator.score_iterable([], [])), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
