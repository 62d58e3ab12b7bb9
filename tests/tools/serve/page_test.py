"""page_test.py PROGRAM MODEL [PICTURES]: the pages of PROGRAM (nibu-serve) in headless Chromium, and without JavaScript.

Chromium is driven over its DevTools protocol, with a pointer, keys and files. With a folder PICTURES, screenshots are
written into it. Prints a line for each thing that is wrong. Exit status 77: skipped.
"""

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import serve_testing
from serve_testing import SKIPPED, Server, WebSocket, attempt, check, short

LIMIT = 60
SUBTITLES = "1\n00:00:01,000 --> 00:00:02,000\nA man is riding a bicycle.\n"


class Page:
    """A page of Chromium, which is started with it."""

    request = Server.request

    def __init__(self, chromium, folder):
        profile = os.path.join(folder, "profile")
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = os.path.join(profile, "DevToolsActivePort")
        self.wait(lambda: os.path.exists(found) and open(found, encoding="ascii").read().count("\n") == 1, "Chromium")
        with open(found, encoding="ascii") as file:
            port, path = file.read().split("\n")
        self.port, self.host = int(port), f"127.0.0.1:{port}"
        self.socket = WebSocket("Chromium", self, path)
        self.numbers = itertools.count(1)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def close(self):
        self.process.kill()
        self.process.wait()

    def wait(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                raise ValueError(f"not within {LIMIT} seconds: {what}")
            time.sleep(0.02)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.read()[1])
            if answer.get("id") == number:
                if "error" in answer:
                    raise ValueError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise ValueError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(lambda: self.value(f"location.href === {json.dumps(url)} && document.readyState") == "complete", url)

    def wait_for(self, expression):
        self.wait(lambda: self.value(expression), expression)

    def point_at(self, selector):
        """Moves the pointer onto an element."""
        x, y = self.value("(() => { const element = document.querySelector(%s); element.scrollIntoView();"
                          "const box = element.getBoundingClientRect();"
                          "return [box.x + box.width / 2, box.y + box.height / 2]; })()" % json.dumps(selector))
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def choose_file(self, path):
        node = self.call("Runtime.evaluate", expression="document.getElementById('file')")["result"]["objectId"]
        self.call("DOM.setFileInputFiles", files=[path], objectId=node)

    def names(self):
        """What a screen reader says: the roles and names of all that can be reached, in order."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]

    def picture(self, folder, name, width, is_dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        check(name, self.value("document.documentElement.scrollWidth <= innerWidth"), f"it is wider than {width} pixels")
        if folder:
            data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            with open(os.path.join(folder, f"{name}-{width}.png"), "wb") as file:
                file.write(base64.b64decode(data))


def lit(page, place):
    return page.value(f"[...document.querySelectorAll('{place} .lit')].map(each => each.textContent)")


def translation(page, server, pictures):
    name = "the page"
    query = urllib.parse.urlencode({"q": "A man is riding a bicycle.\n<b>", "source": "en", "target": "de"})
    page.open(f"{server.url}?{query}")
    page.wait_for("document.querySelectorAll('#output p').length === 2")
    check(name, "Fahrrad." in page.value("document.getElementById('output').innerText"), "it does not translate")
    check(name, page.value("document.querySelector('#output b')") is None, "a text has become a tag")
    check(name, "German" in page.value("document.getElementById('target').innerText"), "languages have no names")
    # The pointer on a word lights it up, with the words that belong to it; so does a key.
    page.point_at("#output .word:last-child")
    page.wait_for("document.querySelectorAll('#words_source .lit').length > 0")
    check(name, lit(page, "#output") == ["Fahrrad."] and "bicycle." in lit(page, "#words_source"),
          f"these light up: {lit(page, '#output')} {lit(page, '#words_source')}")
    page.point_at("#words_source .word:nth-child(2)")
    page.wait_for("[...document.querySelectorAll('#output .lit')].some(each => each.textContent === 'Mann')")
    page.point_at("h1")
    page.wait_for("document.querySelectorAll('.lit').length === 0")
    page.value("document.querySelector('#output p').focus()")
    page.press("ArrowRight")
    page.wait_for("document.querySelectorAll('#words_source .lit').length > 0")
    check(name, lit(page, "#output") == ["Ein"], f"by key these light up: {lit(page, '#output')}")
    said = page.value("document.getElementById('said').textContent")
    check(name, said == "Ein: A", f"a screen reader says {said!r}")
    for width, is_dark in itertools.product((1200, 360), (False, True)):
        page.picture(pictures, "dark" if is_dark else "light", width, is_dark)


def alternatives(page, server):
    name = "alternatives"
    page.open(f"{server.url}?q=A%20dog%20runs.&source=en&target=de")
    page.wait_for("document.querySelector('#alternatives button') !== null")
    other = page.value("document.querySelector('#alternatives button').textContent")
    page.value("document.querySelector('#alternatives button').click()")
    found = page.value("document.getElementById('output').innerText")
    check(name, found == other, f"{short(other)} was chosen, {short(found)} is shown")


def accessibility(page, server):
    """Each thing that can be operated or read has a role and a name."""
    name = "names for screen readers"
    page.open(f"{server.url}?q=A%20dog%20runs.&source=en&target=de")
    page.wait_for("document.querySelector('#alternatives button') !== null")
    names = page.names()
    for wanted in (("combobox", "From"), ("combobox", "into"), ("button", "Swap languages"), ("button", "Translate"),
                   ("textbox", "Text"), ("region", "Translation"), ("button", "Copy"), ("heading", "Translation"),
                   ("heading", "Other translations"), ("alert", ""), ("link", "Interface")):
        check(name, wanted in names, f"there is no {wanted}")
    for role, text in names:
        if role in ("button", "combobox", "link", "textbox", "progressbar", "heading", "region"):
            check(name, text, f"a {role} has no name")
    check(name, page.value("document.getElementById('output').getAttribute('aria-live')") == "polite", "it is not said")
    check(name, page.value("document.getElementById('output').lang") == "de", "the voice has the wrong language")


def files(page, server, folder):
    name = "files"
    for file, text, wanted in (("a.srt", SUBTITLES, "1\n00:00:01,000 --> 00:00:02,000\nEin Mann fährt Fahrrad.\n"),
                               ("a.html", "<p>A <b>man</b> is riding a bicycle.</p>", "<b>Mann</b>"),
                               ("a.txt", "A man is riding a bicycle.\n", "Ein Mann fährt Fahrrad.")):
        page.open(f"{server.url}?source=en&target=de")
        page.wait_for("document.querySelectorAll('#target option').length > 0")
        path = os.path.join(folder, file)
        with open(path, "w", encoding="utf-8") as output:
            output.write(text)
        page.choose_file(path)
        page.wait_for("!document.getElementById('save').hidden || document.getElementById('error').textContent")
        found = page.value("saved && saved.text") or page.value("document.getElementById('error').textContent")
        check(name, wanted in found, f"{file}: {short(found)}")
        check(name, page.value("saved && saved.name") == file.replace(".", ".de."), f"{file} gets another name")
    path = os.path.join(folder, "a.pdf")
    shutil.copy(os.path.join(folder, "a.txt"), path)
    page.choose_file(path)
    page.wait_for("document.getElementById('error').textContent.includes('a.pdf')")


def reference(page, server, folder, pictures):
    """The reference has every path, and the errors that clients meet."""
    name = "/docs"
    page.open(f"{server.url}docs")
    page.wait_for("document.body.innerText.includes('GET /ready')")
    text = page.value("document.body.innerText")
    for wanted in ("POST /translate", "GET /languages", "POST /align", f"'{server.url}languages", "413", "415", "431"):
        check(name, wanted in text, f"there is no {wanted}")
    page.picture(pictures, "docs", 1200, False)
    # The examples can be run as they are, but for names in capitals, which must be replaced.
    with open(os.path.join(folder, "letter.txt"), "w", encoding="utf-8") as file:
        file.write("A dog runs.\n")
    refused = {"/suggest": 403, "/v2/document": 400}
    for command in page.value("[...document.querySelectorAll('pre')].map(each => each.textContent)"):
        done = subprocess.run(["bash", "-c", command.replace("curl ", "curl -s -o answer -w '%{http_code}' ", 1)], cwd=folder,
                              stdout=subprocess.PIPE, check=False, text=True)
        path = re.search(r"'http://[^/]*/mt([^?']*)[^']*'$", command)[1]
        wanted = 404 if re.search("/(ID|NAME)", path) else refused.get(path)
        is_right = done.stdout == str(wanted) if wanted else done.stdout in ("200", "201")
        check(name, is_right, f"{command} has the status {done.stdout}")


def without_javascript(server):
    """The server fills the page. What stands in a text never becomes a tag or a mark of the page."""
    name = "the form"

    def form(text, target):
        body = urllib.parse.urlencode({"q": text, "source": "en", "target": target}).encode()
        return server.once(server.request("POST", f"{server.prefix}/page", body,
                                          Content_Type="application/x-www-form-urlencoded")).body.decode()

    page = form("\nA man is riding a bicycle. </textarea><script>{{error}}", "de")
    for wanted in ("Ein Mann fährt Fahrrad.", "bicycle. &lt;/textarea&gt;&lt;script&gt;{{error}}"):
        check(name, wanted in page, f"there is no {wanted}")
    check(name, "<script>" not in page, "a text has become a tag")
    page = form("A dog.", "xx")
    check(name, "xx is not supported</p>" in page and page.startswith("<!DOCTYPE html>"), f"the error is {short(page)}")
    name = "what is loaded"
    for path in ("", "docs", "page_style.css", "page_program.js", "docs_program.js"):
        body = server.once(server.request("GET", f"{server.prefix}/{path}")).body.decode()
        check(name, "://" not in body.replace("http://www.w3.org", ""), f"/{path} names another place")
        # All that a page names is found beside it, whatever stands in front of its path.
        for link in re.findall(r'(?:href|src|action)="([^"]*)"', body):
            check(name, not link.startswith("/"), f"/{path} names {link}")


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or shutil.which("curl") is None or len(sys.argv) < 3 or not os.access(sys.argv[1], os.X_OK):
        print("skipped: there is no chromium or curl, or no program to start")
        return SKIPPED
    program, model = (os.path.abspath(path) for path in sys.argv[1:3])
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # A prefix changes nothing, since all links are relative.
        glossaries = os.path.join(folder, "glossaries")
        os.mkdir(glossaries)
        server = Server(program, f"--model={model}", "--url_prefix=/mt/", f"--glossaries={glossaries}")
        server.prefix = "/mt"
        page = None
        try:
            server.wait_until_ready()
            server.url += "mt/"
            page = Page(chromium, folder)
            attempt("the page", lambda _: translation(page, server, pictures), None)
            attempt("alternatives", lambda _: alternatives(page, server), None)
            attempt("names", lambda _: accessibility(page, server), None)
            attempt("files", lambda _: files(page, server, folder), None)
            attempt("/docs", lambda _: reference(page, server, folder, pictures), None)
            attempt("the form", without_javascript, server)
            if serve_testing.failures:
                print(server.errors())
        finally:
            server.kill()
            if page is not None:
                page.close()
    return 1 if serve_testing.failures else 0


if __name__ == "__main__":
    sys.exit(main())
