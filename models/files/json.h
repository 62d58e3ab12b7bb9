// Reads JSON and configuration files, of which nothing is trusted.
#ifndef NIBU_MODELS_FILES_JSON_H_
#define NIBU_MODELS_FILES_JSON_H_

#include <cstddef>
#include <limits>
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

// Reads a JSON document. InvalidArgument naming `file`: it is not JSON, or it is nested deeper than
// 32. OutOfRange naming also a key: an object has it twice, or its value has half of a surrogate
// pair ("\ud800") or a number too large for a double; such documents fit the grammar. OutOfRange,
// too, if there are more than `most_values` values. Throws std::bad_alloc, as everything that
// handles JSON values may; see ReserveForJson (engine/core/errors.h).
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text, const std::string& file,
                                         size_t most_values = std::numeric_limits<size_t>::max());

// Returns the value of one key of a document that is an object, and reads no further than that
// value. The result is null if the key is not there. Errors are those of ParseJson.
absl::StatusOr<nlohmann::json> ParseJsonMember(absl::string_view text, const std::string& file,
                                               const std::string& key);

// Returns a value for a message, in one line. Bytes that are not UTF-8 are replaced, and a long
// value is cut.
std::string QuotedJson(const nlohmann::json& value);

// Returns a document in one line. Bytes that are not UTF-8 are replaced.
std::string JsonText(const nlohmann::json& value);

// Returns a text for a message, in one line. Control characters become spaces, and bytes that are
// not UTF-8 are left out.
std::string PrintableLine(absl::string_view text);

// A configuration file, which is one JSON object, with typed look-ups. Errors name the file, the
// field, what was expected and what is there. A null counts as absent.
class ConfigFile {
 public:
  ConfigFile() = default;  // has no fields
  // The result has no fields if there is no such file.
  static absl::StatusOr<ConfigFile> OpenOptional(const std::string& path);
  static absl::StatusOr<ConfigFile> OpenOptional(const Folder& folder, absl::string_view name);
  static absl::StatusOr<ConfigFile> Parse(absl::string_view text, std::string file);
  // Takes a document that was read already, for example from YAML.
  static absl::StatusOr<ConfigFile> From(nlohmann::json json, std::string file);

  // Returns a copy in which fields that are absent have the values of `absent`, and the fields of
  // `fixed` have its values in any case.
  ConfigFile With(const nlohmann::json& absent, const nlohmann::json& fixed) const;

  // Returns a copy in which the fields of `over` replace those of this file. Messages about them
  // name the file of `over`.
  ConfigFile Under(ConfigFile over) const;

  const std::string& file() const { return file_; }
  // All fields of this file alone, without those of Under().
  const nlohmann::json& object() const { return object_; }
  // Null when the field is absent.
  const nlohmann::json* Find(const std::string& key) const;
  // The file that Find() takes the field from.
  const std::string& FileOf(const std::string& key) const;

  // The field's value, or `absent`.
  absl::StatusOr<int> Int(const std::string& key, int absent) const;
  absl::StatusOr<std::optional<int>> OptionalInt(const std::string& key) const;
  absl::StatusOr<float> Float(const std::string& key, float absent) const;
  absl::StatusOr<bool> Bool(const std::string& key, bool absent) const;
  absl::StatusOr<std::string> String(const std::string& key, absl::string_view absent) const;
  // The numbers of a list, each from `least` (0 or more) to `most`. Wrong(key, expected) for
  // anything else, an absent field included.
  absl::StatusOr<std::vector<int>> IntList(const std::string& key, int least, int most,
                                           absl::string_view expected) const;
  // Returns true if a field is absent, false, 0, "", "none" or an empty list or object.
  bool IsOff(const std::string& key) const;
  // The value that `words` gives for the field's word, or for the word `absent`.
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
  std::shared_ptr<const ConfigFile> over_;  // its fields come first; may be null
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_JSON_H_
