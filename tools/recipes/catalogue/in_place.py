"""Formats in which a translation replaces its text. Readers are as in beside.py.

They do not use translate-toolkit, since it loses what is no text in PHP and, in JSON, null (3.8), and takes a comment
behind an entry of .strings for a part of it (3.15). All but JSON's layout stays byte for byte.
"""

import json
import re

from job import Item, fail, form_texts, language, plural_rule, source
from translate.lang import data

CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
ESCAPES = {char: name for name, char in CONTROL.items()}


def in_place(read):
    """Makes a reader of a function that yields (span, text, function that escapes a translation or None to keep it)."""
    def read_raw(raw):
        charset = "utf-8"
        if raw[:2] == b"\xff\xfe" or raw[1:2] == b"\0":
            charset = "utf-16-le"
        elif raw[:2] == b"\xfe\xff" or raw[:1] == b"\0":
            charset = "utf-16-be"
        try:
            text = raw.decode(charset)
        except UnicodeDecodeError:
            if not source.lower().endswith(".properties"):
                fail(f"is not {charset.upper()}; iconv -f ENCODING -t UTF-8")
            charset, text = "iso-8859-1", raw.decode("iso-8859-1")
        new = {}
        items = [Item([found], escape and (lambda done, span=span, escape=escape: new.update({span: escape(done[0])})))
                 for span, found, escape in read(text) if found.strip()]

        def write():
            parts, end = [], 0
            for span, piece in new.items():
                parts += text[end:span[0]], piece
                end = span[1]
            whole = "".join([*parts, text[end:]])
            if charset == "iso-8859-1" or (text.isascii() and source.lower().endswith(".properties")):
                whole = re.sub("[^\0-\xff]+" if charset == "iso-8859-1" else "[^\0-\x7f]+",
                               lambda part: json.dumps(part[0])[1:-1], whole)  # \uXXXX
            return whole.encode(charset)
        return items, write
    return read_raw


def unescaped(text):
    """Replaces \\uXXXX, other escapes, and the ends of lines that go on."""
    def one(match):
        return chr(int(match[1], 16)) if match[1] else CONTROL.get(match[2], match[2] or "")
    new = re.sub(r"\\(?:[uU]([0-9a-fA-F]{4})|\r?\n[ \t\f]*|(.))", one, text, flags=re.DOTALL)
    return new.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def escaped(text, more=""):
    return re.sub(rf"[\\\n\t\r\f{more}]", lambda match: "\\" + ESCAPES.get(match[0], match[0]), text)


@in_place
def read_properties(text):
    entry = re.compile(r"^[ \t\f]*(?:[#!].*|((?:\\.|[^\\\s=:])+(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)(?:\\\r?\n[ \t\f]*)*)"
                       r"((?:\\\r?\n|\\.|[^\\\r\n])*))", re.MULTILINE)
    for match in entry.finditer(text):
        if not match[1]:
            continue  # a comment
        found = unescaped(match[2])
        # In a format of Java's MessageFormat, '' is an apostrophe.
        is_format = bool(re.search(r"\{\d", found)) and "'" not in found.replace("''", "")

        def escape(new, is_format=is_format):
            return re.sub("^ ", r"\\ ", escaped(new.replace("'", "''") if is_format else new))
        yield match.span(2), found.replace("''", "'") if is_format else found, escape


@in_place
def read_strings(text):
    token = re.compile(r'\ufeff|\s+|/\*.*?\*/|//[^\n]*|'
                       r'(?:"(?:\\.|[^"\\])*"|[\w.$-]+)\s*=\s*"((?:\\.|[^"\\])*)"\s*;', re.DOTALL)
    at = 0
    while at < len(text):
        match = token.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            fail(f'cannot be read from line {line} on; an entry is "KEY" = "TEXT";')
        at = match.end()
        if match[1]:
            yield match.span(1), unescaped(match[1]), lambda new: escaped(new, '"')


@in_place
def read_php(text):
    """A text is a string that is a value of an array, a variable or define()."""
    if "<?" not in text:
        fail("is no PHP: there is no <?php")
    token = re.compile(r"#(?!\[)[^\n]*|//[^\n]*|/\*.*?\*/|\s+|('(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
                       r"|<<<\s*(['\"]?)(\w+)\2\n.*?\n\s*\3\b|=>|[=!<>.+*/-]=+|\w+|.", re.DOTALL)
    tokens = [match for match in token.finditer(text, text.index("<?")) if not re.match(r"\s|#(?!\[)|//|/\*", match[0])]
    open_kinds = []  # for each bracket that is open: array, define, or another word in front of it
    before = ""
    for match, behind in zip(tokens, [*(one[0] for one in tokens[1:]), ";"]):
        sign = match[0]
        if sign in ("(", "[", "{"):
            is_array = sign == "[" and not re.match(r"(?!return$)[\w\])]", before)
            open_kinds.append("array" if is_array else before.lower())
        elif sign in (")", "]", "}") and open_kinds:
            open_kinds.pop()
        kind = open_kinds[-1] if open_kinds else ""
        is_value = before in ("=>", "=", "return") or (kind == "array" and before in ("(", "[", ",")) or (
            kind == "define" and before == ",")
        before = sign
        if not is_value or behind == "=>" or not (match[1] or match[3]):
            continue
        raw, is_double = sign[1:-1], sign[0] == '"'
        is_whole = match[1] and behind in (",", ")", "]", ";")  # and neither 'a' . 'b' nor a heredoc
        has_names = is_double and re.search(r"(?<!\\)\$[A-Za-z_{]|\{\$", raw)
        signs = "'" if not is_double else '"ntrf' if has_names else '"ntrf$'
        found = re.sub(rf"\\([\\{signs}])", lambda one: CONTROL.get(one[1], one[1]), raw)

        def escape(new, is_double=is_double, has_names=has_names):
            if not is_double:
                return re.sub(r"(['\\])", r"\\\1", new)
            return escaped(new, '"') if has_names else escaped(new, '"$')
        yield (match.start() + 1, match.end() - 1), found, escape if is_whole else None


def read_json(raw):
    try:
        text = raw.decode("utf-8-sig")
        whole = json.loads(text)
    except ValueError as error:
        fail(f"is no JSON in UTF-8: {error}")
    code = language()
    is_arb = source.lower().endswith(".arb")
    # messages.json of WebExtensions: a message has a description and placeholders beside it.
    is_extension = isinstance(whole, dict) and whole and all(
        isinstance(one, dict) and "message" in one for one in whole.values())
    items = []

    def add_plural(node, base):
        """Adds a plural of i18next, BASE_one and BASE_other; other languages have BASE_few and the like beside them."""
        one, other = node[base + "_one"], node[base + "_other"]
        rule = plural_rule(code)[1]
        texts = form_texts(2, lambda n: int(rule(n) != rule(1)), one, other) if rule else [one, other]
        more = [f"{base}_{tag}" for tag in data.plural_tags.get(re.split("[-_]", code or "")[0], [])]

        def put(new):
            old = list(node.items())
            node.clear()
            for key, value in old:
                node[key] = {base + "_one": new[0], base + "_other": new[1]}.get(key, value)
                if key == base + "_other":
                    node.update({name: new[1] for name in more if name not in dict(old)})
        items.append(Item(texts, put))

    def walk(node):
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            base, _, form = str(key).rpartition("_")
            if (is_arb and key.startswith("@")) or (is_extension and node is not whole and key != "message"):
                continue
            if form in ("one", "other") and all(isinstance(node.get(f"{base}_{one}"), str) for one in ("one", "other")):
                if form == "other":
                    add_plural(node, base)
            elif isinstance(value, (dict, list)):
                walk(value)
            elif isinstance(value, str) and value.strip():
                items.append(Item([value], lambda new, node=node, key=key: node.__setitem__(key, new[0])))

    def write():
        if is_arb and "@@locale" in whole and code:
            whole["@@locale"] = code
        indent = re.search(r"\n([ \t]+)", text)
        return (json.dumps(whole, ensure_ascii=text.isascii() and "\\u" in text, indent=indent and indent[1])).encode()
    walk(whole if isinstance(whole, (dict, list)) else [])
    return items, write
