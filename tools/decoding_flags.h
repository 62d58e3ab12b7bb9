// The flags that nibu-translate and nibu-bench share: model, search, lengths, speed.
#ifndef NIBU_TOOLS_DECODING_FLAGS_H_
#define NIBU_TOOLS_DECODING_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"

namespace nibu {

// Names of the flags, for ProgramInfo.
std::vector<std::string> SearchFlags();
std::vector<std::string> SpeedFlags();

struct ModelFlags {
  std::string path;
  ComputeType compute_type;
};

// The values of the flags, checked. InvalidArgument naming the flag.
absl::StatusOr<ModelFlags> ReadModelFlags();
absl::StatusOr<DecodingOptions> ReadDecodingFlags();
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags();

// "auto": the fastest that this CPU really has.
absl::StatusOr<ComputeType> ParseComputeType(const std::string& text);
const char* ComputeTypeName(ComputeType type);

}  // namespace nibu

#endif  // NIBU_TOOLS_DECODING_FLAGS_H_
