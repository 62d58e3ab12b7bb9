// Reads and writes the decoding options that a model comes with.
#ifndef NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_
#define NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/core/check_range.h"
#include "models/assembly/opened_model.h"
#include "models/files/json.h"

namespace nibu::internal {

// The lengths that a model may have as its longest one.
inline constexpr Range<int> kDecodingLengths = {1, 1 << 20};

// Reads the numbers of a configuration that have the names of ModelDefaults' fields, except the
// beam's size, whose name is `beam`. InvalidArgument naming the field: it is out of range.
absl::StatusOr<ModelDefaults> ReadModelDefaults(const ConfigFile& object, const char* beam);
// Reads the fields about tokens, whose ids are below `vocabulary`, and `ignored`.
absl::Status ReadTokenDefaults(const ConfigFile& object, int vocabulary, ModelDefaults* defaults);
// Writes the fields that are set as these two functions read them.
nlohmann::ordered_json WriteModelDefaults(const ModelDefaults& defaults, const char* beam);

// Read a field, which may be absent: a number, and a list of lists of ids below `vocabulary`.
absl::StatusOr<std::optional<int>> ReadInt(const ConfigFile& object, const std::string& name,
                                           const Range<int>& range);
absl::StatusOr<std::vector<std::vector<int>>> ReadSequences(const ConfigFile& object,
                                                            const std::string& name,
                                                            int vocabulary);
// Adds a field that is there to defaults->sources.
void AddSource(const ConfigFile& object, const std::string& name, ModelDefaults* defaults);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_MODEL_DEFAULTS_H_
