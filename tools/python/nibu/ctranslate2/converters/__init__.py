"""The names of CTranslate2's converters, which refuse: nibu reads the models themselves."""

import sys
import types

from .._module import refuse

_REASON = ("nibu.ctranslate2 converts nothing, since nibu reads models of Marian, OPUS-MT, Hugging Face, fairseq and "
           "OpenNMT as they are: give their directory to Translator or to nibu-translate --model")

# Each converter can be imported from here and from a module of its own.
for _module, _name in {"converter": "Converter", "eole_ct2": "EoleConverter", "fairseq": "FairseqConverter",
                       "marian": "MarianConverter", "openai_gpt2": "OpenAIGPT2Converter",
                       "opennmt_py": "OpenNMTPyConverter", "opennmt_tf": "OpenNMTTFConverter",
                       "opus_mt": "OpusMTConverter", "transformers": "TransformersConverter"}.items():
    _own = types.ModuleType(f"{__name__}.{_module}", f"The class {_name}, which refuses.")
    globals()[_name] = refuse(_name, __name__, _REASON)
    setattr(_own, _name, globals()[_name])
    globals()[_module] = sys.modules[_own.__name__] = _own
