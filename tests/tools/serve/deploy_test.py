"""deploy_test.py PROGRAM MODEL DEPLOY: the files of the folder DEPLOY run PROGRAM (nibu-serve), which translates with MODEL.

Each proxy is the real one, with the file's ports and certificates replaced by those of the test. Prints a line for each
thing that is wrong, and for each program that is missing, with which the exit status is 77: skipped.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import serve_testing
from serve_testing import SKIPPED, Connection, Server, attempt, check

NEEDED = ("haproxy", "nginx", "caddy", "openssl", "systemd-analyze")
TEXT = "A man is riding a bicycle."
TRANSLATION = "Ein Mann fährt Fahrrad."
# The most that `systemd-analyze security` may count: "OK" begins below 2, and a unit without protection has 9.6.
MOST_EXPOSURE = 1.5


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def ask(url, path="translate", **parameters):
    """Returns the status and body of an answer; the parameters make it a POST request."""
    body = json.dumps({"source": "en", "target": "de", **parameters}).encode() if parameters else None
    request = urllib.request.Request(url + path, body, {"Content-Type": "application/json"})
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the certificate is the test's own
    try:
        with urllib.request.urlopen(request, timeout=serve_testing.ANSWER_LIMIT, context=context) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Proxy:
    """A proxy that runs with a file of DEPLOY, in which texts are replaced."""

    def __init__(self, folder, file, replaced, command):
        text = pathlib.Path(file).read_text(encoding="utf-8")
        for old, new in replaced.items():
            if old not in text:
                raise ValueError(f"{file} has no {old!r}")
            text = text.replace(old, new)
        self.file = pathlib.Path(folder, os.path.basename(file))
        self.file.write_text(text, encoding="utf-8")
        self.log = pathlib.Path(folder, "log")
        self.log_file = self.log.open("wb")
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            command(str(self.file)), stdout=self.log_file, stderr=self.log_file, cwd=folder,
            env={**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder})

    def wait_until_ready(self, url):
        end = time.monotonic() + serve_testing.START_LIMIT
        while True:
            try:
                if ask(url, "ready")[0] == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > end or self.process.poll() is not None:
                raise ValueError(f"it does not answer: {self.log.read_text(errors='replace')[-1000:]}")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log_file.close()


def certificate(folder):
    """Makes a certificate, and a file that has its key, too."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"], check=True,
                   stderr=subprocess.DEVNULL)
    both = pathlib.Path(f"{folder}/cert.pem").read_text() + pathlib.Path(f"{folder}/key.pem").read_text()
    pathlib.Path(f"{folder}/both.pem").write_text(both)


def nginx_command(folder):
    """nginx reads a whole configuration, in which files of sites-available are included."""
    def command(file):
        whole = pathlib.Path(folder, "whole.conf")
        whole.write_text(f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
                         f"http {{ access_log off; client_body_temp_path {folder}/body; "
                         f"proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; "
                         f"scgi_temp_path {folder}/s; include {file}; }}\n")
        return ["nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", str(whole)]
    return command


def through_a_proxy(name, url, proxy):
    proxy.wait_until_ready(url)
    status, body = ask(url, q=TEXT)
    check(name, status == 200 and json.loads(body)["translatedText"] == TRANSLATION, f"{status}: {body}")
    check(name, ask(url, "metrics")[0] == 200, "/metrics is not answered on this machine")


def refuses_long_bodies(name, port):
    """A proxy may answer, and take no more, before it has the whole body."""
    body = b"A dog runs. " * 400_000
    with Connection(port) as connection:
        try:
            connection.send(f"POST /translate HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                            f"Content-Length: {len(body)}\r\n\r\n".encode())
            connection.send(body)
        except OSError:
            pass
        answer = connection.read()
    check(name, answer.status == 413, f"a body that is too long gets {answer.status}")


def proxies(program, model, deploy):
    """Each proxy in front of one server."""
    with tempfile.TemporaryDirectory() as folder:
        certificate(folder)
        server = Server(program, f"--model={model}", "--trusted_proxies=127.0.0.1")
        try:
            server.wait_until_ready()
            plain, secure = free_port(), free_port()
            with Proxy(folder, f"{deploy}/nginx.conf",
                       {"127.0.0.1:5000": server.host, "listen 80": f"listen 127.0.0.1:{plain}",
                        "listen 443": f"listen 127.0.0.1:{secure}", "/etc/ssl/nibu": folder},
                       nginx_command(folder)) as proxy:
                through_a_proxy("nginx", f"http://127.0.0.1:{plain}/", proxy)
                refuses_long_bodies("nginx", plain)
                through_a_proxy("nginx, TLS", f"https://127.0.0.1:{secure}/", proxy)
            plain = free_port()
            with Proxy(folder, f"{deploy}/Caddyfile",
                       {"127.0.0.1:5000": server.host, "\n:80 {": f"\n{{\n\tadmin off\n}}\nhttp://127.0.0.1:{plain} {{"},
                       lambda file: ["caddy", "run", "--config", file, "--adapter", "caddyfile"]) as proxy:
                through_a_proxy("Caddy", f"http://127.0.0.1:{plain}/", proxy)
                refuses_long_bodies("Caddy", plain)
        finally:
            server.kill()


def failover(program, model, deploy):
    """HAProxy in front of three servers, of which one is killed and one is restarted under load."""
    name = "HAProxy"
    ports = [free_port() for _ in range(3)]
    flags = (f"--model={model}", "--trusted_proxies=127.0.0.1", "--drain_seconds=3", "--threads=1", "--nolog_requests")

    def start(port):
        server = Server(program, f"--port={port}", *flags)
        server.wait_until_ready()
        return server

    servers = [start(port) for port in ports]
    plain, secure = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        certificate(folder)
        url = f"http://127.0.0.1:{plain}/"
        is_over = threading.Event()
        answers = []

        def ask_on(client):
            index = 0
            while not is_over.is_set():
                index += 1
                text = f"A man with {client * 100000 + index} dogs is walking through the park."
                try:
                    status, body = ask(url, q=text)
                    found = json.loads(body).get("translatedText", "")
                    is_right = status == 200 and str(client * 100000 + index) in found
                    answers.append("" if is_right else f"{status}: {body[:200]}")
                except OSError as error:
                    answers.append(str(error))

        try:
            with Proxy(folder, f"{deploy}/haproxy.cfg",
                       {"bind :80": f"bind 127.0.0.1:{plain}", "bind :443": f"bind 127.0.0.1:{secure}",
                        "/etc/haproxy/nibu/cert.pem": f"{folder}/both.pem",
                        **{f"127.0.0.1:500{i + 1}": f"127.0.0.1:{port}" for i, port in enumerate(ports)}},
                       lambda file: ["haproxy", "-db", "-f", file]) as proxy:
                through_a_proxy(name, url, proxy)
                refuses_long_bodies(name, plain)
                through_a_proxy(f"{name}, TLS", f"https://127.0.0.1:{secure}/", proxy)
                threads = [threading.Thread(target=ask_on, args=(client,)) for client in range(1, 9)]
                for thread in threads:
                    thread.start()
                time.sleep(1)
                servers[0].kill()
                time.sleep(2)
                check(name, servers[1].process.poll() is None, f"a server has ended: {servers[1].errors()}")
                servers[1].process.send_signal(signal.SIGTERM)
                status = servers[1].process.wait(serve_testing.END_LIMIT)
                check(name, status == 0, f"a server that was asked to end has status {status}")
                servers[1] = start(ports[1])
                servers[0] = start(ports[0])
                time.sleep(2)
                # The last one that ran all the time ends, too: the restarted ones must have taken over.
                servers[2].process.send_signal(signal.SIGTERM)
                servers[2].process.wait(serve_testing.END_LIMIT)
                time.sleep(1)
                is_over.set()
                for thread in threads:
                    thread.join()
        finally:
            is_over.set()
            for server in servers:
                server.kill()
    wrong = [answer for answer in answers if answer]
    check(name, len(answers) > 100, f"only {len(answers)} requests were answered")
    check(name, not wrong, f"{len(wrong)} of {len(answers)} requests were lost, the first by {wrong[:1]}")
    print(f"HAProxy: {len(answers)} requests, of which {len(wrong)} were lost")


def unit(program, deploy):
    name = "systemd"
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(deploy, "nibu-serve.service").read_text(encoding="utf-8")
        path = pathlib.Path(folder, "nibu-serve.service")
        path.write_text(text.replace("/usr/bin/nibu-serve", program), encoding="utf-8")
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", str(path)], stderr=subprocess.STDOUT,
                                  stdout=subprocess.PIPE, check=False, text=True)
        wrong = [line for line in verified.stdout.splitlines() if "nibu" in line]
        check(name, verified.returncode == 0 and not wrong, verified.stdout)
        found = subprocess.run(["systemd-analyze", "security", "--offline=true", str(path)], stdout=subprocess.PIPE,
                               check=True, text=True).stdout
        exposure = re.search(r"Overall exposure level for \S+ ([0-9.]+)", found.replace(":", ""))
        check(name, exposure is not None and float(exposure[1]) <= MOST_EXPOSURE, found[-500:])


def main():
    program, model, deploy = sys.argv[1:]
    os.environ["PATH"] += ":/usr/sbin"
    missing = [needed for needed in NEEDED if shutil.which(needed) is None]
    if missing:
        print(f"skipped: install {', '.join(missing)}")
        return SKIPPED
    attempt("systemd", lambda _: unit(program, deploy), None)
    attempt("proxies", lambda _: proxies(program, model, deploy), None)
    attempt("HAProxy", lambda _: failover(program, model, deploy), None)
    return 1 if serve_testing.failures else 0


if __name__ == "__main__":
    sys.exit(main())
