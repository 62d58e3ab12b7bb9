"""clients_test.py PROGRAM MODEL ...: PROGRAM (nibu-serve) answers the clients of LibreTranslate's interface.

Starts the program with the model (English to German), sends it what these clients send, byte for
byte, and checks the answers as far as each client reads them. Prints a line for each thing that is wrong.
Exit status 77: skipped.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import serve_testing
from serve_testing import (SKIPPED, Answer, Connection, Server, are_texts, attempt, check, error_of, has_keys,
                           is_translated, json_of, short)

DOGS = "Two dogs are playing in the snow."
BOUNDARY = "----WebKitFormBoundaryq7mVkzWcXvP0aT1s"


def is_detected(name, found, language="en"):
    """Checks an object of a language and a confidence in percent."""
    if not has_keys(name, found, "confidence", "language"):
        return
    confidence = found["confidence"]
    check(name, isinstance(confidence, (int, float)) and not isinstance(confidence, bool) and 0 <= confidence <= 100,
          f"the confidence is {confidence!r}")
    check(name, found["language"] == language, f"the language is {found['language']!r}, not {language!r}")


def are_languages(name, found):
    """Checks the answer of /languages: both languages have entries, and en has the target de."""
    if not check(name, isinstance(found, list) and all(isinstance(entry, dict) for entry in found),
                 f"it is no array of objects: {short(found)}"):
        return
    for entry in found:
        check(name, isinstance(entry.get("code"), str) and isinstance(entry.get("name"), str) and entry["name"]
              and isinstance(entry.get("targets"), list) and all(isinstance(code, str) for code in entry["targets"]),
              f"an entry lacks code, name or targets: {short(entry)}")
    targets = {entry.get("code"): entry.get("targets") for entry in found}
    check(name, sorted(targets) == ["de", "en"] and len(found) == 2, f"the codes are {sorted(targets)}")
    check(name, "de" in (targets.get("en") or []), f"the targets of en are {targets.get('en')}")
    check(name, "en" not in (targets.get("de") or []), f"the targets of de are {targets.get('de')}")


# The parts of a post on Mastodon. The markup comes back byte for byte.
MENTION = ('<span class="h-card" translate="no"><a href="https://social.example/@bob" class="u-url mention">'
           '@<span>bob</span></a></span>')
OLD_MENTION = MENTION.replace(' translate="no"', "")
LINK = ('<a href="https://news.example/a-long-path/page?x=1&amp;y=2" target="_blank" rel="nofollow noopener" '
        'translate="no"><span class="invisible">https://</span><span class="ellipsis">news.example/a-long-path</span>'
        '<span class="invisible">/page?x=1&amp;y=2</span></a>')
OLD_LINK = LINK.replace(' translate="no"', "")
EMOJI = '<span translate="no">:blobcat:</span>'


def rails_json(value):
    """JSON as Rails writes it: without blanks, and with <, > and & as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


def mastodon(server):
    def ask(method, target, body=b""):
        length = f"Content-Length: {len(body)}\r\n" if method == "POST" else ""
        with Connection(server.port) as connection:
            connection.send((f"{method} {target} HTTP/1.1\r\n"
                             "User-Agent: Mastodon/4.4.0 (http.rb/5.3.1; +https://social.example/)\r\n"
                             f"Host: {server.host}\r\n"
                             "Content-Type: application/json\r\n"
                             "Accept-Encoding: gzip\r\n"
                             "Connection: close\r\n"
                             f"{length}\r\n").encode() + body)
            answer = connection.read()
            check("Mastodon", connection.nothing_follows(), "there are bytes behind the body")
        return answer

    are_languages("Mastodon, languages", json_of("Mastodon, languages", ask("GET", "/languages"), accepts_gzip=True))
    texts = [f"<p>{MENTION} {DOGS} {LINK} {EMOJI}</p><p>A man is reading a book.<br />He is tired.</p>",
             f"<p>{OLD_MENTION} {DOGS}</p><p>{OLD_LINK} A man is walking two dogs.</p>",
             "Dogs are &lt;not&gt; cats &amp; cats are not dogs",
             "A poll about dogs", "Two dogs on a beach", ":blobcat: 🎉"]
    for source in ("auto", "en"):
        name = f"Mastodon, source {source}"
        body = rails_json({"q": texts, "source": source, "target": "de", "format": "html", "api_key": None})
        found = json_of(name, ask("POST", "/translate", body), accepts_gzip=True)
        keys = ["translatedText", "detectedLanguage"] if source == "auto" else ["translatedText"]
        if not has_keys(name, found, *keys) or not are_texts(name, found["translatedText"], len(texts)):
            continue
        if source == "auto" and check(name, isinstance(found["detectedLanguage"], list)
                                      and len(found["detectedLanguage"]) == len(texts),
                                      f"detectedLanguage is no array of {len(texts)}: {found['detectedLanguage']}"):
            for detected in found["detectedLanguage"]:
                is_detected(name, detected)
        new, old, spoiler, *_ = found["translatedText"]
        is_translated(name, new)
        is_translated(name, old)
        for part in (MENTION, LINK, EMOJI, "<br />"):
            check(name, new.count(part) == 1, f"{part} is not once in {new}")
        for part in (OLD_MENTION, OLD_LINK):
            check(name, old.count(part) == 1, f"{part} is not once in {old}")
        for text in (new, old):
            check(name, text.count("<p>") == 2 and text.count("</p>") == 2 and text.startswith("<p>")
                  and text.endswith("</p>"), f"the paragraphs have changed: {text}")
        check(name, not re.search("[<>]", spoiler), f"an entity has become markup: {spoiler!r}")
        check(name, found["translatedText"][-1] == texts[-1], f"emoji became {found['translatedText'][-1]!r}")


def weblate(server):
    fields = {"User_Agent": "Weblate/5.17", "Accept_Encoding": "gzip, deflate", "Accept": "*/*",
              "Connection": "keep-alive"}
    texts = [f"There are {number} dogs in %(count)s files of {{0}}." for number in range(20)]
    with Connection(server.port) as connection:
        connection.send(server.request("GET", "/languages", **fields))
        are_languages("Weblate, languages", json_of("Weblate, languages", connection.read(), accepts_gzip=True))
        for name, q in (("Weblate, array", texts), ("Weblate, array of one", texts[:1]), ("Weblate, string", texts[0])):
            body = json.dumps({"api_key": "", "q": q, "source": "en", "target": "de"}).encode()
            connection.send(server.request("POST", "/translate", body, Content_Type="application/json", **fields))
            found = json_of(name, connection.read(), accepts_gzip=True)
            if not has_keys(name, found, "translatedText"):
                continue
            translated = found["translatedText"]
            if isinstance(q, str):
                translated = [translated]
                q = [q]
            if are_texts(name, translated, len(q)):
                for text in translated:
                    check(name, "%(count)s" in text and "{0}" in text, f"a placeholder is missing: {text!r}")


def discourse(server):
    def ask(path, **form):
        body = urllib.parse.urlencode(form).encode()
        return server.once(server.request("POST", path, body, User_Agent="Discourse/3.6.0", Accept="*/*",
                                          Content_Type="application/x-www-form-urlencoded"))

    code = "".join(f"[{number:05}] &lt;worker&gt; request finished, status 200 + 0 retries\n" for number in range(1100))
    paragraphs = "".join(f"<p>A man with {number} dogs is walking through <b>the park</b>.</p>\n"
                         for number in range(400))
    # By default a text may have 100,000 characters. The form, which has escapes, has more bytes.
    post = f"{paragraphs}<pre><code>{code}</code></pre>\n<p>{DOGS}</p>"
    name = "Discourse, /detect"
    found = json_of(name, ask("/detect", q=DOGS, api_key=""))
    if check(name, isinstance(found, list) and len(found) >= 1, f"it is no array: {short(found)}"):
        is_detected(name, found[0])
    found = json_of(name, ask("/detect", q="Zwei Hunde spielen zusammen im Schnee.", api_key=""))
    if check(name, isinstance(found, list) and len(found) >= 1, f"it is no array: {short(found)}"):
        is_detected(name, found[0], "de")
    name = "Discourse, languages"
    are_languages(name, json_of(name, server.once(server.request("GET", "/languages", User_Agent="Discourse/3.6.0"))))
    name = "Discourse, /translate"
    found = json_of(name, ask("/translate", q=post, source="en", target="de", format="html", api_key=""))
    if has_keys(name, found, "translatedText") and is_translated(name, found["translatedText"]):
        text = found["translatedText"]
        check(name, code in text, "the code has changed")
        check(name, text.count("<p>") == 401 and text.count("</p>") == 401, "the paragraphs have changed")


def libretranslatepy(server):
    def ask(path, method=None, **form):
        request = urllib.request.Request(server.url + path, urllib.parse.urlencode(form).encode(), method=method)
        try:
            with urllib.request.urlopen(request, timeout=serve_testing.ANSWER_LIMIT) as response:
                return Answer(response.status, fields_of(response), response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, fields_of(error), error.read())

    def fields_of(response):
        return {key.lower(): response.headers.get_all(key) for key in response.headers}

    name = "libretranslatepy, translate"
    found = json_of(name, ask("translate", q=DOGS, source="en", target="de"))
    if has_keys(name, found, "translatedText"):
        is_translated(name, found["translatedText"])
    name = "libretranslatepy, detect"
    found = json_of(name, ask("detect", q=DOGS))
    if check(name, isinstance(found, list) and len(found) >= 1, f"it is no array: {short(found)}"):
        is_detected(name, found[0])
    name = "libretranslatepy, languages"
    are_languages(name, json_of(name, ask("languages", method="GET")))
    are_languages(name, json_of(name, ask("languages", method="GET", api_key="key")))
    # The body of a GET is not taken for the next request.
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    with Connection(server.port) as connection:
        connection.send(server.request("GET", "/languages", b"api_key=key", **form)
                        + server.request("GET", "/languages", b"", **form) + server.request("GET", "/health"))
        are_languages(name, json_of(name, connection.read()))
        are_languages(name, json_of(name, connection.read()))
        check(name, json_of(name, connection.read()) == {"status": "ok"}, "/health behind a body is not answered")


def multipart(boundary=BOUNDARY, **form):
    parts = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
                    for key, value in form.items())
    return f"{parts}--{boundary}--\r\n".encode()


def own_page(server):
    """The page of LibreTranslate itself, in a browser."""
    browser = {"Connection": "keep-alive", "User_Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
               "Accept": "*/*", "Origin": f"http://{server.host}", "Sec_Fetch_Site": "same-origin",
               "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty", "Referer": server.url,
               "Accept_Encoding": "gzip, deflate, br, zstd", "Accept_Language": "en-US,en;q=0.9"}
    with Connection(server.port) as connection:
        name = "page, /frontend/settings"
        connection.send(server.request("GET", "/frontend/settings", **browser))
        found = json_of(name, connection.read(), accepts_gzip=True)
        if check(name, isinstance(found, dict), f"it is no object: {short(found)}"):
            for key, kind in (("charLimit", int), ("frontendTimeout", int), ("apiKeys", bool), ("keyRequired", bool),
                              ("supportedFilesFormat", list), ("suggestions", bool), ("filesTranslation", bool)):
                check(name, type(found.get(key)) is kind, f"{key} is {found.get(key)!r}")
            check(name, not found.get("suggestions") and found.get("filesTranslation")
                  and found.get("supportedFilesFormat") == [".txt", ".html", ".srt"],
                  "suggestions are on, or filesTranslation is off")
            language = found.get("language")
            for side, codes in (("source", ("auto", "en")), ("target", ("de",))):
                value = language.get(side) if isinstance(language, dict) else None
                check(name, isinstance(value, dict) and value.get("code") in codes
                      and isinstance(value.get("name"), str), f"language.{side} is {value!r}")
        name = "page, languages"
        connection.send(server.request("GET", "/languages", **browser))
        are_languages(name, json_of(name, connection.read(), accepts_gzip=True))
        for source in ("auto", "en"):
            name = f"page, source {source}"
            body = multipart(q="Two dogs are\nplaying in the snow — together.", source=source, target="de",
                             format="text", alternatives="3", api_key="")
            connection.send(server.request("POST", "/translate", body, **browser,
                                           Content_Type=f"multipart/form-data; boundary={BOUNDARY}"))
            found = json_of(name, connection.read(), accepts_gzip=True)
            keys = ["translatedText", "alternatives"] + (["detectedLanguage"] if source == "auto" else [])
            if not has_keys(name, found, *keys):
                continue
            text = found["translatedText"]
            is_translated(name, text)
            others = found["alternatives"]
            if check(name, isinstance(others, list) and all(isinstance(other, str) for other in others),
                     f"alternatives is no array of texts: {short(others)}"):
                check(name, len(others) <= 3 and len({text, *others}) == 1 + len(others),
                      f"there are too many alternatives to {text!r}, or equal ones: {others}")
            if source == "auto":
                is_detected(name, found["detectedLanguage"])


def container_check(server):
    name = "container check"
    answer = server.once(server.request(
        "GET", "/health", b"{}", User_Agent="python-requests/2.32.3", Accept_Encoding="gzip, deflate", Accept="*/*",
        Connection="keep-alive", Content_Type="application/json"))
    found = json_of(name, answer, accepts_gzip=True)
    check(name, found == {"status": "ok"}, f"it is not {{\"status\": \"ok\"}}: {short(found)}")


def single_strings(server):
    """Plugins and browser extensions, which send one text in each request."""
    def ask(name, keys=("translatedText",), **members):
        body = json.dumps({"q": DOGS, "source": "en", "target": "de"} | members, ensure_ascii=False).encode()
        found = json_of(name, server.once(server.request(
            "POST", "/translate", body, Accept="application/json", Origin="https://page.example",
            Content_Type="application/json; charset=UTF-8")))
        return found if has_keys(name, found, *keys) else {"translatedText": "", "detectedLanguage": {}}

    is_translated("string", ask("string")["translatedText"])
    is_translated("string, format text", ask("string, format text", format="text", api_key="")["translatedText"])
    is_translated("string, capitals", ask("string, capitals", source="EN", target="DE")["translatedText"])
    name = "string, source auto"
    found = ask(name, ("translatedText", "detectedLanguage"), source="auto", format="text", alternatives=0)
    is_translated(name, found["translatedText"])
    is_detected(name, found["detectedLanguage"])
    name = "string, html"
    text = ask(name, q=f"<b>{DOGS}</b>", format="html")["translatedText"]
    check(name, is_translated(name, text) and text.startswith("<b>") and text.endswith("</b>"), f"it is {text!r}")

    for text in (" ", " \n\t ", "👍", "👍 🎉\n❤️"):
        name = f"unchanged: {text!r}"
        found = ask(name, ("translatedText", "detectedLanguage"), q=text, source="auto")
        check(name, found["translatedText"] == text, f"it became {found['translatedText']!r}")
        is_detected(name, found["detectedLanguage"])
        check(name, found["detectedLanguage"].get("confidence") == 0, f"it is detected as {found['detectedLanguage']}")
        found = ask(name, q=text)
        check(name, found["translatedText"] == text, f"from en it became {found['translatedText']!r}")
    name = "array with blanks"
    texts = ask(name, q=["", " ", DOGS, "🎉"])["translatedText"]
    if are_texts(name, texts, 4):
        check(name, texts[:2] + texts[3:] == ["", " ", "🎉"], f"blanks or emoji have changed: {texts}")
        is_translated(name, texts[2])
    for code in ("en", "de"):
        name = f"{code} to {code}"
        text = "Two  dogs &amp; one <b>Hund</b>.\n\nEnd. "
        for form in ("text", "html"):
            found = ask(name, q=[text, DOGS], source=code, target=code, format=form)
            check(name, found["translatedText"] == [text, DOGS], f"the texts have changed: {found['translatedText']}")

    name = "form and query together"
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    answer = server.once(server.request("POST", "/translate?source=en&target=de", b"q=Two+dogs.", **form))
    found = json_of(name, answer)
    if has_keys(name, found, "translatedText"):
        is_translated(name, found["translatedText"])


def careless(server):
    """Base addresses that end in a slash, JSON without its content type, and lists in forms."""
    body = json.dumps({"q": DOGS, "source": "en", "target": "de"}).encode()
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    for path in ("//translate", "/translate/", "///translate//?x=y"):
        for fields in (form, {"Content_Type": "text/plain"}, {}):
            name = f"{path} with {fields}"
            found = json_of(name, server.once(server.request("POST", path, body, **fields)))
            if has_keys(name, found, "translatedText"):
                is_translated(name, found["translatedText"])
    error_of("two texts in a form", server.once(server.request(
        "POST", "/translate", b"q=Two+dogs.&q=A+cat.&source=en&target=de", **form)), 400,
             "Invalid request: q parameter is there twice; a list of texts needs JSON")
    name = "half of a surrogate pair"
    answer = server.once(server.request("POST", "/translate", body.replace(b"Two dogs", b"\\ud83d"),
                                        Content_Type="application/json"))
    found = json_of(name, answer, 400)
    if has_keys(name, found, "error"):
        check(name, '"q"' in found["error"], f"the error does not name q: {found['error']!r}")
    name = "a short text"
    body = json.dumps({"q": ["Hello", DOGS], "source": "auto", "target": "de"}).encode()
    found = json_of(name, server.once(server.request("POST", "/translate", body)))
    if has_keys(name, found, "translatedText", "detectedLanguage"):
        for detected in found["detectedLanguage"]:
            is_detected(name, detected)


def cors(server):
    name = "preflight"
    answer = server.once(server.request(
        "OPTIONS", "/translate", Origin="https://page.example", Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="authorization,content-type", Accept="*/*"))
    check(name, answer.status in (200, 204), f"the status is {answer.status}")
    check(name, answer.field("access-control-allow-origin") == "*",
          f"Access-Control-Allow-Origin is {answer.field('access-control-allow-origin')!r}")
    for field, wanted in (("access-control-allow-methods", {"get", "post"}),
                          ("access-control-allow-headers", {"authorization", "content-type"})):
        words = {word.strip().lower() for word in answer.field(field).split(",")}
        check(name, wanted <= words, f"{field} is {answer.field(field)!r}")


def errors(server):
    def ask(body, path="/translate", content_type="application/json"):
        return server.once(server.request("POST", path, body, Content_Type=content_type))

    whole = {"q": "Two dogs.", "source": "en", "target": "de"}

    def missing(key):
        return f"Invalid request: missing {key} parameter"

    no_number = "Invalid request: alternatives parameter is not a number"
    cases = [
        ({}, missing("q")),
        ({"source": "en", "target": "de"}, missing("q")),
        ({"q": "Two dogs."}, missing("source")),
        ({"q": "Two dogs.", "target": "de", "alternatives": "x"}, missing("source")),
        ({"q": "Two dogs.", "source": "en", "format": "x"}, missing("target")),
        (whole | {"q": None}, missing("q")),
        (whole | {"q": []}, missing("q")),
        (whole | {"q": ""}, missing("q")),
        (whole | {"source": "zz"}, "zz is not supported"),
        (whole | {"target": "ZZ"}, "zz is not supported"),
        (whole | {"source": "zz", "format": "x"}, "zz is not supported"),
        (whole | {"format": "x"}, "x format is not supported"),
        (whole | {"alternatives": "x"}, no_number),
        (whole | {"source": "zz", "alternatives": "x"}, no_number),
        # The model has no such pair. LibreTranslate's server fails for the others (500).
        (whole | {"source": "de", "target": "en"}, None),
        (whole | {"q": 5}, None),
        (whole | {"q": {"text": "Two dogs."}}, None),
        (whole | {"q": ["Two dogs.", 5]}, None),
        (whole | {"source": 5}, None),
        (whole | {"target": ["de"]}, None),
        (whole | {"format": 5}, None),
    ]
    for body, text in cases:
        error_of(f"error of {json.dumps(body)}", ask(json.dumps(body).encode()), 400, text)
    for body in (b"", b"{", b"q=Two+dogs.", b'{"q": "\xff"}'):
        error_of(f"error of no JSON, {short(body)}", ask(body), 400, "Invalid JSON format")
    deep = b'{"q": ' + b"[" * 100_000
    error_of("error of deep JSON", ask(deep), 400)
    error_of("error of deep JSON", ask(deep + b"]" * 100_000 + b', "source": "en", "target": "de"}'), 400)
    for body in (b"[]", b'["q"]', b'"q"', b"5", b"null"):
        error_of(f"error of JSON that is no object, {body}", ask(body), 400, "Invalid JSON format")
    form = "application/x-www-form-urlencoded"
    error_of("error of an empty form", ask(b"", content_type=form), 400, missing("q"))
    error_of("error of a form", ask(b"q=Two+dogs.&target=de", content_type=form), 400, missing("source"))
    error_of("error of a form's alternatives",
             ask(b"q=Two+dogs.&source=en&target=de&alternatives=x", content_type=form), 400, no_number)
    parts = f"multipart/form-data; boundary={BOUNDARY}"
    error_of("error of multipart", ask(multipart(source="en"), content_type=parts), 400, missing("q"))
    error_of("error of broken multipart", ask(multipart("other", **whole), content_type=parts), 400)
    error_of("error of /detect", ask(b"{}", "/detect"), 400, missing("q"))
    error_of("error of no body", server.once(server.request("POST", "/translate", b"")), 400, missing("q"))

    for path, text in (("/suggest", "Suggestions are disabled on this server."),
                       ("/translate_file", "Files translation are disabled on this server.")):
        error_of(f"error of {path}", ask(multipart(q="a"), path, parts), 403, text)
    for method, path in (("PUT", "/translate"), ("DELETE", "/languages"), ("POST", "/health")):
        name = f"{method} {path}"
        answer = server.once(server.request(method, path, b""))
        error_of(name, answer, 405)
        check(name, answer.field("allow"), "the answer has no field Allow")
    for method, path in (("GET", "/no/such/path"), ("POST", "/no/such/path"), ("GET", "/Languages")):
        error_of(f"{method} {path}", server.once(server.request(method, path, b"" if method == "POST" else None)), 404)
    name = "after all errors"
    found = json_of(name, ask(json.dumps(whole).encode()))
    if has_keys(name, found, "translatedText"):
        is_translated(name, found["translatedText"])


def all_clients(program, model):
    server = Server(program, f"--model={model}")
    try:
        server.wait_until_ready()
        for client in (mastodon, weblate, discourse, libretranslatepy, own_page, container_check, single_strings,
                       careless, cors, errors):
            attempt(client.__name__, client, server)
        if not check("server", server.process.poll() is None, f"it has ended: {server.process.returncode}"):
            print(server.errors())
        server.process.send_signal(signal.SIGTERM)
        status = server.process.wait(serve_testing.END_LIMIT)
        check("server", status == 0, f"the exit status is {status}")
    finally:
        server.kill()


def main():
    if len(sys.argv) < 3 or not os.access(sys.argv[1], os.X_OK):
        print(f"skipped: there is no program to start: {' '.join(sys.argv[1:])}")
        return SKIPPED
    program, model = (os.path.abspath(path) for path in sys.argv[1:3])
    attempt("server", lambda _: all_clients(program, model), None)
    if serve_testing.failures:
        print(f"{len(serve_testing.failures)} failures")
    return 1 if serve_testing.failures else 0


if __name__ == "__main__":
    sys.exit(main())
