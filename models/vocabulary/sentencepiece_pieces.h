// The pieces of a SentencePiece model file, without SentencePiece.
//
// The file is a protocol buffer (engine/core/wire_format.h), ModelProto. Field 1, repeated, is a
// piece: field 1 its text, 2 its score, 3 its type (1 normal, 2 unknown, 3 control, ...). The n-th
// piece has id n.
// https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
#ifndef NIBU_MODELS_VOCABULARY_SENTENCEPIECE_PIECES_H_
#define NIBU_MODELS_VOCABULARY_SENTENCEPIECE_PIECES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace nibu {

// The pieces in the order of their ids. InvalidArgument naming `file` for anything else.
absl::StatusOr<std::vector<std::string>> ReadSentencePieces(absl::string_view bytes,
                                                            const std::string& file);

}  // namespace nibu

#endif  // NIBU_MODELS_VOCABULARY_SENTENCEPIECE_PIECES_H_
