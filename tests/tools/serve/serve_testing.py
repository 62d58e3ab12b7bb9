"""Helpers of the tests of nibu-serve: the running program, connections on which they send bytes, and checks.

A check that fails prints a line and is added to `failures`; the test goes on.
"""

import base64
import gzip
import hashlib
import json
import os
import re
import select
import socket
import struct
import subprocess
import tempfile
import time
import zlib

# Nothing here depends on how fast the answers come. The limits end a test whose server hangs.
START_LIMIT = 300
ANSWER_LIMIT = 300
END_LIMIT = 300

SKIPPED = 77

failures = []


def check(name, condition, message):
    """Prints the message unless the condition holds, and returns the condition."""
    if not condition:
        failures.append(name)
        print(f"{name}: {message}")
    return condition


def short(value):
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


class Answer:
    """An answer: its status, its header (names in small letters, each with a list of values) and body."""

    def __init__(self, status, header, body):
        self.status = status
        self.header = header
        self.body = body

    def field(self, name):
        """The value of a field; empty where it is missing."""
        return ", ".join(self.header.get(name, []))


class Connection:
    """A connection on which requests are sent as bytes, and answers are read one after the other.

    `source` is the address of this end; each is another client.
    """

    def __init__(self, port, source="127.0.0.1", timeout=ANSWER_LIMIT):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout, (source, 0))
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """Reads more bytes. False: the server has closed the connection."""
        data = self.socket.recv(1 << 16)
        self.received += data
        return bool(data)

    def read(self):
        """Reads an answer. ValueError: it is not HTTP, or has no length."""
        while b"\r\n\r\n" not in self.received:
            if not self.receive():
                raise ValueError(f"the connection ends within the head of an answer: {short(self.received)}")
        head, self.received = self.received.split(b"\r\n\r\n", 1)
        status_line, *lines = head.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.[01] ([1-5][0-9][0-9]) [^\r\n]*", status_line)
        if match is None:
            raise ValueError(f"the status line is {short(status_line)}")
        status = int(match[1])
        header = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip():
                raise ValueError(f"a line of the head is {short(line)}")
            header.setdefault(name.lower(), []).append(value.strip())
        # Some clients, such as translate-shell, do not undo chunks.
        if "transfer-encoding" in header:
            raise ValueError("the answer has a Transfer-Encoding")
        if status < 200 or status == 204:
            return Answer(status, header, b"")
        length = header.get("content-length", [])
        if len(length) != 1 or not length[0].isdigit():
            raise ValueError(f"the answer of status {status} has Content-Length {length}")
        while len(self.received) < int(length[0]):
            if not self.receive():
                raise ValueError(f"the body has {len(self.received)} bytes, its Content-Length is {length[0]}")
        body, self.received = self.received[:int(length[0])], self.received[int(length[0]):]
        return Answer(status, header, body)

    def nothing_follows(self):
        """Reads up to the end of the connection. Returns whether the server sends nothing more."""
        while not self.received and self.receive():
            pass
        return not self.received


class Server:
    """The program under test."""

    def __init__(self, program, *flags):
        # The system deletes the file when it is closed.
        self.log = tempfile.TemporaryFile()  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [program, "--port=0", *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log)
        ready, _, _ = select.select([self.process.stdout], [], [], START_LIMIT)
        line = self.process.stdout.readline().decode() if ready else ""
        match = re.fullmatch(r"nibu-serve: http://127\.0\.0\.1:([0-9]+)\n", line)
        if match is None:
            self.kill()
            raise ValueError(f"its first line is {short(line)}; {self.errors()}")
        self.port = int(match[1])
        self.url = f"http://127.0.0.1:{self.port}/"
        self.host = f"127.0.0.1:{self.port}"

    def wait_until_ready(self):
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end:
            if self.once(self.request("GET", "/ready")).status == 200:
                return
            time.sleep(0.05)
        raise ValueError(f"/ready is not 200 within {START_LIMIT} seconds; {self.errors()}")

    def request(self, method, target, body=None, **fields):
        """The bytes of a request. Underscores in names of fields stand for hyphens."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines + ["", ""]).encode() + (body or b"")

    def once(self, data):
        """Sends a request on a connection of its own."""
        with Connection(self.port) as connection:
            connection.send(data)
            return connection.read()

    def translate(self, text, source="en", target="de", **others):
        """Asks for a translation. Returns the status and the object of the answer."""
        body = json.dumps({"q": text, "source": source, "target": target, **others}).encode()
        answer = self.once(self.request("POST", "/translate", body, Content_Type="application/json"))
        return answer.status, json.loads(answer.body)

    def log_text(self):
        """Returns the text that the program has written to standard error."""
        return os.pread(self.log.fileno(), 1 << 20, 0).decode(errors="replace")

    def errors(self):
        """Returns the end of this text, as a part of a message."""
        return f"standard error: {self.log_text()[-1000:]!r}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class WebSocket:
    """A client on a WebSocket, as the module websocket-client connects. `server` has port, host and request()."""

    def __init__(self, name, server, target):
        self.connection = Connection(server.port)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.send(server.request("GET", target, Upgrade="websocket", Connection="Upgrade",
                                            Sec_WebSocket_Key=key, Sec_WebSocket_Version="13",
                                            Origin=f"http://{server.host}"))
        while b"\r\n\r\n" not in self.connection.received and self.connection.receive():
            pass
        head, self.connection.received = self.connection.received.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ")[1])
        wanted = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        check(name, self.status != 101 or wanted in head, f"the key is not in {short(head)}")

    def send(self, text, opcode=1):
        data = text.encode() if isinstance(text, str) else text
        length = (bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack("!H", len(data))
                  if len(data) < 1 << 16 else b"\xff" + struct.pack("!Q", len(data)))
        mask = os.urandom(4)
        self.connection.send(bytes([0x80 | opcode]) + length + mask
                             + bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)))

    def take(self, count):
        while len(self.connection.received) < count:
            if not self.connection.receive():
                raise ValueError("the connection ends within a frame")
        taken, self.connection.received = self.connection.received[:count], self.connection.received[count:]
        return taken

    def read(self):
        """Returns the opcode and the payload of a frame, which must be the last one of its message."""
        first, length = self.take(2)
        if length == 126:
            length, = struct.unpack("!H", self.take(2))
        elif length == 127:
            length, = struct.unpack("!Q", self.take(8))
        return first - 0x80, self.take(length)


def json_of(name, answer, status=200, accepts_gzip=False):
    """Checks what all answers have in common, and returns the JSON; None: there is none."""
    check(name, answer.status == status, f"the status is {answer.status}, not {status}: {short(answer.body)}")
    media_type = answer.field("content-type").partition(";")[0].strip().lower()
    check(name, media_type == "application/json", f"the content type is {answer.field('content-type')!r}")
    check(name, answer.field("access-control-allow-origin") == "*",
          f"Access-Control-Allow-Origin is {answer.field('access-control-allow-origin')!r}")
    body = answer.body
    encoding = answer.field("content-encoding")
    is_gzip = encoding == "gzip" and accepts_gzip
    check(name, is_gzip or not encoding, f"the content encoding is {encoding!r}, which was not asked for")
    try:
        return json.loads((gzip.decompress(body) if is_gzip else body).decode())
    except (ValueError, OSError, EOFError, zlib.error) as error:
        check(name, False, f"the body is not JSON in UTF-8: {error}: {short(body)}")
        return None


def has_keys(name, found, *keys):
    return check(name, isinstance(found, dict) and set(found) == set(keys),
                 f"it is not an object of {', '.join(keys)}: {short(found)}")


def error_of(name, answer, status, text=None):
    """Checks that the answer is {"error": text}. Without a text, any error will do."""
    found = json_of(name, answer, status)
    if not has_keys(name, found, "error"):
        return
    error = found["error"]
    check(name, isinstance(error, str) and error, f"the error is {error!r}")
    check(name, text is None or error == text, f"the error is {error!r}, not {text!r}")


def is_translated(name, text, word="Hunde"):
    return check(name, isinstance(text, str) and word in text, f"no {word!r} in the translation {short(text)}")


def are_texts(name, texts, count):
    return check(name, isinstance(texts, list) and len(texts) == count
                 and all(isinstance(text, str) for text in texts), f"it is no array of {count} texts: {short(texts)}")


def attempt(name, function, argument):
    """Calls a function. An answer that is not HTTP, or none at all, is one of its failures."""
    try:
        function(argument)
    except (ValueError, OSError, AttributeError, LookupError, TypeError, subprocess.SubprocessError) as error:
        check(name, False, f"{type(error).__name__}: {error}")
