"""get_model_server.py ROOT: a web server on a free port of this computer, which it prints, that imitates the registries
of models: it sends the files below ROOT, and takes requests as the real servers do.

    /path                      the file, in parts if the request has a Range, which If-Range may cancel
    /OWNER/NAME/resolve/...    a redirect to /files/OWNER/NAME/resolve/..., as Hugging Face has them
    /api/models/.../tree/main  the file of this name, which has a query behind it in the request

ROOT/rules has lines "PATH RULE", which hold for PATHs that begin so, from the next request on:

    drop N        breaks the connection after each N bytes of a file
    drop N K      does so K times
    stall N       sends N bytes of a file, and nothing more while the connection lasts
    norange       sends the whole file whatever the Range
    status S      answers S
Each request is a line of ROOT/log: path, Range or "-", status.
"""

import hashlib
import http.server
import os
import socket
import sys

root = sys.argv[1]
drops = {}  # how many times each rule has broken a connection


def rules_of(path):
    try:
        with open(os.path.join(root, "rules"), encoding="utf-8") as file:
            for line in file:
                begin, rule = line.split(maxsplit=1)
                if path.startswith(begin):
                    yield rule.strip(), line
    except FileNotFoundError:
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, headers, body=b""):
        with open(os.path.join(root, "log"), "a", encoding="utf-8") as file:
            file.write(f"{self.path} {self.headers.get('Range', '-')} {status}\n")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            pass

    def do_GET(self):
        path = self.path.split("?")[0]
        drop, stall, ranges = None, None, True
        for rule, line in rules_of(path):
            word, *numbers = rule.split()
            numbers = [int(number) for number in numbers]
            if word == "status":
                return self.answer(numbers[0], {"Content-Length": "0"})
            if word == "stall":
                stall = numbers[0]
            if word == "norange":
                ranges = False
            if word == "drop" and (len(numbers) < 2 or drops.get(line, 0) < numbers[1]):
                drops[line] = drops.get(line, 0) + 1
                drop = numbers[0]
        if "/resolve/" in path and not path.startswith("/files/"):
            return self.answer(302, {"Location": "/files" + self.path, "Content-Length": "0"})
        try:
            with open(root + path, "rb") as file:
                data = file.read()
        except OSError:
            return self.answer(404, {"Content-Length": "0"})
        tag = '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
        headers = {"ETag": tag}
        asked, status, begin = self.headers.get("Range"), 200, 0
        if asked and ranges and self.headers.get("If-Range", tag) == tag:
            begin = int(asked.removeprefix("bytes=").split("-")[0])
            if begin >= len(data):
                return self.answer(416, {"Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
            status = 206
            headers["Content-Range"] = f"bytes {begin}-{len(data) - 1}/{len(data)}"
        body = data[begin:]
        headers["Content-Length"] = str(len(body))
        if stall is not None and stall < len(body):
            self.answer(status, headers, body[:stall])
            self.connection.recv(1)  # until the other side closes it
            self.close_connection = True
        elif drop is not None and drop < len(body):
            self.answer(status, headers, body[:drop])
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.answer(status, headers, body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
