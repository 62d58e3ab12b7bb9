"""subtitles.py IN OUT COMMAND ...: the texts of subtitles go through a command, one a line. See subtitles.sh.

A cue is a list of rows, and a row is a pair of its text and of what ends it in the file.
"""

import html
import itertools
import re
import subprocess
import sys

source, target, *command = sys.argv[1:]
with open(source, encoding="utf-8", newline="") as file:
    content = file.read()
is_ass = re.search(r"(?:^|[\r\n])Dialogue:", content) and not re.match("\ufeff?WEBVTT", content)

# In ASS, what stands in braces is not shown. Other formats borrow the overrides alone.
OVERRIDE = r"\{[^{}]*\}" if is_ass else r"\{\\[^{}]*\}"
TAG = rf"<[^<>]*>|{OVERRIDE}"
# A setting of an override that another one ends: {\i1} and {\i0}, {\c&HFF&} and {\c}
SETTING = r"\\([bius]|fs|[1-4]?c)(&[^\\{}]*|\d+|)"
# Tags that say when a word is said or sung
KARAOKE = r"<\d[\d:.]*>|\{[^{}]*\\[kK][fot]?\d[^{}]*\}"
# Signs in front of what a speaker says, and of a line of a song
SPEAKER = rf"(?:{TAG}|\s)*(?:[-\u2010-\u2015\u2212]+(?!\d)|(?:>|&gt;){{2,}}|[♪♫]+)\s*"
# What would not let a text end with its cue, and ASS's drawings
FOREIGN = r"(?i)<(?:[!?%]|(?:code|math|pre|script|style|svg|textarea|title|xmp)[\s>])|\{[^{}]*\\p[1-9]"
# Characters of scripts that write no spaces. A row may end between any two, but not in front of a small one.
HAN = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
HAN_BREAK = rf"(?<={HAN}|[、。！，？])(?={HAN})(?![ぁぃぅぇぉっゃゅょァィゥェォッャュョー々])"


def plain(text):
    return " ".join(html.unescape(re.sub(TAG, "", text)).split())


def read(lines):
    """Yields cues, and what stays as strings."""
    cue = None
    for line in lines:
        text = line.rstrip("\r\n")
        end = line[len(text) :]
        event = re.match(r"Dialogue:(?:[^,]*,){9}", text) if is_ass else None
        if event:
            parts = [*re.split(r"(\\[Nn])", text[event.end() :]), end]
            yield event.group()
            yield list(zip(parts[::2], parts[1::2]))
        elif "-->" in text and not is_ass:
            # Some files have no empty line in front of the next cue's number.
            number = "".join(cue.pop()) if cue and re.fullmatch(r"\d+", cue[-1][0]) else ""
            yield cue or ""
            yield number + line
            cue = []
        elif text and cue is not None:
            cue.append((text, end))
        else:
            yield cue or ""
            yield line
            cue = None
    yield cue or ""


def shown_twice(cues):
    """Yields, for each cue, the rows that the cue in front or behind shows, too, as captions do that roll up. Cues
    that show the same are one."""
    shown = [[text for row, _ in cue if (text := plain(row))] for cue in cues]
    groups = [(rows, len(list(group))) for rows, group in itertools.groupby(shown)]
    for i, (rows, count) in enumerate(groups):
        around = [row for others, _ in groups[max(i - 1, 0) : i] + groups[i + 1 : i + 2] for row in others]
        yield from [set(rows) & set(around)] * count


def cut(cue, alone):
    """Yields the texts of a cue, each as a list of rows. Each speaker's text stands alone, and so do rows that are
    blank or sung, or must be the same in another cue."""
    texts = []
    was_alone = True
    for row in cue:
        is_alone = plain(row[0]) in {"", *alone} or bool(re.search(KARAOKE, row[0]))
        if is_alone or was_alone or re.match(rf"{SPEAKER}|<v[ .]", row[0]):
            texts.append([])
        texts[-1].append(row)
        was_alone = is_alone
    return texts


def hide(text):
    """Returns the text with tags of HTML in place of overrides, and a function that puts the overrides back. Those of
    a pair enclose what they enclosed."""
    overrides = re.findall(OVERRIDE, text)
    tags = [f'<wbr id="{i}">' for i in range(len(overrides))]
    opened = []
    for i, override in enumerate(overrides):
        settings = re.findall(SETTING, override) if re.fullmatch(rf"\{{(?:{SETTING})+\}}", override) else []
        names = sorted(name for name, _ in settings)
        if override != r"{\r}" and not all(value in ("", "0") for _, value in settings):
            opened.append((names, i))
            continue
        for pair in reversed(opened):
            if override == r"{\r}" or pair[0] == names:
                opened.remove(pair)
                tags[pair[1]], tags[i] = f"<o-{i}>", f"</o-{i}>"
                break
    back = dict(zip(tags, overrides))
    left = iter(tags)
    hidden = re.sub(OVERRIDE, lambda _: next(left), text)
    return hidden, lambda translation: re.sub(r"<[^<>]*>", lambda m: back.get(m[0], m[0]), translation)


def breaks(text):
    """Returns where a row may end, each place as what a line end replaces: a space between two words, or nothing
    between two characters of a script without spaces."""
    shown = re.sub(rf"{TAG}|&#?\w+;", lambda m: "<" * len(m[0]), text)
    words = [m.start() for m in re.finditer(r"\w", shown)] or [0]
    places = [m.span() for m in re.finditer(f" +|{HAN_BREAK}", shown)]
    return [(begin, end) for begin, end in places if words[0] < begin and end <= words[-1]]


def wrap(text, count):
    """Returns the text in as many rows of about the same width, or in fewer if it has too few words."""
    rows = []
    for left in range(count, 1, -1):
        places = breaks(text)
        spaces = [(begin, end) for begin, end in places if begin < end]
        places = spaces if len(spaces) >= left - 1 else places
        if not places:
            break
        goal = len(plain(text)) / left
        # The other rows need places, too.
        places = places[: max(1, len(places) - left + 2)]
        begin, end = min(places, key=lambda place: abs(len(plain(text[: place[0]])) - goal))
        rows.append(text[:begin])
        text = text[end:]
    return [*rows, text]


def spread(row):
    """Returns the text of a row with karaoke tags, and a function that puts its tags into a translation, in their
    order and at the same share of its words."""
    parts = re.split(rf"((?:{TAG})+)", row)
    text = "".join(parts[::2])
    begins = [begin for begin, _ in breaks(text)] + [len(text)]

    def put(translation):
        places = [(0, 0), *breaks(translation), (len(translation), len(translation))]
        result = ""
        done = at = 0
        for part, tags in zip(parts[::2], parts[1::2]):
            at += len(part)
            words = sum(begin <= at for begin in begins)
            begin, end = places[round(words / len(begins) * (len(places) - 1))]
            # As before, the tags stand in front of a space or behind one.
            place = max(done, begin if text[at : at + 1] == " " else end)
            result += translation[done:place] + tags
            done = place
        return result + translation[done:]

    return text, put


class Text:
    """A text of a cue: what is translated of its rows, and how a translation becomes rows again."""

    def __init__(self, rows):
        self.rows = rows
        self.source = ""
        text = "\n".join(row for row, _ in rows)
        if re.search(FOREIGN, text) or not any(c.isalpha() for c in plain(text)):
            return
        text, self.restore = spread(text) if re.search(KARAOKE, text) else hide(text)
        text = re.sub(rf"(?<={HAN})\s*\n\s*(?={HAN})", "", text)
        text = re.sub(r"\s*\n\s*", " ", text)
        # Signs of speakers stay in front, and so does what places the cue.
        edge = r'(?:<wbr id="\d+">|\s)*'
        self.front = (re.match(SPEAKER, text) or re.match(edge, text))[0]
        text = text[len(self.front) :]
        self.back = re.search(edge + "$", text)[0]
        self.source = text[: len(text) - len(self.back)]
        if is_ass:
            self.source = self.source.replace(r"\h", "\u00a0")

    def finish(self, translation):
        if not translation.strip():
            return "".join(itertools.chain(*self.rows))
        if is_ass:
            translation = translation.replace("\u00a0", r"\h")
        rows = wrap(self.restore(self.front + translation + self.back), len(self.rows))
        ends = [end for _, end in self.rows[: len(rows) - 1] + self.rows[-1:]]
        return "".join(itertools.chain(*zip(rows, ends)))


def fail(what):
    sys.exit(f"subtitles.sh: error: {source} {what}")


pieces = list(read(re.split(r"(?<=\n)|(?<=\r)(?!\n)", content)))
cues = [piece for piece in pieces if isinstance(piece, list)]
if content.strip("\ufeff \t\r\n") and not cues and not re.match("\ufeff?WEBVTT", content):
    fail("has no cues as SubRip, WebVTT or ASS have them; convert it to one of these")
alone = shown_twice(cues)
pieces = [[Text(rows) for rows in cut(piece, next(alone))] if isinstance(piece, list) else piece for piece in pieces]
sources = [text.source for piece in pieces if isinstance(piece, list) for text in piece if text.source]
given = "".join(f"{text}\n" for text in sources)
done = subprocess.run(command, input=given.encode(), stdout=subprocess.PIPE, check=False)
if done.returncode != 0:
    sys.exit(max(1, done.returncode))
lines = done.stdout.decode().split("\n")[:-1]
if len(lines) != len(sources):
    fail(f"has {len(sources)} texts, which became {len(lines)} lines; leave out flags that change lines")
translations = iter(lines)
with open(target, "w", encoding="utf-8", newline="") as file:
    for piece in pieces:
        if isinstance(piece, list):
            piece = "".join(text.finish(next(translations) if text.source else "") for text in piece)
        file.write(piece)
