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

#include "absl/status/statusor.h"
#include "engine/ops/linear.h"
#include "engine/request.h"
#include "nibu/options.h"
#include "nibu/result.h"

namespace nibu::internal {

struct ModelDefaults;
struct TranslatorOptions;

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

using TextHypothesis = nibu::Hypothesis;
using TextResult = nibu::Result;

// The options of the search, over the model's own; without the shortlist, and tokens as ids.
DecodingOptions MakeDecodingOptions(const Options& options, const ModelDefaults& defaults);

// The options as they are for a model: its defaults stand in for optional fields without a value.
// The shortlist is added by the caller. InvalidArgument with the option's name: a value makes no
// sense.
absl::StatusOr<TextOptions> MakeTextOptions(const Options& options, const ModelDefaults& defaults);

// The options of the engine's threads and kernels; the others are left as they are.
TranslatorOptions MakeTranslatorOptions(const SpeedOptions& options);

// The type of the matrix products on this CPU. InvalidArgument: the CPU cannot do it.
absl::StatusOr<ComputeType> ChooseComputeType(nibu::ComputeType type);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_
