// JSON and configuration files, read without exceptions and without trust.
#ifndef NIBU_MODELS_FILES_JSON_H_
#define NIBU_MODELS_FILES_JSON_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

class FileBytes;
class Folder;

// A JSON document. InvalidArgument naming `file`: not JSON, nested deeper than 32, or an object
// with the same key twice. Throws std::bad_alloc, as all that have to do with these values may; see
// ReserveForJson.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text, const std::string& file);

// The value of one key of a document that is an object, reading no further than it; null when it is
// not there. Errors as above.
absl::StatusOr<nlohmann::json> ParseJsonMember(absl::string_view text, const std::string& file,
                                               const std::string& key);

// A value for a message: in one line, any bytes that are not UTF-8 replaced, cut where it is long.
std::string QuotedJson(const nlohmann::json& value);

// Text in one line of UTF-8: control characters become spaces, what is not UTF-8 is left out.
std::string PrintableLine(absl::string_view text);

// Typed look-ups in a configuration file that is one object. Errors name file, field, what was
// expected and what is there. Null counts as absent.
class ConfigFile {
 public:
  ConfigFile() = default;  // without fields
  // Without fields when there is no such file.
  static absl::StatusOr<ConfigFile> OpenOptional(const std::string& path);
  static absl::StatusOr<ConfigFile> OpenOptional(const Folder& folder, absl::string_view name);
  static absl::StatusOr<ConfigFile> Parse(absl::string_view text, std::string file);
  // From a document that was read already (YAML).
  static absl::StatusOr<ConfigFile> From(nlohmann::json json, std::string file);

  // A copy in which absent fields have the values of `absent`, and those of `fixed` have these.
  ConfigFile With(const nlohmann::json& absent, const nlohmann::json& fixed) const;

  // A copy in which the fields that `over` has win; messages about them name its file.
  ConfigFile Under(ConfigFile over) const;

  const std::string& file() const { return file_; }
  // All fields of this file alone.
  const nlohmann::json& object() const { return object_; }
  // Null when the field is absent.
  const nlohmann::json* Find(const std::string& key) const;

  // The field's value, or `absent`.
  absl::StatusOr<int> Int(const std::string& key, int absent) const;
  absl::StatusOr<std::optional<int>> OptionalInt(const std::string& key) const;
  absl::StatusOr<float> Float(const std::string& key, float absent) const;
  absl::StatusOr<bool> Bool(const std::string& key, bool absent) const;
  absl::StatusOr<std::string> String(const std::string& key, absl::string_view absent) const;
  // The numbers of a list, each from `least` (0 or more) to `most`; Wrong(key, expected) for
  // anything else.
  absl::StatusOr<std::vector<int>> IntList(const std::string& key, int least, int most,
                                           absl::string_view expected) const;
  // Whether a field says no: it is absent, false, 0, "", "none" or an empty list.
  bool IsOff(const std::string& key) const;
  // What the field's word stands for; `absent` is a word, too.
  template <typename T>
  absl::StatusOr<T> OneOf(const std::string& key, absl::string_view absent,
                          absl::Span<const std::pair<absl::string_view, T>> words) const {
    const absl::StatusOr<std::string> found = String(key, absent);
    if (!found.ok()) return found.status();
    std::vector<absl::string_view> known;
    for (const auto& [word, value] : words) {
      if (word == *found) return value;
      known.push_back(word);
    }
    return WrongWord(key, known);
  }

  // "FILE: "key" must be EXPECTED, found VALUE"
  absl::Status Wrong(const std::string& key, absl::string_view expected) const;

 private:
  ConfigFile(nlohmann::json object, std::string file)
      : object_(std::move(object)), file_(std::move(file)) {}

  static absl::StatusOr<ConfigFile> ReadOptional(
      const absl::StatusOr<std::shared_ptr<const FileBytes>>& file, const std::string& path);
  absl::Status WrongWord(const std::string& key, std::vector<absl::string_view> known) const;

  nlohmann::json object_ = nlohmann::json::object();
  std::string file_;
  std::shared_ptr<const ConfigFile> over_;  // or null
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_JSON_H_
