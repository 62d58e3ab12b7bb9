// Finds the languages of CTranslate2 directories that were converted from Hugging Face's M2M-100,
// NLLB or mBART (multilingual.h):
//
//   shared_vocabulary.json   <s>, <pad>, </s>, <unk>, the pieces, the language tokens in one block,
//                            and "madeupword0", ... where the embedding table has more rows
//   config.json              decoder_start_token: </s>; null for the first mBART, whose decoder is
//                            given the language alone. add_source_eos is false, because CTranslate2
//                            expects its user to add language and </s>; nibu adds them
//   sentencepiece.bpe.model  must be copied from the Hugging Face directory; its pieces are looked
//                            up as text. It may be called sentencepiece.model or spiece.model
//   tokenizer_config.json    optional, as in the Hugging Face directory: the default languages and
//                            their places in the source
//   generation_config.json   optional, as in the Hugging Face directory: defaults of the search
//
// https://github.com/OpenNMT/CTranslate2/blob/master/python/ctranslate2/converters/transformers.py
#ifndef NIBU_MODELS_FORMATS_CTRANSLATE2_LANGUAGES_H_
#define NIBU_MODELS_FORMATS_CTRANSLATE2_LANGUAGES_H_

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/files/folder.h"
#include "models/files/json.h"

namespace nibu::internal {

// Completes opened->vocabulary, config and defaults if the vocabulary is that of a multilingual
// model; otherwise changes nothing. `config`: the folder's config.json. `no_decoder_start`: its
// decoder_start_token is null. Unimplemented: it is null and the model is not mBART. NotFound:
// there is no SentencePiece model.
absl::Status ReadCTranslate2Languages(const Folder& folder, const ConfigFile& config,
                                      bool no_decoder_start, OpenedModel* opened);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_CTRANSLATE2_LANGUAGES_H_
