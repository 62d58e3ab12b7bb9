// Checks a user's options, and turns them into those of the engine.
#ifndef NIBU_TOOLS_TEXT_OPTIONS_ENGINE_OPTIONS_H_
#define NIBU_TOOLS_TEXT_OPTIONS_ENGINE_OPTIONS_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/ops/linear.h"
#include "engine/search/decoding_options.h"
#include "nibu/options.h"

namespace nibu::internal {

struct ModelDefaults;
struct OpenedModel;
struct TranslatorOptions;

// The kinds of parts of a text that come out once each, as they went in.
struct Protected {
  enum Kind : uint8_t {
    kUrls,
    kEmails,
    kPaths,
    kPlaceholders,
    kEmoji,
    kCodes,     // code, names of keys, time codes, escapes; tags and Markdown in plain text
    kCapitals,  // words and sentences in capitals, which are translated as if they had none
    kNumbers,   // versions and IP addresses
    kUnknown,   // words with characters that the source vocabulary lacks
  };
};
constexpr std::array<const char*, 9> kProtectedNames = {
    "urls", "emails", "paths", "placeholders", "emoji", "codes", "capitals", "numbers", "unknown"};
using ProtectedKinds = std::bitset<kProtectedNames.size()>;  // by Protected::Kind

// Returns the kinds that Options::protect names, or InvalidArgument.
absl::StatusOr<ProtectedKinds> ParseProtect(const std::string& value);

// Refuses values that make no sense for any model: those that the table of options refuses, or that
// exclude each other. Returns InvalidArgument with the option's name.
absl::Status CheckOptions(const Options& options);

// Returns the options of the search, over the model's defaults. The shortlist, the frame, and the
// tokens that become ids are not set.
DecodingOptions MakeDecodingOptions(const Options& options, const ModelDefaults& defaults);

// Returns the options of the engine's threads and kernels. Other fields have their defaults.
TranslatorOptions MakeTranslatorOptions(const SpeedOptions& options);

// Returns the type of the matrix products on this CPU, or InvalidArgument if the CPU lacks `type`.
// `model`: whose products they are; null: of any model without weights of kInt4.
absl::StatusOr<ComputeType> ChooseComputeType(nibu::ComputeType type,
                                              const OpenedModel* model = nullptr);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_OPTIONS_ENGINE_OPTIONS_H_
