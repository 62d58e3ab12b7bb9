"""CTranslate2's converters. They convert nothing, since nibu reads the models of others as they are.

What they write is a directory that names its source, so that programs which convert a model and then load it run
unchanged. The source has to stay where it is.
"""

import json
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Sequence
from typing import Any

from nibu import _nibu, download

from .._model_files import SOURCE_FILE
from .._module import refuse

# What a quantization of CTranslate2's is here: the weights stay as they are.
_TYPES = {None: "float32", "float32": "float32", "float16": "float32", "int16": "float32", "bfloat16": "bfloat16",
          "int8": "int8", "int8_float32": "int8", "int8_float16": "int8", "int8_bfloat16": "int8"}


class Converter:
    """The base of the converters: a source that nibu reads."""

    def __init__(self, model: str, *_: Any, copy_files: Sequence[str] | None = None, **__: Any) -> None:
        """`model` is the path of a model, or a name that nibu.download fetches. Other arguments say nothing to nibu."""
        self._model = os.path.abspath(model if os.path.exists(model) else download(model))
        self._copy_files = copy_files or []

    def convert(self, output_dir: str, vmap: str | None = None, quantization: str | None = None,
                force: bool = False) -> str:
        """Writes the directory, and returns its path. RuntimeError: it is there already, or there is no such model."""
        if vmap is not None:
            raise RuntimeError("vmap is not supported by the converter; nibu takes a shortlist, --shortlist or shortlist=")
        if os.path.exists(output_dir) and not force:
            raise RuntimeError(f"output directory {output_dir} already exists, use --force to override")
        if quantization not in _TYPES:
            raise ValueError(f"quantization {quantization} is not known; it may be {', '.join(filter(None, _TYPES))}")
        source, target = os.path.realpath(self._model), os.path.realpath(output_dir)
        if os.path.commonpath([source, target]) == target:
            raise RuntimeError(f"output directory {output_dir} has the model itself, which has to stay; give another")
        try:
            _nibu.Model.read_info(self._model)
        except (ValueError, OSError) as error:
            raise RuntimeError(str(error)) from error
        with tempfile.TemporaryDirectory(dir=os.path.dirname(target) or ".") as folder:
            made = os.path.join(folder, "made")
            os.makedirs(made)
            with open(os.path.join(made, SOURCE_FILE), "w", encoding="utf-8") as file:
                json.dump({"model": self._model, "type": _TYPES[quantization]}, file)
            for name in self._copy_files:
                shutil.copy(os.path.join(self._model, name), os.path.join(made, name))
            if os.path.exists(output_dir):
                shutil.rmtree(output_dir)
            os.rename(made, output_dir)
        return output_dir


class TransformersConverter(Converter):
    """A directory of Hugging Face's, or its name."""

    def __init__(self, model_name_or_path: str, activation_scales: str | None = None,
                 copy_files: Sequence[str] | None = None, **ignored: Any) -> None:
        super().__init__(model_name_or_path, copy_files=copy_files)


class OpusMTConverter(Converter):
    """A directory of OPUS-MT's."""

    def __init__(self, model_dir: str) -> None:
        super().__init__(model_dir)


class MarianConverter(Converter):
    """A model of Marian's, whose vocabularies lie beside it."""

    def __init__(self, model_path: str, vocab_paths: Sequence[str]) -> None:
        super().__init__(model_path)


class FairseqConverter(Converter):
    """A checkpoint of fairseq's, whose dictionaries lie beside it."""

    def __init__(self, model_path: str, data_dir: str, **ignored: Any) -> None:
        super().__init__(model_path)


class OpenNMTPyConverter(Converter):
    """A checkpoint of OpenNMT-py's."""

    def __init__(self, model_path: str) -> None:
        super().__init__(model_path)


_READ = "nibu reads encoder-decoder Transformers of Marian, OPUS-MT, Hugging Face, fairseq and OpenNMT-py alone"
EoleConverter = refuse("EoleConverter", __name__, _READ)
OpenAIGPT2Converter = refuse("OpenAIGPT2Converter", __name__, _READ)
OpenNMTTFConverter = refuse("OpenNMTTFConverter", __name__, _READ)

# Each converter can be imported from here and from a module of its own.
_CLASSES: dict[str, type] = {
    "converter": Converter, "eole_ct2": EoleConverter, "fairseq": FairseqConverter, "marian": MarianConverter,
    "openai_gpt2": OpenAIGPT2Converter, "opennmt_py": OpenNMTPyConverter, "opennmt_tf": OpenNMTTFConverter,
    "opus_mt": OpusMTConverter, "transformers": TransformersConverter}
for _module, _class in _CLASSES.items():
    _own = types.ModuleType(f"{__name__}.{_module}", f"The class {_class.__name__}.")
    setattr(_own, _class.__name__, _class)
    globals()[_module] = sys.modules[_own.__name__] = _own
