"""Translates a catalogue, whose format is that of the ending of its name. See catalogue.sh."""

import json
import os
import re

from beside import read_po, read_resx, read_tmx, read_ts, read_xliff
from in_place import read_json, read_php, read_properties, read_strings
from job import fail, flags, mark_fuzzy, program, say, source, target
from messages import translate

READERS = {".po": read_po, ".pot": read_po, ".ts": read_ts, ".xlf": read_xliff, ".xliff": read_xliff, ".tmx": read_tmx,
           ".resx": read_resx, ".strings": read_strings, ".properties": read_properties, ".php": read_php,
           ".json": read_json, ".arb": read_json}
ending = os.path.splitext(source)[1].lower()
read = READERS.get(ending)
if read is None:
    fail(f"is of no format that is known; its name must end in {', '.join(READERS)}", 2)
if mark_fuzzy and read not in (read_po, read_ts, read_xliff):
    fail(f"cannot have marks: {ending} has none for translations to look at; leave out --mark_fuzzy", 2)
with open(source, "rb") as file:
    raw = file.read()
items, write = read(raw)
translate([message for item in items for message in item.messages], program, flags)
for item in items:
    item.finish()
new = write()

if b"\0" not in raw:  # not UTF-16, whose reader keeps all of this
    bom = b"\xef\xbb\xbf"
    if declaration := re.match(rb"<\?xml.*?\?>", raw.removeprefix(bom)):
        new = re.sub(rb"<\?xml.*?\?>", lambda _: declaration[0], new, count=1)
    new = (bom if raw.startswith(bom) else b"") + new.removeprefix(bom)
    new = new.rstrip() + raw[len(raw.rstrip()):]
    windows = raw.count(b"\r\n")
    if windows in (0, raw.count(b"\n")):
        new = new.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n" if windows else b"\n")
try:
    with open(target, "wb") as file:
        file.write(new)
except OSError as error:
    fail(f"is translated, but {target} cannot be written: {error.strerror}")

left = [item.name if len(item.name) <= 40 else item.name[:37] + "..." for item in items if not item.is_done]
if left:
    say("note", f"{len(left)} of {len(items)} messages stay as they were, since a translation would lack a part: "
        + ", ".join(json.dumps(name, ensure_ascii=False) for name in left[:5]) + (", ..." if len(left) > 5 else ""))
