"""operation_test.py PROGRAM MODEL TESTDATA: PROGRAM (nibu-serve) is started, reconfigured and ended as it should be.

MODEL translates from English into German; TESTDATA has the tests' German-English one. Prints a line for each
thing that is wrong. Exit status 77: skipped.
"""

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import serve_testing
from serve_testing import (SKIPPED, Connection, Server, are_texts, attempt, check, has_keys, is_translated, json_of,
                           short)


def ends_well(name, server):
    server.process.send_signal(signal.SIGTERM)
    status = server.process.wait(serve_testing.END_LIMIT)
    check(name, status == 0, f"the exit status is {status}; {server.errors()}")


def await_log(server, text):
    """Waits until the program has written the text to standard error."""
    end = time.monotonic() + serve_testing.START_LIMIT
    while text not in server.log_text():
        if time.monotonic() > end:
            raise ValueError(f"it does not say {text!r}; {server.errors()}")
        time.sleep(0.02)


def termination(program):
    """SIGTERM while a request is being translated and another connection is idle."""
    name = "SIGTERM"
    count = 10
    while True:
        server = Server(program)
        try:
            server.wait_until_ready()
            with Connection(server.port) as busy, Connection(server.port) as idle:
                idle.send(server.request("GET", "/health"))
                idle.read()
                texts = ["\n".join(f"A man with {100 * index + line} dogs is walking through the park."
                                   for line in range(100)) for index in range(count)]
                body = json.dumps({"q": texts, "source": "en", "target": "de"}).encode()
                busy.send(server.request("POST", "/translate", body, Content_Type="application/json"))
                # In this time the server reads the request. If it also answers, the texts were too few.
                answered, _, _ = select.select([busy.socket], [], [], 0.3)
                if answered and count < 640:
                    count *= 4
                    continue
                server.process.send_signal(signal.SIGTERM)
                found = json_of(name, busy.read())
                if has_keys(name, found, "translatedText") and are_texts(name, found["translatedText"], count):
                    for text in found["translatedText"]:
                        check(name, text.count("\n") == 99, f"lines are missing in {short(text)}")
                    is_translated(name, found["translatedText"][-1])
                try:
                    status = server.process.wait(serve_testing.END_LIMIT)
                    check(name, status == 0, f"the exit status is {status}; {server.errors()}")
                except subprocess.TimeoutExpired:
                    check(name, False, f"the program has not ended after {serve_testing.END_LIMIT} seconds")
            return
        finally:
            server.kill()


def wrong_usage(program):
    """One line, and the status of wrong usage or of work that failed."""
    for flags, status, text in ((["--port=x"], 2, "--port"), (["--nonsense"], 2, "--nonsense"),
                                (["text"], 2, "text"), (["--model=/no/such/model"], 1, "/no/such/model"),
                                (["--models=/no/such/folder"], 1, "/no/such/folder"),
                                (["--api_keys=/no/such/file"], 1, "/no/such/file"),
                                (["--host=no.such.host.invalid"], 1, "no.such.host.invalid"),
                                (["--metrics_address=5000"], 2, "is not HOST:PORT"),
                                (["--metrics_address=no.such.host.invalid:1"], 1, "no.such.host.invalid"),
                                (["--url_prefix=/a?b"], 2, "is no path"), (["--log_format=xml"], 2, "text or json")):
        name = " ".join(flags)
        # Whatever listened would go on for ever.
        run = subprocess.run([program, "--port=0", *flags], capture_output=True, text=True, check=False,
                             timeout=serve_testing.START_LIMIT)
        check(name, run.returncode == status, f"the exit status is {run.returncode}, not {status}")
        check(name, run.stdout == "", f"standard output is {short(run.stdout)}")
        check(name, run.stderr.count("\n") == 1 and text in run.stderr, f"standard error is {short(run.stderr)}")


def several_models(program, model, testdata):
    """Models given one by one, and a folder of them, which are loaded when they are needed."""
    back = os.path.join(testdata, "de-en")
    server = Server(program, f"--model={model}", f"--model={back}")
    try:
        server.wait_until_ready()
        name = "--model twice"
        is_translated(name, server.translate("Two dogs.")[1].get("translatedText"))
        is_translated(name, server.translate("Zwei Hunde.", "de", "en")[1].get("translatedText"), "dogs")
        ends_well(name, server)
    finally:
        server.kill()
    name = "--models"
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(model, os.path.join(folder, "forth"))
        os.symlink(back, os.path.join(folder, "back"))
        with open(os.path.join(folder, "notes.txt"), "w", encoding="utf-8") as file:
            file.write("no model")
        server = Server(program, f"--models={folder}", "--max_models=1", "--pin=forth")
        try:
            server.wait_until_ready()
            check(name, "notes.txt: not a model" in server.log_text(), server.errors())
            is_translated(name, server.translate("Zwei Hunde.", "de", "en")[1].get("translatedText"), "dogs")
            is_translated(name, server.translate("Two dogs.")[1].get("translatedText"))
            ends_well(name, server)
        finally:
            server.kill()


def reconfigured(program, model, testdata):
    """--config at the start and at SIGHUP: what is right takes effect, and what is wrong changes nothing."""
    name = "SIGHUP"
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "config.yml")

        def write(text):
            with open(config, "w", encoding="utf-8") as file:
                file.write(text)

        write("max_characters: 10\n")
        server = Server(program, f"--config={config}")
        try:
            server.wait_until_ready()
            status, _ = server.translate("more than ten characters")
            check(name, status == 400, f"max_characters has no effect: {status}")
            write("max_characters: 10000\nbeam_size: 0\n")
            server.process.send_signal(signal.SIGHUP)
            await_log(server, "beam_size must be")
            status, _ = server.translate("more than ten characters")
            check(name, status == 400, f"a wrong configuration took effect: {status}")
            # A list of models takes the place of the bundled one.
            write(f"max_characters: 10000\nmodel: [{model}, {testdata}/de-en]\n")
            with Connection(server.port) as busy:
                body = json.dumps({"q": ["Two dogs."] * 100, "source": "en", "target": "de"}).encode()
                busy.send(server.request("POST", "/translate", body, Content_Type="application/json"))
                server.process.send_signal(signal.SIGHUP)
                found = json_of(name, busy.read())
                if has_keys(name, found, "translatedText"):
                    are_texts(name, found["translatedText"], 100)
            await_log(server, "were read again")
            is_translated(name, server.translate("Two dogs are running in the park.")[1].get("translatedText"))
            is_translated(name, server.translate("Zwei Hunde.", "de", "en")[1].get("translatedText"), "dogs")
            ends_well(name, server)
        finally:
            server.kill()


def replaced(program, model):
    """A model file that is replaced by mv, by half of it, and in place."""
    name = "mv"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.nibu")
        # Weights in the type of the server's products are used where they lie in the file.
        subprocess.run([os.path.join(os.path.dirname(program), "nibu-convert"), f"--model={model}",
                        "--quantization=int8", f"--out={path}"], check=True, capture_output=True)
        with open(path, "rb") as file:
            whole = file.read()

        def replace(data):
            with open(path + ".new", "wb") as file:
                file.write(data)
            os.replace(path + ".new", path)

        server = Server(program, f"--models={folder}")
        try:
            server.wait_until_ready()
            is_translated(name, server.translate("Two dogs.")[1].get("translatedText"))
            replace(whole)
            server.process.send_signal(signal.SIGHUP)
            await_log(server, "were read again")
            is_translated(name, server.translate("Two dogs run.")[1].get("translatedText"))
            name = "half of a model"
            replace(whole[:len(whole) // 2])
            server.process.send_signal(signal.SIGHUP)
            await_log(server, "all stays as it was")
            check(name, path in server.log_text(), server.errors())
            is_translated(name, server.translate("Two dogs are running.")[1].get("translatedText"))
            replace(whole)
            server.process.send_signal(signal.SIGTERM)
            check(name, server.process.wait(serve_testing.END_LIMIT) == 0, server.errors())
        finally:
            server.kill()
        name = "a model that is changed in place"
        server = Server(program, f"--model={path}")
        try:
            server.wait_until_ready()
            os.truncate(path, 4096)
            try:
                server.translate("Two dogs.")
            except (ValueError, OSError):
                pass
            check(name, server.process.wait(serve_testing.END_LIMIT) == 1, server.errors())
            lines = [line for line in server.log_text().splitlines() if "error" in line]
            check(name, lines == [f"nibu-serve: error: {path} was changed while it was in use; "
                                  "replace a model with mv, not cp"], server.errors())
        finally:
            server.kill()


def ends_at_any_time(program, model):
    """Clients that have gone away, two signals, and a log without a reader leave nothing behind."""
    name = "SIGTERM after clients have gone"
    server = Server(program)
    try:
        server.wait_until_ready()
        body = json.dumps({"q": "\n".join(f"A man with {line} dogs." for line in range(300)),
                           "source": "en", "target": "de"}).encode()
        for _ in range(60):
            with Connection(server.port) as gone:
                gone.send(server.request("POST", "/translate", body, Content_Type="application/json"))
        ends_well(name, server)
    finally:
        server.kill()
    name = "two signals"
    server = Server(program, *[f"--model={model}"] * 8)
    try:
        server.process.send_signal(signal.SIGHUP)
        server.process.send_signal(signal.SIGHUP)
        server.wait_until_ready()
        await_log(server, "were read again")
        server.process.send_signal(signal.SIGHUP)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(serve_testing.END_LIMIT)
    finally:
        server.kill()
    name = "a log without a reader"
    reader, writer = os.pipe()
    with subprocess.Popen([program, "--port=0"], stdout=subprocess.PIPE, stderr=writer) as process:
        os.close(writer)
        port = int(process.stdout.readline().decode().rstrip().rpartition(":")[2])
        request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        with Connection(port) as client:
            for count in range(3000):  # more lines than the pipe has room for
                if count == 2900:
                    os.close(reader)
                client.send(request)
                check(name, client.read().status == 200, "/health is not answered")
        process.send_signal(signal.SIGTERM)
        check(name, process.wait(serve_testing.END_LIMIT) == 0, f"the exit status is {process.returncode}")


def idle(program):
    """A server without requests sleeps: none of its threads wakes up again and again."""
    name = "idle"
    server = Server(program, "--request_timeout=100", "--idle_minutes=1")

    def wakes():
        counts = {}
        for thread in os.listdir(f"/proc/{server.process.pid}/task"):
            with open(f"/proc/{server.process.pid}/task/{thread}/status", encoding="utf-8") as file:
                switches = re.search(r"^voluntary_ctxt_switches:\s*([0-9]+)", file.read(), re.MULTILINE)
                counts[thread] = int(switches[1])
        return counts

    try:
        server.wait_until_ready()
        server.translate("Two dogs.")
        with Connection(server.port) as connection:
            connection.send(server.request("GET", "/health"))
            connection.read()
            before = wakes()
            time.sleep(6)
            counts = [count - before.get(thread, 0) for thread, count in wakes().items()]
        # A thread may still be about to sleep, and what a model has left is released once, some seconds after it was
        # loaded. A timer that ticks every two seconds wakes its thread more often.
        check(name, max(counts) <= 2, f"in six seconds the threads wake up {counts} times")
        ends_well(name, server)
    finally:
        server.kill()


def drain(program):
    """--drain_seconds: /ready says 503, and translations go on, until the time has passed."""
    name = "--drain_seconds"
    server = Server(program, "--drain_seconds=2")
    try:
        server.wait_until_ready()
        server.process.send_signal(signal.SIGTERM)
        while server.once(server.request("GET", "/ready")).status == 200:
            pass
        is_translated(name, server.translate("Two dogs.")[1].get("translatedText"))
        status = server.process.wait(serve_testing.END_LIMIT)
        check(name, status == 0, f"the exit status is {status}; {server.errors()}")
    finally:
        server.kill()


def watched(program):
    """--metrics_address, --metrics_token, --log_format=json and names of requests, also by the environment."""
    name = "watching"
    os.environ["NIBU_METRICS_TOKEN"] = "secret"
    try:
        server = Server(program, "--metrics_address=127.0.0.1:0", "--log_format=json", "--cache_megabytes=0")
    finally:
        del os.environ["NIBU_METRICS_TOKEN"]
    try:
        line = server.process.stdout.readline().decode()
        match = re.fullmatch(r"nibu-serve: metrics: http://127\.0\.0\.1:([0-9]+)\n", line)
        if not check(name, match, f"the second line is {short(line)}"):
            return
        server.wait_until_ready()
        check(name, server.once(server.request("GET", "/metrics")).status == 404, "/metrics is everybody's")
        with Connection(int(match[1])) as connection:
            connection.send(server.request("GET", "/metrics"))
            check(name, connection.read().status == 401, "/metrics needs no token")
            connection.send(server.request("GET", "/metrics", Authorization="Bearer secret"))
            check(name, b"nibu_requests_total" in connection.read().body, "there are no figures")
            connection.send(server.request("GET", "/languages"))
            check(name, connection.read().status == 404, "/languages is there, too")
        body = json.dumps({"q": "Two dogs.", "source": "en", "target": "de"}).encode()
        answer = server.once(server.request("POST", "/translate", body, Content_Type="application/json",
                                            X_Request_Id="name-1"))
        check(name, answer.field("x-request-id") == "name-1", f"the name is {answer.field('x-request-id')!r}")
        server.process.send_signal(signal.SIGHUP)
        await_log(server, "were read again")
        lines = [json.loads(line) for line in server.log_text().splitlines()]
        translated = [line for line in lines if line.get("id") == "name-1"]
        check(name, len(translated) == 1 and translated[0]["path"] == "/translate" and translated[0]["texts"] == 1
              and translated[0]["characters"] == 9, f"the log has {translated}")
        check(name, lines[-1]["kind"] == "note", f"its last line is {lines[-1]}")
        check(name, "Two dogs" not in server.log_text() and "secret" not in server.log_text(), "it has texts or keys")
        ends_well(name, server)
    finally:
        server.kill()


def measured(program):
    """load.py sends each line once and reports what came back."""
    name = "load.py"
    load = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/serve/load.py")
    server = Server(program)
    try:
        server.wait_until_ready()
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            flags = [f"--url=http://127.0.0.1:{server.port}", f"--out={out}", "--texts=2", "--clients=2", "--health"]
            done = subprocess.run([sys.executable, load, *flags], input=b"A dog runs.\nA cat sleeps.\nA dog runs.\n",
                                  stdout=subprocess.PIPE, check=False)
            check(name, done.returncode == 0, f"the exit status is {done.returncode}")
            report = json.loads(done.stdout)
            check(name, (report["requests"], report["answered"]) == (2, {"200": 2}), f"it reports {report}")
            check(name, report["latency"]["p50"] <= report["latency"]["max"], f"it reports {report}")
            with open(out, encoding="utf-8") as file:
                lines = file.read().split("\n")
            check(name, len(lines) == 4 and lines[0] == lines[2] != lines[1], f"it writes {lines}")
            is_translated(name, lines[0], "Hund")
    finally:
        server.kill()


def main():
    if len(sys.argv) != 4 or not os.access(sys.argv[1], os.X_OK):
        print(f"skipped: there is no program to start: {' '.join(sys.argv[1:])}")
        return SKIPPED
    program, model, testdata = (os.path.abspath(path) for path in sys.argv[1:])
    attempt("SIGTERM", termination, program)
    attempt("wrong usage", wrong_usage, program)
    attempt("several models", lambda _: several_models(program, model, testdata), None)
    attempt("SIGHUP", lambda _: reconfigured(program, model, testdata), None)
    attempt("replaced", lambda _: replaced(program, model), None)
    attempt("ends at any time", lambda _: ends_at_any_time(program, model), None)
    attempt("idle", idle, program)
    attempt("drain", drain, program)
    attempt("watching", watched, program)
    attempt("load.py", measured, program)
    if serve_testing.failures:
        print(f"{len(serve_testing.failures)} failures")
    return 1 if serve_testing.failures else 0


if __name__ == "__main__":
    sys.exit(main())
