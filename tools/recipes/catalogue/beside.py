"""Formats that translate-toolkit reads and writes: those that have translations beside the texts, and .resx.

Each reader takes the bytes of a file and returns its items, and a function that returns the bytes of the result.
"""

import copy
import gettext
import io
import os
import re
import subprocess
from functools import partial

from job import Item, fail, flags, form_texts, language, mark_fuzzy, plural_rule, say
from lxml import etree
from translate.storage import pypo, resx, tmx, ts2, xliff

# Those of gettext's formats whose arguments may have numbers: %2$s
NUMBERED = {"c", "objc", "php", "perl", "ruby", "java-printf", "boost", "tcl"}
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def fill_form(unit, texts):
    unit.target = texts if unit.hasplural() else texts[0]
    unit.markfuzzy(mark_fuzzy)


def read_po(raw):
    try:
        store = pypo.pofile(io.BytesIO(raw))
    except LookupError as error:
        fail(f"has a charset that is not known ({error}); correct it in its header")
    except UnicodeDecodeError as error:
        fail(f"has bytes that are not {error.encoding}, as it says it is; correct the charset in its header")
    except ValueError as error:
        fail(f"is no po file: {error}")
    header = store.header()
    if header is None:
        fail("has no header; msginit and msgmerge make catalogues with one from a template")
    charset = re.search(r"(?im)^Content-Type:.*charset=([^\s;]+)", header.target)
    if charset is None or charset[1] == "CHARSET":
        fail("does not say its charset; msginit makes a catalogue that does from a template")
    header.markfuzzy(False)  # as msginit left it
    count, rule = store.getheaderplural()

    def put(unit, texts):
        fill_form(unit, texts)
        unit.prev_msgctxt, unit.prev_msgid, unit.prev_msgid_plural = [], [], []

    items = []
    for unit in store.units:
        had = unit.target.strings if unit.hasplural() else [unit.target]
        if not unit.istranslatable() or (all(had) and not unit.isfuzzy()):
            continue
        texts = [str(unit.source)]
        if unit.hasplural():
            try:
                texts = form_texts(int(count), gettext.c2py(rule), *map(str, unit.source.strings))
            except (TypeError, ValueError):
                fail("has no Plural-Forms in its header that can be read; msginit writes those of a language")
        kinds = {kind.strip().removesuffix("-format") for line in unit.typecomments for kind in line[2:].split(",")}
        items.append(Item(texts, lambda new, unit=unit: put(unit, new), bool(kinds & NUMBERED)))
        items[-1].unit = unit
    return items, lambda: checked_po(store, items)


def checked_po(store, items):
    """Returns the catalogue without the translations to which `msgfmt -c` objects."""
    for is_last in (False, True):
        written = bytes(store)
        check = subprocess.run(["msgfmt", "-c", "-o", "/dev/null", "-"], input=written, stderr=subprocess.PIPE,
                               env={**os.environ, "LC_ALL": "C"}, check=False)
        if check.returncode == 0:
            break
        faults = [int(line) for line in re.findall(rb"(?m)^<stdin>:(\d+): (?!warning)", check.stderr)]
        if is_last:
            say("note", f"msgfmt -c objects to what was there before, {len(faults)} times; it says where")
        ours = {id(item.unit): item for item in items if item.is_done}
        end = 1
        for unit in store.units:
            begin, end = end, end + str(unit).count("\n") + 1
            if id(unit) in ours and any(begin <= line < end for line in faults):
                unit.target = [""] * len(unit.target.strings) if unit.hasplural() else ""
                ours[id(unit)].is_done = False
    return written


def text_of(element):
    return "" if element is None else "".join(element.itertext()).strip()


def parse_xml(kind, raw):
    try:
        store = kind.parsestring(raw)
    except (etree.XMLSyntaxError, AssertionError) as error:
        fail(f"is no {kind.Name}{f': {error}' if str(error) else ''}")
    store.XMLindent = {}  # what is there stays: new white space would be text beside the elements in a text
    return store


def read_ts(raw):
    store = parse_xml(ts2.tsfile, raw)
    count, rule = plural_rule(language(store.header.get("language")))

    def put(unit, texts):
        node = unit.xmlelement.find("translation")
        behind, indent = (None, "\n") if node is None else (node.tail, unit.xmlelement.text or "")
        fill_form(unit, texts)
        node = unit.xmlelement.find("translation")
        node.tail = behind
        for form in node:
            node.text = form.tail = indent + "    "
            node[-1].tail = indent

    items = []
    for unit in store.units:
        text, old, node = str(unit.source or ""), unit.xmlelement.find("translation"), unit.xmlelement.find("source")
        is_open = text_of(old) == "" or old.get("type") == "unfinished"
        if not unit.istranslatable() or not text or not is_open:
            continue
        texts = [text]
        if unit.hasplural():
            if rule is None:
                fail("has plural forms, but does not say its language; give --tgt_lang")
            texts = form_texts(count, rule, text.replace("(s)", ""), text.replace("(s)", "s"))
        # <byte> stands for a control character.
        items.append(Item(texts, None if len(node) else lambda new, unit=unit: put(unit, new)))
    return items, lambda: bytes(store)


def read_resx(raw):
    store = parse_xml(resx.RESXFile, raw)

    def is_text(unit):  # and no picture, size or the like
        return not {"type", "mimetype"} & set(unit.xmlelement.attrib) and not unit.getid().startswith(">>")
    values = [unit.xmlelement.find(unit.namespaced("value")) for unit in store.units if is_text(unit)]
    items = [Item([value.text], lambda new, value=value: setattr(value, "text", new[0]))
             for value in values if text_of(value)]
    return items, lambda: bytes(store)


def element_item(node, put):
    """Returns the item of an element that may have others in it, which stay. put: returns the translation's element."""
    if len(node) == 0:
        return Item([node.text], lambda new: setattr(put(), "text", new[0]), escape=True)

    def fill(text):
        names = " ".join(f'xmlns{":" + name if name else ""}="{uri}"' for name, uri in node.nsmap.items())
        content = etree.fromstring(f"<x {names}>{text}</x>")
        element = put()
        element.text = content.text
        element.extend(list(content))
    whole = etree.tostring(node, encoding="unicode", with_tail=False)
    text = re.sub(r' xmlns(?::\w+)?="[^"]*"', "", whole[whole.index(">") + 1:whole.rindex("<")])
    return Item([text], lambda new: fill(new[0]))


def said_of(node, attribute):
    """Returns what the element or the nearest one around it says, or None."""
    return next((each.get(attribute) for each in [node, *node.iterancestors()] if each.get(attribute)), None)


def read_xliff2(raw):
    try:
        root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, strip_cdata=False))
    except etree.XMLSyntaxError as error:
        fail(f"is no XLIFF: {error}")
    if code := language(root.get("trgLang")):
        root.set("trgLang", code)

    def put(segment, source):
        node = segment.find("{*}target")
        if node is None:
            node = etree.Element(source.tag.replace("source", "target"))
            source.addnext(node)
            source.tail = segment.text
        node[:] = []
        segment.set("state", "translated")  # that is: not reviewed yet
        return node

    items = []
    for segment in root.iter("{*}segment"):
        source, old = segment.find("{*}source"), segment.find("{*}target")
        is_open = text_of(old) == "" or segment.get("state") == "initial"
        if said_of(segment, "translate") != "no" and is_open and text_of(source):
            items.append(element_item(source, lambda segment=segment, source=source: put(segment, source)))
    return items, lambda: etree.tostring(root.getroottree(), xml_declaration=True, encoding="utf-8")


def read_xliff(raw):
    flags.insert(0, "--markup=xml")
    if re.search(rb"<xliff[^>]*\sversion=[\"']2", raw):
        return read_xliff2(raw)
    store = parse_xml(xliff.xlifffile, raw)

    def put(unit):
        node, origin = unit.get_target_dom(), unit.get_source_dom()
        if node is None:
            node = etree.Element(origin.tag.replace("source", "target"))
            segmented = unit.xmlelement.find("{*}seg-source")
            origin = origin if segmented is None else segmented
            origin.addnext(node)
            origin.tail = unit.xmlelement.text
        node[:] = []
        node.set("state", "needs-review-translation" if mark_fuzzy else "translated")
        return node

    targets = {}

    def put_segment(unit, segmented, mark):
        """Returns the target's mark for one of seg-source, of which the target becomes a copy without texts."""
        if id(unit) not in targets:
            targets[id(unit)] = node = put(unit)
            node.text, node[:] = segmented.text, copy.deepcopy(segmented)[:]
            for each in segments(node):
                each.text, each[:] = None, []
        return segments(targets[id(unit)])[segments(segmented).index(mark)]

    def segments(node):
        return [] if node is None else [each for each in node.iter("{*}mrk") if each.get("mtype") == "seg"]

    items = []
    for unit in store.units:
        file = next(unit.xmlelement.iterancestors("{*}file"))
        said = file.get("target-language")
        if code := language(None if said == file.get("source-language") else said):
            file.set("target-language", code)
        old, node = unit.get_target_dom(), unit.get_source_dom()
        is_open = text_of(old) == "" or old.get("state") in ("new", "needs-translation")
        if said_of(unit.xmlelement, "translate") == "no" or not is_open or not text_of(node):
            continue
        segmented = unit.xmlelement.find("{*}seg-source")
        for mark in filter(text_of, segments(segmented)):
            items.append(element_item(mark, partial(put_segment, unit, segmented, mark)))
        if not segments(segmented):
            items.append(element_item(node, lambda unit=unit: put(unit)))
    return items, lambda: bytes(store)


def read_tmx(raw):
    flags.insert(0, "--markup=xml")
    store = parse_xml(tmx.tmxfile, raw)
    code = language()
    if code is None:
        fail("does not say the language to translate to; give --tgt_lang")

    def plain(name):
        return (name or "").lower().replace("_", "-")

    def put(tuv):
        new = etree.Element(tuv.tag, {XML_LANG: code})
        tuv.addnext(new)
        tuv.tail = tuv.getparent().text
        return etree.SubElement(new, "seg")

    items = []
    for unit in store.units:
        tuvs = {plain(tuv.get(XML_LANG) or tuv.get("lang")): tuv for tuv in unit.xmlelement.iterfind("tuv")}
        header = plain(store.document.find("header").get("srclang"))
        from_language = plain(unit.xmlelement.get("srclang")) or header
        if header and "*all*" not in (from_language, header) and from_language != header:
            continue  # a unit of another language
        origin = tuvs.get(from_language, next(iter(tuvs.values()), None))
        segment = None if origin is None else origin.find("seg")
        if text_of(segment) and not any(
                (name + "-").startswith(plain(code) + "-") for name in tuvs):
            items.append(element_item(segment, lambda origin=origin: put(origin)))
    return items, lambda: bytes(store)
