// The flags that programs share: model, text, speed and search.
#ifndef NIBU_TOOLS_CLI_DECODING_FLAGS_H_
#define NIBU_TOOLS_CLI_DECODING_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/translator.h"
#include "models/load_model.h"
#include "tools/text/text_model.h"
#include "tools/text/text_options.h"

ABSL_DECLARE_FLAG(int, num_hypotheses);

namespace nibu::internal {

// Names of flags, for ProgramInfo.
inline constexpr char kSpeedFlags[] =
    "compute_type draft_model shortlist threads batch_size batch_type";
inline constexpr char kSentenceFlags[] = "split_sentences split_language protect protect_pattern";
inline constexpr char kSearchFlags[] =
    "beam_size patience num_hypotheses search_compat length_penalty word_penalty coverage_penalty "
    "repetition_penalty no_repeat_ngram_size disable_unk on_repetition return_alternatives "
    "min_alternative_expansion_prob sampling_topk sampling_topp sampling_temperature seed";

struct ModelFlags {
  std::string path;
  bool random_weights = false;  // the path is that of a model's shape (configs/*.json)
  ComputeType compute_type;
  TextModelOptions text;
};

// The values of the flags, checked. Errors are wrong usage.
absl::StatusOr<ModelFlags> ReadModelFlags();
// The same for programs that take one model, not an ensemble.
absl::StatusOr<ModelFlags> ReadOneModelFlags();
// OpenModel, or weights that are always the same.
absl::StatusOr<OpenedModel> Open(const ModelFlags& model);
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags();
// Languages and lengths of text, or of pieces; the rest is as it is in TextOptions.
TextOptions ReadTextFlags(bool tokenized);
// How sentences and protected parts are found in text: --split_sentences, --split_language,
// --protect and
// --protect_pattern. Wrong usage: a value is wrong, or a flag that needs text was given with
// --tokenized.
absl::Status ReadSentenceFlags(TextOptions* options);
// Those of the search. `defaults`: what the model wants where the command line says nothing. Both
// are checked together.
absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults);

// What a flag says that is a compute type or one of these words.
absl::StatusOr<ComputeType> ChooseComputeType(
    absl::string_view flag, std::vector<std::pair<std::string, ComputeType>> others = {});

// A status of the library as one of the command line: an InvalidArgument that begins with the name
// of a flag is wrong usage of that flag.
absl::Status UsageOfFlag(const absl::Status& status);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_DECODING_FLAGS_H_
