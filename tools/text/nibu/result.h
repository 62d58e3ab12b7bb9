// The answer to a translation request.
#ifndef NIBU_RESULT_H_
#define NIBU_RESULT_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "nibu/export.h"
#include "nibu/options.h"

namespace nibu {

// A reason to look at a translation.
struct Warning {
  enum Kind : uint8_t {
    kShort,       // It is short for its source: something may be missing.
    kLong,        // It is long for its source.
    kRepetition,  // It repeats itself.
    kUnfinished,  // It was cut at a length limit.
    kTruncated,   // Its source was cut at max_input_length.
    kNumbers,     // Its numbers are not those of the source.
    kProtected,   // A protected part is missing, or occurs too often.
  };
};
inline constexpr std::array<const char*, 7> kWarningNames = {
    "short", "long", "repetition", "unfinished", "truncated", "numbers", "protected"};

// A set of warnings, by Warning::Kind: warnings[Warning::kShort].
using Warnings = std::bitset<kWarningNames.size()>;

// Returns the names of the warnings of a set, in the order of Warning::Kind.
NIBU_EXPORT std::vector<std::string> WarningNames(const Warnings& warnings);

// A translation of a line.
struct Hypothesis {
  std::string text = {};  // Without line breaks, unless the source's markup has them.
  // All sentences'; their ends only with a scored target or Options::return_ends.
  std::vector<std::string> tokens = {};
  std::vector<float> token_scores = {};  // The log-probability of each of the tokens.
  float log_prob = 0;                    // Their sum, the ends of sentences included.
  float score = 0;                       // See Options: log_prob / L^length_penalty and penalties.
  size_t length = 0;     // This L: the number of tokens, ends of sentences included.
  bool finished = true;  // False: it, or a sentence of it, was cut at a length limit.
  // The token that ended it, or its last sentence. It is empty if a length limit did, or if it is a
  // scored target.
  std::string end_token = {};
  bool repetition = false;  // It, or a sentence of it, repeats itself.
  Warnings warnings = {};
  // Pairs of (source, target) tokens or words, ordered by the target, from 0; and the attention,
  // [target][source]. Language tokens of the source are not counted.
  std::vector<std::pair<size_t, size_t>> alignment = {};
  std::vector<std::vector<float>> attention = {};
};

// The translations of a line.
struct Result {
  // Best first. A blank line has one empty hypothesis with score 0.
  std::vector<Hypothesis> hypotheses = {};
  int source_tokens = 0;
  int target_tokens = 0;  // Tokens of the best hypothesis, without the ends of sentences.
  bool too_long = false;  // A sentence has more than max_input_length tokens.
  // A target was scored as one sentence, because source and target do not split into equally many.
  bool scored_whole = false;
  // With a src_lang of "auto", the language that was translated from, as the model spells it: the
  // detected one or, if that is not sure, the model's default. Empty for a line without letters.
  std::string source_language = {};
  // With an alignment, the tokens or words of the source that it counts, from 0: what the model has
  // read, with protected parts in place of the words that stand for them.
  std::vector<std::string> source_labels = {};
  bool ends_open = false;  // The text ends within markup: see TextReader::is_open.
};

// Results are values: they are equal if all of their fields are.
NIBU_EXPORT bool operator==(const Hypothesis& a, const Hypothesis& b);
NIBU_EXPORT bool operator==(const Result& a, const Result& b);
inline bool operator!=(const Hypothesis& a, const Hypothesis& b) { return !(a == b); }
inline bool operator!=(const Result& a, const Result& b) { return !(a == b); }

// Returns the result as a JSON object on one line, without a line feed:
//   {"id":0,"source":"...","hypotheses":[{"text":"...","tokens":["..."],"score":-0.1,
//    "token_scores":[...]}]}
// "src_lang" follows "source" if the result has a source_language. A hypothesis has "alignment"
// (pairs) and "attention" as far as `alignment` asks for them, "finished":false if it was cut,
// "repetition":true if it repeats itself, and "warnings" if there are any. Bytes that are not UTF-8
// are replaced by U+FFFD.
NIBU_EXPORT std::string ToJson(const Result& result, uint64_t id, absl::string_view source,
                               AlignmentKind alignment = AlignmentKind::kNone);

// Does the same with other members in place of "id": JSON without the braces around it, as in
// "id":7,"domain":"news".
NIBU_EXPORT std::string ToJsonWith(absl::string_view members, const Result& result,
                                   absl::string_view source,
                                   AlignmentKind alignment = AlignmentKind::kNone);

// Returns the result of a scored target as a JSON object on one line, without a line feed: {"id":0,
// "tokens":["..."],"token_scores":[...],"score":-0.1}, with "scored_whole":true if it is so, and
// "src_lang" if the result has a source_language. Returns an empty string for a result without
// hypotheses.
NIBU_EXPORT std::string ScoreToJson(const Result& result, uint64_t id);

}  // namespace nibu

#endif  // NIBU_RESULT_H_
