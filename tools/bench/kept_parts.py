#!/usr/bin/env python3
"""What --protect keeps, and what that costs: the table by which its defaults were chosen.

kept_parts.py NIBU_TRANSLATE --src=FILE [--ref=FILE] [--mo=FILE.mo ...] [--random=N] [-- FLAGS]

Each row of the table is a kind of text, once as `--protect=all` translates it and once with
`--protect=none`:
* lost, doubled: lines in which a part (of an amount, its last digits) is missing, or occurs more
  often than in the source;
* BLEU of what stands around the parts, against the translation of the same sentence without them
  (for plain sentences and messages of programs, against the reference);
* lines per second of one thread, and for all also as a share of the plain sentences'.

Sentences are those of --src, with a part in front, in the middle, or behind; kinds that stand for a
number take its place. Messages are those of --mo with a translation and a part. --random=N makes N
lines of two sentences, each with a part of another kind, and counts the lines in which a part is
lost, doubled, or in the other sentence.
"""

import argparse
import gettext
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

# A kind, where its parts stand, and parts. "number": instead of a number in the sentence.
KINDS = (
    ("user, URL in front", "front", ("@anna", "https://example.org/a?b=1", "@user_2", "#work")),
    ("user, URL behind", "behind", ("@anna", "https://example.org/a?b=1", "#work")),
    ("emoji, code in front", "front", ("😀", ":smile:", "[00:02.100]", ">>")),
    ("emoji behind", "behind", ("😀", ":smile:", ":-)", "<3")),
    ("placeholder for a number", "number", ("%d", "{count}", "%1$d", "%(n)d", "${ n }")),
    ("placeholder for a name", "name", ("%s", "{name}", "{ name }", "%1$s", "<%= user %>", "##NAME##")),
    ("path, version, address", "name", ("/etc/fstab", "10.0.0.1", "1.2.3", "notes.txt", "me@example.org")),
    ("code", "name", ("`x = 1`", "--help", "foo_bar()", "Ctrl+C")),
    ("tags and Markdown", "around", (("<b>", "</b>"), ("**", "**"), ('<a href="x">', "</a>"), ("__", "__"))),
    ("line break", "between", ("\\n", "<br />", "\\N")),
    ("word in capitals", "word in capitals", ("",)),
    ("sentence in capitals", "capitals", ("",)),
    ("amount of money", "amount", ("$19.99", "€5", "£1,250", "1,102")),
    ("time", "time", ("7:45", "3:30 p.m.", "9 am")),
)
NUMBER = re.compile(r"\b(?:[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Tt]en|\d\d)\b(?![.,:]\d)")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?! [A-Z])|(?<=^)(?:He|She|It)\b")
AMOUNT = re.compile(r"[$€£]?\d(?:[\d.,:]*\d)?(?: (?:[ap]\.?m\b\.?|Uhr|Dollar|Euro|Pfund))?")
PART = re.compile(r"%(?:\d+\$)?[-+ #0']*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?[diouxXeEfgGcsp]|%\(\w+\)\w|\$?\{\w*\}"
                  r"|</?[a-z]+(?: [^<>]*)?/?>|\\[nt\"]|https?://[\w./-]+|--[a-z][a-z-]+")


class Program:
    """nibu-translate, which translates one line after the other with one thread."""

    def __init__(self, command, flags):
        self.command = [command, "--threads=1", *flags]
        self.process = None

    def all(self, lines):
        """The translations of lines, and lines per second without the time to start."""
        def run(text):
            start = time.monotonic()
            done = subprocess.run(self.command, input=text.encode(), stdout=subprocess.PIPE, check=True)
            return done.stdout.decode().split("\n")[:-1], time.monotonic() - start
        _, idle = run("")
        out, seconds = run("".join(line + "\n" for line in lines))
        if len(out) != len(lines):
            sys.exit(f"kept_parts.py: {len(lines)} lines went in, {len(out)} came out")
        return out, len(lines) / max(seconds - idle, 1e-6)

    def seconds(self, line):
        """The processor's time for one line that has not been there before, in a program that has started."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.seconds("Hello.")

        def used():
            tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
            return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
        start = used()
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return used() - start


def bleu(program, output, reference):
    """BLEU of lines, as the nibu-bench beside nibu-translate computes it."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in ("output", "reference")]
        for file, lines in zip(files, (output, reference)):
            file.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
        done = subprocess.run([pathlib.Path(program.command[0]).with_name("nibu-bench"), "bleu", "--json", *files],
                              stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["bleu"]


def put(where, part, sentence):
    """A sentence with a part, the sentence that its translation is compared with, and what is written for the part in
    the latter. None if the sentence has no place for the part."""
    if where == "front":
        return f"{part} {sentence}", sentence, ""
    if where == "behind":
        return f"{sentence} {part}", sentence, ""
    if where == "between":
        return f"{sentence}{part}{sentence}", f"{sentence} {sentence}", " "
    if where == "capitals":
        return sentence.upper(), sentence, ""
    if where == "time":
        return f"{sentence[:-1]} at {part}{sentence[-1]}", sentence, ""
    words = sentence.split(" ")
    if where == "word in capitals":
        words[len(words) // 2] = words[len(words) // 2].upper()
        return " ".join(words), sentence, ""
    if where == "around":
        i = len(words) // 2
        words[i] = part[0] + words[i] + part[1]
        return " ".join(words), sentence, ""
    found = (NAME if where == "name" else NUMBER).search(sentence)
    if not found:
        return None
    stand_in = "Tom" if where == "name" else "37"
    return tuple(f"{sentence[:found.start()]}{x}{sentence[found.end():]}" for x in (part, stand_in)) + (stand_in,)


def count(parts, output):
    """Returns whether a part is lost, and whether one is doubled."""
    found = {part: output.count(part) for part in parts}
    wanted = {part: sum(other.count(part) for other in parts) for part in parts}
    return any(found[p] < wanted[p] for p in parts), any(found[p] > wanted[p] for p in parts)


def row(name, programs, lines, parts, plain, written, references, plain_speed):
    """Prints a row of the table."""
    cells = []
    for program in programs:
        output, speed = program.all(lines)
        lost, doubled = (sum(x) for x in zip(*(count(p, o) for p, o in zip(parts, output))))
        rest = []
        for out, part, instead in zip(output, parts, written):
            for each in part if name not in ("amount of money", "time") else ():
                out = out.replace(each, instead)
            rest.append(" ".join(out.split()))
        goal = references or [" ".join(line.split()) for line in plain]
        if "amount" in name:  # which may be written otherwise
            rest, goal = [[AMOUNT.sub("37", line) for line in each] for each in (rest, goal)]
        if name == "time":
            rest = [re.sub(rf" (?:um |at )?{AMOUNT.pattern}", "", line) for line in rest]
        if "capitals" in name:  # letters alone are compared
            rest, goal = [[line.lower() for line in each] for each in (rest, goal)]
        share = f" ({speed / plain_speed:.2f})" if plain_speed and not cells else ""
        cells.append(f"{lost} | {doubled} | {bleu(program, rest, goal):.1f} | {speed:.0f}{share}")
    print(f"| {name} | {len(lines)} | {' | '.join(cells)} |", flush=True)


def messages(files, most):
    """Messages of one line with a part, and their translations."""
    found = {}
    for file in files:
        with open(file, "rb") as stream:
            try:
                catalogue = gettext.GNUTranslations(stream)._catalog
            except (OSError, ValueError, IndexError):  # no charset, or a header of another form
                continue
        for source, target in catalogue.items():
            if isinstance(source, str) and PART.search(source) and target and "\n" not in source.strip() + target.strip():
                found[source.split("\x04")[-1].strip()] = target.strip()
    chosen = sorted(found.items())
    random.Random(1).shuffle(chosen)
    return chosen[:most]


def random_lines(program, sentences, number):
    """Counts what is wrong in lines of two sentences, each with a part of another kind."""
    generator = random.Random(2)
    kinds = [(where, part) for _, where, parts in KINDS if where in ("front", "behind", "name", "number") for part in parts]
    lines = []
    while len(lines) < number:
        sides = []
        for where, part in generator.sample(kinds, 2):
            made = put(where, part, generator.choice(sentences))
            if made:
                sides.append((made[0], part))
        if len(sides) == 2 and count([sides[0][1]], sides[1][0]) == (True, False) == count([sides[1][1]], sides[0][0]):
            lines.append(sides)
    output, _ = program.all([f"{a[0]} {b[0]}" for a, b in lines])
    wrong = {"lost": 0, "doubled": 0, "in the other sentence": 0}
    for (a, b), out in zip(lines, output):
        lost, doubled = count([a[1], b[1]], out)
        wrong["lost"] += lost
        wrong["doubled"] += doubled
        moved = not lost and not doubled and out.find(a[1]) > out.find(b[1])
        wrong["in the other sentence"] += moved
        if lost or doubled or moved:
            print(f"wrong: {a[0]} {b[0]} -> {out}", file=sys.stderr)
    print(f"\n{number} lines of two sentences and two parts: " + ", ".join(f"{n} {what}" for what, n in wrong.items()), flush=True)


def times(program, pairs):
    """Prints how much longer lines with parts take than without."""
    ratios = sorted(program.seconds(line) / program.seconds(plain) for line, plain in pairs)
    print(f"\n{len(ratios)} lines one after the other take {sum(ratios) / len(ratios):.2f} times as long as without parts "
          f"in the mean, {ratios[len(ratios) * 99 // 100]:.2f} in 99 of 100, {ratios[-1]:.2f} at most")


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--src", required=True, help="plain sentences, one a line")
    parser.add_argument("--ref", help="their translations")
    parser.add_argument("--mo", nargs="*", default=[], help="compiled catalogues of the target language")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--random", type=int, default=0, help="how many random lines")
    options = parser.parse_args(sys.argv[1:split])
    programs = [Program(options.program, [*sys.argv[split + 1:], f"--protect={kind}"]) for kind in ("all", "none")]

    with open(options.src, encoding="utf-8") as file:
        everything = [line.rstrip("\n") for line in file]
    order = list(range(len(everything)))
    random.Random(0).shuffle(order)
    chosen = sorted(order[:options.lines])
    sentences = [everything[i] for i in chosen]
    references = None
    if options.ref:
        with open(options.ref, encoding="utf-8") as file:
            lines = file.read().split("\n")
        references = [lines[i] for i in chosen]
    nothing = [[]] * len(sentences)
    plain_speed = programs[1].all(sentences)[1]
    print("| kind | lines | lost | doubled | BLEU | lines/s | none: lost | doubled | BLEU | lines/s |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    row("plain sentences", programs, sentences, nothing, programs[1].all(sentences)[0], [""] * len(sentences), references,
        plain_speed)
    # More sentences are needed where few have a place for the part.
    ended = [line for line in (everything[i] for i in order) if line.endswith((".", "!", "?"))]
    timed = []
    for name, where, parts in KINDS:
        made = []
        for i, sentence in enumerate(ended):
            part = parts[i % len(parts)]
            each = put(where, part, sentence)
            if each and len(made) < options.lines:
                made.append((*each, [p for p in ([part] if isinstance(part, str) else part) if p]))
        sources, plain, written, kept = zip(*made)
        if where in ("amount", "time"):  # may be written otherwise, but for its last digits
            kept = [re.findall(r"\d+", p[0])[-1:] for p in kept]
            written = [""] * len(made)
        row(name, programs, list(sources), kept, programs[1].all(list(plain))[0], list(written), None, plain_speed)
        # Each sentence once: the program answers equal lines from memory.
        timed += [pair for pair in zip(sources, plain) if pair[1] not in {known for _, known in timed}][:20]
    texts = messages(options.mo, options.messages)
    if texts:
        row("messages of programs", programs, [s for s, _ in texts], [PART.findall(s) for s, _ in texts], [],
            ["X"] * len(texts), [PART.sub("X", t) for _, t in texts], None)
    if options.random:
        random_lines(programs[0], [s for s in ended if not PART.search(s)], options.random)
    times(programs[0], timed)


if __name__ == "__main__":
    main()
