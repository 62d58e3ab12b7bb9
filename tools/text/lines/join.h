// Joins the translations of a line's parts to that of the line, and turns attention into alignments
// of pieces or words. Pure functions, which threads may call at the same time.
#ifndef NIBU_TOOLS_TEXT_LINES_JOIN_H_
#define NIBU_TOOLS_TEXT_LINES_JOIN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/request.h"
#include "nibu/result.h"
#include "tools/text/lines/line_plan.h"
#include "tools/text/lines/translation_check.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/model/text_coder.h"

namespace nibu::internal {

// A sentence with its protected parts, and the best of the translations that were tried with
// different names in their places (lines/stand_ins.h).
struct StandInTrial {
  MarkedText sentence;  // before MaskProtected
  int attempts = 0;     // how many translations have been tried
  size_t wrong = 0;     // of the best one: how many parts it misplaces; changed numbers are one
  double score = 0;     // its log-probability for each token
  MarkedText marked = {};
  EncodedText source = {};
  std::vector<Hypothesis> hypotheses = {};
};

// A part of a line that the model translates at once: a sentence, or a piece of a long one, made by
// ReadLine (line_reader.h). In its texts, names stand for protected parts.
struct LinePart {
  std::string untouched;  // text in front of it that is copied
  std::string before;     // the white space in front of it, behind `untouched`
  EncodedText source;
  MarkedText marked = {};    // the text of `source`, a result of MaskProtected
  std::string prefix = {};   // the beginning of its translation
  std::string target = {};   // the translation to be scored
  size_t prefix_tokens = 0;  // length of `prefix` in target tokens; set when it is submitted
  bool is_given = false;     // the prefix goes on in a later sentence, so `prefix` is this part's
                             // whole translation
  std::vector<Hypothesis> hypotheses = {};        // its translations, best first
  std::shared_ptr<StandInTrial> trial = nullptr;  // null: other names are not tried
};

// A line, cut into parts. Its text is, for each part in turn, `untouched`, `before` and the part,
// and `behind` at the end.
struct LineParts {
  std::vector<LinePart> parts;
  std::string front;        // the language token or instruction, which is in front of each part
  std::string behind;       // text behind the last part that is copied
  size_t expanded = 0;      // the part that gets alternatives: where the target prefix ends
  size_t values = 0;        // the values for its tags with which the line begins (PlaceValues)
  bool is_marked = false;   // annotations and copied text may contain line breaks
  SaidNumbers said;         // number words of both languages, where they are known
  std::string pivot_front;  // a language token or instruction for the second of two models in a row
  bool is_scored = false;   // the request has a target
  bool matches_target = false;  // the target was read sentence by sentence, and fits the source
  bool scored_whole = false;    // source and target have different sentences: the line is one part
  int source_tokens = 0;        // the sum over all sentences, before they are cut
  bool has_messages = false;    // a protected part has texts, which are not translated
  bool too_long = false;        // a sentence had more than LinePlan::limit pieces
};

// Returns the text of a hypothesis of a part without its annotations, and sets `aligned` to its
// tokens.
std::string ReadTarget(const LinePlan& plan, const LinePart& part, const Hypothesis& hypothesis,
                       std::vector<AlignedToken>* aligned);

// Returns the line's translation from the n-th hypothesis of each part. Every part has one.
nibu::Hypothesis Join(const LinePlan& plan, const LineParts& line, size_t n);

// Returns what Result::source_labels has for a line: its pieces or words without language tokens,
// as the options ask for alignments. Pieces of the word that stands for a protected part have that
// part as their label. Empty without an alignment.
std::vector<std::string> SourceLabels(const LinePlan& plan, const LineParts& line);

// Cross-attention: row t has the weights of target token t over the source pieces.
using AttentionRows = std::vector<std::vector<float>>;  // [target][source]

// Returns the attention of a hypothesis' tokens to the pieces of its source, without the language
// tokens in front. It is empty if the hypothesis has no attention. `ends`: there is also a row for
// the end token, if one has ended the hypothesis, and columns for the tokens behind the source.
AttentionRows AttentionOf(const EncodedText& source, const Hypothesis& hypothesis,
                          const Frame& frame, bool ends = false);

// Returns a pair (source, target) for each target: the source that it attends to most, or the first
// of several. There are no pairs if there are no sources.
std::vector<std::pair<size_t, size_t>> HardAlignment(const AttentionRows& attention);

// Returns the number of the word that each piece belongs to. If a piece begins with "\u2581"
// (SentencePiece), words begin at such pieces; else behind each piece that does not end in "@@"
// (BPE), so that pieces without either mark are words.
std::vector<size_t> WordsOf(absl::Span<const std::string> pieces);

// Turn alignments of pieces into those of words. AlignWords returns each pair once, in the order of
// target words. AttendWords adds the weights of a source word's pieces, and takes the mean over a
// target word's.
std::vector<std::pair<size_t, size_t>> AlignWords(
    absl::Span<const std::pair<size_t, size_t>> pieces, absl::Span<const size_t> source_words,
    absl::Span<const size_t> target_words);
AttentionRows AttendWords(const AttentionRows& pieces, absl::Span<const size_t> source_words,
                          absl::Span<const size_t> target_words);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_JOIN_H_
