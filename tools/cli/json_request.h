// Reads the lines of --input_format=jsonl.
#ifndef NIBU_TOOLS_CLI_JSON_REQUEST_H_
#define NIBU_TOOLS_CLI_JSON_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/options.h"

namespace nibu::internal {

// A member of a JSON object; its name is decoded, the other parts are bytes of the object's text.
struct JsonMember {
  std::string name;
  absl::string_view raw_name;  // with its quotation marks
  absl::string_view value;
};

// The members of a JSON object, in order, with their bytes as they are. InvalidArgument: the text
// is not JSON or not an object, is nested deeper than 32, or has a name twice.
absl::StatusOr<std::vector<JsonMember>> SplitJsonObject(absl::string_view text);

// Replaces JSON's numbers that a double cannot hold, as 1e400, by large ones of the same length, so
// that a parser accepts the text.
std::string WithoutHugeNumbers(absl::string_view json);

// A text to be translated, and what its line says of it.
struct JsonRequest {
  absl::Status status;  // InvalidArgument that says what is wrong with the line.
  // The beginning of the output's object: "id" and the members that are copied, as JSON between
  // which commas stand.
  std::string members;
  std::string text;
  std::string prefix;
  Options options;
  // The names and values of the options that the line gives; empty: it gives none. Lines with the
  // same key, and no others, have the same options.
  std::string key;
  std::vector<std::string> copied;    // The names of members that are copied.
  std::vector<std::string> replaced;  // Names that the output uses itself, so they are not copied.
};

// Reads a line. `options` holds for all lines, and those that the line gives take their places.
// `id` stands in for an id that it does not give. Whatever the line is, `members` can be printed.
JsonRequest ReadJsonRequest(absl::string_view line, uint64_t id, const Options& options);

// Returns true if an option of this name holds for all lines. A member of the name is copied.
bool IsRunOption(absl::string_view name);

// The option or field that a member's name is probably meant to be; empty: none is.
std::string MisspelledOption(absl::string_view name);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_JSON_REQUEST_H_
