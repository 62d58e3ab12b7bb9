"""quality_test.py PROGRAM CAPTIONS SHARED: checks how much BLEU other types than float32 lose.

PROGRAM (nibu-translate) translates with beam 4, and nibu-bench beside it computes BLEU: Multi30k's test set 2016 (SHARED/data) with the captions model
(CAPTIONS), and the 3,000 lines of SHARED/train/dev.tsv with the bundled model. int8 may lose 0.3 BLEU against
float32, bfloat16 0.1, int4 0.5; on the same test set, Marian's int8 model (SHARED/models) may lose 0.3 against Marian's own
int8 (SHARED/golden), and 0.5 against float32. More than the other's is no fault, since a rounding that happens to
help is as likely as one that harms. Exit status 77: skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
TEST_SET = "multi30k.test_2016_flickr"
# Compute type, the instruction set that oneDNN is held to (none: the CPU's own), BLEU it may lose. int8
# has another range of activations below VNNI.
CASES = (("bfloat16", "", 0.1), ("int8", "", 0.3), ("int8", "AVX2", 0.3), ("int4", "", 0.5))
MARIAN = "marian-en-de-ssru-int8"


class TestSet:
    def __init__(self, program, sources, references):
        self.program = program
        self.sources = sources
        self.references = references

    def bleu(self, compute_type, isa="", *flags):
        """None where this CPU does not have the compute type."""
        environment = dict(os.environ)
        if isa:
            environment["ONEDNN_MAX_CPU_ISA"] = isa
        done = subprocess.run(
            [self.program, f"--compute_type={compute_type}", "--beam_size=4", "--split_sentences=false",
             "--protect=none", *flags],
            input="".join(line + "\n" for line in self.sources).encode(), env=environment,
            capture_output=True, check=False)
        if done.returncode == 2 and b"--compute_type=bfloat16 needs" in done.stderr:
            return None
        if done.returncode != 0:
            sys.exit(f"{compute_type}: {done.stderr.decode()}")
        return self.score(done.stdout.decode().split("\n")[:-1])

    def score(self, translations):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("output", "reference")]
            for file, lines in zip(files, (translations, self.references)):
                file.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
            done = subprocess.run([pathlib.Path(self.program).with_name("nibu-bench"), "bleu", "--json", *files],
                                  stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)["bleu"]


def loses_too_much(name, result, plain, most):
    if result is None:
        print(f"skipped: quality of {name}, which this CPU does not have")
        return False
    loss = plain - result
    print(f"{name}: BLEU {result:.2f}; loses {loss:.2f} of at most {most}")
    return loss > most


def lower_precision_loses_too_much(name, test_set, least, *flags):
    plain = test_set.bleu("float32", "", *flags)
    print(f"{name}, float32: BLEU {plain:.2f}")
    failed = plain < least
    for compute_type, isa, most in CASES:
        result = test_set.bleu(compute_type, isa, *flags)
        failed |= loses_too_much(f"{name}, {compute_type} {isa}".strip(), result, plain, most)
    return failed


def read_lines(path):
    """The lines of a UTF-8 file as nibu-translate counts them: ended by LF alone."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def main():
    program, captions, shared = sys.argv[1:]
    data, dev = pathlib.Path(shared, "data"), pathlib.Path(shared, "train", "dev.tsv")
    if not data.exists():
        print(f"skipped: {data} is not there")
        return SKIPPED
    multi30k = TestSet(program, *(read_lines(data / f"{TEST_SET}.{side}") for side in ("en", "de")))
    # The captions model is known to reach 37.9, the bundled one 31.1.
    failed = lower_precision_loses_too_much("captions", multi30k, 37, f"--model={captions}")
    if dev.exists():
        rows = [line.split("\t") for line in read_lines(dev)]
        general = TestSet(program, [row[1] for row in rows], [row[2] for row in rows])
        failed |= lower_precision_loses_too_much("bundled", general, 30.5)
    else:
        print(f"skipped: quality of the bundled model, since {dev} is not there")

    plain = multi30k.bleu("float32", "", f"--model={shared}/models/en-de-ssru-marian")
    for golden, shortlist in ((MARIAN, "none"), (MARIAN + "-shortlist", "")):
        own = multi30k.score(read_lines(
            pathlib.Path(shared, "golden", f"{golden}.{TEST_SET}.beam4.txt")))
        result = multi30k.bleu("int8", "", f"--model={shared}/models/en-de-ssru-marian-int8",
                               f"--shortlist={shortlist}")
        failed |= loses_too_much(f"{golden} against Marian", result, own, 0.3)
        failed |= loses_too_much(f"{golden} against float32", result, plain, 0.5)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
