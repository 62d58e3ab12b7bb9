"""Models that are fetched, or chosen by their languages."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from nibu import _nibu


def download(model: str, pair: str = "", *, name: str = "") -> str:
    """Fetches a model, unless it is there already, and returns the path under which it lies.

    It calls the program nibu-get-model, whose help says what `model` may be: "opus-mt-en-fr", "firefox" with the pair
    "en-de", a name of Hugging Face's, a URL. Checksums are compared where the registry has them, an interrupted
    download goes on, and progress is shown on standard error. `name` is the model's name, in place of its own.
    FileNotFoundError: there is no such program; RuntimeError: why the model could not be fetched.
    """
    if model.startswith("-"):
        raise ValueError(f"{model} is no name of a model")
    command = [_get_model(), model, *([pair] if pair else []), *([f"--name={name}"] if name else [])]
    said = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        while chunk := process.stderr.read1(4096):  # type: ignore[attr-defined]
            text = chunk.decode(errors="replace")
            said += text
            if "error: " not in text and "is there already" not in text:
                sys.stderr.write(text)
                sys.stderr.flush()
        said += process.stdout.read().decode(errors="replace")
    found = re.search(r" is in (.*)\.$| remove (.*) to fetch it again$", said, re.MULTILINE)
    if process.returncode != 0 or found is None:
        errors = re.findall(r"error: (.*)", said)
        raise RuntimeError(errors[-1] if errors else f"{model} could not be fetched: {said.strip()}")
    return found[1] or found[2]


def choose_model(source: str, target: str) -> dict[str, str]:
    """Returns how installed models translate between two languages: path, pivot, src_lang and tgt_lang."""
    return _nibu.choose_model(source, target)


def _get_model() -> str:
    # On the path, below the prefix of this package's installation, or in the source tree of this package.
    found = shutil.which("nibu-get-model")
    if found is not None:
        return found
    for folder in Path(__file__).resolve().parents[:5]:
        for program in (folder / "bin" / "nibu-get-model", folder / "tools" / "get_model.sh"):
            if (folder / "share" / "nibu").exists() or (folder / "tools" / "get_model").exists():
                if program.exists():
                    return str(program)
    raise FileNotFoundError("there is no program nibu-get-model; nibu's CMake installation has it")
