// Reads lexical shortlists. The three formats are told apart by content.
//
// Marian, binary (little-endian), perhaps compressed by gzip:
//   u64 0xF11A48D5013417F5 | u64 checksum | u64 first | u64 best | u64 offsets | u64 ids |
//   u64 offset[offsets] | u32 id[ids]
//   The candidates of source token s are id[offset[s]] ... id[offset[s + 1] - 1]. The checksum is
//   over the u64 words from `first` on, without 4 bytes that are left over in the end: h = 0; for
//   each word w, h ^= w + 0x9e3779b9 + (h << 6) + (h >> 2).
// Marian, text, perhaps compressed by gzip: lines "target source probability", with any blanks
//   between the fields.
// CTranslate2's vmap.txt: lines "source source ...<TAB>target target ..."; the left side is empty
//   for targets that are always candidates.
#ifndef NIBU_MODELS_VOCABULARY_SHORTLIST_FILE_H_
#define NIBU_MODELS_VOCABULARY_SHORTLIST_FILE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/search/shortlist.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Limits of the candidates in Marian's text form.
struct LexicalLimits {
  int first = 100;      // tokens with the lowest ids, the most frequent, are always candidates
  int best = 100;       // most probable translations of each source token that are kept
  float threshold = 0;  // less probable translations, and those as probable, are dropped
};

bool IsBinaryShortlist(absl::string_view bytes);

// InvalidArgument naming the file: it is damaged, has ids outside of the vocabulary, or no token of
// it. Text lines with tokens that the vocabulary does not have are skipped.
absl::StatusOr<std::shared_ptr<const Shortlist>> ReadShortlist(const FileBytes& file,
                                                               const ModelVocabulary& vocabulary,
                                                               const LexicalLimits& limits);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_VOCABULARY_SHORTLIST_FILE_H_
