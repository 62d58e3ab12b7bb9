"""The interface of CTranslate2's Python module for translation with Transformers on CPUs, on nibu's engine.

    from nibu import ctranslate2
    translator = ctranslate2.Translator("model/")
    results = translator.translate_batch([["▁Hello", "▁world"]])

`python3 -m nibu.ctranslate2 PROGRAM` runs a program for which `import ctranslate2` means this module. The README
beside this file tells what is different.
"""

from . import converters, models, specs
from ._module import (AsyncGenerationResult, DataType, Device, Encoder, EncoderForwardOutput, GenerationResult,
                      Generator, MpiInfo, StorageView, contains_model, get_cuda_device_count,
                      get_supported_compute_types)
from ._results import (AsyncScoringResult, AsyncTranslationResult, ExecutionStats, GenerationStepResult, ScoringResult,
                       TranslationResult)
from ._state import get_log_level, set_log_level, set_random_seed
from ._translator import Translator

# The version of CTranslate2 whose interface this is.
__version__ = "4.8.1"

__all__ = [
    "AsyncGenerationResult", "AsyncScoringResult", "AsyncTranslationResult", "DataType", "Device", "Encoder",
    "EncoderForwardOutput", "ExecutionStats", "GenerationResult", "GenerationStepResult", "Generator", "MpiInfo",
    "ScoringResult", "StorageView", "TranslationResult", "Translator", "contains_model", "converters",
    "get_cuda_device_count", "get_log_level", "get_supported_compute_types", "models", "set_log_level",
    "set_random_seed", "specs",
]
