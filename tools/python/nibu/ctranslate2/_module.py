"""The functions of the module, and the classes that refuse."""

import enum
import os
from typing import Any

from ._model_files import MODEL_FILE, SOURCE_FILE, supported_compute_types


def contains_model(path: str) -> bool:
    """Returns whether a directory seems to hold a converted model: whether it has a model.bin, or names its source."""
    return any(os.path.exists(os.path.join(path, name)) for name in (MODEL_FILE, SOURCE_FILE))


def check_device(device: str) -> None:
    """Raises ValueError unless a device is supported."""
    if device not in ("cpu", "CPU", "auto", "AUTO"):
        raise ValueError(f"the device {device} is not supported: it may be cpu or auto, since only CPUs are used")


def get_supported_compute_types(device: str, device_index: int = 0) -> set[str]:
    """Returns the types in which models can be computed on a device: cpu or auto."""
    check_device(device)
    if device_index != 0:
        raise ValueError(f"there is no device index {device_index}: the CPU's is 0")
    return supported_compute_types()


def get_cuda_device_count() -> int:
    """Returns 0: GPUs are not used."""
    return 0


class Device(enum.Enum):
    """The names of devices; only the CPU is supported."""

    cpu = 0
    cuda = 1


class DataType(enum.Enum):
    """The names of types of numbers."""

    float32 = 0
    int8 = 1
    int16 = 2
    int32 = 3
    float16 = 4
    bfloat16 = 5


class _Refused:
    """The base of classes that CTranslate2 has and this module does not: they raise RuntimeError when called."""

    reason = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"{type(self).__name__} cannot be used: {self.reason}")


def refuse(name: str, module: str, reason: str) -> type[_Refused]:
    """Makes a class of this name that refuses for this reason."""
    return type(name, (_Refused,), {"reason": reason, "__module__": module, "__doc__": f"Refused: {reason}."})


TRANSLATES = "nibu.ctranslate2 only translates text, with encoder-decoder Transformers; see Translator"

AsyncGenerationResult = refuse("AsyncGenerationResult", __name__, TRANSLATES)
Encoder = refuse("Encoder", __name__, TRANSLATES)
EncoderForwardOutput = refuse("EncoderForwardOutput", __name__, TRANSLATES)
GenerationResult = refuse("GenerationResult", __name__, TRANSLATES)
Generator = refuse("Generator", __name__, TRANSLATES)
MpiInfo = refuse("MpiInfo", __name__, "nibu.ctranslate2 runs on one machine's CPUs")
StorageView = refuse("StorageView", __name__, "nibu.ctranslate2 takes and returns lists of tokens, no tensors")
