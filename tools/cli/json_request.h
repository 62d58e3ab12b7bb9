// Reads the lines of --input_format=jsonl.
#ifndef NIBU_TOOLS_CLI_JSON_REQUEST_H_
#define NIBU_TOOLS_CLI_JSON_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/options.h"
#include "nlohmann/json_fwd.hpp"

namespace nibu::internal {

// A member of a JSON object. Its name is decoded; the other fields are bytes of the object's text.
struct JsonMember {
  std::string name;
  absl::string_view raw_name;  // with its quotation marks
  absl::string_view value;
};

// Returns the members of a JSON object, in order, with their bytes as they are. Returns
// InvalidArgument if the text is not JSON or not an object, is nested deeper than 32, or has a name
// twice.
absl::StatusOr<std::vector<JsonMember>> SplitJsonObject(absl::string_view text);

// Replaces numbers of JSON that a double cannot hold, such as 1e400, by large ones of the same
// length, so that a parser accepts the text.
std::string WithoutHugeNumbers(absl::string_view json);

// A text to be translated, with the options and members that its line gives.
struct JsonRequest {
  absl::Status status;  // InvalidArgument if the line makes no sense; the message says why.
  // The beginning of the output's object, as JSON without braces: "id" and the members that are
  // copied, with commas between them.
  std::string members;
  std::string text;
  std::string prefix;
  Options options;
  // The names and values of the options that the line gives, or empty if it gives none. Lines have
  // the same key if and only if they have the same options.
  std::string key;
  std::vector<std::string> copied;    // The names of members that are copied.
  std::vector<std::string> replaced;  // Names that the output uses itself, so they are not copied.
};

// Reads a line. `options` holds for all lines; options that the line gives replace them. `id` is
// the id if the object has none. Whatever the line is, `members` of the result can be printed.
JsonRequest ReadJsonRequest(absl::string_view line, uint64_t id, const Options& options);

// Returns true if an option of this name holds for all lines. A member of the name is copied.
bool IsRunOption(absl::string_view name);

// Returns the option or field that a member's name is probably meant to be, or an empty string.
std::string MisspelledOption(absl::string_view name);

// Reads a glossary: [["dog", "Hund"], ...], or {"dog": "Hund", "cat": ["Katze", "Kater"]}. Returns
// false if the value is neither. The server reads the terms of its requests with it, too.
bool ReadGlossaryEntries(const nlohmann::json& value, std::vector<GlossaryEntry>* glossary);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_JSON_REQUEST_H_
