// What a line's parts are translated to, made one; and what tokens and words come from.
#ifndef NIBU_TOOLS_TEXT_JOIN_H_
#define NIBU_TOOLS_TEXT_JOIN_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/config.h"
#include "engine/request.h"
#include "tools/text/marked_text.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_options.h"
#include "tools/text/watch.h"

namespace nibu::internal {

// What is translated in one piece: a sentence, or a part of a long one.
struct LinePart {
  std::string untouched;  // text in front that is left alone
  std::string before;     // the white space in front
  CodedText source;
  MarkedText marked = {};    // the source (of WithNames)
  std::string prefix = {};   // what its translation begins with, in the source's names
  std::string target = {};   // the translation to be scored, in the source's names
  size_t prefix_tokens = 0;  // that the prefix is in the target vocabulary
  bool is_given = false;     // the prefix goes on in the next sentence: it is all of this one's
  std::vector<Hypothesis> hypotheses = {};
};

struct LineParts {
  std::vector<LinePart> parts;
  std::string behind;       // white space, and text that is left alone
  size_t expanded = 0;      // the part of which there are alternatives
  bool is_marked = false;   // what is carried or left alone may have line breaks
  SaidNumbers said;         // of the languages, if they are known
  std::string pivot_front;  // in front of the line, for the second of two models in a row
  bool is_scored = false;
  bool matches_target = false;  // what is copied of a line that is scored is in its target, too
  bool scored_whole = false;    // source and target have different sentences: the line is one part
  int source_tokens = 0;
  bool too_long = false;  // a sentence, before it was cut
};

// The n-th hypotheses of all parts.
TextHypothesis Join(const TextCoder& coder, const ModelConfig& config, const TextOptions& options,
                    const LineParts& line, size_t n);

// By cross-attention.
using AttentionRows = std::vector<std::vector<float>>;  // [target][source]

// The attention of a hypothesis' tokens to the pieces of its source, without language tokens. Empty
// where there is none.
AttentionRows AttentionOf(const CodedText& source, const Hypothesis& hypothesis,
                          const Frame& frame);

// The source that each target attends to most, the first of several. Of no sources: none.
std::vector<std::pair<size_t, size_t>> HardAlignment(const AttentionRows& attention);

// Which word each piece belongs to: one begins at "\u2581" (SentencePiece), or behind a piece
// without "@@" (BPE); pieces that know neither are words.
std::vector<size_t> WordsOf(absl::Span<const std::string> pieces);

// Alignments of pieces as those of words: each pair once; the sum over the pieces of a source word,
// the mean over those of a target word.
std::vector<std::pair<size_t, size_t>> AlignWords(
    absl::Span<const std::pair<size_t, size_t>> pieces, absl::Span<const size_t> source_words,
    absl::Span<const size_t> target_words);
AttentionRows AttendWords(const AttentionRows& pieces, absl::Span<const size_t> source_words,
                          absl::Span<const size_t> target_words);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_JOIN_H_
