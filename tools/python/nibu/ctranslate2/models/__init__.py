"""The names of CTranslate2's models of speech, which refuse."""

from .._module import TRANSLATES, refuse

for _name in ("Wav2Vec2", "Wav2Vec2Bert", "Whisper", "WhisperGenerationResult", "WhisperGenerationResultAsync"):
    globals()[_name] = refuse(_name, __name__, TRANSLATES)
