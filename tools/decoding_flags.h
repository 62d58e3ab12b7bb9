// The flags that programs share: model, text, speed; and those of the search (search_flags.cc).
#ifndef NIBU_TOOLS_DECODING_FLAGS_H_
#define NIBU_TOOLS_DECODING_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "models/load_model.h"
#include "tools/text/text_model.h"
#include "tools/text/text_options.h"

namespace nibu {

// Names of the flags, for ProgramInfo.
std::vector<std::string> SpeedFlags();
std::vector<std::string> SearchFlags();
std::vector<std::string> TextSearchFlags();  // that only text has

struct ModelFlags {
  std::string path;
  bool random_weights = false;  // the path is that of a model's shape (configs/*.json)
  ComputeType compute_type;
  TextModelOptions text;
};

// The values of the flags, checked. InvalidArgument naming the flag.
absl::StatusOr<ModelFlags> ReadModelFlags();
// OpenModel, or weights that are always the same.
absl::StatusOr<OpenedModel> Open(const ModelFlags& model);
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags();
// Languages and lengths of text; the rest is as it is in TextOptions.
TextOptions ReadTextFlags();

// Those of the search. `defaults`: what the model wants where the command line says nothing. Both
// are checked together.
absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults);
// What the flags that only text has say.
absl::Status ReadTextSearchFlags(TextOptions* options);
// The file of --glossary.
absl::Status ReadGlossaryFlag(TextOptions* options);

// The words of compute types, for Choose; --compute_type has "auto", too.
std::vector<std::pair<std::string, ComputeType>> ComputeTypes();

// A status of the library as an error of the command line: where it begins with the name of a flag,
// that flag.
absl::Status NameFlag(const absl::Status& status);
// The same; an error of a flag is a UsageError.
absl::Status UsageOfFlag(const absl::Status& status);

}  // namespace nibu

#endif  // NIBU_TOOLS_DECODING_FLAGS_H_
