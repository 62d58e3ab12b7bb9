// Reads JSON objects with texts and options, and keeps the bytes of members that are copied.
#include "tools/cli/json_request.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "models/files/json.h"
#include "nlohmann/json.hpp"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/text/options/nearest.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

// Names that the output's object uses itself.
constexpr absl::string_view kOutputNames[] = {"source", "hypotheses", "error"};

std::vector<std::string> NamesOf(const ProgramInfo& program) {
  std::vector<std::string> names;
  for (const ProgramOption& option : OptionsOf(program)) names.emplace_back(option.name());
  return names;
}

// Returns the options of a text that a member may give. "text" is not among them: it is the text.
const std::vector<std::string>& TextOptionNames() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string>(
        NamesOf({"nibu-translate", "translate", "", "", {{TextOptionRows(), nullptr}}}));
    all->erase(std::remove(all->begin(), all->end(), "text"), all->end());
    return all;
  }();
  return names;
}

// Returns the options that hold for all lines.
const std::vector<std::string>& RunOptionNames() {
  static const auto& names = *new std::vector<std::string>(NamesOf(
      {"nibu-translate",
       "translate",
       "",
       "",
       {{CliOptionRows(), nullptr}, {ModelOptionRows(), nullptr}, {SpeedOptionRows(), nullptr}}}));
  return names;
}

bool Has(const std::vector<std::string>& names, absl::string_view name) {
  return absl::c_linear_search(names, name);
}

// Returns the place behind the string that begins at `i` with a quotation mark.
size_t EndOfString(absl::string_view json, size_t i) {
  for (++i; i < json.size() && json[i] != '"'; ++i) {
    if (json[i] == '\\') ++i;
  }
  return std::min(i + 1, json.size());
}

absl::StatusOr<Json> Parse(absl::string_view text) {
  absl::StatusOr<Json> json = ParseJson(text, "line");
  if (!json.ok()) json = ParseJson(WithoutHugeNumbers(text), "line");
  if (json.ok()) return json;
  return Invalid(absl::StripPrefix(json.status().message(), "line: "));
}

// Returns the members of an object, perhaps with a name twice. REQUIRES: the text is JSON, so it is
// enough to look at quotation marks, brackets and commas.
std::vector<JsonMember> MembersOf(absl::string_view text) {
  ABSL_ASSERT(Json::accept(WithoutHugeNumbers(text)));
  std::vector<JsonMember> members;
  size_t begin = text.find('{') + 1;  // of a member
  for (size_t i = begin, depth = 1; depth > 0; ++i) {
    const char c = text[i];
    if (c == '"') i = EndOfString(text, i) - 1;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > 1 || (depth == 1 && c != ',')) continue;
    const absl::string_view member = absl::StripAsciiWhitespace(text.substr(begin, i - begin));
    begin = i + 1;
    if (member.empty()) continue;  // The object is empty.
    const size_t end = EndOfString(member, 0);
    members.push_back(
        {.name = Json::parse(member.substr(0, end), nullptr, /*allow_exceptions=*/false),
         .raw_name = member.substr(0, end),
         .value = absl::StripLeadingAsciiWhitespace(member.substr(member.find(':', end) + 1))});
  }
  return members;
}

// Returns the "id" of an object that is refused, for example because it has another name twice.
// Returns null if the text is not JSON, or has no or several ids: a number might be the id of
// another line.
absl::string_view IdOfRefused(absl::string_view text) {
  const std::string known = WithoutHugeNumbers(text);
  const size_t begin = known.find_first_not_of("\xef\xbb\xbf \t\r\n");
  if (begin == std::string::npos || known[begin] != '{' || !Json::accept(known)) return "null";
  absl::string_view id = "null";
  int ids = 0;
  for (const JsonMember& member : MembersOf(text)) {
    if (member.name != "id") continue;
    id = member.value;
    ++ids;
  }
  return ids == 1 ? id : "null";
}

absl::StatusOr<std::string> StringOf(const JsonMember& member, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return Invalid("\"", member.name, "\" must be a string, not ", QuotedJson(value));
}

// Writes a value as text of the command line. Returns false for a list or an object.
bool ScalarText(const JsonMember& member, const Json& value, std::string* text) {
  if (value.is_structured()) return false;
  *text = value.is_string() ? value.get<std::string>() : std::string(member.value);
  return true;
}

absl::Status SetTextOption(const JsonMember& member, const Json& value, Options* options) {
  std::string text;
  if (ScalarText(member, value, &text)) return SetOption(member.name, text, options);
  const absl::Span<const OptionRow> rows = TextOptionRows();
  const auto row =
      absl::c_find_if(rows, [&](const OptionRow& each) { return member.name == each.info.name; });
  const absl::string_view type = row->info.type;
  const bool takes_list = row->set_list != nullptr || type == "text" || type == "numbers";
  const auto refuse = [&] {
    return InvalidOption(member.name, " must be a value", takes_list ? " or a list of values" : "",
                         ", not ", QuotedJson(value));
  };
  // An empty list is a value only of an option that is a list.
  if (value.is_object() || !takes_list || (value.empty() && row->set_list == nullptr)) {
    return refuse();
  }
  std::vector<std::string> list;
  for (const Json& each : value) {
    if (each.is_structured()) return refuse();
    list.push_back(each.is_string() ? each.get<std::string>() : each.dump());
  }
  return SetOption(member.name, list, options);
}

absl::Status SetGlossary(const Json& value, std::vector<GlossaryEntry>* glossary) {
  if (ReadGlossaryEntries(value, glossary)) return absl::OkStatus();
  return InvalidOption("glossary",
                       " must be a list of [\"SOURCE\", \"TARGET\"] pairs or an object of "
                       "\"SOURCE\": \"TARGET\", not ",
                       QuotedJson(value));
}

// Takes a member that is an option or a field. Returns false for a member that is copied.
absl::StatusOr<bool> TakeMember(const JsonMember& member, const Json& value, JsonRequest* request,
                                std::map<std::string, std::string>* given) {
  if (member.name == "text") {
    NIBU_ASSIGN_OR_RETURN(request->text, StringOf(member, value));
    return true;
  }
  if (member.name == "prefix") {
    if (!value.is_null()) {
      NIBU_ASSIGN_OR_RETURN(request->prefix, StringOf(member, value));
    }
    return true;
  }
  const bool is_glossary = member.name == "glossary";
  if (!is_glossary && !Has(TextOptionNames(), member.name)) return false;
  if (value.is_null()) return true;  // null counts as a missing member
  (*given)[member.name] = value.dump();
  NIBU_RETURN_IF_ERROR(is_glossary ? SetGlossary(value, &request->options.glossary)
                                   : SetTextOption(member, value, &request->options));
  return true;
}

}  // namespace

absl::StatusOr<std::vector<JsonMember>> SplitJsonObject(absl::string_view text) {
  NIBU_ASSIGN_OR_RETURN(const Json json, Parse(text));
  if (!json.is_object()) return Invalid("is not a JSON object, but ", QuotedJson(json));
  return MembersOf(text);
}

std::string WithoutHugeNumbers(absl::string_view json) {
  constexpr absl::string_view kLarge = "1e308";  // No number that is too large is shorter.
  static const RE2& grammar = *new RE2(R"(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)");
  std::string known(json);
  for (size_t i = 0; i < json.size();) {
    if (json[i] == '"') {
      i = EndOfString(json, i);
      continue;
    }
    const size_t end = std::min(json.find_first_not_of("+-.0123456789Ee", i), json.size());
    const absl::string_view number = json.substr(i, end - i);
    double value = 0;
    if (absl::SimpleAtod(number, &value) && std::isinf(value) &&
        RE2::FullMatch({number.data(), number.size()}, grammar)) {
      known.replace(i, number.size(), number.size(), ' ');
      absl::c_copy(kLarge, known.begin() + static_cast<std::ptrdiff_t>(i));
    }
    i = std::max(end, i + 1);
  }
  return known;
}

JsonRequest ReadJsonRequest(absl::string_view line, uint64_t id, const Options& options) {
  JsonRequest request;
  request.options = options;
  std::string id_text = absl::StrCat(id);
  std::string copied;
  bool has_text = false;
  std::map<std::string, std::string> given;
  const absl::StatusOr<std::vector<JsonMember>> members = SplitJsonObject(line);
  request.status = members.status();
  if (members.ok()) {
    const Json object = *Parse(line);
    for (const JsonMember& member : *members) {
      if (member.name == "id") {
        id_text = std::string(member.value);
        continue;
      }
      if (absl::c_linear_search(kOutputNames, member.name)) {
        request.replaced.push_back(member.name);
        continue;
      }
      has_text |= member.name == "text";
      const absl::StatusOr<bool> taken = TakeMember(member, object[member.name], &request, &given);
      request.status.Update(taken.status());
      if (!taken.ok() || *taken) continue;
      request.copied.push_back(member.name);
      absl::StrAppend(&copied, ",", member.raw_name, ":", member.value);
    }
    if (!has_text) request.status.Update(Invalid("it has no \"text\""));
    if (!request.prefix.empty() && request.options.text != TextKind::kLines) {
      request.status.Update(Invalid("a prefix needs --text=lines, not documents or paragraphs"));
    }
  } else {
    id_text = std::string(IdOfRefused(line));
  }
  request.members = absl::StrCat("\"id\":", id_text, copied);
  for (const auto& [name, value] : given) absl::StrAppend(&request.key, name, "=", value, "\n");
  return request;
}

bool IsRunOption(absl::string_view name) { return Has(RunOptionNames(), name); }

std::string MisspelledOption(absl::string_view name) {
  static const auto& known = *[] {
    auto* all = new std::vector<std::string>(TextOptionNames());
    for (const char* other : {"text", "prefix", "glossary"}) all->emplace_back(other);
    return all;
  }();
  // A name that lacks much of an option's end, as "end" does of "end_token", is not a misspelled
  // one.
  constexpr int kMostMissing = 3;
  if (name.size() <= kMostMissing) return "";
  std::string nearest = Nearest(name, known);
  const auto difference = static_cast<int>(nearest.size()) - static_cast<int>(name.size());
  return std::abs(difference) <= kMostMissing ? nearest : "";
}

bool ReadGlossaryEntries(const Json& value, std::vector<GlossaryEntry>* glossary) {
  glossary->clear();
  const auto add = [glossary](const Json& source, const Json& target) {
    if (!source.is_string() || !target.is_string()) return false;
    glossary->push_back({source.get<std::string>(), target.get<std::string>()});
    return true;
  };
  bool is_valid = value.is_structured();
  for (const auto& [key, entry] : value.items()) {
    if (value.is_array()) {
      is_valid = is_valid && entry.is_array() && entry.size() == 2 && add(entry[0], entry[1]);
    } else if (entry.is_array()) {
      for (const Json& target : entry) is_valid = is_valid && add(key, target);
    } else {
      is_valid = is_valid && add(key, entry);
    }
  }
  return is_valid;
}

}  // namespace nibu::internal
