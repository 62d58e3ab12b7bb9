#!/usr/bin/env python3
"""nibu's speed beside CTranslate2's and Marian's: the programs translate the same pieces in turns, and the ratios of
their throughputs are printed with quartiles.

    tools/bench/compare_peers.py --nibu=build/release/bin/nibu-translate --src=PIECES --model=FOLDER \\
        --ct2=/path/ct2-translator --ct2_model=FOLDER --compute_type=int8 --beam_size=4
    tools/bench/compare_peers.py --src=PIECES --model=STUDENT --marian=/path/marian-decoder --marian_config=decoder.yml

PIECES has a sentence a line, as pieces with blanks between them (spm_encode writes them); all programs get its
different lines, since nibu translates equal ones once, and translate them on one thread. A program that generates more
tokens has more to do, so that tokens per second are compared. Seconds are the processor's, on which other programs of a
shared machine have the least influence; those for the first line alone, mostly the program's start, are subtracted.
"""

import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

# Where oneDNN looks for the highest instruction set that it may use. A limit of the caller's would reach all programs.
LIMITS = ("DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA")


class Failed(Exception):
    """A program did not run, and the message says which."""


def read_cpu():
    """The maker and the name of the CPU, and the instruction sets that it has."""
    fields = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                fields.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    return fields.get("vendor_id", ""), fields.get("model name", ""), set(fields.get("flags", "").split())


def processor_seconds():
    """The processor's time of all programs that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Program:
    """A program with its flags, which reads pieces from a file and writes pieces to another one."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.command = command  # of (source, output)
        own = {name: value for name, value in os.environ.items() if name not in LIMITS}
        self.environment = {**own, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", **(environment or {})}
        self.seconds = []
        self.start = 0.0  # seconds for the first line alone
        self.tokens = 0
        self.lines = []
        self.log = ""

    def run(self, source, output, pin):
        command = [*pin, *self.command(str(source), str(output))]
        output.unlink(missing_ok=True)
        before = processor_seconds()
        try:
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, errors="replace",
                                  check=False)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from error
        self.seconds.append(processor_seconds() - before)
        if done.returncode != 0:
            said = [line.strip() for line in done.stderr.splitlines() if line.strip() and "[info]" not in line]
            raise Failed(f"{self.name}: ended with {done.returncode}: {' '.join(said[-2:])}")
        self.log = done.stderr
        expected = source.read_text(encoding="utf-8").count("\n")
        written = output.read_text(encoding="utf-8") if output.exists() else ""
        if written.count("\n") != expected:
            raise Failed(f"{self.name}: wrote {written.count(chr(10))} lines for {expected}")
        self.lines = written.removesuffix("\n").split("\n")
        self.tokens = sum(len(line.split()) for line in self.lines)

    def rates(self):
        """Tokens per second of each run, without those for the first line."""
        tokens = self.tokens - len(self.lines[0].split())
        return [tokens / max(seconds - self.start, 1e-3) for seconds in self.seconds]


def ways_of_ct2(flags):
    """The environments in which CTranslate2 is tried, since it does not choose the fastest way itself."""
    # It prefers AVX2 to AVX-512, which it takes if it is asked for; and it multiplies with MKL on Intel's CPUs, with
    # another library, mostly oneDNN, elsewhere.
    for isa in ("", "AVX512") if "avx512f" in flags else ("",):
        for is_mkl in ("1", "0"):
            way = {"CT2_FORCE_CPU_ISA": isa, "CT2_USE_MKL": is_mkl}
            yield way
            # oneDNN 2.6 takes AMX for products of any size, and is slower with it for small ones: for 1,000 captions in
            # int8, 1.6 times the processor time.
            if "amx_int8" in flags and not int(is_mkl):
                yield {**way, **dict.fromkeys(LIMITS, "AVX512_CORE_VNNI")}


def programs_of(options, flags):
    """nibu, and each peer in each of its ways."""
    beam = str(options.beam_size)
    fixed = options.output_length
    lengths = ["--min_decoding_length", str(fixed), "--max_decoding_length", str(fixed)] if fixed else []
    batch = str(options.batch_size)
    yield Program("nibu", lambda source, output: [
        options.nibu, f"--model={options.model}", "--tokenized", "--threads=1", f"--compute_type={options.compute_type}",
        f"--beam_size={beam}", f"--batch_size={batch}", *lengths, f"--src={source}", f"--out={output}"])
    if options.ct2:
        for ways in ways_of_ct2(flags):
            yield Program("CTranslate2", lambda source, output: [
                options.ct2, "--model", options.ct2_model, "--src", source, "--out", output, "--beam_size", beam,
                "--batch_size", batch, "--read_batch_size", "1024", "--compute_type", options.compute_type,
                "--inter_threads", "1", "--intra_threads", "1", *lengths], {**ways, "CT2_VERBOSE": "1"})
    if options.marian:
        yield Program("Marian", lambda source, output: [
            options.marian, "-c", options.marian_config, "--cpu-threads", "1", "-b", beam, "--mini-batch", batch,
            "--maxi-batch", "100", "--maxi-batch-sort", "src", "--quiet", "--quiet-translation", "-i", source, "-o",
            output])


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3


def name_from_log(program, compute_type):
    """Names CTranslate2 by the instruction set and the back end that its log says, whatever it was asked for."""
    product = "GEMM_S8" if compute_type.startswith("int8") else "SGEMM"
    isa = re.search(r"Selected ISA: (\w+)", program.log)
    back_end = re.search(product + r" backend: (\w+)", program.log)
    if isa and back_end:
        limit = " without AMX" if LIMITS[0] in program.environment else ""
        program.name = f"CTranslate2, {isa[1]}, {back_end[1].replace('DNNL', 'oneDNN')}{limit}"


def compare(programs, lines, options, pin):
    """Runs all programs in turns. Those that cannot run in one of their ways are left out, and said."""
    with tempfile.TemporaryDirectory() as folder:
        first, source, output = (pathlib.Path(folder, name) for name in ("first", "source", "output"))
        first.write_text(lines[0] + "\n", encoding="utf-8")
        source.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        said = set()
        for program in list(programs):
            try:
                for _ in range(3):
                    program.run(first, output, pin)
            except Failed as error:
                if program is programs[0] or len(programs) == 2:
                    raise
                if str(error) not in said:
                    print(f"left out: {error}", file=sys.stderr)
                said.add(str(error))
                programs.remove(program)
            program.start, program.seconds = min(program.seconds, default=0), []
            name_from_log(program, options.compute_type)
        for turn in range(options.pairs):
            # The first one may find the machine in another state, so every other turn is in reverse.
            for program in programs if turn % 2 == 0 else reversed(programs):
                program.run(source, output, pin)


def report(programs, sentences, cpu, options):
    own = programs[0]
    print(f"{sentences} sentences, {options.compute_type}, beam {options.beam_size}, batch {options.batch_size}, "
          f"one thread of {cpu or 'an unknown CPU'}")
    print(f"{'':40} {'start s':>8} {'CPU s':>8} {'tokens':>8} {'tokens/s':>9}  nibu / it, quartiles  equal lines")
    for program in programs:
        low, median, high = quartiles([a / b for a, b in zip(own.rates(), program.rates())])
        equal = sum(a == b for a, b in zip(own.lines, program.lines)) / max(1, sentences)
        ratio = "" if program is own else f"{median:.2f} ({low:.2f} to {high:.2f})"
        print(f"{program.name:40} {program.start:8.2f} {statistics.median(program.seconds):8.2f} {program.tokens:8d} "
              f"{statistics.median(program.rates()):9.1f}  {ratio:20}  {100 * equal:10.1f} %")


def warnings_of(programs, vendor, fixed):
    """Notes without which the figures would be misunderstood."""
    for program in programs:
        if statistics.median(program.seconds) < 2 * program.start:
            yield f"{program.name}: its start takes most of the time, so that its figures say little; give more lines"
    for program in programs[1:]:
        if "MKL" in program.name and vendor != "GenuineIntel":
            yield (f"{program.name}: MKL takes its generic code on CPUs of {vendor or 'other makers'}, which is slower "
                   "than what they can do; oneDNN's figure is the fair one")
        if program.name == "Marian" and fixed:
            yield "Marian has no least length, so that it ends where the model does; compare by token, with a real model"
        elif fixed and program.tokens != programs[0].tokens:
            yield f"{program.name}: generated {program.tokens} tokens, and nibu {programs[0].tokens}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--nibu", default=str(here / "build/release/bin/nibu-translate"), help="nibu-translate")
    parser.add_argument("--model", required=True, help="the model that nibu reads; it may be CTranslate2's own folder")
    parser.add_argument("--src", required=True, help="pieces, a sentence a line")
    parser.add_argument("--ct2", help="ct2-translator, the example program of CTranslate2")
    parser.add_argument("--ct2_model", help="its model (default: that of --model)")
    parser.add_argument("--marian", help="marian-decoder")
    parser.add_argument("--marian_config", help="its decoder.yml, with a vocabulary that leaves pieces as they are")
    parser.add_argument("--compute_type", default="int8", help="float32 or int8; Marian's is in its configuration")
    parser.add_argument("--beam_size", type=int, default=1)
    parser.add_argument("--batch_size", type=int, default=32, help="sentences (default: 32)")
    parser.add_argument("--output_length", type=int, default=0,
                        help="exact number of tokens of each output, for random weights (default: 0, the model's own)")
    parser.add_argument("--pairs", type=int, default=5, help="measured runs of each (default: 5)")
    parser.add_argument("--cpu", default="0", help="CPU to keep to, as taskset has it; empty: any (default: 0)")
    options = parser.parse_args()
    options.ct2_model = options.ct2_model or options.model
    if not options.ct2 and not options.marian:
        parser.error("give --ct2 or --marian")
    if options.marian and not options.marian_config:
        parser.error("--marian needs --marian_config")
    if options.pairs < 1:
        parser.error("--pairs must be at least 1")
    vendor, cpu, flags = read_cpu()
    pin = ["taskset", "--cpu-list", options.cpu] if options.cpu else []
    programs = list(programs_of(options, flags))
    try:
        text = pathlib.Path(options.src).read_text(encoding="utf-8")
        lines = list(dict.fromkeys(filter(str.strip, text.split("\n"))))
        if not lines:
            raise Failed(f"{options.src} has no text")
        if len(lines) == 1:
            raise Failed(f"{options.src} has a single line, whose time is that of the start; give some hundred")
        compare(programs, lines, options, pin)
    except (Failed, OSError, UnicodeDecodeError) as error:
        print(f"compare_peers.py: error: {error}", file=sys.stderr)
        return 1
    report(programs, len(lines), cpu, options)
    for warning in warnings_of(programs, vendor, options.output_length):
        print(f"note: {warning}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
