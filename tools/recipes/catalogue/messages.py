"""Translates messages of programs. What a program reads in them stays: arguments, tags, an accelerator, ends, lines."""

import html
import json
import re
import subprocess
import sys

# Arguments that nibu-translate does not know by itself, since prose resembles them: Laravel's :name, Symfony's %name%
NAMED = r"\B:[A-Za-z_]\w*|%[A-Za-z_]{3,}%"
# What a program fills in, and tags. The group is what follows the number in an argument of printf.
ARGUMENT = re.compile(
    rf"%%|{NAMED}(?![\w%])|"
    r"%(?:\d+\$)?([-+#0'I]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[zjtLq])?(?:[diouxXeEfFgGaAcCsSpn@]|<PRI\w+>))"
    r"|%\(\w+\)[-+#0 ]*[\d.]*[a-zA-Z]|%L?\d{1,2}|\$\{[^{}]*\}|\$[A-Za-z_]\w*"
    r"|\{\{[^{}]*\}\}|\{[^{}\s]*\}|\{\w+,[^{}]*\}|</?[A-Za-z][^<>]*>|&#?\w+;|&&")
# &Save, _Save; E&xit; Sa_ve. Neither R&D nor a=1&b=2, _exit() nor my_file.
ACCELERATOR = re.compile(r"(?:^|(?<=[\s(\[\"'“«>]))([&_])(?=\w)(?!\w*[;(])|(?<=[A-Za-z])(&)(?=[a-z])(?!\w*[;=])"
                         r"|\b[A-Z][a-z]*(_)(?=[a-z]+\b(?![.(]\w))")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# What stands between the texts of a message; "one dog|many dogs" is a plural of Laravel and Symfony, {one|two} is none.
RANGE = r"[\[{]\d[\d,*]*[\]}]\s?"  # the numbers that a plural form is for: {0}, [1,19]
SEPARATOR = re.compile(rf"(\n|^{RANGE}(?=[^|\n]*[^\s|]\|[^\s|])|(?<=[^\s|])\|(?:{RANGE})?(?=[^\s|])(?![^\[{{(<]*[\]}})>]))")
# A message of ICU: {n, plural, one {A dog} other {# dogs}}
ICU = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\s*,\s*(?:offset:\d+\s*)?")
BRANCH = re.compile(r"\s*(?:=\d+|\w+)\s*\{")
# Warnings of nibu-translate with which a translation is not used.
LOST = {"protected", "repetition", "unfinished", "truncated"}


def arguments(text):
    return sorted(match[0] for match in ARGUMENT.finditer(text))


def unnumbered(text):
    """Returns the arguments of printf that have no number, in their order."""
    return [match[1] for match in ARGUMENT.finditer(text) if match[1] and "$" not in match[0]]


def closing(text, at):
    """Returns where the brace is that closes the one in front of `at`, or -1."""
    depth = 1
    for brace in re.compile("[{}]").finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return -1


def branches(text):
    """Returns where the texts in a message of ICU begin and end; none if something else stands around it."""
    head = ICU.match(text)
    found, at = [], head.end() if head else len(text)
    while branch := BRANCH.match(text, at):
        at = closing(text, branch.end()) + 1
        if at == 0:
            return []
        found.append((branch.end(), at - 1))
    return found if re.fullmatch(r"\s*\}", text[at:]) else []


class Message:
    """A text of a catalogue. may_number: arguments that change their order may get numbers; escape: it is sent as XML.
    `texts` are the lines to translate; finish() sets `translation`, or leaves it None."""

    def __init__(self, source, may_number=True, escape=False):
        self.source, self.may_number, self.escape, self.translation = source, may_number, escape, None
        body = source.strip()
        self.lead, self.tail = source[:source.find(body)], source[source.find(body) + len(body):]
        self.body = body
        self.branches = branches(body)
        self.parts = [Message(body[begin:end], may_number, escape) for begin, end in self.branches]
        self.mark = None
        found = [(match[match.lastindex], match.start(match.lastindex)) for match in ACCELERATOR.finditer(body)]
        is_label = len(body.split()) <= 8 and not re.search(r"[^.]\.$", body)
        if len(found) == 1 and body.count(found[0][0]) == 1 and is_label:
            self.mark, at = found[0]
            self.letter, self.body = body[at + 1], body[:at] + body[at + 1:]
        # Numbers show which is which of two arguments that look the same.
        self.sent, kinds = self.body, unnumbered(self.body)
        self.is_numbered = len(kinds) > 1 and not re.search(r"%\d+\$|%[-+\d.]*\*", self.body)
        if self.is_numbered:
            numbers = iter(range(1, len(kinds) + 1))
            self.sent = ARGUMENT.sub(lambda match: f"%{next(numbers)}${match[1]}" if match[1] else match[0], self.body)
        self.lines = SEPARATOR.split(self.sent)  # texts and what stands between them, alternating
        self.texts = [text for part in self.parts for text in part.texts] or [
            self.sent_line(line) for line in self.lines[::2] if line.strip()]

    def finish(self, translations):
        for part in self.parts:
            part.finish(translations)
        if None in [translations[text] for text in self.texts] or None in [part.translation for part in self.parts]:
            return
        if self.parts:
            ends = [0, *(end for _, end in self.branches)]
            texts = [self.body[end:begin] + part.translation
                     for end, (begin, _), part in zip(ends, self.branches, self.parts)]
            text = "".join([*texts, self.body[ends[-1]:]])
        elif ICU.search(self.body):
            return  # a plural with words around it
        else:
            lines = list(self.lines)
            lines[::2] = [self.line(line, translations) for line in lines[::2]]
            text = self.with_arguments("".join(lines))
            text = self.with_accelerator(text) if text and self.mark else text
        self.translation = None if text is None else self.lead + text + self.tail

    def sent_line(self, line):
        return html.escape(line.strip(), False) if self.escape else line.strip()

    def line(self, around, translations):
        """Returns the translation of a line, which begins and ends as the line does."""
        lead, line, tail = re.fullmatch(r"(\s*)(.*?)(\s*)", around, re.DOTALL).groups()
        if not line:
            return around
        text = translations[self.sent_line(line)].strip()
        end = re.search(r"(?:\s?\.\.\.|…|:)$", line)
        if end and not text.endswith((end[0], "：" if end[0] == ":" else end[0])):
            text = re.sub(r"[\s.…:。：]*$", "", text) + end[0]
        text = html.unescape(text) if self.escape else text
        return lead + text + tail

    def with_arguments(self, text):
        """Returns a translation with the source's arguments, or None if it has others."""
        if arguments(text) != arguments(self.sent) or unnumbered(text) != unnumbered(self.sent):
            return None
        order = re.findall(r"%(\d+)\$", text)
        if self.is_numbered and order == sorted(order, key=int):
            return ARGUMENT.sub(lambda match: "%" + match[1] if match[1] else match[0], text)
        return None if self.is_numbered and not self.may_number else text

    def with_accelerator(self, text):
        """Returns a translation with the accelerator in front of the same letter, or else of the first one."""
        if self.mark in text:
            return None
        if CJK.search(text):
            end = re.search(r"[.…:：]*$", text).start()
            return f"{text[:end]}({self.mark}{self.letter.upper()}){text[end:]}"
        free = ARGUMENT.sub(lambda match: " " * len(match[0]), text)
        for place in (rf"\b{self.letter}", self.letter, r"\b[^\W\d_]", r"[^\W_]"):
            if match := re.search(place, free, re.IGNORECASE):
                return text[:match.start()] + self.mark + text[match.start():]
        return None


def translate(messages, program, flags):
    """Translates messages with one run of a program."""
    texts = list(dict.fromkeys(text for message in messages for text in message.texts))
    results = []
    if texts:
        done = subprocess.run([program, "--protect_pattern=" + NAMED, *flags, "--output_format=jsonl"], check=False,
                              input="".join(text + "\n" for text in texts).encode(), stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(done.returncode)
        results = [json.loads(line) for line in done.stdout.splitlines()]
    if len(results) != len(texts):
        sys.exit("catalogue.sh: error: there is not one translation for each line; leave out --text, --src and --out")
    translations = {text: None if LOST & set(result.get("warnings", [])) else result["hypotheses"][0]["text"]
                    for text, result in zip(texts, results)}
    for message in messages:
        message.finish(translations)
