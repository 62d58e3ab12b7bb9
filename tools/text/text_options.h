// Text in, text out: what is asked and what is answered.
#ifndef NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_
#define NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/request.h"
#include "tools/text/watch.h"

namespace nibu::internal {

// What to do with a sentence of more than max_input_length tokens.
enum class LongInput {
  kSplit,     // at sentence or clause ends; the parts' translations are joined by a space
  kTruncate,  // what is too much is left out
  kError,     // the line is refused
};

// A phrase of the source, and one of what may stand for it.
struct GlossaryEntry {
  std::string source;
  std::string target;
};

// Of the attention that Hypothesis::attention says more of.
enum class AlignmentKind {
  kNone,
  kHard,  // for each target token the source token that it attends to most
  kSoft,  // and the attention itself
};

// Parts of a text that are no words: they come out as they went in, once each.
struct Protected {
  enum Kind : uint8_t {
    kUrls,
    kEmails,
    kPaths,
    kPlaceholders,
    kEmoji,
    kUnknown,  // characters that the source vocabulary lacks, and words with them
  };
};
constexpr std::array<const char*, 6> kProtectedNames = {"urls",         "emails", "paths",
                                                        "placeholders", "emoji",  "unknown"};
using ProtectedKinds = std::bitset<kProtectedNames.size()>;  // by Protected::Kind

struct TextOptions {
  // Of a multilingual model, in any common form: en, eng, en-US, eng_Latn. Empty: its own default.
  std::string src_lang;
  std::string tgt_lang;
  bool tokenized = false;  // input and output are pieces separated by single spaces
  // A line's sentences are translated one by one, and white space stays as it was; not if
  // tokenized.
  bool split_sentences = true;
  std::string split_language;  // empty: src_lang, or the model's source language
  LongInput long_input = LongInput::kSplit;
  int max_input_length = 1024;  // tokens, EOS not counted; never more than the Translator's
  std::optional<float> length_ratio = {};  // see ModelDefaults; nullopt: the model's, or 1
  // Its frame is made from the languages, its end_tokens and suppress_sequences from the tokens
  // below.
  DecodingOptions decoding;
  std::vector<std::string> end_tokens;                       // empty: the model's EOS
  std::vector<std::vector<std::string>> suppress_sequences;  // of tokens
  bool replace_unknowns = false;  // by the source token that they attend to most
  AlignmentKind alignment = AlignmentKind::kNone;
  bool align_words = false;  // words in place of pieces
  // Where a source phrase is in a sentence, one of its targets is to be in the translation.
  std::vector<GlossaryEntry> glossary;
  // Not if tokenized.
  ProtectedKinds protect = ProtectedKinds().set();
  std::string protect_pattern;  // an RE2 expression: what it matches is protected, too
};

struct TextHypothesis {
  std::string text;                 // without line breaks
  std::vector<std::string> tokens;  // of all sentences; EOS left out (but where it is scored)
  std::vector<float> token_scores;  // log-probability of each of the tokens
  float log_prob = 0;               // S, EOS included
  float score = 0;                  // S / L^length_penalty
  bool finished = true;             // false: it, or a part of it, was cut at a length limit
  bool repetition = false;          // it, or a part of it, was caught in a loop
  Warnings warnings;                // of all sentences
  // Pairs of (source, target) tokens or words, by the target; and [target][source]. Of the source
  // without language tokens.
  std::vector<std::pair<size_t, size_t>> alignment;
  std::vector<std::vector<float>> attention;
};

struct TextResult {
  // Best first. One empty hypothesis of score 0 for a line that is blank, or has nothing but a
  // language token.
  std::vector<TextHypothesis> hypotheses;
  int source_tokens = 0;
  int target_tokens = 0;  // of the best hypothesis, without the ends of sentences
  bool too_long = false;  // more than max_input_length tokens, in a sentence
  // A target was scored as one sentence, because source and target do not split into equally many.
  bool scored_whole = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_
