// JSON whose numbers are floats.
#ifndef NIBU_MODELS_FILES_FLOAT_JSON_H_
#define NIBU_MODELS_FILES_FLOAT_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace nibu::internal {

// dump() writes the shortest decimal fraction that is read as the same float (from 2^24 on, at
// times one digit more). A float that has become a double gets the digits of the double instead:
// -3.0990509986877441 for -3.099051.
using FloatJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                       int64_t, uint64_t, float>;

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_FLOAT_JSON_H_
