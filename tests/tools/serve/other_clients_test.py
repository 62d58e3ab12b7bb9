"""other_clients_test.py PROGRAM MODEL ...: PROGRAM (nibu-serve) answers clients of other interfaces than LibreTranslate's.

Starts the program with the model (English to German), sends it what DeepL's clients, browser add-ons and
marian-server's clients send, and checks the answers as far as each client reads them. Where the Python module
deepl is installed, it is tried, too. Prints a line for each thing that is wrong. Exit status 77: skipped.
"""

import datetime
import json
import os
import signal
import struct
import sys
import tempfile
import urllib.parse

import serve_testing
from serve_testing import SKIPPED, Connection, Server, WebSocket, attempt, check, is_translated, json_of, short

DOGS = "Two dogs are playing in the snow."
KEY = "a-key:fx"


class Client:
    """A client that sends JSON or forms with the same fields in each head, on one connection."""

    def __init__(self, server, **fields):
        self.server = server
        self.fields = fields
        self.connection = Connection(server.port)

    def ask(self, name, method, target, status=200, body=None, **fields):
        self.connection.send(self.server.request(method, target, body, **{**self.fields, **fields}))
        answer = self.connection.read()
        check(name, answer.status == status, f"the status is {answer.status}, not {status}: {short(answer.body)}")
        return answer

    def json(self, name, method, target, value=None, status=200):
        body = None if value is None else json.dumps(value).encode()
        fields = {} if value is None else {"Content_Type": "application/json"}
        return json_of(name, self.ask(name, method, target, status, body, **fields), status, accepts_gzip=True)

    def form(self, name, target, pairs, method="POST", status=200):
        body = urllib.parse.urlencode(pairs).encode() if not isinstance(pairs, bytes) else pairs
        fields = {"Content_Type": "application/x-www-form-urlencoded"}
        return json_of(name, self.ask(name, method, target, status, body, **fields), status, accepts_gzip=True)


def message_of(name, found, *words):
    message = found.get("message") if isinstance(found, dict) else None
    check(name, isinstance(message, str) and all(word in message for word in words),
          f"the message is {message!r}, without {words}")


def texts_of(name, found):
    translations = found.get("translations") if isinstance(found, dict) else None
    if not check(name, isinstance(translations, list) and translations, f"no translations: {short(found)}"):
        return [""]
    for each in translations:
        check(name, each.get("detected_source_language") == "EN", f"the language is {each}")
    return [each.get("text") for each in translations]


def deepl_python(server):
    """deepl-python 1.30, whose requests are JSON. Its languages are asked for by a GET with a form."""
    client = Client(server, User_Agent="deepl-python/1.30.0 (Linux-6.1) python/3.11.2 requests/2.28.1",
                    Accept_Encoding="gzip, deflate", Accept="*/*", Connection="keep-alive",
                    Authorization=f"DeepL-Auth-Key {KEY}")
    name = "deepl-python, translate"
    found = client.json(name, "POST", "/v2/translate", {
        "target_lang": "DE", "text": [DOGS, "A man."], "show_billed_characters": True})
    texts = texts_of(name, found)
    is_translated(name, texts[0])
    check(name, [int(each["billed_characters"]) for each in found["translations"]] == [len(DOGS), 6],
          f"the characters are {short(found)}")
    found = client.json(name, "POST", "/v2/translate", {
        "source_lang": "EN", "target_lang": "DE", "formality": "prefer_more", "text": [f"<p>{DOGS}</p>"],
        "show_billed_characters": True, "split_sentences": "nonewlines", "preserve_formatting": True,
        "tag_handling": "html", "outline_detection": False, "non_splitting_tags": ["b"], "splitting_tags": ["p"],
        "ignore_tags": ["code"], "model_type": "quality_optimized", "context": "Winter."})
    is_translated(name, texts_of(name, found)[0])
    check(name, found["translations"][0].get("model_type_used") == "quality_optimized", f"the type: {short(found)}")
    name = "deepl-python, languages"
    found = client.json(name, "GET", "/v2/languages")
    check(name, [(each["language"], each["name"]) for each in found] == [("EN", "English")], f"it is {short(found)}")
    found = client.form(name, "/v2/languages", {"type": "target"}, "GET")
    check(name, [(each["language"], each["supports_formality"]) for each in found] == [("DE", True)],
          f"it is {short(found)}")
    name = "deepl-python, usage"
    for method in ("GET", "POST"):
        found = client.json(name, method, "/v2/usage", {} if method == "POST" else None)
        check(name, 0 < int(found["character_count"]) < int(found["character_limit"]), f"it is {short(found)}")
    name = "deepl-python, errors"
    good = {"target_lang": "DE", "text": ["A man."], "show_billed_characters": True}
    for odd, word in (({"target_lang": "XX"}, "target_lang"), ({"source_lang": "XX"}, "source_lang"),
                      ({"formality": "polite"}, "formality"), ({"split_sentences": "x"}, "split_sentences")):
        message_of(name, client.json(name, "POST", "/v2/translate", {**good, **odd}, 400), word, "not supported")
    message_of(name, client.json(name, "POST", "/v2/translate", {"target_lang": "DE"}, 400), "text")
    message_of(name, client.json(name, "POST", "/v2/translate", {**good, "text": ["x" * 200_000]}, 413), "limit")
    message_of(name, client.json(name, "GET", "/v2/unknown", status=404))
    client.fields["Authorization"] = "DeepL-Auth-Key wrong"
    message_of(name, client.json(name, "POST", "/v2/translate", good, 403), "Authorization failure")
    del client.fields["Authorization"]
    message_of(name, client.json(name, "GET", "/v2/usage", status=403), "Authorization failure")
    # A body that is larger than the server takes is refused before it has come.
    name = "deepl-python, a large request"
    with Connection(server.port) as connection:
        connection.send(f"POST /v2/translate HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: DeepL-Auth-Key {KEY}\r\n"
                        "Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n{".encode())
        message_of(name, json_of(name, connection.read(), 413), "large")


def deepl_glossaries(server):
    client = Client(server, Authorization=f"DeepL-Auth-Key {KEY}", Accept="*/*")
    name = "DeepL, glossaries"
    info = client.json(name, "POST", "/v2/glossaries", {
        "name": "Tiere", "source_lang": "EN", "target_lang": "DE", "entries_format": "tsv",
        "entries": "dogs\tK\u00f6ter"}, 201)
    datetime.datetime.strptime(info["creation_time"], "%Y-%m-%dT%H:%M:%S.%f%z")
    check(name, (info["name"], bool(info["ready"]), info["source_lang"].upper(), info["target_lang"].upper(),
                 int(info["entry_count"])) == ("Tiere", True, "EN", "DE", 1), f"it is {short(info)}")
    path = f"/v2/glossaries/{info['glossary_id']}"
    check(name, client.json(name, "GET", "/v2/glossaries") == {"glossaries": [info]}, "the list is another one")
    check(name, client.json(name, "GET", path) == info, "it is not the same")
    answer = client.ask(name, "GET", f"{path}/entries", Accept="text/tab-separated-values")
    check(name, answer.body.decode() == "dogs\tK\u00f6ter\n", f"the entries are {short(answer.body)}")
    request = {"text": [DOGS], "source_lang": "EN", "target_lang": "DE", "glossary_id": info["glossary_id"]}
    found = client.json(name, "POST", "/v2/translate", request)
    is_translated(name, texts_of(name, found)[0], "Köter")
    answer = client.ask(name, "DELETE", path, 204)
    check(name, answer.body == b"" and not answer.field("content-length"), "the answer of DELETE has a body")
    message_of(name, client.json(name, "POST", "/v2/translate", request, 404), "Glossary not found")
    message_of(name, client.json(name, "DELETE", path, status=404), "Glossary not found")
    for wrong in ("..", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "../../etc/passwd"):
        message_of(name, client.json(name, "GET", f"/v2/glossaries/{wrong}", status=404))
    message_of("DeepL, documents", client.json("DeepL, documents", "POST", "/v2/document", {}, 400), "Documents")


def deepl_forms(server):
    """deepl-node, older versions of deepl-python, and Mastodon, which send forms."""
    client = Client(server, User_Agent="deepl-node/1.10.0", Authorization=f"DeepL-Auth-Key {KEY}",
                    Accept="application/json, text/plain, */*", Connection="keep-alive")
    name = "deepl-node"
    found = client.form(name, "/v2/translate", [
        ("target_lang", "de"), ("source_lang", "en"), ("text", DOGS), ("text", "A man & a dog."),
        ("show_billed_characters", "1"), ("split_sentences", "1"), ("preserve_formatting", "0"),
        ("tag_handling", "xml")])
    texts = texts_of(name, found)
    is_translated(name, texts[0])
    check(name, len(texts) == 2 and found["translations"][1]["billed_characters"] == 14, f"it is {short(found)}")
    found = client.form(name, "/v2/languages?type=target", b"")
    check(name, [each["language"] for each in found] == ["DE"], f"it is {short(found)}")
    name = "Mastodon, DeepL"
    client = Client(server, User_Agent="Mastodon/4.4.0", Authorization=f"DeepL-Auth-Key {KEY}", Connection="Keep-Alive")
    text = f'<p>{DOGS} <span translate="no">:cat:</span></p>'
    body = f"text={urllib.parse.quote_plus(text)}&text=A+man.&source_lang&target_lang=de&tag_handling=html".encode()
    texts = texts_of(name, client.form(name, "/v2/translate", body))
    check(name, len(texts) == 2 and '<span translate="no">:cat:</span>' in texts[0], f"it is {short(texts)}")
    client.fields["Content_Type"] = "application/json"
    for kind, language in (("source", "EN"), ("target", "DE")):
        found = json_of(name, client.ask(name, "GET", f"/v2/languages?type={kind}"))
        check(name, [each["language"] for each in found] == [language], f"it is {short(found)}")


def weblate(server):
    client = Client(server, User_Agent="Weblate/5.17", Accept_Encoding="gzip, deflate", Accept="*/*",
                    Authorization=f"DeepL-Auth-Key {KEY}")
    name = "Weblate, DeepL"
    found = client.json(name, "GET", "/v3/languages?resource=translate_text")
    check(name, {each["lang"]: (each["usable_as_source"], each["usable_as_target"]) for each in found}
          == {"en": (True, False), "de": (False, True)}, f"it is {short(found)}")
    check(name, all(isinstance(each["features"], dict) for each in found), f"no features: {short(found)}")
    check(name, isinstance(client.json(name, "GET", "/v3/languages?resource=glossary"), list), "it is no list")
    found = client.json(name, "GET", "/v2/glossary-language-pairs")
    check(name, found == {"supported_languages": [{"source_lang": "en", "target_lang": "de"}]}, f"it is {short(found)}")
    texts = ['Two dogs in <x id="7"></x> files', "Dogs are &lt;not&gt; cats"]
    found = client.json(name, "POST", "/v2/translate", {
        "text": texts, "source_lang": "EN", "target_lang": "DE", "formality": "default", "tag_handling": "xml",
        "ignore_tags": ["x"], "context": "A page."})
    texts = texts_of(name, found)
    check(name, '<x id="7"></x>' in texts[0] and "<" not in texts[1], f"markup is missing in {texts}")


def omegat(server):
    name = "OmegaT, DeepL"
    found = Client(server, User_Agent="OmegaT").json(
        name, "GET", f"/v1/translate?auth_key={KEY}&text={urllib.parse.quote(DOGS)}&source_lang=EN&target_lang=DE"
        "&tag_handling=xml&split_sentences=0&preserve_formatting=1")
    is_translated(name, texts_of(name, found)[0])


def add_ons(server):
    """Browsers send a preflight, and the text or texts to the address that was set."""
    client = Client(server, User_Agent="Mozilla/5.0", Origin="chrome-extension://abc", Accept="*/*")
    name = "Immersive Translate"
    answer = client.ask(name, "OPTIONS", "/imme", Access_Control_Request_Method="POST",
                        Access_Control_Request_Headers="content-type")
    check(name, answer.field("access-control-allow-origin") == "*", "no preflight")
    found = client.json(name, "POST", f"/imme?token={KEY}", {
        "source_lang": "auto", "target_lang": "de", "text_list": [DOGS, "A <b0>man</b0> with {0} hats."]})
    translations = found["translations"]
    is_translated(name, translations[0]["text"])
    check(name, translations[0]["detected_source_lang"] == "en" and len(translations) == 2, f"it is {short(found)}")
    check(name, "{0}" in translations[1]["text"] and "<b0>" in translations[1]["text"], f"it is {short(found)}")
    name = "DeepLX"
    found = client.json(name, "POST", f"/translate?token={KEY}", {
        "text": DOGS, "source_lang": "EN", "target_lang": "DE"})
    is_translated(name, found["data"])
    check(name, found["code"] == 200, f"it is {short(found)}")
    found = client.json(name, "POST", "/translate", {"text": DOGS, "target_lang": "DE"}, 401)
    check(name, found["code"] == 401, f"it is {short(found)}")
    name = "nllb-serve"
    found = client.json(name, "POST", f"/translate?api_key={KEY}", {
        "source": [DOGS, "A man."], "src_lang": "eng_Latn", "tgt_lang": "deu_Latn"})
    is_translated(name, found["translation"][0])
    check(name, len(found["translation"]) == 2, f"it is {short(found)}")


def files(server):
    """LibreTranslate's page and libretranslatepy: the translation is fetched from the address in the answer."""
    name = "/translate_file"
    subtitles = f"1\r\n00:00:01,000 --> 00:00:02,000\r\n{DOGS}\r\n"
    for file, content, kind in (("a.txt", DOGS, "text/plain"), ("a.html", f"<p>{DOGS}</p>", "text/html"),
                                ("a.srt", subtitles, "application/x-subrip")):
        parts = "".join(f'--bound\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
                        for field, value in (("source", "en"), ("target", "de"), ("api_key", KEY)))
        body = (f'{parts}--bound\r\nContent-Disposition: form-data; name="file"; filename="{file}"\r\n'
                f"Content-Type: {kind}\r\n\r\n{content}\r\n--bound--\r\n").encode()
        found = json_of(name, server.once(server.request("POST", "/translate_file", body,
                                                         Content_Type="multipart/form-data; boundary=bound")))
        url = found["translatedFileUrl"]
        if not check(name, url.startswith(f"{server.url}download_file/"), f"the address is {url}"):
            continue
        answer = server.once(server.request("GET", url[len(server.url) - 1:]))
        check(name, answer.status == 200 and "attachment" in answer.field("content-disposition"), f"of {file}")
        is_translated(name, answer.body.decode())


def marian(server):
    name = "marian-server"
    client = WebSocket(name, server, f"/translate?api_key={KEY}")
    for text in (DOGS, f"{DOGS}\n", f"{DOGS}\n\nA man.\n", f"{DOGS}\n" * 20):
        client.send(text)
        opcode, answer = client.read()
        lines = answer.decode().split("\n")
        check(name, opcode == 1 and len(lines) == len(text.rstrip("\n").split("\n")) + 1 and lines[-1] == "",
              f"{short(text)} became {short(lines)}")
        is_translated(name, lines[0])
    for number in range(5):
        client.send(f"A man reads https://dogs.example/{number}.")
    for number in range(5):
        check(name, f"example/{number}" in client.read()[1].decode(), "the answers are not in order")
    client.send(struct.pack("!H", 1000), 8)
    check(name, client.read() == (8, struct.pack("!H", 1000)), "it is not closed")
    # Opus-MT opens and closes a connection to see whether the server is ready.
    for _ in range(3):
        WebSocket(name, server, f"/translate?api_key={KEY}").connection.socket.close()
    check(name, WebSocket(name, server, "/translate").status == 400, "it opens without a key")
    check(name, WebSocket(name, server, f"/health?api_key={KEY}").status == 404, "/health is a WebSocket")


def own_module(server):
    """The module deepl itself, where it is installed."""
    try:
        import deepl  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    name = "the module deepl"
    translator = deepl.Translator(KEY, server_url=server.url.rstrip("/"))
    is_translated(name, translator.translate_text(DOGS, target_lang="DE").text)
    check(name, [each.code for each in translator.get_target_languages()] == ["DE"], "the languages are others")
    check(name, translator.get_usage().character.valid, "there is no usage")
    glossary = translator.create_glossary("Tiere", "EN", "DE", {"dogs": "Köter"})
    translated = translator.translate_text(DOGS, source_lang="EN", target_lang="DE", glossary=glossary)
    is_translated(name, translated.text, "Köter")
    translator.delete_glossary(glossary)
    check(name, not translator.list_glossaries(), "the glossary is still there")


def all_clients(program, model):
    with tempfile.TemporaryDirectory() as folder:
        keys = os.path.join(folder, "keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write(f"{KEY}\n")
        server = Server(program, f"--model={model}", f"--glossaries={folder}", f"--api_keys={keys}")
        try:
            server.wait_until_ready()
            for client in (deepl_python, deepl_glossaries, deepl_forms, weblate, omegat, add_ons, files, marian,
                           own_module):
                attempt(client.__name__, client, server)
            idle = WebSocket("the end", server, f"/translate?api_key={KEY}")
            server.process.send_signal(signal.SIGTERM)
            check("the end", idle.read()[0] == 8, "the WebSocket is not closed")
            idle.connection.socket.close()
            status = server.process.wait(serve_testing.END_LIMIT)
            check("the end", status == 0, f"the exit status is {status}; {server.errors()}")
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
