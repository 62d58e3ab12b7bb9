#!/usr/bin/env python3
"""soak_server.py PROGRAM [--seconds=N] [--seed=N] [--first=N] [-- FLAGS]: sends mutated requests to a nibu-serve.

Starts PROGRAM, which may be a build with sanitizers, with FLAGS, and sends mutated requests to it for N seconds (3600).
The request with a number is the same whenever the seed is the same; --first gives the first number. Checks that the
program lives, that it answers /health, that good requests have the same answers as at the start, and that memory does
not grow without bound. Prints the memory now and then, and in the end a line of JSON with the figures. The exit status
is 1 if anything was wrong; the figures then have the number of the last request of each sender. It, or the one before
it on the same connection, whose number is less by the number of senders, is what to try again with --first.
"""

import collections
import itertools
import json
import random
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time

from attack_server import ATTACKERS, OTHER, fork, memory, parse_arguments, request, translation
from serve_testing import END_LIMIT, Connection, Server, short

SENDERS = 8


def seeds():
    """Returns valid requests, which are then mutated."""
    text = "Two dogs are running. A man looks at them!"
    form = b"q=A+dog+runs.&source=en&target=de"
    part = "".join(f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                   for name, value in (("q", text), ("source", "auto"), ("target", "de"))) + "--b--\r\n"
    json_body = json.dumps({"q": [text, "<b>x</b>"], "source": "en", "target": "de"}).encode()
    chunked = request("POST", "/translate", Content_Type="application/json", Transfer_Encoding="chunked")
    form_type = {"Content_Type": "application/x-www-form-urlencoded"}
    gets = [request("GET", path) for path in
            ("/health", "/ready", "/languages", "/metrics", "/spec", "/frontend/settings", "//translate?q=a&target=de")]
    return gets + [
        b"".join(gets),
        b"\r\n" + gets[0].replace(b"1.1", b"1.0"),
        request("OPTIONS", "/translate"),
        translation(text),
        translation(text) + translation("A cat."),
        translation([text] * 20, alternatives=2, timeout=1),
        translation("\n".join([text] * 50)),
        translation("<p>A dog &amp; a <b>cat</b>.</p>" * 20, format="html"),
        request("POST", "/translate", form, **form_type),
        request("POST", "/translate", b"q=\xff\xc3\x80%ff%00&source=auto&target=de", **form_type),
        request("POST", "/translate", b'{"q":"\xe2\x82\xed\xa0\x80 \\ud800","source":"auto","target":"de"}'),
        request("POST", "/translate", part.encode(), Content_Type="multipart/form-data; boundary=b"),
        request("POST", "/detect", json_body, Content_Type="application/json"),
        request("POST", "/translate", json_body, Expect="100-continue"),
        request("POST", "/suggest", form, Authorization="Bearer x", X_Forwarded_For="1.2.3.4, [::1]:80"),
        chunked + b"".join(b'%x;name="v"\r\n%c\r\n' % (1, byte) for byte in json_body) + b"0\r\nX: y\r\n\r\n",
        chunked + b"%x\r\n%s\r\n0\r\n\r\n" % (len(json_body), json_body),
    ]


def mutated(all_seeds, source):
    """Returns the bytes of a request that random numbers decide."""
    data = bytearray(source.choice(all_seeds))
    for _ in range(source.choice((0, 1, 1, 2, 3, 8))):
        if not data:
            break
        begin = source.randrange(len(data))
        end = min(len(data), begin + source.choice((1, 2, 8, 64, 1000)))
        kind = source.randrange(6)
        if kind == 0:
            data[begin] = source.randrange(256)
        elif kind == 1:
            del data[begin:end]
        elif kind == 2:
            data[begin:begin] = data[begin:end] * source.choice((1, 2, 10, 1000))
        elif kind == 3:
            other = source.choice(all_seeds)
            data[begin:end] = other[source.randrange(len(other)):]
        elif kind == 4:
            data[begin:end] = source.choice((b"\r\n", b"\0", b'"', b"{[" * 500, b"9" * 30, b"\xf0\x9f\x98", b"%"))
        else:
            del data[begin:]
    return bytes(data[:1 << 20])


class Sender:
    """Sends every SENDERS-th request, each in one of several ways, as one of four clients."""

    def __init__(self, index, options, port):
        self.counts = collections.Counter()
        self.faults = []  # what is no HTTP
        self._index = index
        self._client = ATTACKERS[index % len(ATTACKERS)]
        self._options = options
        self._port = port
        self._seeds = seeds()
        self._silent = collections.deque()
        self._connection = None

    def run(self, end, sent, results):
        """Sends until the end, keeps the number of the last request in `sent`, and puts all else in `results`."""
        for number in itertools.count(self._options.first + self._index, SENDERS):
            if time.monotonic() >= end:
                break
            try:
                self._connection = self._connection or Connection(self._port, self._client, 0.5)
            except OSError:  # The program has ended, or has no place.
                time.sleep(0.5)
                continue
            sent[self._index] = number
            self._send(number)
            self.counts["requests"] += 1
        results.put((self.counts, self.faults))

    def _send(self, number):
        source = random.Random(f"{self._options.seed}/{number}")
        data = mutated(self._seeds, source)
        way = source.choice(("keep", "keep", "keep", "in pieces", "finish", "close", "reset", "silent"))
        keeps = False
        try:
            middle = source.randrange(len(data) + 1) if way == "in pieces" else 0
            for piece in (data[:middle], data[middle:]):
                self._connection.send(piece)
            if way == "silent":
                self._silent.append(self._connection)
                if len(self._silent) > 16:
                    self._silent.popleft().socket.close()
                self._connection = None
            elif way == "reset":
                self._connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif way != "close":
                if way == "finish":
                    self._connection.socket.shutdown(socket.SHUT_WR)
                keeps = self._read_answers() and way != "finish"
        except TimeoutError:
            self.counts["no answer within 0.5 s"] += 1
        except OSError:
            self.counts["closed"] += 1
        except ValueError as error:
            self.counts["closed"] += 1
            if self._connection.received:
                self.faults.append(f"request {number}, {short(data)}: {error}")
        if not keeps and self._connection is not None:
            self._connection.socket.close()
            self._connection = None

    def _read_answers(self):
        """Reads an answer, and others that have come with it. Returns whether the connection stays open."""
        while True:
            answer = self._connection.read()
            self.counts[f"{answer.status // 100}xx"] += 1
            if not self._connection.received:
                return answer.field("connection").lower() != "close"


class Soak:
    """A server to which mutated requests are sent, and what is found wrong with it."""

    # The number of intervals after which the memory is printed.
    SAMPLES = 60

    def __init__(self, options):
        self.faults = []
        self._options = options
        self._server = Server(options.program, "--nolog_requests", *options.flags)
        self._good = [translation("Two dogs are running.\nA man looks at them."),
                      translation("<p>A dog &amp; a <b>cat</b>.</p>", format="html"),
                      request("POST", "/detect", b"q=Zwei+Hunde+laufen+durch+den+Park."), request("GET", "/languages")]
        self._health = []  # in ms
        self._memory = []  # in MB, at equal intervals

    def run(self):
        """Returns the figures."""
        try:
            self._server.wait_until_ready()
            expected = [self._ask(each) for each in self._good]
            begin = time.monotonic()
            last_requests = fork.Array("Q", SENDERS)
            results = fork.Queue()
            senders = [fork.Process(target=Sender(index, self._options, self._server.port).run,
                                    args=(begin + self._options.seconds, last_requests, results), daemon=True)
                       for index in range(SENDERS)]
            for sender in senders:
                sender.start()
            try:
                self._watch(begin, expected)
            except (OSError, ValueError, TypeError) as error:  # A process that has ended has no memory.
                self.faults.append(f"{type(error).__name__}: {error}")
            counts = self._collect(results, senders)
            self._end()
        finally:
            self._server.kill()
        return {"seed": self._options.seed, "requests": counts.pop("requests", 0), "answers": counts,
                "health_ms": {"median": round(statistics.median(self._health), 1),
                              "worst": round(max(self._health), 1)},
                "memory_mb": self._memory[::self.SAMPLES // 4], "faults": self.faults[:20],
                "last_requests": list(last_requests) if self.faults else []}

    def _ask(self, data):
        with Connection(self._server.port, OTHER) as connection:
            connection.send(data)
            answer = connection.read()
            return answer.status, answer.body

    def _watch(self, begin, expected):
        """Asks for what must not change, until the time has passed or the program has ended."""
        for number in itertools.count():
            elapsed = time.monotonic() - begin
            while len(self._memory) <= self.SAMPLES * elapsed / self._options.seconds:
                self._memory.append(memory(self._server, "VmRSS"))
                print(f"{elapsed:.0f} s: {self._memory[-1]} MB", file=sys.stderr, flush=True)
            if elapsed >= self._options.seconds:
                break
            asked = time.monotonic()
            status, _ = self._ask(request("GET", "/health"))
            self._health.append(1000 * (time.monotonic() - asked))
            if status != 200:
                self.faults.append(f"/health has the status {status}")
            index = number % len(expected)
            found = self._ask(self._good[index])
            if found != expected[index]:
                self.faults.append(f"the answer is {short(found)} and was {short(expected[index])}")
            time.sleep(0.1)
        # What is kept in the cache takes some room.
        if self._memory[-1] > 1.1 * self._memory[self.SAMPLES // 2] + 64:
            self.faults.append("the memory has grown in the second half")

    def _collect(self, results, senders):
        counts = collections.Counter()
        if self.faults:  # The senders need not go on.
            for sender in senders:
                sender.terminate()
            return counts
        for _ in senders:
            some, faults = results.get(timeout=END_LIMIT)
            counts.update(some)
            self.faults += faults
        return counts

    def _end(self):
        self._server.process.send_signal(signal.SIGTERM)
        try:
            status = self._server.process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            status = "none"
        said = self._server.log_text()
        if status != 0 or re.search("error|Sanitizer", said):
            self.faults.append(f"the exit status is {status}; standard error: {said[:4000]}")


def main():
    soak = Soak(parse_arguments(__doc__, seconds=3600, seed=1, first=0))
    print(json.dumps(soak.run()))
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
