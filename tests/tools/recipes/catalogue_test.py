"""catalogue_test.py PROGRAM CAPTIONS_MODEL: tools/recipes/catalogue.sh keeps what is no text of a catalogue, and all
that a program reads in its messages. Exit status 77 (skipped) without translate-toolkit or gettext."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECIPE = ROOT / "tools" / "recipes" / "catalogue.sh"
SAMPLE = ROOT / "tests" / "testdata" / "recipes" / "sample.po"
PROGRAM, MODEL = sys.argv[1:]

# Translates a text as $FAKE says, or by "DE " in front of it; a list is a translation and its warnings.
FAKE = f"""#!{sys.executable}
import json, os, sys
table = json.loads(os.environ["FAKE"])
open({{log!r}}, "a").write(" ".join(sys.argv[1:]) + "\\n")
for line in sys.stdin.buffer.read().decode().splitlines():
    new = table.get(line, "DE " + line)
    text, *warnings = [new] if isinstance(new, str) else new
    print(json.dumps({{{{"source": line, "hypotheses": [{{{{"text": text}}}}], "warnings": warnings}}}}))
sys.exit(int(table.get("status", "0")))
"""
HEADER = r"""msgid ""
msgstr ""
"Project-Id-Version: sample 1\n"
"PO-Revision-Date: 2024-01-01 00:00+0000\n"
"Last-Translator: Nobody <nobody@example.org>\n"
"Language-Team: German\n"
"Language: de\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"
"""
RUSSIAN = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


class CatalogueTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        self.fake = self.folder / "fake"
        self.fake.write_text(FAKE.format(log=str(self.log)))
        self.fake.chmod(0o755)

    def recipe(self, name, content, *flags, out=None, program=None, **table):
        """Translates a file of this name; returns the ended process and the bytes of OUT, or None without one."""
        source, target = self.folder / name, self.folder / (out or "out." + name)
        source.write_bytes(content if isinstance(content, bytes) else content.encode())
        target.unlink(missing_ok=True)
        done = subprocess.run([RECIPE, source, target, *flags], text=True, capture_output=True, check=False, env={
            **os.environ, "NIBU_TRANSLATE": str(program or self.fake), "FAKE": json.dumps(table.get("table", {}))})
        return done, target.read_bytes() if target.exists() else None

    def translated(self, name, content, *flags, **named):
        """Translates a file without any message; returns the text of OUT."""
        done, new = self.recipe(name, content, *flags, **named)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return new.decode()

    def refused(self, name, content, *flags, status=1, words):
        done, new = self.recipe(name, content, *flags)
        self.assertEqual((done.returncode, new), (status, None), done.stderr)
        self.assertRegex(done.stderr, rf"\Acatalogue\.sh: error: \S*{name} [^\n]*{words}[^\n]*\n\Z")

    def messages(self, *cases):
        """Each case is (flags, message, text that is translated, its translation, what the message gets). The last is
        "" for one that stays untranslated. Cases that translate the same text go to different files."""
        files = []
        for case in cases:
            wanted = next((file for file in files if case[2] not in file), {})
            if not wanted:
                files.append(wanted)
            wanted[case[2]] = case
        for file in files:
            entries = [f'#, {flags or "no-c-format"}\nmsgctxt {quoted(str(n))}\nmsgid {quoted(source)}\nmsgstr ""\n'
                       for n, (flags, source, *_) in enumerate(file.values())]
            done, new = self.recipe("a.po", "\n".join([HEADER, *entries]),
                                    table={sent: case[3] for sent, case in file.items()})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_clean(new)
            # gettext's own reader; a message goes over several lines.
            found = subprocess.run(["msgcat", "--no-wrap", "-"], input=new, stdout=subprocess.PIPE, check=True).stdout
            found = [entry.split("\nmsgstr ")[1].split("\n") for entry in found.decode().split("\n\n")[1:]]
            found = ["".join(json.loads(line) for line in lines if line) for lines in found]
            for case, text in zip(file.values(), found, strict=True):
                with self.subTest(case=case):
                    self.assertEqual(text, case[4])
            left = found.count("")
            self.assertEqual(f"note: {left} of {len(file)} messages stay" in done.stderr, left > 0, done.stderr)

    def assert_clean(self, new):
        check = subprocess.run(["msgfmt", "-c", "-o", os.devnull, "-"], input=new, stderr=subprocess.PIPE, check=False)
        self.assertEqual(check.returncode, 0, check.stderr)

    def test_sample(self):
        program = self.folder / "real"
        program.write_text(f'#!/bin/sh\nexec "{PROGRAM}" --model="{MODEL}" --threads=1 "$@"\n')
        program.chmod(0o755)
        sample = SAMPLE.read_text()
        new = self.translated("a.po", sample, program=program)
        self.assert_clean(new.encode())

        def rest(text):  # all but translations, and marks of fuzzy messages
            no_rest = ("msgstr", '"', "#|", "#, fuzzy")
            return [line for line in text.splitlines() if line and not line.startswith(no_rest)]
        self.assertEqual(rest(sample), rest(new))
        for words in ('"Er singt."', 'msgstr "Öffnen"', '#~ msgstr "Eine Katze rennt."', "{name}",
                      '"  Ein Mann singt.\\n"', '"Ein Hund rennt.\\n"', 'msgstr[1] "%d Hunde',
                      '#, fuzzy\n#~ msgid "A cow runs."'):
            self.assertIn(words, new)
        self.assertEqual(new.count('\nmsgstr "Ein Hund rennt."\n'), 2)  # one for each context
        self.assertNotIn("#, fuzzy\nmsgid", new)
        self.assertNotIn("#|", new)
        # What has translations is not translated again.
        self.translated("b.po", new)
        self.assertFalse(self.log.exists())

    def test_one_run_gets_the_flags(self):
        self.translated("a.po", SAMPLE.read_text(), "--beam_size=2", "--mark_fuzzy")
        self.assertRegex(self.log.read_text(), r"\A--protect_pattern=\S+ --beam_size=2 --output_format=jsonl\n\Z")

    def test_marks(self):
        new = self.translated("a.po", SAMPLE.read_text(), "--mark_fuzzy")
        fuzzy = subprocess.run(["msgattrib", "--only-fuzzy", "--no-obsolete", "-"], input=new.encode(), check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        self.assertEqual(fuzzy.count("\nmsgid ") - 1, 7)  # all but the two that were translated, and the header
        self.assertNotIn("Öffnen", fuzzy)
        ts = ('<TS language="de"><context><name>A</name><message><source>A dog</source><translation/></message>'
              "</context></TS>")
        new = self.translated("a.ts", ts, "--mark_fuzzy")
        self.assertIn('<translation type="unfinished">DE A dog</translation>', new)
        self.assertIn("<translation>DE A dog</translation>", self.translated("a.ts", ts))
        for name in ("a.json", "a.arb", "a.strings", "a.properties", "a.php", "a.resx", "a.tmx"):
            self.refused(name, "", "--mark_fuzzy", status=2, words="leave out --mark_fuzzy")

    def test_refusals(self):
        entry = '\nmsgid "A dog"\nmsgstr ""\n'
        no_utf8 = (HEADER + entry).encode() + b'\nmsgid "\xf6"\nmsgstr ""\n'
        no_rule = HEADER.replace('"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n', "")
        plural = '\nmsgid "%d dog"\nmsgid_plural "%d dogs"\nmsgstr[0] ""\nmsgstr[1] ""\n'
        for name, content, words in (
                ("a.po", entry, "has no header; msginit"),
                ("a.po", "", "has no header; msginit"),
                ("a.po", HEADER.replace("charset=UTF-8", "") + entry, "does not say its charset; msginit"),
                ("a.po", HEADER.replace("UTF-8", "CHARSET") + entry, "does not say its charset; msginit"),
                ("a.pot", HEADER.replace("UTF-8", "CHARSET") + entry, "does not say its charset; msginit"),
                ("a.po", HEADER.replace("UTF-8", "NONE-8") + entry, "charset that is not known .*NONE-8"),
                ("a.po", no_utf8, "not utf-8, .*; correct the charset"),
                ("a.po", HEADER.replace("UTF-8", "EUC-JP").encode() + b'\nmsgid "\xff"\nmsgstr ""\n', "not euc_jp"),
                ("a.po", HEADER + '\nmsgid "A dog\nmsgstr ""\n', "is no po file: .*on line"),
                ("a.po", no_rule + plural, "Plural-Forms"),
                ("a.po", HEADER.replace("=2; plural=(n != 1)", "=INTEGER; plural=EXPRESSION") + plural, "Plural-Forms"),
                ("a.po", HEADER.replace("(n != 1)", "(n !") + plural, "Plural-Forms"),
                ("a.json", '{\n"a": "b",\n}', "is no JSON in UTF-8: .*line 3"),
                ("a.json", b'{"a": "\xf6"}', "is no JSON in UTF-8"),
                ("a.strings", '"a" = "A dog";\n"b" = "A cat"\n', "cannot be read from line 2 on"),
                ("a.strings", b'"a" = "\xf6";', "is not UTF-8; iconv"),
                ("a.php", "a dog", "no <.php"),
                ("a.ts", "<TS><context>", "is no Qt Linguist Translation File"),
                ("a.ts", "<other/>", "is no Qt Linguist Translation File"),
                ("a.xlf", '<xliff version="2.0">', "is no XLIFF: "),
                ("a.tmx", "<tmx><header/><body/></tmx>", "give --tgt_lang")):
            with self.subTest(name=name, words=words):
                self.refused(name, content, words=words)
        self.refused("a.txt", "A dog", status=2, words="its name must end in .po")
        done, new = self.recipe("a.po", SAMPLE.read_bytes(), table={"status": "3"})
        self.assertEqual((done.returncode, new), (3, None))

    def test_needs_translate_toolkit(self):
        tools = self.folder / "bin"
        tools.mkdir()
        for tool in ("bash", "cat", "dirname", "mktemp", "rm"):
            (tools / tool).symlink_to(shutil.which(tool))
        (self.folder / "a.po").write_text(HEADER)
        done = subprocess.run([RECIPE, self.folder / "a.po", self.folder / "out"], text=True, capture_output=True,
                              env={"PATH": str(tools), "NIBU_TRANSLATE": str(self.fake)}, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            1, "catalogue.sh: error: there is no translate-toolkit; apt-get install translate-toolkit\n"))

    def test_arguments(self):
        self.messages(
                ("c-format", "%s of %d", "%1$s of %2$d", "%1$s von %2$d", "%s von %d"),
                ("c-format", "%s of %d", "%1$s of %2$d", "%2$d aus %1$s", "%2$d aus %1$s"),
                ("c-format", "%s of %s", "%1$s of %2$s", "%2$s aus %1$s", "%2$s aus %1$s"),
                ("c-format", "%s%% of %-5.2lf", "%1$s%% of %2$-5.2lf", "%2$-5.2lf %1$s%%", "%2$-5.2lf %1$s%%"),
                ("c-format", "%<PRIu64> of %s", "%1$<PRIu64> of %2$s", "%2$s, %1$<PRIu64>", "%2$s, %1$<PRIu64>"),
                ("c-format", "%*d of %s", "%*d of %s", "%s aus %*d", ""),  # a width is an argument, too
                ("c-format", "%*d of %s", "%*d of %s", "%*d aus %s", "%*d aus %s"),
                ("c-format", "%2$s of %1$s", "%2$s of %1$s", "%1$s aus %2$s", "%1$s aus %2$s"),
                ("c-format", "%s of %d", "%1$s of %2$d", "von %1$s", ""),
                ("c-format", "%s of %d", "%1$s of %2$d", "%1$s %1$s %2$d", ""),
                ("c-format", "%s dogs", "%s dogs", "%d Hunde", ""),
                ("c-format", "100%% dogs", "100%% dogs", "100% Hunde", ""),
                ("objc-format", "%@ of %@", "%1$@ of %2$@", "%2$@ aus %1$@", "%2$@ aus %1$@"),
                ("php-format", "%s of %s", "%1$s of %2$s", "%2$s aus %1$s", "%2$s aus %1$s"),
                ("python-format", "%s of %d", "%1$s of %2$d", "%2$d aus %1$s", ""),  # Python has no numbers
                ("python-format", "%s of %d", "%1$s of %2$d", "%1$s von %2$d", "%s von %d"),
                ("python-format", "%(a)s of %(b)d", "%(a)s of %(b)d", "%(b)d aus %(a)s", "%(b)d aus %(a)s"),
                ("python-brace-format", "{a} of {b}", "{a} of {b}", "{b} aus {a}", "{b} aus {a}"),
                ("python-brace-format", "{a} of {b}", "{a} of {b}", "{b} aus", ""),
                ("qt-format", "%1 of %2", "%1 of %2", "%2 aus %1", "%2 aus %1"),
                ("", "A :dog of %cat%", "A :dog of %cat%", "%cat% hat :dog", "%cat% hat :dog"),
                ("", "The :dog", "The :dog", "Der :hund", ""),
                ("c-format", "%s%ld%s:%d", "%1$s%2$ld%3$s:%4$d", "%1$s%2$ld%3$s:%4$d", "%s%ld%s:%d"),
                ("", "100% of a dog", "100% of a dog", "100 % eines Hunds", "100 % eines Hunds"),
                ("", "It costs $5", "It costs $5", "Es kostet 5 $", "Es kostet 5 $"),
                ("", "<b>A</b> dog", "<b>A</b> dog", "<b>Ein Hund", ""),
                ("", "$NAME and ${x}", "$NAME and ${x}", "${x} und $NAME", "${x} und $NAME"))

    def test_warnings_and_msgfmt(self):
        self.messages(("", "A dog", "A dog", ["Ein Hund", "protected"], ""),
                      ("", "A cat", "A cat", ["Eine Katze", "short"], "Eine Katze"),
                      ("", "A cow", "A cow", ["Eine Eine Eine", "repetition"], ""),
                      # A format that only msgfmt knows.
                      ("scheme-format", "~a of ~s", "~a of ~s", "von ~s", ""))
        # What is translated already is not touched, but named; its neighbours are translated.
        bad = f'{HEADER}\n#, c-format\nmsgid "%d dogs"\nmsgstr "Hunde"\n\nmsgid "A dog"\nmsgstr ""\n'
        done, new = self.recipe("a.po", bad)
        self.assertEqual(new.decode(), bad[:-3] + '"DE A dog"\n')
        self.assertIn("note: msgfmt -c objects to what was there before", done.stderr)
        # A fuzzy message that cannot be translated keeps what it had.
        fuzzy = f'{HEADER}\n#, fuzzy, c-format\nmsgid "%d dogs"\nmsgstr "%d Hunde"\n'
        done, new = self.recipe("a.po", fuzzy, table={"%d dogs": "Hunde"})
        self.assertEqual(new.decode(), fuzzy)
        self.assertRegex(done.stderr, r'note: 1 of 1 messages stay as they were, since [^\n]*: "%d dogs"\n\Z')

    def test_accelerators(self):
        self.messages(*(("", *case) for case in (
                ("&Save", "Save", "Sichern", "&Sichern"),
                ("_Save", "Save", "Sichern", "_Sichern"),
                ("&Save", "Save", "Datei sichern", "Datei &sichern"),
                ("Sa_ve", "Save", "Ablegen in V", "Ablegen in _V"),
                ("E&xit", "Exit", "Text Maximal", "Te&xt Maximal"),
                ("E&xit", "Exit", "Ende", "&Ende"),  # without the letter
                ("&Save %s", "Save %s", "%s Ablage", "%s &Ablage"),  # no letter of an argument
                ("&Save <b>s</b>", "Save <b>s</b>", "<b>Ab</b> am", "<b>&Ab</b> am"),
                ("Save (_As)", "Save (As)", "Sichern (als)", "Sichern (_als)"),
                ("_Save As...", "Save As...", "保存...", "保存(_S)..."),
                ("&Open", "Open", "열기", "열기(&O)"),
                ("&Save", "Save", "Сохранить", "&Сохранить"),
                ("&Save", "Save", "R&D", ""),  # it would have two
                ("R&D", "R&D", "F&E", "F&E"),
                ("Salt && pepper", "Salt && pepper", "Salz && Pfeffer", "Salz && Pfeffer"),
                ("Salt & pepper", "Salt & pepper", "Salz & Pfeffer", "Salz & Pfeffer"),
                ("Fish &amp; chips", "Fish &amp; chips", "Fisch &amp; Co.", "Fisch &amp; Co."),
                ("See ?a=1&b=2", "See ?a=1&b=2", "Siehe ?a=1&b=2", "Siehe ?a=1&b=2"),
                ("Set my_file", "Set my_file", "Setze my_file", "Setze my_file"),
                ("Call _exit()", "Call _exit()", "Rufe _exit() auf", "Rufe _exit() auf"),
                ("__init__ of _x", "__init__ of _x", "__init__ von _x", "__init__ von _x"),
                ("The symbol _start is missing.", "The symbol _start is missing.", "_start fehlt.", "_start fehlt."))))

    def test_ends_and_lines(self):
        self.messages(*(("", *case) for case in (
            ("Open...", "Open...", "Öffnen", "Öffnen..."),
            ("Open…", "Open…", "Öffnen...", "Öffnen…"),
            ("Open ...", "Open ...", "Öffnen...", "Öffnen ..."),
            ("Name:", "Name:", "Der Name.", "Der Name:"),
            ("Name:", "Name:", "名前：", "名前："),
            ("&Name: ", "Name:", "Name", "&Name: "),
            ("\nA hen\n\n  A cat: \n", "A cat:", "Katze.", "\nDE A hen\n\n  Katze: \n"),
            ("  A dog ", "A dog", " Hund  ", "  Hund "),
            ("A bee|%d bees", "-", "-", "DE A bee|DE %d bees"),
            ("Feed --{cat|dog} <a|b>", "-", "-", "DE Feed --{cat|dog} <a|b>"),
            ("A goat | a || b", "-", "-", "DE A goat | a || b"),
            ("\tA dog\tA cow\n", "-", "-", "\tDE A dog\tA cow\n"),
            (" \n", " ", " ", " \n"))))

    def test_plurals(self):
        def forms(rule, one, other):
            header = HEADER.replace("nplurals=2; plural=(n != 1);", rule)
            count = int(rule[9])
            entry = f"\nmsgid {quoted(one)}\nmsgid_plural {quoted(other)}\n" + "".join(
                f'msgstr[{form}] ""\n' for form in range(count))
            new = self.translated("a.po", header + entry)
            self.assert_clean(new.encode())
            return [line.split('"')[1] for line in new.splitlines() if line.startswith("msgstr[")]
        one, other = "DE %d dog", "DE %d dogs"
        self.assertEqual(forms("nplurals=2; plural=(n != 1);", one[3:], other[3:]), [one, other])
        self.assertEqual(forms("nplurals=2; plural=(n == 1);", one[3:], other[3:]), [other, one])
        self.assertEqual(forms("nplurals=1; plural=0;", one[3:], other[3:]), [other])
        self.assertEqual(forms(RUSSIAN, one[3:], other[3:]), [one, other, other])
        # 21 has the form of 1, but is not one dog.
        self.assertEqual(forms(RUSSIAN, "One dog", "%d dogs"), [other, other, other])
        self.assertEqual(forms("nplurals=2; plural=(n != 1);", "One dog", "%d dogs"), ["DE One dog", other])

    def test_charsets(self):
        latin = (HEADER.replace("UTF-8", "ISO-8859-1") + '\n# ö\nmsgid "A dog"\nmsgstr ""\n').encode("iso-8859-1")
        new = self.recipe("a.po", latin, table={"A dog": "Köter"})[1]
        self.assertEqual(new, latin[:-3] + '"Köter"\n'.encode("iso-8859-1"))
        new = self.recipe("a.po", latin, table={"A dog": "犬"})[1].decode()
        self.assertIn("charset=UTF-8", new)
        self.assertIn('# ö\nmsgid "A dog"\nmsgstr "犬"', new)

    def test_ts(self):
        ts = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="pl">
<context>
    <name>Main</name>
    <message>
        <location filename="a.cpp" line="1"/>
        <source>&amp;Save &lt;b&gt;</source>
        <comment>menu</comment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n dog(s)</source>
        <translation type="unfinished"><numerusform></numerusform></translation>
    </message>
    <message>
        <source>A cat</source>
        <translation>Kot</translation>
    </message>
    <message>
        <source>A cow</source>
        <translation type="vanished">Krowa</translation>
    </message>
    <message>
        <source>A bell<byte value="x7"/></source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
"""
        done, new = self.recipe("a.ts", ts)
        self.assertIn('1 of 3 messages stay as they were, since a translation would lack a part: "A bell"', done.stderr)
        wanted = ts.replace('<translation type="unfinished"></translation>',
                            "<translation>DE &amp;Save &lt;b&gt;</translation>", 1).replace(
            '<translation type="unfinished"><numerusform></numerusform></translation>', """<translation>
            <numerusform>DE %n dog</numerusform>
            <numerusform>DE %n dogs</numerusform>
            <numerusform>DE %n dogs</numerusform>
        </translation>""").replace('"x7"/>', '"x7"></byte>')
        self.assertEqual(new.decode(), wanted)
        self.refused("a.ts", ts.replace(' language="pl"', ""), words="give --tgt_lang")

    def test_resx(self):
        resx = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <resheader name="version">
    <value>2.0</value>
  </resheader>
  <data name="save" xml:space="preserve">
    <value>&amp;Save {0} &lt;b&gt;</value>
    <comment>A note.</comment>
  </data>
  <data name="size" type="System.Drawing.Size" xml:space="preserve">
    <value>1, 2 dogs</value>
  </data>
  <data name="&gt;&gt;save.Name" xml:space="preserve">
    <value>save</value>
  </data>
</root>
"""
        wanted = resx.replace("&amp;Save", "DE &amp;Save")
        self.assertEqual(self.translated("a.resx", resx), wanted)
        self.assertEqual(self.translated("a.resx", resx.rstrip()), wanted.rstrip())
        windows = "\ufeff" + resx.replace("\n", "\r\n")
        self.assertEqual(self.translated("a.resx", windows), "\ufeff" + wanted.replace("\n", "\r\n"))

    def test_xliff(self):
        xliff = """<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
  <file original="a" source-language="en" datatype="plaintext">
    <body>
      <trans-unit id="1">
        <source>A &lt; <g id="1">dog</g><x id="2"/></source>
        <note>A note.</note>
      </trans-unit>
      <trans-unit id="2" translate="no">
        <source>Keep</source>
      </trans-unit>
      <group translate="no">
        <trans-unit id="3">
          <source>Keep</source>
        </trans-unit>
      </group>
      <trans-unit id="4" approved="yes">
        <source>A cat</source>
        <target state="final">Katze</target>
      </trans-unit>
      <trans-unit id="5">
        <source>_Salt &amp; pepper</source>
        <target state="new">Salt</target>
      </trans-unit>
    </body>
  </file>
</xliff>
"""
        def wanted(state):
            return xliff.replace('"en" datatype="plaintext"', '"en" datatype="plaintext" target-language="de"').replace(
                '<x id="2"/></source>\n', f'''<x id="2"/></source>
        <target state="{state}">DE A &lt; <g id="1">dog</g><x id="2"/></target>\n''').replace(
                '<target state="new">Salt<', f'<target state="{state}">DE _Salt &amp; pepper<')
        for flags, state in (([], "translated"), (["--mark_fuzzy"], "needs-review-translation")):
            new = self.translated("a.xlf", xliff, "--tgt_lang=de", *flags)
            self.assertEqual(new, wanted(state))
        self.assertIn("--markup=xml", self.log.read_text())
        same = xliff.replace('"en" datatype', '"en" target-language="en" datatype')
        self.assertIn('target-language="de"', self.translated("a.xlf", same, out="a.de.xlf"))

    def test_xliff_segments(self):
        marks = '<mrk mtype="seg" mid="1">{}</mrk> <g id="1"><mrk mtype="seg" mid="2">{}</mrk></g><mrk mtype="seg"/>'
        first, second = 'A <g id="2">dog</g>.', "A cat."
        xliff = """<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
<file original="a" source-language="en" target-language="de" datatype="plaintext"><body><trans-unit id="1">
<source>A <g id="2">dog</g>. <g id="1">A cat.</g></source>
<seg-source>{}</seg-source>{}
</trans-unit></body></file></xliff>
"""
        wanted = f'\n<target{{}}>{marks.format("DE " + first, "DE " + second)}</target>'
        empty = marks.format("", "")
        for target in "", f"\n<target>{empty}</target>", f'\n<target state="new">{marks.format(first, "K")}</target>':
            new = self.translated("a.xlf", xliff.format(marks.format(first, second), target))
            self.assertEqual(new, xliff.format(marks.format(first, second), wanted.format(' state="translated"')))

    def test_xliff_2(self):
        xliff = """<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.1" srcLang="en">
  <file id="a">
    <unit id="1">
      <notes>
        <note>A note.</note>
      </notes>
      <segment id="s1">
        <source>A &lt; <pc id="1">dog</pc><ph id="2"/></source>
      </segment>
      <ignorable>
        <source> </source>
      </ignorable>
      <segment state="initial">
        <source>A cat</source>
        <target>A cat</target>
      </segment>
      <segment state="final">
        <source>A cat</source>
        <target>Katze</target>
      </segment>
    </unit>
    <group id="2" translate="no">
      <unit id="3">
        <segment>
          <source>Keep</source>
        </segment>
      </unit>
      <unit id="4" translate="yes">
        <segment>
          <source>Salt</source>
        </segment>
      </unit>
    </group>
  </file>
</xliff>
"""
        wanted = xliff.replace('srcLang="en"', 'srcLang="en" trgLang="de"')
        for old, new in (('<segment id="s1">', '<segment id="s1" state="translated">'), ("initial", "translated"),
                         ('<ph id="2"/></source>', """<ph id="2"/></source>
        <target>DE A &lt; <pc id="1">dog</pc><ph id="2"/></target>"""),
                         ("<target>A cat", "<target>DE A cat"),
                         ("<segment>\n          <source>Salt</source>", """<segment state="translated">
          <source>Salt</source>
          <target>DE Salt</target>""")):
            self.assertIn(old, wanted)
            wanted = wanted.replace(old, new)
        self.assertEqual(self.translated("a.xlf", xliff, "--tgt_lang=de"), wanted)

    def test_tmx(self):
        tmx = """<?xml version='1.0' encoding='UTF-8' standalone="no"?>
<tmx version="1.4">
  <header srclang="en"/>
  <body>
    <tu tuid="1">
      <note>A note.</note>
      <tuv xml:lang="fr"><seg>Chien</seg></tuv>
      <tuv xml:lang="en"><seg>A dog &amp; <ph x="1"/></seg></tuv>
    </tu>
    <tu tuid="2">
      <tuv xml:lang="en"><seg>A cat</seg></tuv>
      <tuv xml:lang="de-DE"><seg>Katze</seg></tuv>
    </tu>
  </body>
</tmx>
"""
        new = self.translated("a.tmx", tmx, "--tgt_lang=de")
        added = '<tuv xml:lang="de"><seg>DE A dog &amp; <ph x="1"/></seg></tuv>'
        self.assertIn(added, new)
        self.assertEqual("".join(new.replace(added, "").split()), "".join(tmx.split()))

    def test_strings(self):
        strings = """/* A menu; "not" = "a text"; */
"open" = "Open \\"%@\\" of\\n%d"; // a comment
key  =  "A d\\U00f6g";
"long" = "A cat
A cow"; /* "x" = "y"; */
"empty" = "";
"""
        wanted = strings.replace('"Open', '"DE Open').replace("of\\n", "of\\nDE ").replace(
            "A d\\U00f6g", "DE A dög").replace("A cat\nA cow", "DE A cat\\nDE A cow")
        self.assertEqual(self.translated("a.strings", strings), wanted)
        for charset in ("utf-16-le", "utf-16-be"):
            for mark in ("\ufeff", ""):
                new = self.recipe("a.strings", (mark + strings).encode(charset))[1]
                self.assertEqual(new.decode(charset), mark + wanted)
        # The order changes across lines.
        self.assertEqual(self.translated("a.strings", '"a" = "%@ of %d";', table={"%1$@ of %2$d": '%2$d "aus" %1$@'}),
                         '"a" = "%2$d \\"aus\\" %1$@";')

    def test_properties(self):
        properties = """# A comment: a text \\
! another = one
open=Open {0}
 save : Save \\
    it\\n\\u00fcber
key\\ with\\:signs = C:\\\\x
quoted=It''s {0}
plain=It's
empty=
"""
        wanted = properties.replace("Save \\\n    it\\n\\u00fc", "DE Save it\\nDE \\u00fc")
        wanted = wanted.replace("=Open", "=DE Open").replace("= C", "= DE C").replace("=It", "=DE It")
        self.assertEqual(self.translated("a.properties", properties), wanted)
        windows = self.translated("a.properties", properties.replace("\n", "\r\n"))
        self.assertEqual(windows, wanted.replace("\n", "\r\n"))
        for content, new, out in (
                (b"a=A dog", "Ein Köter 😀", b"a=Ein K\\u00f6ter \\ud83d\\ude00"),
                ("# ö\na=A dog".encode(), "Köter", "# ö\na=Köter".encode()),
                (b"# \xf6\na=A dog", "K\xf6ter \u72ac", b"# \xf6\na=K\xf6ter \\u72ac"),
                (b"a={0} dog", "l'{0}", b"a=l''{0}"),
                (b"a=A dog", "l'{0}", b"a=A dog")):
            text = content.decode("iso-8859-1").split("a=")[1]
            self.assertEqual(self.recipe("a.properties", content, table={text: new})[1], out)

    def test_php(self):
        php = r"""<?php
/* $x = 'A comment'; */
# and 'another'
$lang['open'] = 'It\'s "open"'; // 'a comment'
$lang["save"] = "Save \"%s\" of $name\n";
define('HELLO', 'Hello');
$n = 5;
$other = strtoupper('keep');
return array(
    'a' => 'A dog', 'n' => 7, 'none' => [],
    'c' => array('d' => 'A cat'), 'list' => ['A cow', "A hen"],
    'call' => __('keep'), 'flag' => $x === 'keep',
);
"""
        wanted = php
        for text in ("It\\'s", "Save", "Hello", "A dog", "A cat", "A cow", "A hen"):
            wanted = wanted.replace(text, "DE " + text, 1)
        self.assertEqual(self.translated("a.php", php), wanted)
        table = {"%1$s of %2$s": "%2$s aus %1$s", "A dog": "'Hund' \\"}
        php = "<?php $a = ['%s of %s', \"%s of %s\", 'A dog', \"A dog\"];"
        new = self.translated("a.php", php, table=table)
        self.assertEqual(new, r"""<?php $a = ['%2$s aus %1$s', "%2\$s aus %1\$s", '\'Hund\' \\', "'Hund' \\"];""")
        done, new = self.recipe("a.php", "<?php $a = ['x' => 'A ' . 'dog'];")
        self.assertEqual(new, b"<?php $a = ['x' => 'A ' . 'dog'];")
        self.assertIn("1 of 1 messages stay as they were", done.stderr)

    def test_json(self):
        whole = {"menu": {"open": "Open {{name}}", "list": ["A dog", {"x": "A cat"}], "n": 5, "f": 1.5, "no": None},
                 "yes": True, "a.b": "A cow", "": "A hen", "one": "A bee", "empty": ""}
        for indent in (None, 2, "\t"):
            text = json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"
            wanted = text.replace('"Open', '"DE Open').replace('"A ', '"DE A ')
            self.assertEqual(self.translated("a.json", text), wanted)
        self.assertEqual(self.translated("a.json", '{"a": "\\u00f6"}'), '{"a": "DE \\u00f6"}')
        self.assertEqual(self.translated("a.json", '\ufeff["A dog"]'), '\ufeff["DE A dog"]')
        extension = {"a": {"message": "A dog", "description": "A note", "placeholders": {"x": {"content": "$1"}}}}
        self.assertEqual(json.loads(self.translated("messages.json", json.dumps(extension))),
                         {"a": {**extension["a"], "message": "DE A dog"}})

    def test_i18next(self):
        one = {"k_one": "{{count}} dog", "k_other": "{{count}} dogs", "z": "A cat"}
        text = self.translated("en.json", json.dumps(one), out="de.json")
        self.assertEqual(text, '{"k_one": "DE {{count}} dog", "k_other": "DE {{count}} dogs", "z": "DE A cat"}')
        text = self.translated("en.json", json.dumps(one), "--tgt_lang=pl")
        self.assertEqual(list(json.loads(text)), ["k_one", "k_other", "k_few", "k_many", "z"])
        self.assertEqual(json.loads(text)["k_few"], "DE {{count}} dogs")
        text = self.translated("en.json", '{"k_one": "one dog", "k_other": "{{count}} dogs"}', "--tgt_lang=ru")
        self.assertEqual(json.loads(text)["k_one"], "DE {{count}} dogs")

    def test_arb(self):
        arb = {"@@locale": "en", "@@last_modified": "2024", "title": "A {x} dog", "plain": "A cat",
               "@title": {"description": "A note", "placeholders": {"x": {"example": "big"}}},
               "n": "{n, plural, =0{no dogs} one{{n} dog} other{{n} dogs in {x, select, a {A} other {B}}}}",
               "part": "See {n, plural, one{a dog} other{dogs}}"}
        done, new = self.recipe("app_en.arb", json.dumps(arb, indent=2), out="app_de.arb",
                                table={"{n} dogs in {x, select, a {A} other {B}}": "unused"})
        self.assertEqual(json.loads(new), {
            **arb, "@@locale": "de", "title": "DE A {x} dog", "plain": "DE A cat", "n": arb["n"]})
        self.assertIn("2 of 4 messages stay as they were", done.stderr)
        for source, wanted in (("{n, plural, =0{no dogs} one{{n} dog} other{# dogs}}",
                                "{n, plural, =0{DE no dogs} one{DE {n} dog} other{DE # dogs}}"),
                               ("{a, select, x {{n, plural, one {A} other {B}}} other { C }}",
                                "{a, select, x {{n, plural, one {DE A} other {DE B}}} other { DE C }}")):
            self.assertEqual(json.loads(self.translated("a.arb", json.dumps({"a": source}))), {"a": wanted})
        # The language is the one of --tgt_lang, and stays where it is not known.
        self.assertIn('"fr"', self.translated("a.arb", '{"@@locale": "en"}', "--tgt_lang=fr", out="app_de.arb"))
        self.assertIn('"en"', self.translated("a.arb", '{"@@locale": "en"}', out="new.arb"))

    def test_in_place_and_unwritable(self):
        path = self.folder / "a.json"
        path.write_text('{"a": "A dog"}')
        environment = {**os.environ, "NIBU_TRANSLATE": str(self.fake), "FAKE": "{}"}
        subprocess.run([RECIPE, path, path], check=True, env=environment)
        self.assertEqual(path.read_text(), '{"a": "DE A dog"}')
        done = subprocess.run([RECIPE, path, "/dev/full"], text=True, capture_output=True, check=False, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Acatalogue.sh: error: .*/dev/full cannot be written: .*\n\Z")


if __name__ == "__main__":
    empty = pathlib.Path(tempfile.mkdtemp())
    try:
        (empty / "a.json").write_text("{}")
        probe = subprocess.run([RECIPE, empty / "a.json", empty / "b.json"], text=True, capture_output=True,
                               env={**os.environ, "NIBU_TRANSLATE": "true"}, check=False)
    finally:
        shutil.rmtree(empty)
    missing = "gettext" if shutil.which("msgfmt") is None else "translate-toolkit"
    if missing == "gettext" or "apt-get install translate-toolkit" in probe.stderr:
        print(f"skipped: recipe catalogue: there is no {missing} (apt-get install {missing})")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
