"""mail.py IN OUT COMMAND ...: the body of a mail of plain text goes through a command, in UTF-8. See mail.sh."""

import base64
import email
import quopri
import re
import subprocess
import sys

source, target, *command = sys.argv[1:]


def fail(what):
    sys.exit(f"mail.sh: error: {source} {what}")


with open(source, "rb") as file:
    raw = file.read()
# Up to the first empty line, where there is one at all.
header = re.match(rb"(?:(?=From |[^ \t\r\n:]+[ \t]*:)(?:.+\n)*?(?:\r?\n|.*\Z))?", raw).group()
end = b"\r\n" if b"\r\n" in header else b"\n"
mail = email.message_from_bytes(header)


def field(name, default):  # without comments and parameters
    value = str(mail.get(name, default))
    return re.sub(r"\([^()]*\)", "", value).split(";")[0].strip().lower()


if field("Content-Type", "text/plain") != "text/plain":
    fail("has parts that are no plain text")
encoding = field("Content-Transfer-Encoding", "7bit")
charset = mail.get_content_charset("us-ascii")
coders = {"base64": (base64.b64decode, base64.encodebytes), "quoted-printable": (quopri.decodestring, quopri.encodestring)}
if encoding not in ("7bit", "8bit", "binary", *coders):
    fail(f"is encoded by {encoding}, which is not known here; decode it first")
decode, encode = coders.get(encoding, (bytes, bytes))
try:
    # Many say us-ascii and write UTF-8.
    body = decode(raw[len(header):]).decode("utf-8" if charset == "us-ascii" else charset)
except LookupError:
    fail(f"is in {charset}, which is not known here")
except ValueError:
    fail(f"is not in {charset}, as it says")
done = subprocess.run(command, input=body.encode(), stdout=subprocess.PIPE, check=False)
if done.returncode != 0:
    sys.exit(done.returncode)

# The header says what the body is, if that has changed.
try:
    fits = done.stdout.decode().encode(charset) == done.stdout and (done.stdout.isascii() or encoding != "7bit")
except ValueError:
    fits = False
if header and not fits:
    kept = re.sub(rb"(?im)^(?:mime-version|content-type|content-transfer-encoding)[ \t]*:.*\n(?:[ \t].*\n)*", b"", header)
    fields = b"MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: %s\n" % (
        encoding.replace("7bit", "8bit").encode())
    header = kept.removesuffix(end) + fields.replace(b"\n", end) + end
with open(target, "wb") as file:
    file.write(header + encode(done.stdout).replace(b"\n", end))
