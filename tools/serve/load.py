#!/usr/bin/env python3
"""Measures a running translation server that has LibreTranslate's interface, with many clients.

Prints one JSON object: how many requests were answered with each status, were abandoned, or failed with their
connection; the seconds that all took; requests and characters translated per second; latencies in seconds of
translations, of refusals (429 and 503) and of /health; and how many of the idle and slow connections the server has
closed. `cmake --install` installs it as nibu-load.
"""

import argparse
import asyncio
import collections
import errno
import gzip
import itertools
import json
import os
import random
import resource
import signal
import socket
import sys
import time
import urllib.parse

TRANSLATED = 200
REFUSED = (429, 503)
# In seconds:
CONNECT_LIMIT = 60
ANSWER_LIMIT = 600
HEALTH_LIMIT = 10
HEALTH_PERIOD = 0.1
SLOW_PERIOD = 0.1  # between bytes of a slow client
IDLE_PERIOD = 1  # between looks at idle connections


class ArgumentParser(argparse.ArgumentParser):
    """Says what is wrong in one line, as nibu's other programs do."""

    def error(self, message):
        self.exit(2, f"nibu-load: error: {message}\n")


def at_least(minimum, kind, maximum=float("inf")):
    """Returns a function that reads a number of a range."""
    def read(text):
        value = kind(text)
        if not minimum <= value <= maximum:
            raise argparse.ArgumentTypeError(f"{text} is out of range")
        return value
    read.__name__ = kind.__name__  # for argparse's messages
    return read


def arguments():
    """Returns what the command line says."""
    parser = ArgumentParser(prog="nibu-load", description=__doc__, allow_abbrev=False,
                            formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--url", default="http://127.0.0.1:5000",
        help="Address of the server, as in http://HOST:PORT. A path follows if the interface is not at the root.")
    add("--src", default="-", help="File with the texts to translate, one in each line; - is standard input. It is "
                                   "UTF-8, plain or compressed with gzip.")
    add("--source", default="en", help="Code of the texts' language; auto: the server detects it.")
    add("--target", default="de", help="Code of the language to translate into.")
    add("--format", default="", help="Format of the texts, such as text or html. Empty: requests have no format.")
    add("--out", default="", help="File for the translations, one in each line, in the order of the requests. A line "
                                  "is empty where a request was not answered by a translation.")
    add("--requests", type=at_least(0, int), default=0,
        help="Number of requests in all, for which the lines are repeated in turn. 0: as many as it takes to send each "
             "line once.")
    add("--texts", type=at_least(1, int), default=1,
        help="Number of texts in each request. One is sent as a string, several are sent as an array.")
    add("--clients", type=at_least(1, int), default=1,
        help="Number of connections, which are kept open. Each sends a request when its last one is answered.")
    add("--rate", type=at_least(0, float), default=0,
        help="Number of requests that become due each second, whether or not others are answered. A request that is "
             "due while all clients are busy waits for one, and this wait is part of its latency. 0: a request is due "
             "when a client is free.")
    add("--abandon", type=at_least(0, float, 100), default=0,
        help="Percentage of requests that are abandoned. Their connection is closed 1 to 10 milliseconds after they "
             "begin to be sent, unless they are answered before.")
    add("--idle", type=at_least(0, int), default=0,
        help="Number of additional connections that send nothing. One that the server closes is opened again.")
    add("--slow", type=at_least(0, int), default=0,
        help="Number of additional connections that send an endless head, a byte each 100 milliseconds. One that the "
             "server closes is opened again.")
    add("--health", action="store_true",
        help="Ask for /health every 100 milliseconds, on another connection. The report has how long the answers take.")
    options = parser.parse_args()
    if options.out == "-":
        parser.error("--out needs a file; standard output gets the report")
    url = urllib.parse.urlsplit(options.url)
    try:
        options.host, options.port = url.hostname, url.port or 80
    except ValueError:
        options.host = None
    if url.scheme != "http" or not options.host:
        parser.error("--url must be http://HOST:PORT")
    options.authority, options.path = url.netloc, url.path.rstrip("/")
    return options


def read_lines(src):
    """Returns the lines of --src. Bytes that are not UTF-8 are replaced."""
    with open(0 if src == "-" else src, "rb") as file:
        data = file.read()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        del lines[-1]
    if not lines:
        raise ValueError("--src has no lines")
    return lines


def is_quiet(connection):
    """Returns whether a socket on which nothing is expected is still open and has received no bytes."""
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


class Server:
    """The address of a server."""

    def __init__(self, options):
        self.authority = options.authority
        self.path = options.path
        self._addresses = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)

    async def connect(self):
        """Returns a new connection, a socket that does not block."""
        for number, (family, kind, protocol, _, address) in enumerate(self._addresses, 1):
            connection = socket.socket(family, kind, protocol)
            try:
                connection.setblocking(False)
                await asyncio.wait_for(asyncio.get_running_loop().sock_connect(connection, address), CONNECT_LIMIT)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            except BaseException as error:
                connection.close()
                if isinstance(error, asyncio.TimeoutError):
                    error = ConnectionError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
                if not isinstance(error, OSError) or number == len(self._addresses):
                    raise error
        raise AssertionError("names have addresses")


class Connection:
    """A connection that sends one request after the other."""

    def __init__(self, server):
        self._server = server
        self._socket = None  # None: the connection is not open
        self._received = b""

    async def ask(self, method, path, body, limit):
        """Sends a request. Returns the status and the body of the answer.

        asyncio.TimeoutError: it was not answered within `limit`, which begins when the connection is open. OSError,
        ValueError: there is no answer for another reason. A connection that is not open yet, or that the server has
        closed after the last answer, is opened first.
        """
        if self._socket is None or not is_quiet(self._socket):
            self.close()
            self._socket = await self._server.connect()
        head = (f"{method} {self._server.path}{path} HTTP/1.1\r\nHost: {self._server.authority}\r\n"
                f"User-Agent: nibu-load\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        keep = False
        try:
            status, answer, keep = await asyncio.wait_for(self._exchange(head.encode() + body), limit)
            return status, answer
        finally:
            if not keep:
                self.close()

    def close(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self._received = b""

    async def _exchange(self, request):
        try:
            await asyncio.get_running_loop().sock_sendall(self._socket, request)
        except OSError:
            pass  # There may be an answer: a server may refuse a request before it has read all of it.
        version, status, *_ = (line := await self._take_line()).split(" ")
        if not version.startswith("HTTP/1."):
            raise ValueError(f"bad HTTP: {line}")
        fields = {}
        while line := await self._take_line():
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip().lower()
        keep = version == "HTTP/1.1" and fields.get("connection") != "close"
        if "transfer-encoding" in fields:
            body = b""
            while size := int((await self._take_line()).partition(";")[0], 16):
                body += await self._take(size)
                await self._take_line()
            while await self._take_line():
                pass  # a trailer
        else:
            body = await self._take(int(fields.get("content-length", 0)))
        return int(status), body, keep

    async def _take_line(self):
        while (end := self._received.find(b"\r\n")) < 0:
            await self._receive()
        return (await self._take(end + 2))[:-2].decode("latin-1")

    async def _take(self, size):
        while len(self._received) < size:
            await self._receive()
        taken, self._received = self._received[:size], self._received[size:]
        return taken

    async def _receive(self):
        data = await asyncio.get_running_loop().sock_recv(self._socket, 1 << 16)
        if not data:
            raise ConnectionError("the server has closed the connection")
        self._received += data


def percentiles(seconds, *percents):
    """Returns {"p50": ..., "max": ...} with these percentiles (nearest rank), or None if there are no durations."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    report = {f"p{percent}": round(ordered[(len(ordered) * percent + 99) // 100 - 1], 6) for percent in percents}
    return {**report, "max": round(ordered[-1], 6)}


class Load:
    """The clients, which send all requests and count their answers."""

    def __init__(self, options, lines, server):
        self._options = options
        self._lines = lines
        self._server = server
        self._size = options.requests or -(-len(lines) // options.texts)
        self._random = random.Random(1)
        self._jobs = asyncio.Queue()
        self._answered = collections.Counter()
        self._translated, self._refused, self._health = [], [], []
        self._abandoned = self._errors = self._characters = self._health_failures = self._held_closed = 0
        self._seconds = 0
        self._first_error = ""
        self.malformed = ""  # the message about the first malformed answer
        self.translations = {}  # by request, for --out

    def texts(self, index):
        """The texts of a request: the next --texts lines; the first line follows the last one again.

        If each line is sent once, the last request may have fewer.
        """
        begin = index * self._options.texts
        end = begin + self._options.texts
        if self._options.requests == 0:
            return self._lines[begin:end]
        return [self._lines[i % len(self._lines)] for i in range(begin, end)]

    def all_texts(self):
        """The texts of each request."""
        return map(self.texts, range(self._size))

    async def run(self):
        """Returns when the last request is done."""
        options = self._options
        start = time.monotonic()
        others = [self._hold(i < options.slow) for i in range(options.idle + options.slow)]
        if options.health:
            others.append(self._ask_health())
        tasks = [asyncio.ensure_future(other) for other in others]
        await asyncio.gather(self._make_due(start), *(self._send_all() for _ in range(options.clients)))
        self._seconds = time.monotonic() - start
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._first_error and not self._answered and not self._abandoned:
            raise ConnectionError(f"{options.url}: {self._first_error}")

    async def _make_due(self, start):
        """Queues the requests, with --rate when each is due, and then the end for each client."""
        for index in range(self._size):
            due = None
            if self._options.rate:
                due = start + index / self._options.rate
                await asyncio.sleep(max(0, due - time.monotonic()))
            # Both numbers are drawn for every request, in the order of requests, so that the same requests are
            # abandoned in every run.
            is_abandoned = self._random.uniform(0, 100) < self._options.abandon
            patience = self._random.randint(1, 10) / 1000
            self._jobs.put_nowait((index, due, is_abandoned, patience if is_abandoned else ANSWER_LIMIT))
        for _ in range(self._options.clients):
            self._jobs.put_nowait(None)

    async def _send_all(self):
        """A client, which sends one request after the other."""
        connection = Connection(self._server)
        while (job := await self._jobs.get()) is not None:
            index, due, is_abandoned, limit = job
            due = due or time.monotonic()
            texts = self.texts(index)
            body = {"q": texts[0] if self._options.texts == 1 else texts, "source": self._options.source,
                    "target": self._options.target}
            if self._options.format:
                body["format"] = self._options.format
            try:
                status, answer = await connection.ask("POST", "/translate", json.dumps(body).encode(), limit)
            except (OSError, ValueError, asyncio.TimeoutError) as error:
                if is_abandoned and isinstance(error, asyncio.TimeoutError):
                    self._abandoned += 1
                else:
                    self._errors += 1
                    self._first_error = self._first_error or str(error) or "no answer in time"
                continue
            # Counted from when the request was due, so that waiting for a free client is a part of it.
            seconds = time.monotonic() - due
            self._answered[status] += 1
            if status == TRANSLATED:
                self._translated.append(seconds)
            if status in REFUSED:
                self._refused.append(seconds)
            wrong = self._read_answer(index, status, answer)
            if wrong and not self.malformed:
                self.malformed = f"the answer to request {index + 1}, of status {status}, {wrong}"
        connection.close()

    def _read_answer(self, index, status, body):
        """Counts the translations. Returns a message if the answer breaks the interface's rules, else None."""
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            return "is not a JSON object"
        if status != TRANSLATED:
            return None
        if "translatedText" not in answer:
            return "has no translatedText"
        found = answer["translatedText"]
        if self._options.texts == 1:
            found = [found]
        if not isinstance(found, list):
            return "has a translatedText that is not an array"
        texts = self.texts(index)
        if len(found) != len(texts):
            return f"has {len(found)} translations of {len(texts)} texts"
        if not all(isinstance(translation, str) for translation in found):
            return "has a translation that is not a string"
        self._characters += sum(map(len, texts))
        if self._options.out:
            self.translations[index] = found
        return None

    async def _ask_health(self):
        connection = Connection(self._server)
        while True:
            begin = time.monotonic()
            try:
                status, _ = await connection.ask("GET", "/health", b"", HEALTH_LIMIT)
            except (OSError, ValueError, asyncio.TimeoutError):
                status = None
            seconds = time.monotonic() - begin
            if status == 200:
                self._health.append(seconds)
            else:
                self._health_failures += 1
            await asyncio.sleep(max(0, HEALTH_PERIOD - seconds))

    async def _hold(self, is_slow):
        """Holds a connection open without a request: it sends nothing, or an endless head."""
        period = SLOW_PERIOD if is_slow else IDLE_PERIOD
        while True:
            try:
                connection = await self._server.connect()
            except OSError:
                await asyncio.sleep(period)
                continue
            with connection:
                head = itertools.chain(b"POST /translate HTTP/1.1\r\nX-Slow: ", itertools.repeat(ord("a")))
                await asyncio.sleep(period)
                while is_quiet(connection):
                    if is_slow:
                        try:
                            connection.send(bytes([next(head)]))
                        except OSError:
                            pass  # The next look finds it closed.
                    await asyncio.sleep(period)
            self._held_closed += 1

    def report(self):
        """Returns the object that is printed."""
        report = {
            "requests": self._size,
            "answered": {str(status): self._answered[status] for status in sorted(self._answered)},
            "abandoned": self._abandoned,
            "connection_errors": self._errors,
            "seconds": round(self._seconds, 6),
            "requests_per_second": round(self._answered[TRANSLATED] / self._seconds, 6),
            "characters_per_second": round(self._characters / self._seconds, 6),
            "latency": percentiles(self._translated, 50, 90, 99),
            "refused_latency": percentiles(self._refused, 50),
        }
        if self._options.health:
            report["health_latency"] = percentiles(self._health, 50, 99)
            report["health_failures"] = self._health_failures
        if self._options.idle + self._options.slow > 0:
            report["held_connections_closed"] = self._held_closed
        return report


async def measure(options, lines):
    load = Load(options, lines, Server(options))
    await load.run()
    return load


def run(options):
    # Connections are open files, whose limit is usually 1,024.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    lines = read_lines(options.src)
    if options.out:
        # The file appears under its name when it is whole; a device or pipe is written to as it is.
        is_file = not os.path.exists(options.out) or os.path.isfile(options.out)
        part = f"{options.out}.{os.getpid()}.part" if is_file else options.out
        try:
            with open(part, "w", encoding="utf-8", errors="replace") as out:
                load = asyncio.run(measure(options, lines))
                for index, texts in enumerate(load.all_texts()):
                    out.writelines(text + "\n" for text in load.translations.get(index, [""] * len(texts)))
            if is_file:
                os.replace(part, options.out)
        finally:
            if is_file and os.path.exists(part):
                os.remove(part)
    else:
        load = asyncio.run(measure(options, lines))
    print(json.dumps(load.report(), separators=(",", ":")), flush=True)
    if load.malformed:
        raise ValueError(load.malformed)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run(options)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, EOFError, ValueError) as error:
        if getattr(error, "filename", None):
            error = f"{error.filename}: {error.strerror}"
        sys.exit(f"nibu-load: error: {error}")


if __name__ == "__main__":
    main()
