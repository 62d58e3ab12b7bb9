// The flags that nibu-translate and nibu-bench share: model, search, lengths, speed.
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
std::vector<std::string> SearchFlags();
std::vector<std::string> SpeedFlags();

struct ModelFlags {
  std::string path;
  ComputeType compute_type;
  TextModelOptions text;
};

// The values of the flags, checked. InvalidArgument naming the flag.
absl::StatusOr<ModelFlags> ReadModelFlags();
// `defaults`: what the model wants where the command line says nothing. Both are checked together.
absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults);
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags();
// Languages and lengths of text; the rest is as it is in TextOptions.
TextOptions ReadTextFlags();

// The words of compute types, for Choose; --compute_type has "auto", too.
std::vector<std::pair<std::string, ComputeType>> ComputeTypes();

// A status of the library as an error of the command line: where it begins with the name of a flag,
// that flag.
absl::Status NameFlag(const absl::Status& status);

}  // namespace nibu

#endif  // NIBU_TOOLS_DECODING_FLAGS_H_
