"""The names of CTranslate2's model specifications, which refuse: nothing is written in that format here."""

from .._module import refuse

_REASON = ("nibu.ctranslate2 reads CTranslate2's models and writes none; nibu-convert writes models in nibu's own "
           "format and in that of Hugging Face")

for _name in ("LanguageModelSpec", "LayerSpec", "ModelSpec", "SequenceToSequenceModelSpec",
              "TransformerDecoderModelSpec", "TransformerDecoderSpec", "TransformerEncoderModelSpec",
              "TransformerEncoderSpec", "TransformerSpec", "Wav2Vec2BertSpec", "Wav2Vec2Spec", "WhisperSpec"):
    globals()[_name] = refuse(_name, __name__, _REASON)
