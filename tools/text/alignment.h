// What a translation's tokens and words come from, by cross-attention.
#ifndef NIBU_TOOLS_TEXT_ALIGNMENT_H_
#define NIBU_TOOLS_TEXT_ALIGNMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace nibu {

using AttentionRows = std::vector<std::vector<float>>;  // [target][source]

// The source that each target attends to most, the first of several. Of no sources: none.
std::vector<std::pair<int, int>> HardAlignment(const AttentionRows& attention);

// Which word each piece belongs to: one begins at "\u2581" (SentencePiece), or behind a piece
// without
// "@@" (BPE); pieces that know neither are words.
std::vector<int> WordsOf(absl::Span<const std::string> pieces);

// Alignments of pieces as those of words: each pair once; the sum over the pieces of a source word,
// the mean over those of a target word.
std::vector<std::pair<int, int>> AlignWords(absl::Span<const std::pair<int, int>> pieces,
                                            absl::Span<const int> source_words,
                                            absl::Span<const int> target_words);
AttentionRows AttendWords(const AttentionRows& pieces, absl::Span<const int> source_words,
                          absl::Span<const int> target_words);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_ALIGNMENT_H_
