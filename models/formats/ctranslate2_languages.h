// The languages of CTranslate2 directories that were converted from Hugging Face's M2M-100, NLLB or
// mBART (multilingual.h):
//
//   shared_vocabulary.json   <s>, <pad>, </s>, <unk>, the pieces, the language tokens in one block,
//                            and "madeupword0", ... where the embedding table has more rows
//   config.json              decoder_start_token: </s>; null for the first mBART, whose decoder is
//                            given the language alone. add_source_eos is false, since CTranslate2
//                            leaves it to its user to frame the source; nibu frames it
//   sentencepiece.bpe.model  to be copied from the Hugging Face directory; its pieces are looked up
//                            as text. sentencepiece.model and spiece.model are taken as well
//   tokenizer_config.json    optional, as in the Hugging Face directory: default languages, where
//   generation_config.json   they stand, defaults of the search
//
// https://github.com/OpenNMT/CTranslate2/blob/master/python/ctranslate2/converters/transformers.py
#ifndef NIBU_MODELS_FORMATS_CTRANSLATE2_LANGUAGES_H_
#define NIBU_MODELS_FORMATS_CTRANSLATE2_LANGUAGES_H_

#include "absl/status/status.h"
#include "models/assembly/opened_model.h"
#include "models/files/folder.h"
#include "models/files/json.h"

namespace nibu::internal {

// Completes opened->vocabulary, config and defaults when the vocabulary is that of a multilingual
// model. `no_decoder_start`: decoder_start_token is null; Unimplemented where it must not be.
// NotFound: no SentencePiece model. `config`: the folder's config.json.
absl::Status ReadCTranslate2Languages(const Folder& folder, const ConfigFile& config,
                                      bool no_decoder_start, OpenedModel* opened);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_CTRANSLATE2_LANGUAGES_H_
