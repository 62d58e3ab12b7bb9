// TextOptions: all options of a translation, as the text layer and the engine need them.
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

// The kinds of parts of a text that come out once each, as they went in.
struct Protected {
  enum Kind : uint8_t {
    kUrls,
    kEmails,
    kPaths,
    kPlaceholders,
    kEmoji,
    kUnknown,  // words with characters that the source vocabulary lacks
  };
};
constexpr std::array<const char*, 6> kProtectedNames = {"urls",         "emails", "paths",
                                                        "placeholders", "emoji",  "unknown"};
using ProtectedKinds = std::bitset<kProtectedNames.size()>;  // by Protected::Kind

struct TextOptions {
  // The languages for a multilingual model, in any common form: en, eng, en-US, eng_Latn. Empty:
  // the model's default.
  std::string src_lang;
  std::string tgt_lang;
  bool tokenized = false;  // input and output are pieces separated by single spaces
  // A line's sentences are translated one by one, and white space stays as it was. Without effect
  // if tokenized.
  bool split_sentences = true;
  std::string split_language;  // empty: src_lang, or the model's source language
  LongInput long_input = LongInput::kSplit;
  int max_input_length = 1024;  // tokens, EOS not counted; never more than the Translator's
  std::optional<float> length_ratio = {};  // see ModelDefaults; nullopt: the model's, or 1
  // Its frame is made from the languages, and its end_tokens and suppress_sequences from the tokens
  // below.
  DecodingOptions decoding;
  std::vector<std::string> end_tokens;                       // empty: the model's EOS
  std::vector<std::vector<std::string>> suppress_sequences;  // each a list of tokens
  bool replace_unknowns = false;  // replaces them by the source token that they attend to most
  AlignmentKind alignment = AlignmentKind::kNone;
  bool align_words = false;  // aligns words, not pieces
  // If a sentence has a source phrase, one of its targets is to appear in the translation.
  std::vector<GlossaryEntry> glossary;
  // The kinds of parts that are protected. Without effect if tokenized.
  ProtectedKinds protect = ProtectedKinds().set();
  std::string protect_pattern;  // an RE2 expression: what it matches is protected, too
};

using TextHypothesis = nibu::Hypothesis;
using TextResult = nibu::Result;

// Returns the options of the search, over the model's defaults. The shortlist, and the tokens that
// become ids, are not set.
DecodingOptions MakeDecodingOptions(const Options& options, const ModelDefaults& defaults);

// Returns the options for a model, whose defaults replace optional fields without a value. The
// caller adds the shortlist. Returns InvalidArgument with the option's name if a value makes no
// sense.
absl::StatusOr<TextOptions> MakeTextOptions(const Options& options, const ModelDefaults& defaults);

// Returns the options of the engine's threads and kernels. Other fields have their defaults.
TranslatorOptions MakeTranslatorOptions(const SpeedOptions& options);

// Returns the type of the matrix products on this CPU, or InvalidArgument if the CPU lacks `type`.
absl::StatusOr<ComputeType> ChooseComputeType(nibu::ComputeType type);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_
