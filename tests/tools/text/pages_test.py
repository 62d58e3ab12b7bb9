#!/usr/bin/env python3
"""pages_test.py NIBU_TRANSLATE [MODEL] [PAGE.html...]: compares HTML pages with their translations, in the trees that
browsers make of both (html5lib): the same elements in the same blocks, the same attributes but for translated ones,
nothing more to repair, and no element that lost its words. Without pages, it takes its own, 1,000 random nestings, and
the pages of a Debian package. Exit status 77 (skipped) without html5lib; prints what it counts.
"""
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import html5lib
except ImportError:
    # A python3 that is not Debian's does not have Debian's modules.
    if not os.path.samefile(sys.executable, "/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("skipped: pages: there is no html5lib (apt-get install python3-html5lib)")
    sys.exit(77)

PACKAGE = "debian-faq"
MOST_PAGES = 4
BLOCKS = set("""address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset
figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html label legend li main menu nav ol optgroup
option p pre section select summary table tbody td tfoot th thead title tr ul""".split())
KEPT = {"script", "style", "template", "svg", "math", "code", "pre", "iframe"}
TRANSLATED = {"alt", "aria-label", "content", "dir", "lang", "placeholder", "title", "value"}
SENTENCES = """A man is riding a red bicycle.|Two dogs are playing in the snow.|A woman is reading a book in the park.
The children are sitting at a table.|A boy jumps into the water.|People are standing outside of a big building.
A group of men is working on the roof of a house.|The young girl has a blue ball.|A black cat sleeps on a chair.
An old man is cooking food on the stove.""".replace("\n", "|").split("|")
INLINE = "a b i em strong span u small mark cite q abbr sub sup".split()
PAGE = """<!DOCTYPE html><html lang="en"><head><title>The old house</title>
<meta name="description" content="A house in the park"></head><body>
<nav><a href="/">Home</a><a href="/n">News</a> <a href="/c"><img src="c.png" alt="A dog"> Contact</a></nav>
<p><a href="/">Home</a> &raquo; <a href="/b">Books</a> &raquo; <b>Children</b></p>
<div><button>Save</button> <button><i class="icon"></i> Cancel</button>
<label><input type="radio"> Yes</label> <label><input type="radio"> No</label>
<select><option>One dog<option>Two dogs</select><input type="submit" value="Open the door" placeholder="A name"></div>
<p>Hello <b>world</b>, the&nbsp;<i>dog</i> is <a href="#1" title="A big dog">big</a><sup><a href="#f">[1]</a></sup>. The
<em>cat<!-- c --></em> is small <img src="x">.</p><p>See <a href="#1">1</a>, <a href="#2">2</a> and <a href="#3">3</a>.
<p>Price: <del>$20</del> <ins>$15</ins> <code>x</code><p lang="fr">Bonjour</p>
<p translate="no">A man <b translate="yes">is riding a bicycle</b></p>
<textarea>A man is sleeping.</textarea><table><tr><th>Name<td>The dog <td><a href="y">The cat</a></table>
</body></html>
"""


def random_nesting(rng):
    """Returns a sentence with inline elements around random words, one in another, and some without words."""
    words = rng.choice(SENTENCES).split()
    out, opened = [], []
    for at, word in enumerate(words):
        while len(opened) < 3 and rng.random() < 0.2:
            names = [n for n in INLINE if n not in opened]  # browsers repair <a> in <a>
            opened.append(rng.choice(names))
            out.append(f'<{opened[-1]} class="c{len(out)}">')
        if rng.random() < 0.08:
            out.append(rng.choice(['<img src="i">', "<i></i>", "<!-- c -->", "<br>"]))
        out.append(word)
        while opened and (at + 1 == len(words) or rng.random() < 0.5):
            out.append(f"</{opened.pop()}>")
        out.append("&nbsp;" if rng.random() < 0.1 else " ")
    return "".join(out).strip()


def parse(text):
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    tree = parser.parse(text)
    return tree, len(parser.errors)


def has_words(element):
    return bool(re.search(r"\w", "".join(element.itertext())))


def blocks_of(tree):
    """Returns the blocks in order, each with its name and a count of its inline elements by (name, attributes), once of
    all and once of those with words."""
    found = []

    def visit(element, block):
        for child in element:
            if not isinstance(child.tag, str):
                block[1]["comment", child.text] += 1
                continue
            attributes = tuple(sorted((k, v) for k, v in child.attrib.items() if k not in TRANSLATED))
            inner = block
            if child.tag in BLOCKS:
                inner = (child.tag, collections.Counter(), collections.Counter(), attributes)
                found.append(inner)
            else:
                block[1][child.tag, attributes] += 1
                if has_words(child):
                    block[2][child.tag, attributes] += 1
            if child.tag not in KEPT:
                visit(child, inner)

    visit([tree], ("", collections.Counter(), collections.Counter(), ()))
    return found


def compare(source, output, totals, show):
    (before, errors), (after, more_errors) = parse(source), parse(output)
    totals["repairs"] += max(0, more_errors - errors)
    olds, news = blocks_of(before), blocks_of(after)
    if [(b[0], b[3]) for b in olds] != [(b[0], b[3]) for b in news]:
        totals["other blocks"] += 1
        show("other blocks", source, output)
        return
    for old, new in zip(olds, news):
        totals["blocks"] += 1
        totals["elements"] += sum(old[1].values())
        totals["with words"] += sum(old[2].values())
        emptied = sum((old[2] - new[2]).values())
        totals["emptied"] += emptied
        if old[1] != new[1]:
            totals["other elements"] += 1
            show(f"{old[1] - new[1]} became {new[1] - old[1]}", source, output)
        elif emptied:
            show(f"emptied: {old[2] - new[2]}", source, output)


def debian_pages(folder):
    run = subprocess.run(f"cd {folder} && apt-get download {PACKAGE} && dpkg-deb -x {PACKAGE}_*.deb .", shell=True,
                         capture_output=True, text=True, check=False)
    pages = sorted(glob.glob(folder + "/**/*.html", recursive=True))
    pages = [page for page in pages if re.search(r"\.en\.html$|/[^.]*\.html$", page)][:MOST_PAGES]
    if not pages:
        print(f"skipped: the pages of {PACKAGE}: {run.stderr.strip()[-100:] or 'there are none'}")
    return pages


def main():
    program, model, files = sys.argv[1], sys.argv[2:3], sys.argv[3:]
    command = [program, "--markup=html", "--text=document", "--compute_type=int8", "--beam_size=1", "--warnings",
               *[f"--model={path}" for path in model if path]]
    rng = random.Random(1)
    is_quiet = not files
    with tempfile.TemporaryDirectory() as folder:
        pages = {"its own page": PAGE}
        for i in range(10):
            texts = "\n".join(f"<p>{random_nesting(rng)}</p>" for _ in range(100))
            pages[f"random nestings {i}"] = f"<!DOCTYPE html><title>x</title>{texts}"
        paths = files or debian_pages(folder)
        pages = {} if files else pages
        for path in paths:
            with open(path, encoding="utf-8", errors="replace") as file:
                pages[path.removeprefix(folder)] = file.read()
        sums = collections.Counter()
        for name, page in pages.items():
            run = subprocess.run(command, input=page, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                sys.exit(f"{name}: exit status {run.returncode}: {run.stderr[-300:]}")
            totals = collections.Counter()
            totals["warnings"] = len(re.findall("protected", run.stderr))

            def show(what, source, output):
                if not is_quiet or len(source) < 2000:
                    print(f"{name}: {what}")

            compare(page, run.stdout, totals, show)
            print(name, json.dumps(totals))
            sums += totals
    print("all", json.dumps(sums))
    bad = [key for key in ("repairs", "other blocks", "other elements") if sums[key]]
    if sums["emptied"] * 1000 > sums["with words"]:
        bad.append("emptied")
    if bad:
        sys.exit(f"error: {', '.join(bad)}")


main()
