"""The names of CTranslate2's converters, which refuse: nibu reads the models themselves."""

import sys
import types

from .._module import refuse

_REASON = ("nibu.ctranslate2 converts nothing, since nibu reads models of Marian, OPUS-MT, Hugging Face, fairseq and "
           "OpenNMT as they are: give their directory to Translator or to nibu-translate --model")

Converter = refuse("Converter", __name__, _REASON)
EoleConverter = refuse("EoleConverter", __name__, _REASON)
FairseqConverter = refuse("FairseqConverter", __name__, _REASON)
MarianConverter = refuse("MarianConverter", __name__, _REASON)
OpenAIGPT2Converter = refuse("OpenAIGPT2Converter", __name__, _REASON)
OpenNMTPyConverter = refuse("OpenNMTPyConverter", __name__, _REASON)
OpenNMTTFConverter = refuse("OpenNMTTFConverter", __name__, _REASON)
OpusMTConverter = refuse("OpusMTConverter", __name__, _REASON)
TransformersConverter = refuse("TransformersConverter", __name__, _REASON)


def _add_module(name: str, converter: type) -> None:
    """Makes `converter` importable from a module of its own, too, as it is in CTranslate2."""
    module = types.ModuleType(f"{__name__}.{name}", converter.__doc__)
    setattr(module, converter.__name__, converter)
    setattr(sys.modules[__name__], name, module)
    sys.modules[module.__name__] = module


for _name, _converter in {"converter": Converter, "eole_ct2": EoleConverter, "fairseq": FairseqConverter,
                          "marian": MarianConverter, "openai_gpt2": OpenAIGPT2Converter,
                          "opennmt_py": OpenNMTPyConverter, "opennmt_tf": OpenNMTTFConverter,
                          "opus_mt": OpusMTConverter, "transformers": TransformersConverter}.items():
    _add_module(_name, _converter)
