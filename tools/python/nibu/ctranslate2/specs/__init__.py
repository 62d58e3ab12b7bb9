"""The names of CTranslate2's model specifications, which refuse: nothing is written in that format here."""

from .._module import refuse

_REASON = ("nibu.ctranslate2 reads CTranslate2's models and writes none; nibu-convert writes models in nibu's own "
           "format and in that of Hugging Face")

LanguageModelSpec = refuse("LanguageModelSpec", __name__, _REASON)
LayerSpec = refuse("LayerSpec", __name__, _REASON)
ModelSpec = refuse("ModelSpec", __name__, _REASON)
SequenceToSequenceModelSpec = refuse("SequenceToSequenceModelSpec", __name__, _REASON)
TransformerDecoderModelSpec = refuse("TransformerDecoderModelSpec", __name__, _REASON)
TransformerDecoderSpec = refuse("TransformerDecoderSpec", __name__, _REASON)
TransformerEncoderModelSpec = refuse("TransformerEncoderModelSpec", __name__, _REASON)
TransformerEncoderSpec = refuse("TransformerEncoderSpec", __name__, _REASON)
TransformerSpec = refuse("TransformerSpec", __name__, _REASON)
Wav2Vec2BertSpec = refuse("Wav2Vec2BertSpec", __name__, _REASON)
Wav2Vec2Spec = refuse("Wav2Vec2Spec", __name__, _REASON)
WhisperSpec = refuse("WhisperSpec", __name__, _REASON)
