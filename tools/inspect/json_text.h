// Writes JSON whose numbers have few digits. nlohmann::json writes all digits of a number, and
// would need several times the memory for matrices of a million weights.
#ifndef NIBU_TOOLS_INSPECT_JSON_TEXT_H_
#define NIBU_TOOLS_INSPECT_JSON_TEXT_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "models/files/float_json.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// Returns a string or a list of strings as JSON, whatever bytes it has.
template <typename T>
std::string JsonOf(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The following take elements that are JSON.
inline std::string JsonList(const std::vector<std::string>& elements) {
  return absl::StrCat("[", absl::StrJoin(elements, ","), "]");
}
using JsonFields = std::vector<std::pair<absl::string_view, std::string>>;
inline std::string JsonObject(const JsonFields& fields) {
  std::vector<std::string> members;
  for (const auto& [name, value] : fields) {
    members.push_back(absl::StrCat("\"", name, "\":", value));
  }
  return absl::StrCat("{", absl::StrJoin(members, ","), "}");
}

// Writes numbers with so many digits; 0 stands for as many as a float needs.
class JsonNumbers {
 public:
  explicit JsonNumbers(int digits) : digits_(digits) {}

  // JSON has no infinity: the score of a hidden key is null.
  std::string operator()(double x) const {
    if (std::isinf(x)) return "null";
    if (digits_ > 0) return absl::StrFormat("%.*g", digits_, x);
    return FloatJson(static_cast<float>(x)).dump();
  }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    std::vector<std::string> elements;
    elements.reserve(values.size());
    for (const T& value : values) elements.push_back((*this)(value));
    return JsonList(elements);
  }
  // An array [sizes...]; `strides` are the floats from one element of each dimension to the next.
  std::string operator()(const float* values, absl::Span<const size_t> sizes,
                         absl::Span<const size_t> strides) const {
    std::string json;
    Append(values, sizes, strides, &json);
    return json;
  }

 private:
  void Append(const float* values, absl::Span<const size_t> sizes, absl::Span<const size_t> strides,
              std::string* json) const {
    if (sizes.empty()) {
      absl::StrAppend(json, (*this)(static_cast<double>(*values)));
      return;
    }
    json->push_back('[');
    for (size_t i = 0; i < sizes[0]; ++i, values += strides[0]) {
      if (i > 0) json->push_back(',');
      Append(values, sizes.subspan(1), strides.subspan(1), json);
    }
    json->push_back(']');
  }

  int digits_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_JSON_TEXT_H_
