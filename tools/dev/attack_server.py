#!/usr/bin/env python3
"""attack_server.py PROGRAM [--seconds=N] [-- FLAGS]: measures how PROGRAM (nibu-serve) bears attacks.

Starts PROGRAM with FLAGS for each of some attacks, which one client carries out for N seconds (10), while another
client asks for /health and for small translations. Prints a row of a Markdown table for each attack.
"""

import argparse
import collections
import itertools
import json
import multiprocessing
import os
import queue
import re
import resource
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tests", "tools", "serve"))
# pylint: disable-next=wrong-import-position
from serve_testing import Connection, Server  # noqa: E402

# The attacker is another process than the one that measures, so that they do not wait for each other.
fork = multiprocessing.get_context("fork")
OTHER = "127.0.0.2"  # the client that is not the attacker
ATTACKERS = ["127.0.0.1", "127.0.0.3", "127.0.0.4", "127.0.0.5"]


def request(method, target, body=None, **fields):
    """The bytes of a request."""
    fields = {"Host": "x", **fields}
    if body is not None:
        fields.setdefault("Content_Length", len(body))
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items()]
    return f"{method} {target} HTTP/1.1\r\n{''.join(lines)}\r\n".encode() + (body or b"")


def translation(text, **others):
    body = json.dumps({"q": text, "source": "en", "target": "de", **others}).encode()
    return request("POST", "/translate", body, Content_Type="application/json")


def memory(server, field):
    """Returns VmRSS or VmHWM in MB."""
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
        return round(int(re.search(rf"^{field}:\s*([0-9]+)", file.read(), re.MULTILINE)[1]) / 1024, 1)


# Attacks. Each is a function of the port, of the time at which it ends, and of a function that is called with the
# status of each answer.


def again_and_again(data, client=ATTACKERS[0]):
    """Sends bytes on one connection after the other. `data` may be a function of the connection's number."""
    def attack(port, end, note):
        for number in itertools.count():
            left = end - time.monotonic()
            if left <= 0:
                return
            try:
                with Connection(port, client, left) as connection:
                    connection.send(data(number) if callable(data) else data)
                    note(connection.read().status)
            except TimeoutError:
                note("no answer yet")
            except (OSError, ValueError):
                note("closed")
            time.sleep(0.1)
    return attack


def held(count, data):
    """Opens connections, sends the bytes on each, and holds them."""
    def attack(port, end, note):
        connections = []
        for _ in range(count):
            connections.append(Connection(port, ATTACKERS[0], 10))
            connections[-1].send(data)
        time.sleep(max(0, end - time.monotonic()))
        for connection in connections:
            connection.socket.setblocking(False)
            try:
                note(connection.read().status)
            except BlockingIOError:
                note("open")
            except (OSError, ValueError):
                note("closed")
    return attack


def together(attacks):
    def attack(port, end, note):
        threads = [threading.Thread(target=each, args=(port, end, note)) for each in attacks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return attack


def long_line(client):
    """A line of 99 KB without a full stop, which is another one each time, so that no cache has its translation."""
    words = "a dog runs past the house of two men and "
    return again_and_again(lambda number: translation((f"{client} {number} " + words * 2500)[:99_000]), client)


def attacks():
    """Returns the attacks by their names."""
    chunked = request("POST", "/translate", Transfer_Encoding="chunked")
    sentences = "".join(f"A man with {number} dogs is walking through the park.\n" for number in range(2000))
    return {
        "none": lambda port, end, note: None,
        "a trailer field of 65,534 bytes": again_and_again(chunked + b"0\r\nX: " + b"0" * 65_534 + b"\r\n\r\n"),
        "48 MB of trailers": again_and_again(chunked + b"0\r\n" + b"X: 0123456789abcdef\r\n" * 2_300_000),
        "200,000 one-letter lines in four texts": again_and_again(translation(["a\n" * 50_000] * 4)),
        "`<p>a</p>` 487,500 times in 39 texts":
            again_and_again(translation(["<p>a</p>" * 12_500] * 39, format="html")),
        "700 connections that send half a head": held(700, b"POST /translate HTTP/1.1\r\nHos"),
        "64 heads that announce 4 MB": held(64, request("POST", "/translate", Content_Length=4_000_000)),
        "1,030 idle connections": held(1030, b""),
        "a request of 2 million characters": again_and_again(translation([sentences[:99_990]] * 20)),
        "a line of 99 KB from each of 4 clients": together(long_line(client) for client in ATTACKERS),
    }


class Probe:
    """Asks for /health every 10 ms, on a new and on a kept connection in turn, and for small translations."""

    def __init__(self, port, end):
        self.latencies = []  # in ms
        self.health_failures = 0
        self.answered = 0
        self.refused = 0
        self._port = port
        self._end = end
        threads = [threading.Thread(target=each) for each in (self._ask_health, self._translate)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask_health(self):
        health = request("GET", "/health")
        kept = None
        for number in itertools.count():
            begin = time.monotonic()
            if begin >= self._end:
                return
            try:
                if number % 2 == 0:
                    with Connection(self._port, OTHER) as connection:
                        connection.send(health)
                        answer = connection.read()
                else:
                    kept = kept or Connection(self._port, OTHER)
                    kept.send(health)
                    answer = kept.read()
                self.health_failures += answer.status != 200
            except (OSError, ValueError):
                self.health_failures += 1
                kept = None
            self.latencies.append(1000 * (time.monotonic() - begin))
            time.sleep(max(0, begin + 0.01 - time.monotonic()))

    def _translate(self):
        for number in itertools.count():
            left = self._end - time.monotonic()
            if left <= 0:
                return
            try:
                with Connection(self._port, OTHER, left) as connection:
                    connection.send(translation(f"A dog runs past {number} men."))
                    is_answered = connection.read().status == 200
            except TimeoutError:
                return
            except (OSError, ValueError):
                is_answered = False
            self.answered += is_answered
            self.refused += not is_answered
            time.sleep(0.02)


def run_attack(attack, port, end, statuses):
    counts = collections.Counter()
    try:
        attack(port, end, lambda status: counts.update([status]))
    finally:
        statuses.put(counts)


def measure_attacks(options):
    """Prints the table."""
    print("| attack | its answers | worst /health in ms | failures of /health | small requests answered | refused "
          "| peak memory in MB |\n|---|---|---|---|---|---|---|", flush=True)
    for name, attack in attacks().items():
        server = Server(options.program, "--nolog_requests", *options.flags)
        try:
            server.wait_until_ready()
            end = time.monotonic() + options.seconds
            statuses = fork.Queue()
            attacker = fork.Process(target=run_attack, args=(attack, server.port, end, statuses), daemon=True)
            attacker.start()
            probe = Probe(server.port, end)
            try:
                found = statuses.get(timeout=10)
            except queue.Empty:
                found = {"the attack has not ended": 1}
            attacker.terminate()
            answers = ", ".join(f"{status} ({count})" for status, count in found.items())
            peak = memory(server, "VmHWM") if server.process.poll() is None else "the program has ended"
            print(f"| {name} | {answers} | {max(probe.latencies):.1f} | {probe.health_failures} | {probe.answered} "
                  f"| {probe.refused} | {peak} |", flush=True)
        finally:
            server.kill()


def parse_arguments(description, **numbers):
    """Parses PROGRAM, options that are numbers, and FLAGS; `numbers` are the defaults of these options."""
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments[:split])
    options.flags = arguments[split + 1:]
    return options


def main():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    measure_attacks(parse_arguments(__doc__, seconds=10))


if __name__ == "__main__":
    main()
