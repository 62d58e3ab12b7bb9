"""The files of a model: which ones are read, what they say of its tokens, and the type of its weights."""

import contextlib
import dataclasses
import io
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from nibu import _nibu

MODEL_FILE = "model.bin"
SOURCE_FILE = "nibu_source.json"  # in a directory of a converter's (see converters)
_SHORTLIST_FILE = "vmap.txt"
_VOCABULARIES = [f"{side}_vocabulary.{kind}" for side in ("shared", "source", "target") for kind in ("json", "txt")]
# A directory may hold more, such as SentencePiece models, which are not for tokens.
_FILES = [MODEL_FILE, "config.json", _SHORTLIST_FILE, *_VOCABULARIES]

# Tokens that stand for others begin with it. It is for private use: no vocabulary has such tokens.
STAND_IN = "\U000f9b1b"
PADDING = "<pad>"
HIDDEN_PADDING = STAND_IN + "pad"  # in the vocabulary of a multilingual model
_FAIRSEQ = ["<s>", PADDING, "</s>", "<unk>"]  # its beginning
_TOKENS = ("bos_token", "eos_token", "unk_token")
_TYPES = {0: "float32", 1: "int8", 2: "int16", 3: "int32", 4: "float16", 5: "bfloat16"}
_TYPES_BY_SIZE = {1: "int8", 2: "int16", 4: "float32"}  # in files of versions 2 and 3


@dataclasses.dataclass(frozen=True)
class ModelFacts:
    """What a model's files say, as far as Python has to know it."""

    saved_type: str = "float32"  # of the weights
    bos_token: str = "<s>"
    eos_token: str = "</s>"
    unk_token: str = "<unk>"
    add_source_bos: bool = False
    add_source_eos: bool = True
    has_shortlist: bool = False

    @property
    def source_extra(self) -> int:
        """The number of tokens that the model itself adds to a source."""
        return int(self.add_source_bos) + int(self.add_source_eos)


class ModelFiles:
    """A model in a directory or in memory."""

    def __init__(self, path: str, files: Mapping[str, bytes] | None = None) -> None:
        self._saved_type = "float32"
        if files is None and os.path.isfile(os.path.join(path, SOURCE_FILE)):
            try:
                source = _read_json(os.path.join(path, SOURCE_FILE))
                named, self._saved_type = str(source["model"]), str(source["type"])
            except (ValueError, KeyError, TypeError) as error:
                raise RuntimeError(f"{SOURCE_FILE} of the model '{path}' is damaged; convert it again") from error
            if not os.path.exists(named):
                raise RuntimeError(f"the model '{path}' was converted from '{named}', which is gone; convert it again")
            path = named
        self.path = path
        self._files = files

    @contextlib.contextmanager
    def directory(self) -> Iterator[str]:
        """A directory with the files that nibu is to load; it may be gone afterwards."""
        if self._files is None and os.path.exists(self.path) and not os.path.isfile(self._path_of(MODEL_FILE)):
            yield self.path  # a model of another format, which nibu reads as well
            return
        with tempfile.TemporaryDirectory(prefix="nibu-model-") as folder:
            for name in _FILES:
                target = os.path.join(folder, name)
                if self._files is None:
                    if os.path.isfile(self._path_of(name)):
                        _link(os.path.abspath(self._path_of(name)), target)
                elif name in self._files:
                    with open(target, "wb") as file:
                        file.write(self._files[name])
            _hide_languages(os.path.join(folder, "shared_vocabulary.json"))
            yield folder

    def read_facts(self, folder: str) -> ModelFacts:
        """Reads what the files in `directory` say. RuntimeError: there is no model, or a file is damaged."""
        if folder == self.path:
            # As in a conversion, the caller gives sources their languages and ends.
            is_multilingual = bool(self._info()["source_languages"])
            return ModelFacts(saved_type=self._saved_type, add_source_eos=not is_multilingual)
        try:
            with open(os.path.join(folder, MODEL_FILE), "rb") as file:
                flags, stored, saved_type = _read_variables(file)
        except OSError as error:
            raise RuntimeError(f"cannot open file '{MODEL_FILE}' of the model '{self.path}': "
                               f"{error.strerror}") from error
        except (struct.error, KeyError, UnicodeDecodeError) as error:
            raise RuntimeError(f"the file {MODEL_FILE} of the model '{self.path}' is damaged") from error
        config: dict[str, Any] = {}
        if os.path.exists(os.path.join(folder, "config.json")):
            try:
                config = _read_json(os.path.join(folder, "config.json"))
            except ValueError as error:
                raise RuntimeError(f"config.json of the model '{self.path}' is no JSON: {error}") from error
        if config.get("decoder_start_token", "") is None or flags.get("user_decoder_start_tokens"):
            raise RuntimeError(f"the model '{self.path}' cannot be used: it has no decoder_start_token of its own, and "
                               "targets whose first token has to be given are not supported")
        return ModelFacts(
            saved_type=saved_type,
            add_source_bos=bool(config.get("add_source_bos", flags.get("with_source_bos", False))),
            add_source_eos=bool(config.get("add_source_eos", flags.get("with_source_eos", False))),
            has_shortlist=os.path.exists(os.path.join(folder, _SHORTLIST_FILE)),
            **{name: config.get(name) or stored[name] for name in _TOKENS if config.get(name) or name in stored})

    def _info(self) -> dict[str, Any]:
        try:
            return _nibu.Model.read_info(self.path)
        except (ValueError, OSError) as error:
            raise RuntimeError(str(error)) from error

    def _path_of(self, name: str) -> str:
        return os.path.join(self.path, name)


def _hide_languages(vocabulary: str) -> None:
    """Changes the vocabulary of a multilingual model, if it is one.

    nibu knows converted M2M-100, NLLB and mBART by the beginning of their vocabularies, and gives them their
    languages itself. Here languages are tokens like others, which the caller gives.
    """
    try:
        tokens = _read_json(vocabulary)
    except (OSError, ValueError):  # there is none, or nibu will say what is wrong with it
        return
    if isinstance(tokens, list) and tokens[:len(_FAIRSEQ)] == _FAIRSEQ:
        tokens[_FAIRSEQ.index(PADDING)] = HIDDEN_PADDING
        os.remove(vocabulary)  # it may be a link to the model's own
        with open(vocabulary, "w", encoding="utf-8") as changed:
            json.dump(tokens, changed)


def _read_json(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _link(source: str, target: str) -> None:
    try:
        os.symlink(source, target)
    except OSError:  # a system without symbolic links
        shutil.copyfile(source, target)


def read_files(files: Mapping[str, Any]) -> dict[str, bytes]:
    """Reads the values of a dictionary of files, which are bytes or have a method read."""
    contents = {name: content.read() if hasattr(content, "read") else content for name, content in files.items()}
    for name, content in contents.items():
        if not isinstance(content, bytes):
            raise TypeError(f"the content of {name} must be bytes or a binary file object")
    return contents


def _read_variables(file: BinaryIO) -> tuple[dict[str, int], dict[str, str], str]:
    """The flags of a model.bin, its special tokens (in older files), and the type of its weights.

    models/containers/ctranslate2_bin.h describes the file.
    """

    def unpack(layout: str) -> tuple[int, ...]:
        return struct.unpack("<" + layout, file.read(struct.calcsize("<" + layout)))

    def text() -> str:
        return file.read(unpack("H")[0]).rstrip(b"\0").decode("utf-8")

    version = unpack("I")[0]
    if version < 2:  # nibu refuses it
        return {}, {}, "float32"
    text()  # the model's kind
    count = unpack("II")[1]
    flags: dict[str, int] = {}
    tokens: dict[str, str] = {}
    saved_type = "float32"
    for _ in range(count):
        name = text()
        rank = unpack("B")[0]
        unpack(f"{rank}I")
        if version >= 4:
            kind, size = unpack("BI")
            dtype = _TYPES[kind]
        else:
            item, items = unpack("BI")
            dtype, size = _TYPES_BY_SIZE[item], item * items
        if name.endswith("weight"):
            saved_type = dtype
        if name in _TOKENS:
            tokens[name] = file.read(size).rstrip(b"\0").decode("utf-8")
        elif rank == 0 and dtype == "int8":
            flags[name] = unpack("b")[0]
        else:
            file.seek(size, io.SEEK_CUR)
    return flags, tokens, saved_type


def choose_compute_type(requested: str, facts: ModelFacts) -> str:
    """The value of nibu's option compute_type that a type of CTranslate2's stands for."""
    if requested == "default":
        return "int8" if facts.saved_type == "int8" else "float32"
    known = {"auto": "auto", "int8": "int8", "int8_float32": "int8", "float32": "float32", "float": "float32"}
    if requested in known:
        return known[requested]
    if requested in supported_compute_types():
        return requested
    raise ValueError(f"the compute type {requested} is not supported here; it may be "
                     f"{', '.join(sorted(supported_compute_types()))}, default or auto")


def supported_compute_types() -> set[str]:
    """The types in which models can be computed on this CPU."""
    types = {"float32", "int8", "int8_float32"}
    return types | {"bfloat16"} if has_bfloat16() else types


def has_bfloat16() -> bool:
    """Whether nibu computes in bfloat16 on this CPU, which needs AVX-512."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return False
    return {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags.split())
