// The flags of the search, and of lengths.
#ifndef NIBU_TOOLS_SEARCH_FLAGS_H_
#define NIBU_TOOLS_SEARCH_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "tools/decoding_flags.h"
#include "tools/text/text_options.h"

namespace nibu {

// Names of the flags, for ProgramInfo; of those that only text has.
std::vector<std::string> SearchFlags();
std::vector<std::string> TextSearchFlags();

// The values of the flags, checked. InvalidArgument naming the flag. `defaults`: what the model
// wants where the command line says nothing. Both are checked together.
absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults);
// What the flags that only text has say.
absl::Status ReadTextSearchFlags(TextOptions* options);
// The file of --glossary.
absl::Status ReadGlossaryFlag(TextOptions* options);

}  // namespace nibu

#endif  // NIBU_TOOLS_SEARCH_FLAGS_H_
