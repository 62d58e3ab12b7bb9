"""The names of CTranslate2's models of speech, which refuse."""

from .._module import refuse

_REASON = "nibu.ctranslate2 only translates text, with encoder-decoder Transformers; see Translator"

Wav2Vec2 = refuse("Wav2Vec2", __name__, _REASON)
Wav2Vec2Bert = refuse("Wav2Vec2Bert", __name__, _REASON)
Whisper = refuse("Whisper", __name__, _REASON)
WhisperGenerationResult = refuse("WhisperGenerationResult", __name__, _REASON)
WhisperGenerationResultAsync = refuse("WhisperGenerationResultAsync", __name__, _REASON)
