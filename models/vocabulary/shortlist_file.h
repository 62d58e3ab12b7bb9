// Reader of lexical shortlists, told apart by content.
//
// Marian, binary (little-endian), perhaps compressed by gzip:
//   u64 0xF11A48D5013417F5 | u64 checksum | u64 first | u64 best | u64 offsets | u64 ids |
//   u64 offset[offsets] | u32 id[ids]
//   The candidates of source token s are id[offset[s]] ... id[offset[s + 1] - 1]. Checksum over the
//   u64 words from `first` on, trailing 4 bytes left out: h = 0; for w: h ^= w + 0x9e3779b9 + (h <<
//   6) + (h >> 2).
// Marian, text, perhaps compressed by gzip: "target source probability" a line.
// CTranslate2's vmap.txt: "source source ...<TAB>target target ..." a line, the left side empty for
//   targets that are always candidates.
#ifndef NIBU_MODELS_VOCABULARY_SHORTLIST_FILE_H_
#define NIBU_MODELS_VOCABULARY_SHORTLIST_FILE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/search/shortlist.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// For the text form: how many of the most frequent tokens are always candidates, and how many of
// the most probable translations of each token, those above the threshold, are kept.
struct LexicalLimits {
  int first = 100;
  int best = 100;
  float threshold = 0;
};

bool IsBinaryShortlist(absl::string_view bytes);

// InvalidArgument naming file and line: damaged, or ids outside the vocabulary. Lines with tokens
// that the vocabulary does not have are passed over; when all are, it is the wrong vocabulary.
absl::StatusOr<std::shared_ptr<const Shortlist>> ReadShortlist(const FileBytes& file,
                                                               const ModelVocabulary& vocabulary,
                                                               const LexicalLimits& limits);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_VOCABULARY_SHORTLIST_FILE_H_
