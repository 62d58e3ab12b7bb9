"""The Python package nibu: futures, asyncio, threads, signals, forks and the end of the interpreter.

    concurrency_test.py NIBU_TRANSLATE CAPTIONS_MODEL
"""

import asyncio
import concurrent.futures
import gc
import multiprocessing
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

import nibu

LINE = "A man is riding a bicycle."
MODEL = sys.argv[2]
TRANSLATION = "Ein Mann fährt Fahrrad."
# Ends a test that hangs; nothing depends on it otherwise.
LIMIT = 300


def lines_of(count):
    """Lines that all differ."""
    return [f"{i} dogs and {i + 1} cats are running." for i in range(count)]


def captions(**options):
    """A translator of the captions model, whose results are the same on all CPUs."""
    return nibu.Translator(MODEL, compute_type="float32", threads=2, **options)


def run_python(program, *, interrupt_at=None):
    """Runs a program, and sends it SIGINT once it has written a line. Returns its status and what it wrote."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        if interrupt_at is not None:
            assert process.stdout.readline() == f"{interrupt_at}\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=LIMIT)
    return process.returncode, output, errors


class Futures(unittest.TestCase):
    """Translations on their way."""

    @classmethod
    def setUpClass(cls):
        cls.translator = captions()

    def test_results(self):
        future = self.translator.submit(LINE)
        self.assertEqual(future.result().text, TRANSLATION)
        self.assertTrue(future.done())
        self.assertFalse(future.cancel())
        self.assertFalse(future.cancelled())
        self.assertIsNone(future.exception())
        self.assertEqual(self.translator.submit(f"{LINE}\n{LINE}").result().text, f"{TRANSLATION}\n{TRANSLATION}")

    def test_errors_come_at_every_call(self):
        late = self.translator.submit(LINE, deadline=0)
        for _ in range(2):
            with self.assertRaises(TimeoutError):
                late.result()
        self.assertIsInstance(late.exception(), TimeoutError)
        with self.assertRaises(TimeoutError):
            self.translator.translate([LINE], deadline=0)
        self.assertEqual(self.translator.translate(LINE, deadline=float("inf")).text, TRANSLATION)

    def test_cancel(self):
        futures = [self.translator.submit(line) for line in lines_of(300)]
        with self.assertRaises(TimeoutError):
            futures[-1].result(timeout=0)
        self.assertTrue(futures[-1].cancel())
        with self.assertRaises(concurrent.futures.CancelledError):
            futures[-1].result()
        self.assertTrue(futures[-1].cancelled())
        waiting = [self.translator.submit(line) for line in lines_of(300)]
        self.translator.cancel_all()
        with self.assertRaises(concurrent.futures.CancelledError):
            waiting[-1].exception(LIMIT)
        self.assertEqual(self.translator.translate(LINE).text, TRANSLATION)

    def test_are_those_of_the_standard_library(self):
        futures = [self.translator.submit(line) for line in lines_of(20)]
        self.assertIsInstance(futures[0], concurrent.futures.Future)
        done, waiting = concurrent.futures.wait(futures, timeout=LIMIT)
        self.assertEqual((len(done), len(waiting)), (20, 0))
        more = [self.translator.submit(line) for line in lines_of(20)]
        texts = {future.result().text for future in concurrent.futures.as_completed(more, timeout=LIMIT)}
        self.assertEqual(texts, {future.result().text for future in futures})
        cancelled = self.translator.submit(LINE)
        if cancelled.cancel():
            self.assertEqual(concurrent.futures.wait([cancelled], timeout=LIMIT).not_done, set())

    def test_wrong_values(self):
        for wrong in ({"deadline": "1"}, {"priority": "1"}, {"priority": 1.5}, {"return_scores": "no"}):
            for call in (self.translator.translate, self.translator.submit):
                with self.assertRaisesRegex(TypeError, f"{next(iter(wrong))} must be a"):
                    call(LINE, **wrong)
        with self.assertRaisesRegex(TypeError, "source must be str or bytes, not int"):
            self.translator.submit(3)

    def test_cancel_and_close_end_lists(self):
        for end in ("cancel_all", "close"):
            translator = captions()
            ended = []

            def work():
                try:
                    translator.translate(lines_of(200000))  # it would take minutes
                except concurrent.futures.CancelledError as error:
                    ended.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            time.sleep(0.5)
            getattr(translator, end)()
            thread.join(60)
            self.assertEqual(len(ended), 1, end)

    def test_an_error_ends_a_list(self):
        lines = ["a man and " * 20] + lines_of(200000)
        with self.assertRaises(ValueError):
            self.translator.translate(lines, long_input="error", max_input_length=20)

    def test_callbacks_must_not_wait(self):
        translator = nibu.Translator(threads=1)

        async def wait_for(future):
            return await future

        for call in (lambda: translator.translate(LINE), lambda: translator.translate([LINE]),
                     lambda: translator.submit(LINE).result(), lambda: asyncio.run(wait_for(translator.submit(LINE))),
                     lambda: list(translator.translate_iterable([LINE]))):
            errors = queue.Queue()

            def callback(_, call=call, errors=errors):
                try:
                    call()
                except RuntimeError as error:
                    errors.put(str(error))

            for begin in (lambda: translator.submit(LINE).add_done_callback(callback),
                          lambda: translator.submit(LINE, beam_size=1, on_token=callback)):
                begin()
                self.assertIn("must not wait", errors.get(timeout=60))
                translator.translate(LINE)
                while not errors.empty():  # there is one for each token
                    errors.get()
        more = threading.Event()
        translator.submit(LINE).add_done_callback(
            lambda _: translator.submit(LINE).add_done_callback(lambda future: more.set()))
        self.assertTrue(more.wait(LIMIT))

    def test_callbacks(self):
        called = threading.Event()
        told = []

        def callback(future):
            told.append(future.result().text)
            called.set()

        self.translator.submit(LINE).add_done_callback(callback)
        self.assertTrue(called.wait(LIMIT))
        ended = self.translator.submit(LINE)
        ended.result()
        ended.add_done_callback(callback)
        self.assertEqual(told, [TRANSLATION, TRANSLATION])

    def test_a_callback_may_drop_the_translator(self):
        called = threading.Event()
        holder = [captions()]

        def callback(_):
            holder.clear()
            gc.collect()
            called.set()

        future = holder[0].submit(LINE)
        future.add_done_callback(callback)
        self.assertTrue(called.wait(LIMIT))
        self.assertEqual(future.result().text, TRANSLATION)

    def test_tokens(self):
        tokens = []
        future = self.translator.submit(LINE, beam_size=1, on_token=lambda step: tokens.append(step))
        best = future.result().hypotheses[0]
        self.assertEqual([step.token for step in tokens], best.tokens + [best.end_token])
        self.assertEqual([step.position for step in tokens], list(range(len(tokens))))
        self.assertEqual([step.is_last for step in tokens], [False] * len(best.tokens) + [True])
        self.assertAlmostEqual(sum(step.log_prob for step in tokens), best.log_prob, places=4)
        stopped = self.translator.submit(LINE, beam_size=1, on_token=lambda step: step.position == 1)
        self.assertEqual(len(stopped.result().tokens), 2)

        def fail(_):
            raise KeyError("mine")

        failed = self.translator.submit(LINE, beam_size=1, on_token=fail)
        for _ in range(2):
            with self.assertRaises(KeyError):
                failed.result()
        with self.assertRaisesRegex(ValueError, "on_token"):
            self.translator.submit(LINE, on_token=fail)


class Iterables(unittest.TestCase):
    """Texts that are read ahead."""

    @classmethod
    def setUpClass(cls):
        cls.translator = captions(beam_size=1)

    def test_order(self):
        lines = lines_of(200)
        expected = [result.text for result in self.translator.translate(lines)]
        for ahead in (0, 1, 7):
            found = self.translator.translate_iterable(iter(lines), ahead=ahead)
            self.assertEqual([result.text for result in found], expected)
        self.assertEqual(list(self.translator.translate_iterable([])), [])

    def test_reads_ahead_and_no_further(self):
        read = []

        def source():
            for line in lines_of(100):
                read.append(line)
                yield line

        found = self.translator.translate_iterable(source(), ahead=5)
        self.assertEqual(read, [])
        next(found)
        self.assertEqual(len(read), 6)
        found.close()
        self.assertEqual(len(read), 6)

    def test_errors_of_the_source(self):
        def source():
            yield LINE
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            list(self.translator.translate_iterable(source()))


class Asyncio(unittest.IsolatedAsyncioTestCase):
    """Futures that are awaited."""

    async def test_await(self):
        translator = captions()
        self.assertEqual((await translator.submit(LINE)).text, TRANSLATION)
        lines = lines_of(50)
        results = await asyncio.gather(*(translator.submit(line) for line in lines))
        self.assertEqual([result.text for result in results], [each.text for each in translator.translate(lines)])
        with self.assertRaises(TimeoutError):
            await translator.submit(LINE, deadline=0)

    async def test_cancel(self):
        translator = captions()
        futures = [translator.submit(line) for line in lines_of(300)]

        async def wait_for(future):
            return await future

        task = asyncio.create_task(wait_for(futures[-1]))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        with self.assertRaises(concurrent.futures.CancelledError):
            futures[-1].exception(LIMIT)
        futures[-2].cancel()
        with self.assertRaises(asyncio.CancelledError):
            await wait_for(futures[-2])
        translator.cancel_all()
        with self.assertRaises(concurrent.futures.CancelledError):
            futures[-3].exception(LIMIT)

    async def test_what_asyncio_offers(self):
        translator = captions()
        lines = lines_of(20)
        wrapped = [asyncio.wrap_future(translator.submit(line)) for line in lines]
        done, waiting = await asyncio.wait(wrapped, timeout=LIMIT)
        self.assertEqual((len(done), len(waiting)), (20, 0))
        done, waiting = await asyncio.wait([translator.submit(line) for line in lines], timeout=LIMIT)
        self.assertEqual((len(done), len(waiting)), (20, 0))
        called = asyncio.get_running_loop().create_future()
        translator.submit(LINE).add_done_callback(called.set_result)  # on the loop's own thread
        self.assertEqual((await called).result().text, TRANSLATION)
        future = translator.submit(LINE)
        self.assertEqual((await future).text, (await future).text)


class Threads(unittest.TestCase):
    """Several Python threads, and the memory that calls leave behind."""

    def test_four_threads(self):
        translator = captions(beam_size=2)
        lines = lines_of(60)
        expected = {line: result.text for line, result in zip(lines, translator.translate(lines))}
        wrong = []

        def work(seed):
            chance = random.Random(seed)
            for _ in range(25):
                some = chance.sample(lines, 4)
                way = chance.randrange(4)
                if way == 0:
                    found = [each.text for each in translator.translate(some)]
                elif way == 1:
                    found = [future.result().text for future in [translator.submit(line) for line in some]]
                elif way == 2:
                    found = [each.text for each in translator.translate_iterable(some, ahead=2)]
                else:
                    cancelled = translator.submit(some[0], priority=chance.randrange(-3, 3))
                    cancelled.cancel()
                    found = [translator.translate(line, no_repeat_ngram_size=chance.randrange(3) * 9).text
                             for line in some]
                wrong.extend(line for line, text in zip(some, found) if expected[line] != text)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_others_run_meanwhile(self):
        translator = captions()
        count = 0
        stop = threading.Event()

        def work():
            nonlocal count
            while not stop.is_set():
                count += 1

        thread = threading.Thread(target=work)
        thread.start()
        before = count
        translator.translate(lines_of(100))
        self.assertGreater(count, before + 1000)
        stop.set()
        thread.join()

    def test_memory_is_flat(self):
        def resident():
            with open("/proc/self/statm", encoding="utf-8") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        translator = captions(beam_size=1)

        def calls(count):
            for i in range(count // 4):
                translator.translate("Dogs.", alignment="soft", max_decoding_length=2).to_dict()
                translator.submit("Dogs.", max_decoding_length=1).add_done_callback(lambda future: future.result())
                translator.translate(["", "A cat."], max_decoding_length=1)
                translator.submit("Dogs.").cancel()
                if i % 10 == 0:
                    with self.assertRaises(ValueError):
                        translator.translate("Dogs.", beam_size=0)

        count = int(os.environ.get("NIBU_CALLS", "4000"))
        calls(2000)
        before = resident()
        calls(count)
        grown = resident() - before
        self.assertLess(grown, 1 << 20)
        if "NIBU_CALLS" in os.environ:
            print(f"{count} calls: {before >> 10} kB before, {grown >> 10} kB more behind them")


class Processes(unittest.TestCase):
    """Signals, forks, and the end of the interpreter."""

    def test_ctrl_c(self):
        for call in ("translator.translate(lines)", "list(translator.translate_iterable(lines, ahead=1000))",
                     "[translator.submit(line) for line in lines[:50000]][-1].result()",
                     "translator.translate(' '.join(lines[:20000]))"):
            status, _, errors = run_python(
                "import nibu\n"
                "translator = nibu.Translator(threads=1)\n"
                "lines = [f'{i} dogs and {i} cats are running to many men.' for i in range(200000)]\n"
                f"print('begins', flush=True)\n{call}\n", interrupt_at="begins")
            self.assertEqual(status, -signal.SIGINT, errors)
            self.assertIn("KeyboardInterrupt", errors)

    def test_end_of_the_interpreter(self):
        for work in ("translator.translate([f'{i} cats.' for i in range(200000)])",
                     "list(translator.translate_iterable(f'{i} cats.' for i in range(200000)))",
                     "[future.result() for future in futures]",
                     f"[nibu.Model({MODEL!r}) for _ in range(200000)]"):
            status, output, errors = run_python(
                "import nibu, threading\n"
                f"translator = nibu.Translator({MODEL!r}, threads=2)\n"
                "futures = [translator.submit(f'{i} dogs are running.') for i in range(5000)]\n"
                "for future in futures: future.add_done_callback(lambda future: future.done())\n"
                f"work = lambda: {work}\n"
                "for _ in range(4): threading.Thread(target=work, daemon=True).start()\n"
                "print('ends')\n")
            self.assertEqual((status, output, errors), (0, "ends\n", ""), work)

    def test_calls_while_the_interpreter_ends(self):
        status, output, errors = run_python(
            "import atexit\n"
            "def late():\n"
            "    try: translator.translate('Dogs.')\n"
            "    except RuntimeError as error: print(error)\n"
            "atexit.register(late)\n"  # runs after what nibu registers
            "import nibu\n"
            f"translator = nibu.Translator({MODEL!r}, threads=1)\n")
        self.assertEqual((status, output, errors), (0, "the translator was closed\n", ""))

    def test_fork(self):
        translator = captions()
        future = translator.submit(LINE)
        future.result()
        waiting = [translator.submit(line) for line in lines_of(200)]
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for call in (lambda: translator.translate(LINE), lambda: translator.translate([LINE, LINE]),
                             lambda: translator.submit(LINE), lambda: waiting[-1].result()):
                    try:
                        call()
                    except RuntimeError as error:
                        assert "parent process" in str(error), error
                    else:
                        raise AssertionError("a parent's translator translates")
                with captions() as own:
                    assert own.translate(LINE).text == TRANSLATION
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(translator.translate(LINE).text, TRANSLATION)

    def test_forked_children_end(self):
        for work in ("pass", "assert str(nibu.Translator(threads=1).translate('Two dogs.'))", "translator.close()",
                     "own = nibu.Translator(threads=1); own.submit('Two dogs.')"):
            status, output, errors = run_python(
                "import nibu, os, sys\n"
                "translator, other = nibu.Translator(threads=1), nibu.Translator(threads=1)\n"
                "child = os.fork()\n"
                f"if child == 0:\n    {work}\n    sys.exit(3)\n"
                "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n")
            self.assertEqual((status, output), (0, "3\n"), errors)

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            context = multiprocessing.get_context(method)
            with context.Pool(2) as pool:
                self.assertEqual(pool.map(translate_in_child, [LINE, LINE]), [TRANSLATION, TRANSLATION])


def translate_in_child(line):
    """Makes a translator of the process's own."""
    return captions().translate(line).text


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
