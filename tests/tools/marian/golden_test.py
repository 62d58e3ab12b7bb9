"""golden_test.py PROGRAM SHARED: compares PROGRAM (nibu-marian) with Marian's own output.

SHARED/golden/marian-cli has what marian-decoder printed for 200 lines: n-best lists, alignments and word scores. Of the
best texts, 4 may differ, since float32 rounds differently; where texts agree, so do alignments, and scores to the fourth
digit; of the n-best lists, 180 are equal. The command lines of Marian's users run, too, on its npz model, on an int8
model with a shortlist and on an ensemble. Exit status 77: skipped.
"""

import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
MOST_DIFFERENT_TEXTS = 4
FEWEST_EQUAL_LISTS = 180
CASES = {
    "b4.nbest": "--beam-size 4 --maxi-batch 10 --n-best",
    "b4.nbest-alignment-scores": "--beam-size 4 --n-best --word-scores --alignment hard",
    "b1.alignment-hard": "--beam-size 1 --alignment hard",
    "b1.word-scores": "--beam-size 1 --word-scores",
    "b1.alignment-soft": "--beam-size 1 --alignment soft",
}


def run(command, text=b"", status=0, **options):
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, check=False, **options)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode(), done.stderr.decode()


def fields_of(line):
    return line.split(" ||| ")


def lists_of(lines, is_n_best):
    """The hypotheses of each line of the input, as lists of fields, the text first."""
    lists = {}
    for place, line in enumerate(lines):
        fields = fields_of(line)
        index = int(fields[0]) if is_n_best else place
        lists.setdefault(index, []).append(fields[1:] if is_n_best else fields)
    return [lists[index] for index in sorted(lists)]


def is_pair(word):
    return all(part.isdigit() for part in word.split("-")) and "-" in word


def agree(ours, theirs):
    """Whether two fields are equal, numbers to the fourth digit."""
    ours, theirs = ours.replace(",", " ").split(), theirs.replace(",", " ").split()
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs):
        if a == b:
            continue
        try:
            if abs(float(a) - float(b)) > 1e-4 * max(1, abs(float(b))):
                return False
        except ValueError:
            return False
    return True


def compare(name, ours, theirs, is_n_best):
    a, b = lists_of(ours, is_n_best), lists_of(theirs, is_n_best)
    if len(a) != len(b):
        sys.exit(f"{name}: {len(a)} lines, not {len(b)}")
    different = unlike = compared = equal = 0
    for mine, other in zip(a, b):
        different += mine[0][0] != other[0][0]
        equal += [each[0] for each in mine] == [each[0] for each in other]
        by_text = {each[0]: each[1:] for each in mine}
        for text, *rest in other:
            for x, y in zip(by_text.get(text, rest), rest):
                compared += 1
                if is_pair(y.split(" ")[0]) and x != y or not agree(x, y):
                    unlike += 1
                    if unlike < 4:
                        print(f"{name}: {text}: {x[:200]} for {y[:200]}")
    print(f"{name}: of {len(b)} best texts {different} differ, {equal} lists are equal; of {compared} alignments and "
          f"scores of equal texts {unlike} differ")
    allowed = MOST_DIFFERENT_TEXTS * len(b) / 200
    if different > allowed or unlike > compared / 100 or (is_n_best and equal < FEWEST_EQUAL_LISTS):
        sys.exit(f"{name}: that is too much")


def golden(program, shared, work):
    model = shared / "models/en-de-marian"
    source = (shared / "golden/marian-cli/source.pieces").read_bytes()
    for name, flags in CASES.items():
        theirs = (shared / "golden/marian-cli" / name).read_text(encoding="utf-8").split("\n")[:-1]
        is_n_best = "--n-best" in flags
        lines = source.splitlines(keepends=True)[:len(lists_of(theirs, is_n_best))]
        out, err = run([program, "decode", "-m", model / "model.npz", "-v", model / "vocab.yml", model / "vocab.yml",
                        "--cpu-threads", "1", "--normalize", "1", "--maxi-batch-sort", "src", "--mini-batch", "16",
                        "--quiet", "--quiet-translation", *flags.split()], b"".join(lines))
        if err:
            sys.exit(f"{name}: --quiet said: {err}")
        compare(name, out.split("\n")[:-1], theirs, is_n_best)


def expect_lines(name, count, text):
    if len(text.split("\n")) - 1 != count:
        sys.exit(f"{name}: {len(text.split(chr(10))) - 1} lines, not {count}")


def command_lines(program, shared, work):
    """The command lines of Mozilla's, OPUS-MT's and browsermt's pipelines."""
    model = shared / "models/en-de-marian"
    student = shared / "models/en-de-ssru-marian-int8"
    npz, yml, spm = model / "model.npz", model / "vocab.yml", model / "vocab.spm"
    for name in ("decoder", "scorer"):
        os.symlink(program, work / f"marian-{name}")
    decoder, scorer = work / "marian-decoder", work / "marian-scorer"
    pieces = b"".join((shared / "golden/marian-cli/source.pieces").read_bytes().splitlines(keepends=True)[:20])
    text = b"A man is riding a bicycle.\n\nTwo dogs are playing in the snow.\n"
    (work / "in.txt").write_bytes(text)
    (work / "pieces").write_bytes(pieces)
    with gzip.open(work / "pieces.gz", "wb") as file:
        file.write(pieces)
    (work / "decoder.yml").write_text(
        "normalize: 1.0\nword-penalty: 0\nmini-batch-words: 5000\nmaxi-batch: 10000\nmaxi-batch-sort: src\n"
        "fp16: true\nmax-length: 200\nmax-length-crop: true\nbeam-size: 8\nquiet-translation: true\n", encoding="utf-8")

    shared_flags = ["--vocabs", spm, spm, "--input", work / "in.txt", "--log", work / "in.txt.log", "--devices", 0, 1, 2, 3,
                    "--workspace", 12000, "--cpu-threads", 2]

    def mozilla(*extra, models=(npz,)):
        return run([decoder, "--config", work / "decoder.yml", "--models", *models, *shared_flags, *extra])[0]

    mozilla("--output", work / "out.txt")
    plain = (work / "out.txt").read_text(encoding="utf-8")
    expect_lines("mozilla", 3, plain)
    if plain.split("\n")[1] or not plain.startswith("Ein Mann "):
        sys.exit(f"mozilla: {plain}")
    log = (work / "in.txt.log").read_text(encoding="utf-8")
    for words in ("Total time: ", "[config] beam-size: 8", "ignored: --workspace --devices --fp16\n"):
        if words not in log:
            sys.exit(f"mozilla: the log lacks {words}: {log}")
    for extra in (["--beam-size", 1], ["--output-sampling", "topk", 10], ["--output-sampling", "full", 0.5]):
        expect_lines("mozilla", 3, mozilla(*extra))
    for extra in ([], ["--output-sampling", "topk", 10]):
        expect_lines("mozilla n-best", 2 * 8 + 1, mozilla("--n-best", *extra))
    evaluated, said = run([decoder, "--models", npz, "--config", work / "decoder.yml", "--vocabs", spm, spm, "--quiet",
                           "--quiet-translation", "--log", work / "log", "--int8shiftAlphaAll", "--workspace", 100,
                           "--devices", 0], text)
    expect_lines("eval.py", 3, evaluated)
    if said:
        sys.exit(f"eval.py: --quiet said: {said}")

    opus = ["-m", npz, "-v", yml, yml, "-b", 4, "-n1", "--quiet-translation", "-w", 10000, "-d", 0, 1, "--mini-batch", 256,
            "--maxi-batch", 512, "--maxi-batch-sort", "src", "--max-length", 500, "--max-length-crop"]
    by_name = run([decoder, "-i", work / "pieces.gz", *opus])[0]
    expect_lines("OPUS-MT", 20, by_name)
    if by_name != run([decoder, *opus], pieces)[0] or "▁" not in by_name:
        sys.exit("OPUS-MT: the compressed input has other translations")
    run([decoder, "-i", work / "pieces", "-o", work / "out.gz", *opus])
    if gzip.open(work / "out.gz", "rt", encoding="utf-8").read() != by_name:
        sys.exit("OPUS-MT: the compressed output is another one")
    run([decoder, "-c", model / "decoder.yml", "-i", work / "pieces", "-b4", "-n1", "--quiet-translation", "-w10000"])

    shortlist = student / "lex.50.50.bin"
    small = ["-m", student / "model.intgemm8.bin", "--vocabs", student / "vocab.spm", student / "vocab.spm", "--beam-size", 1,
             "--mini-batch", 32, "--maxi-batch", 100, "--maxi-batch-sort", "src", "-w", 128, "--skip-cost", "--cpu-threads", 1,
             "--quiet", "--quiet-translation", "--log", work / "log", "-i", work / "in.txt"]
    for extra in (["--int8shiftAlpha", "--shortlist", shortlist, "false"], ["--shortlist", shared / "models/en-de-ssru-marian/lex.s2t.gz", 50, 50],
                  ["--gemm-precision", "int8shiftAlphaAll"]):
        expect_lines("student", 3, run([decoder, *small, *extra])[0])
    if "Total time: " not in (work / "log").read_text(encoding="utf-8").split("\n")[-2]:
        sys.exit("student: the log does not end with the time")

    # One model twice has the translations and twice the scores of one.
    one = mozilla("--n-best").split("\n")[:-1]
    two = mozilla("--n-best", models=(npz, npz)).split("\n")[:-1]
    for a, b in zip(one, two):
        a, b = fields_of(a), fields_of(b)
        single = float(a[2].split()[1])
        features = b[2].split()
        if a[1] != b[1] or features[::2] != ["F0=", "F1="] or not agree(f"{2 * float(a[3])}", b[3]) or any(
                abs(float(each) - single) > 1e-3 for each in features[1::2]):
            sys.exit(f"ensemble: {b} for {a}")
    ssru = shared / "models/en-de-ssru-marian/model.npz"
    expect_lines("ensemble", 3, mozilla("--weights", 0.7, 0.3, models=(npz, ssru)))

    # The scorer gives the scores of the decoder.
    texts = {int(fields_of(line)[0]): fields_of(line) for line in reversed(one)}
    (work / "trg").write_text("".join(texts[n][1] + "\n" for n in sorted(texts)), encoding="utf-8")
    scores = run([scorer, "-m", npz, "-v", spm, spm, "-t", work / "in.txt", work / "trg", "-n1", "--quiet"])[0].split("\n")[:-1]
    for n, score in enumerate(scores):
        if abs(float(score) - float(texts[n][3])) > 1e-3:
            sys.exit(f"scorer: {score} for {texts[n]}")

    # A line that is too long for Marian is translated, and so are those behind it.
    long_out, said = run([decoder, "-m", npz, "-v", spm, spm, "--max-length", 10, "--quiet", "-b", 1, "-n"],
                         b"A man. " * 20 + b"\n" + text)
    expect_lines("a long line", 4, long_out)
    if "1 line(s) of more than 10 tokens were split" not in said:
        sys.exit(f"a long line: {said}")


def main():
    program, shared = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not (shared / "golden/marian-cli").is_dir():
        print(f"skipped: comparison with Marian, whose output is not there: {shared}/golden/marian-cli")
        return SKIPPED
    with tempfile.TemporaryDirectory() as work:
        golden(program, shared, pathlib.Path(work))
        command_lines(program, shared, pathlib.Path(work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
