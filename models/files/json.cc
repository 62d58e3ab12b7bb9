// Builds JSON documents from the parser's events, and looks up fields.
#include "models/files/json.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/file_bytes.h"
#include "models/files/folder.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 32;
constexpr int kNumberOverflow = 406;  // nlohmann's number of this exception
constexpr size_t kMaxQuoted = 60;     // bytes of a value or key in a message

// Builds the document value by value. nlohmann's own builder accepts a key that is there twice, and
// any depth.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json root;
  absl::Status error;  // its message lacks the file
  // If it is set, reading ends behind the value of this key of the root.
  std::optional<std::string> wanted;
  bool found = false;
  size_t most_values = std::numeric_limits<size_t>::max();

  absl::Status ErrorOf(const std::string& file) const {
    return {error.code(), absl::StrCat(file, ": ", error.message())};
  }

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& value) override {
    auto [it, inserted] = open_.back()->get_ref<Json::object_t&>().try_emplace(value);
    if (!inserted) {
      error = absl::OutOfRangeError(
          absl::StrCat("the key \"", value.substr(0, kMaxQuoted), "\" is there twice"));
      return false;
    }
    slot_ = &it->second;
    if (open_.size() == 1) root_key_ = value.substr(0, kMaxQuoted);
    if (open_.size() == 1) wanted_is_open_ = wanted.has_value() && value == *wanted;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception& exception) override {
    if (!error.ok()) return false;
    const std::string message = absl::StrCat("not JSON at byte ", position);
    const bool is_huge = exception.id == kNumberOverflow;
    const bool is_half = absl::StrContains(exception.what(), "invalid string: surrogate U+D");
    error = Invalid(message);
    if (!root_key_.empty() && (is_huge || is_half)) {
      error = absl::OutOfRangeError(
          absl::StrCat(message, ": the value of \"", root_key_, "\" has ",
                       is_huge ? "a number that is too large" : "half of a surrogate pair"));
    }
    return false;
  }

 private:
  // Puts the next value where it belongs (the root, the value of the last key, or a new element of
  // the open array) and returns its place.
  Json* Place(Json value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *slot_ = std::move(value);
    return slot_;
  }
  bool Add(Json value) {
    if (!Count()) return false;
    Place(std::move(value));
    return GoOn();
  }
  bool Count() {
    if (++values_ <= most_values) return true;
    error = absl::OutOfRangeError(absl::StrCat("more than ", most_values, " values"));
    return false;
  }
  bool Open(Json value) {
    if (!Count()) return false;
    if (open_.size() == kMaxDepth) {
      error = Invalid("nested deeper than ", kMaxDepth);
      return false;
    }
    open_.push_back(Place(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return GoOn();
  }
  // Called after a value. Returns false if nothing more is to be read.
  bool GoOn() {
    found = wanted_is_open_ && open_.size() == 1;
    if (open_.size() == 1) root_key_.clear();
    return !found;
  }

  // The containers around the next value, the outermost first. Their addresses stay valid, because
  // a container does not grow while one of its elements is open.
  std::vector<Json*> open_;
  size_t values_ = 0;            // number of values so far
  std::string root_key_;         // the root's key whose value is being read; empty: none
  Json* slot_ = nullptr;         // the value of the key that was read last
  bool wanted_is_open_ = false;  // the value being read is the wanted one, or inside of it
};

// Reads unsigned bytes, as no other source does: of functions that several sources have, the linker
// takes any, but those of this source are compiled to be fast (see models/CMakeLists.txt).
bool Parse(absl::string_view text, JsonBuilder* builder) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  return Json::sax_parse(bytes, bytes + text.size(), builder);
}

// Python's json module writes numbers that JSON does not have: NaN, Infinity and -Infinity. Returns
// the text with each of them as a string, so that only who needs the field refuses it; empty if
// there are none.
std::string QuotePythonNumbers(absl::string_view text) {
  if (!absl::StrContains(text, "NaN") && !absl::StrContains(text, "Infinity")) return "";
  std::string quoted;
  bool in_string = false;
  while (!text.empty()) {
    size_t size = 1;
    bool is_number = false;
    if (in_string) {
      if (text[0] == '\\' && text.size() > 1) size = 2;
      in_string = text[0] != '"';
    } else {
      in_string = text[0] == '"';
      for (const absl::string_view number : {"NaN", "Infinity", "-Infinity"}) {
        if (!absl::StartsWith(text, number)) continue;
        size = number.size();
        is_number = true;
      }
    }
    absl::StrAppend(&quoted, is_number ? "\"" : "", text.substr(0, size), is_number ? "\"" : "");
    text.remove_prefix(size);
  }
  return quoted;
}

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text, const std::string& file,
                               size_t most_values) {
  ReserveForJson(text.size());
  JsonBuilder builder;
  builder.most_values = most_values;
  if (!Parse(text, &builder)) return builder.ErrorOf(file);
  return std::move(builder.root);
}

absl::StatusOr<Json> ParseJsonMember(absl::string_view text, const std::string& file,
                                     const std::string& key) {
  ReserveForJson(text.size());
  JsonBuilder builder;
  builder.wanted = key;
  if (!Parse(text, &builder) && !builder.found) {
    return builder.ErrorOf(file);
  }
  if (!builder.root.is_object()) {
    return Invalid(file, ": not an object of key: value");
  }
  return builder.found ? std::move(builder.root[key]) : Json();
}

std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string QuotedJson(const Json& value) {
  const std::string text = JsonText(value);
  return text.size() > kMaxQuoted ? absl::StrCat(text.substr(0, kMaxQuoted), "...") : text;
}

std::string PrintableLine(absl::string_view text) {
  // Writing and reading JSON leaves out bytes that are not UTF-8.
  const Json json = std::string(text);
  std::string line = Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::ignore));
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return line;
}

absl::StatusOr<ConfigFile> ConfigFile::OpenOptional(const std::string& path) {
  return ReadOptional(FileBytes::Open(path), path);
}

absl::StatusOr<ConfigFile> ConfigFile::OpenOptional(const Folder& folder, absl::string_view name) {
  return ReadOptional(folder.Open(name), folder.PathOf(name));
}

absl::StatusOr<ConfigFile> ConfigFile::ReadOptional(
    const absl::StatusOr<std::shared_ptr<const FileBytes>>& file, const std::string& path) {
  if (absl::IsNotFound(file.status())) return From(Json::object(), path);
  if (!file.ok()) return file.status();
  return Parse((*file)->bytes(), path);
}

absl::StatusOr<ConfigFile> ConfigFile::Parse(absl::string_view text, std::string file) {
  const std::string quoted = QuotePythonNumbers(text);
  NIBU_ASSIGN_OR_RETURN(Json json, ParseJson(quoted.empty() ? text : quoted, file));
  return From(std::move(json), std::move(file));
}

absl::StatusOr<ConfigFile> ConfigFile::From(Json json, std::string file) {
  if (!json.is_object()) {
    return Invalid(file, ": not an object of key: value");
  }
  return ConfigFile(std::move(json), std::move(file));
}

ConfigFile ConfigFile::With(const Json& absent, const Json& fixed) const {
  ConfigFile result = *this;
  for (const auto& [key, value] : absent.items()) {
    if (Find(key) == nullptr) result.object_[key] = value;
  }
  result.object_.update(fixed);
  return result;
}

ConfigFile ConfigFile::Under(ConfigFile over) const {
  ConfigFile result = *this;
  result.over_ = std::make_shared<const ConfigFile>(std::move(over));
  return result;
}

const Json* ConfigFile::Find(const std::string& key) const {
  if (const Json* value = over_ == nullptr ? nullptr : over_->Find(key); value != nullptr) {
    return value;
  }
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const std::string& ConfigFile::FileOf(const std::string& key) const {
  return over_ != nullptr && over_->Find(key) != nullptr ? over_->FileOf(key) : file_;
}

absl::Status ConfigFile::Wrong(const std::string& key, absl::string_view expected) const {
  if (over_ != nullptr && over_->Find(key) != nullptr) return over_->Wrong(key, expected);
  const Json* value = Find(key);
  return Invalid(file_, ": \"", key, "\" must be ", expected, ", found ",
                 value == nullptr ? "nothing" : QuotedJson(*value));
}

bool ConfigFile::IsOff(const std::string& key) const {
  const Json* value = Find(key);
  if (value == nullptr) return true;
  if (value->is_boolean()) return !value->get<bool>();
  if (value->is_number()) return value->get<double>() == 0;
  if (value->is_string()) return value->get<std::string>().empty() || *value == "none";
  return value->empty();
}

absl::Status ConfigFile::WrongWord(const std::string& key,
                                   std::vector<absl::string_view> known) const {
  const std::string last(known.back());
  known.pop_back();
  return Wrong(key, absl::StrCat(absl::StrJoin(known, ", "), " or ", last));
}

absl::StatusOr<std::optional<int>> ConfigFile::OptionalInt(const std::string& key) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) return Wrong(key, "an integer");
  const auto number = value->get<int64_t>();  // a number of 2^63 or more becomes negative
  const bool huge = value->is_number_unsigned() && number < 0;
  if (huge || number < INT32_MIN || number > INT32_MAX) return Wrong(key, "an integer of 32 bits");
  return static_cast<int>(number);
}

absl::StatusOr<int> ConfigFile::Int(const std::string& key, int absent) const {
  NIBU_ASSIGN_OR_RETURN(const std::optional<int> value, OptionalInt(key));
  return value.value_or(absent);
}

absl::StatusOr<std::vector<int>> ConfigFile::IntList(const std::string& key, int least, int most,
                                                     absl::string_view expected) const {
  const Json* list = Find(key);
  if (list == nullptr || !list->is_array()) return Wrong(key, expected);
  std::vector<int> numbers;
  for (const Json& number : *list) {
    if (!number.is_number_integer() || number < least || number > most) return Wrong(key, expected);
    numbers.push_back(number.get<int>());
  }
  return numbers;
}

absl::StatusOr<float> ConfigFile::Float(const std::string& key, float absent) const {
  const Json* value = Find(key);
  if (value == nullptr) return absent;
  if (!value->is_number()) return Wrong(key, "a number");
  return value->get<float>();
}

absl::StatusOr<bool> ConfigFile::Bool(const std::string& key, bool absent) const {
  const Json* value = Find(key);
  if (value == nullptr) return absent;
  if (!value->is_boolean()) return Wrong(key, "true or false");
  return value->get<bool>();
}

absl::StatusOr<std::string> ConfigFile::String(const std::string& key,
                                               absl::string_view absent) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::string(absent);
  if (!value->is_string()) return Wrong(key, "a string");
  return value->get<std::string>();
}

}  // namespace nibu::internal
