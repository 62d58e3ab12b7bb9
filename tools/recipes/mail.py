"""mail.py IN OUT PROGRAM [flags]: the texts of a mail go through nibu-translate, each in one run. See mail.sh.

Python's email package reads the headers. Parts are cut out of the mail's bytes and put back there, since the package
would write headers and boundaries anew, which breaks signatures.
"""

import base64
import email
import quopri
import re
import subprocess
import sys

source, target, program, *flags = sys.argv[1:]
PLAIN = [program, "--text=paragraphs", "--wrap=72", *flags]
HTML = [program, "--text=document", "--markup=html", *(flag for flag in flags if not flag.startswith("--wrap="))]
CODERS = {
    "base64": (lambda body: base64.b64decode(b"".join(body.split()), validate=True), base64.encodebytes),
    "quoted-printable": (quopri.decodestring, quopri.encodestring),
    **dict.fromkeys(("7bit", "8bit", "binary"), (bytes, bytes)),
}
# What HTML and XHTML say about their character set
DECLARED = re.compile(r"""(?i)(<meta\b[^>]*?\bcharset\s*=\s*["']?|<\?xml\b[^>]*?\bencoding\s*=\s*["'])([\w.:-]+)""")

with open(source, "rb") as file:
    mail = file.read()
line_end = b"\r\n" if re.match(rb".*\r\n", mail) else b"\n"
texts_found = 0


def fail(number, kind, what):
    part = f", part {number} ({kind})," if number else ""
    sys.exit(f"mail.sh: error: {source}{part} {' '.join(what.split())}")  # one line


def run(command, text):
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(max(1, done.returncode))
    return done.stdout.decode()


def field(part, name, default):  # without comments and parameters
    return re.sub(r"\([^()]*\)", "", str(part.get(name, default))).split(";")[0].strip().lower()


def unflow(text, deletes_space):
    """Returns text in the form "flowed" of RFC 3676 with each paragraph on one line, which ends as a line break of
    paragraphs does."""
    lines = []
    flows = None  # the depth of quoting of a line that goes on
    for line in text.split("\n"):
        quotes = re.match(">*", line)[0]
        line = line[len(quotes) :].removeprefix(" ")
        if flows == quotes and line not in ("", "-- "):
            lines[-1] += line
        else:
            lines.append((f"{quotes} " if quotes else "") + line)
        flows = quotes if line.endswith(" ") and line != "-- " else None
        if flows is not None and deletes_space:
            lines[-1] = lines[-1][:-1]
    return "\n".join(line if re.fullmatch(r"(>+ )?-- |[>\s]*", line) else line.rstrip(" ") + "  " for line in lines)


def translate_plain(part, text):
    if str(part.get_param("format")).lower() != "flowed":
        return run(PLAIN, text)
    text = run(PLAIN, unflow(text, str(part.get_param("delsp")).lower() == "yes"))
    # No line flows, and the space that the form puts in front of some lines is there.
    return re.sub(r"(?m)^(?= |From )", " ", re.sub(r"(?m)(?<!--) +$", "", text))


def decode(body, part, kind, number):
    """Returns the text of a part, the name of its encoding, and that of its character set."""
    encoding = field(part, "Content-Transfer-Encoding", "7bit")
    if encoding not in CODERS:
        fail(number, kind, f"is encoded by {encoding}, which is not known here; decode it first")
    try:
        content = CODERS[encoding][0](body)
    except ValueError:
        fail(number, kind, f"is not in {encoding}, as it says")
    charset = part.get_content_charset()
    if charset is None and kind == "text/html":
        declared = DECLARED.search(content.decode("latin-1"))
        charset = declared and declared[2]
    charset = charset or "us-ascii"
    try:
        # Many say us-ascii and write UTF-8.
        return content.decode("utf-8" if charset == "us-ascii" else charset), encoding, charset
    except LookupError:
        fail(number, kind, f"is in {charset}, which is not known here")
    except ValueError:
        fail(number, kind, f"is not in {charset}, as it says")


def with_utf8(header, part, encoding, is_mail):
    """Returns the header of a part whose text is now UTF-8."""
    if part.get_param("charset") == "":  # set_param would add another one
        part.del_param("charset")
    part.set_param("charset", "utf-8")
    content_type = " ".join(str(part["Content-Type"]).split())
    version = "" if "MIME-Version" in part or not is_mail else "MIME-Version: 1.0\n"
    fields = f"{version}Content-Type: {content_type}\nContent-Transfer-Encoding: {encoding}\n"
    empty_line = b"\r\n" if header.endswith(b"\r\n") else b"\n"
    changed = rb"(?im)^content-(?:type|transfer-encoding)[ \t]*:.*\n(?:[ \t].*\n)*"
    kept = re.sub(changed, b"", header.removesuffix(empty_line))
    return kept + fields.encode().replace(b"\n", line_end) + empty_line


def translate_text(header, body, part, kind, number, is_mail):
    """Returns a part of text with the text translated."""
    global texts_found
    text, encoding, charset = decode(body, part, kind, number)
    if "-----BEGIN PGP" in text:
        return header + body
    texts_found += 1
    lines = text.replace("\r\n", "\n")
    result = run(HTML, lines) if kind == "text/html" else translate_plain(part, lines)
    if not lines.endswith("\n"):
        result = result.removesuffix("\n")
    if result == lines:
        return header + body

    # The header says what the body is, if that has changed.
    try:
        keeps_charset = result.encode(charset) == result.encode()
    except ValueError:
        keeps_charset = False
    needs_8bit = encoding == "7bit" and not result.isascii()
    if header and (needs_8bit or not keeps_charset):
        if needs_8bit:
            # Around a part with 8 bits, all would have to say so.
            encoding = "quoted-printable" if number else "8bit"
        if kind == "text/html":
            result = DECLARED.sub(r"\g<1>utf-8", result)
        header = with_utf8(header, part, encoding, is_mail)
    if encoding == "base64" and "\r\n" in text:
        result = result.replace("\n", "\r\n")
    result = CODERS[encoding][1](result.encode())
    if encoding == "base64" and not body.endswith(b"\n"):
        result = result.removesuffix(b"\n")
    return header + result.replace(b"\n", line_end)


def translate(entity, number="", default="text/plain", is_mail=True):
    """Returns a mail, or a part of one with its number, with its texts translated."""
    # Up to the first empty line, where there is a header at all.
    without_fields = rb"|\r?\n|" if number else rb"|"
    fields = rb"(?=From |[^ \t\r\n:]+[ \t]*:)(?:.+\n)*?(?:\r?\n|.*\Z)"
    header = re.match(fields + without_fields, entity)[0]
    body = entity[len(header) :]
    part = email.message_from_bytes(header)
    kind = field(part, "Content-Type", default)
    if number and (part.get_content_disposition() == "attachment" or part.get_filename()):
        return entity
    if kind in ("text/plain", "text/html"):
        return translate_text(header, body, part, kind, number, is_mail)
    if kind == "message/rfc822" and field(part, "Content-Transfer-Encoding", "7bit") in ("7bit", "8bit", "binary"):
        return header + translate(body, f"{number}.1".lstrip("."))
    if kind in ("multipart/signed", "multipart/encrypted") or not kind.startswith("multipart/"):
        return entity

    boundary = part.get_boundary()
    if not boundary:
        fail(number, kind, "names no boundary between its parts")
    line = b"--" + boundary.encode("ascii", "surrogateescape")
    pieces = re.split(rb"(?m)^(" + re.escape(line) + rb"(?:--)?[ \t]*\r?(?:\n|\Z))", body)
    if len(pieces) == 1:
        fail(number, kind, f"has no parts: there is no line --{boundary}")
    for i in range(2, len(pieces), 2):
        if pieces[i - 1].strip() == line + b"--":
            break
        end = re.search(rb"(?:\r?\n)?\Z", pieces[i])[0]  # belongs to the boundary
        piece = pieces[i].removesuffix(end)
        inner = "message/rfc822" if kind == "multipart/digest" else "text/plain"
        pieces[i] = translate(piece, f"{number}.{i // 2}".lstrip("."), inner, is_mail=False) + end
    return header + b"".join(pieces)


try:
    result = translate(mail)
except RecursionError:
    fail("", "", "has too many parts in parts")
if texts_found == 0:
    fail("", "", "has no text to translate; what is signed, encrypted or attached stays as it is")
with open(target, "wb") as file:
    file.write(result)
