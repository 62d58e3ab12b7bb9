// The parameters of a request, in whatever form a client sends them.
#ifndef NIBU_TOOLS_SERVE_PARAMETERS_H_
#define NIBU_TOOLS_SERVE_PARAMETERS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/serve/http.h"

namespace nibu::internal {

struct Parameters {
  std::map<std::string, nlohmann::json> values;
  // The values come from a form or the query: all of them are texts, whose line ends may be CR LF.
  bool is_form = false;

  // Null: there is none of this name.
  const nlohmann::json* Find(const std::string& name) const;
};

// Reads the members of a JSON object, where the request's content type is JSON; or else the fields
// of a form (application/x-www-form-urlencoded or multipart/form-data, without its files) and of
// the query, as Flask's request.values has them. Of several fields of one name the first counts; a
// field of the query comes before one of the body. Any bytes may come: text that is not UTF-8 stays
// as it is. InvalidArgument: the body is no JSON object, nested deeper than 32, or no form.
absl::StatusOr<Parameters> ReadParameters(const HttpRequest& request);

// Text with %XX and + as forms write them, decoded. A % that no two hexadecimal digits follow
// stays.
std::string PercentDecoded(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_PARAMETERS_H_
