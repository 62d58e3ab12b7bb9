// Reads the parameters of a request, whether a client sends them as JSON, as a form or in the
// query.
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
  // The values come from a form or the query: all of them are texts, whose line ends may be CR LF,
  // except for "text", which is a list of them.
  bool is_form = false;
  // The name and the content of a form's file, if its field is called "file".
  std::string file_name;
  std::string file;

  // Returns the parameter of this name, or null.
  const nlohmann::json* Find(const std::string& name) const;
};

// Reads the members of a JSON object if the request's content type is JSON, or if its body begins
// with "{" and is not multipart, since many clients forget the content type; a key may then stand
// in the query. Otherwise reads the fields of a form (application/x-www-form-urlencoded or
// multipart/form-data) and of the query, as Flask's request.values has them. Any bytes are allowed
// in forms: text that is not UTF-8 stays as it is. Returns InvalidArgument if the body is no JSON
// object, is nested deeper than 32, or is no form; and, naming the parameter, if one is there
// twice, unless a form or query repeats its value; if there is a second "q" in a form; or if JSON
// has half of a surrogate pair.
absl::StatusOr<Parameters> ReadParameters(const HttpRequest& request);

// Decodes %XX and + in a text as forms write them. A % without two hexadecimal digits behind it
// stays.
std::string PercentDecoded(absl::string_view text);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_PARAMETERS_H_
