// Reads the parameters of a request from JSON, forms and queries.
//
// JSON: RFC 8259. Forms: https://url.spec.whatwg.org/#urlencoded-parsing and RFC 7578, whose parts
// are those of RFC 2046, section 5.1.

#include "tools/serve/parameters.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/json.h"

namespace nibu::internal {
namespace {

constexpr size_t kMostFields = 10000;
// The most values in JSON. More would block the network's thread for too long.
constexpr size_t kMostValues = 20000;

// The parameters that are read. Of others it does not matter which value counts.
constexpr absl::string_view kNames[] = {
    "q",           "source",      "target",       "format",   "alternatives",     "timeout",
    "api_key",     "source_lang", "target_lang",  "glossary", "do_not_translate", "auth_key",
    "glossary_id", "entries",     "tag_handling", "token"};
// The parameter that forms repeat for each text of a list.
constexpr absl::string_view kList = "text";
// The parameters that the query of a request may have whose body is JSON.
constexpr const char* kKeys[] = {"api_key", "auth_key", "token"};

// Adds a field. A second one of its name would be lost, which does no harm if it says the same; but
// two equal texts are a client's list of texts.
absl::Status AddField(std::string name, std::string value, Parameters* parameters) {
  constexpr size_t kMostNamed = 60;
  if (parameters->values.size() >= kMostFields) return Invalid("the form has too many fields");
  if (name == kList) {
    nlohmann::json& list = parameters->values[name];
    if (list.size() >= kMostFields) return Invalid("the form has too many texts");
    list.push_back(std::move(value));
    return absl::OkStatus();
  }
  const auto known = parameters->values.find(name);
  const bool is_read = absl::c_linear_search(kNames, name);
  if (known != parameters->values.end() && is_read && (name == "q" || known->second != value)) {
    return Invalid("Invalid request: ", name.substr(0, kMostNamed), " parameter is there twice",
                   name == "q" ? "; a list of texts needs JSON" : "");
  }
  parameters->values.emplace(std::move(name), std::move(value));
  return absl::OkStatus();
}

absl::Status ReadUrlEncoded(absl::string_view text, Parameters* parameters) {
  for (const absl::string_view field : absl::StrSplit(text, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> sides =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    NIBU_RETURN_IF_ERROR(
        AddField(PercentDecoded(sides.first), PercentDecoded(sides.second), parameters));
  }
  return absl::OkStatus();
}

// Returns the value of a header's parameter, as in `form-data; name="q"`, or nullopt if it has
// none. In quoted text a backslash stands for the next character.
std::optional<std::string> HeaderParameter(absl::string_view header, absl::string_view name) {
  size_t i = header.find(';');
  while (i != absl::string_view::npos) {
    header.remove_prefix(i + 1);
    const size_t equals = header.find_first_of("=;");
    if (equals == absl::string_view::npos) return std::nullopt;
    if (header[equals] == ';') {
      i = equals;
      continue;
    }
    const absl::string_view found = absl::StripAsciiWhitespace(header.substr(0, equals));
    header.remove_prefix(equals + 1);
    header = absl::StripLeadingAsciiWhitespace(header);
    std::string value;
    size_t end = 0;
    if (absl::StartsWith(header, "\"")) {
      for (end = 1; end < header.size() && header[end] != '"'; ++end) {
        if (header[end] == '\\' && end + 1 < header.size()) ++end;
        value += header[end];
      }
    } else {
      end = std::min(header.find(';'), header.size());
      value = std::string(absl::StripAsciiWhitespace(header.substr(0, end)));
    }
    if (absl::EqualsIgnoreCase(found, name)) return value;
    i = header.find(';', end);
  }
  return std::nullopt;
}

// Reads a part of a multipart body: its head, an empty line, and its content.
absl::Status ReadPart(absl::string_view part, Parameters* parameters) {
  const size_t end = absl::StartsWith(part, "\r\n") ? 0 : part.find("\r\n\r\n");
  if (end == absl::string_view::npos) return Invalid("a part of the form has no empty line");
  const absl::string_view content = part.substr(end + (end == 0 ? 2 : 4));
  for (const absl::string_view line : absl::StrSplit(part.substr(0, end), "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> header =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (!absl::EqualsIgnoreCase(header.first, "Content-Disposition")) continue;
    std::optional<std::string> name = HeaderParameter(header.second, "name");
    if (std::optional<std::string> file = HeaderParameter(header.second, "filename")) {
      if (name != "file") return absl::OkStatus();
      parameters->file_name = *std::move(file);
      parameters->file = std::string(content);
      return absl::OkStatus();
    }
    if (name.has_value()) {
      return AddField(*std::move(name), std::string(content), parameters);
    }
  }
  return Invalid("a part of the form has no name");
}

absl::Status ReadMultipart(absl::string_view content_type, absl::string_view body,
                           Parameters* parameters) {
  const std::optional<std::string> boundary = HeaderParameter(content_type, "boundary");
  if (!boundary.has_value() || boundary->empty() || boundary->size() > 70) {
    return Invalid("the form's content type has no boundary");
  }
  // A delimiter stands at the beginning of a line; "--" follows the last one. Text in front of the
  // first one and behind the last one does not count.
  const std::string delimiter = absl::StrCat("\r\n--", *boundary);
  const auto skip_delimiter = [&](size_t at) {
    if (at == absl::string_view::npos) return Invalid("the form does not have its boundary");
    body.remove_prefix(at + delimiter.size());
    return absl::OkStatus();
  };
  const std::string whole = absl::StrCat("\r\n", body);
  body = whole;
  NIBU_RETURN_IF_ERROR(skip_delimiter(body.find(delimiter)));
  while (!absl::StartsWith(body, "--")) {
    const size_t line = body.find("\r\n");
    const size_t end = line == absl::string_view::npos ? line : body.find(delimiter, line);
    if (end == absl::string_view::npos) return Invalid("the form does not end with its boundary");
    // A part without head and content shares its line break with the delimiter.
    const size_t begin = std::min(line + 2, end);
    NIBU_RETURN_IF_ERROR(ReadPart(body.substr(begin, end - begin), parameters));
    NIBU_RETURN_IF_ERROR(skip_delimiter(end));
  }
  return absl::OkStatus();
}

absl::StatusOr<Parameters> ReadJson(absl::string_view body) {
  absl::StatusOr<nlohmann::json> json = ParseJson(body, "Invalid request", kMostValues);
  if (absl::IsOutOfRange(json.status())) return Invalid(json.status().message());
  if (!json.ok() || !json->is_object()) return Invalid("Invalid JSON format");
  Parameters parameters;
  for (auto& [name, value] : json->items()) parameters.values[name] = std::move(value);
  return parameters;
}

}  // namespace

const nlohmann::json* Parameters::Find(const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

absl::StatusOr<Parameters> ReadParameters(const HttpRequest& request) {
  const absl::string_view type = absl::StripAsciiWhitespace(
      absl::string_view(request.content_type).substr(0, request.content_type.find(';')));
  const bool is_multipart = absl::EqualsIgnoreCase(type, "multipart/form-data");
  const bool is_json =
      absl::EqualsIgnoreCase(type, "application/json") ||
      (absl::StartsWithIgnoreCase(type, "application/") && absl::EndsWithIgnoreCase(type, "+json"));
  const absl::string_view body = request.body;
  const bool looks_like_json = absl::StartsWith(absl::StripLeadingAsciiWhitespace(body), "{");
  Parameters parameters;
  if (is_json || (looks_like_json && !is_multipart)) {
    NIBU_ASSIGN_OR_RETURN(parameters, ReadJson(body));
    Parameters query;
    NIBU_RETURN_IF_ERROR(ReadUrlEncoded(request.query, &query));
    for (const char* name : kKeys) {
      if (const nlohmann::json* key = query.Find(name)) parameters.values.emplace(name, *key);
    }
    return parameters;
  }
  parameters.is_form = true;
  NIBU_RETURN_IF_ERROR(ReadUrlEncoded(request.query, &parameters));
  if (is_multipart) {
    NIBU_RETURN_IF_ERROR(ReadMultipart(request.content_type, body, &parameters));
  } else if (absl::EqualsIgnoreCase(type, "application/x-www-form-urlencoded")) {
    NIBU_RETURN_IF_ERROR(ReadUrlEncoded(body, &parameters));
  }
  return parameters;
}

std::string PercentDecoded(absl::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
        absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 2])) &&
        absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte)) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace nibu::internal
