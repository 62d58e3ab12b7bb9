// JSON and configuration files, read without exceptions and without trust.
#ifndef NIBU_MODELS_FILES_JSON_H_
#define NIBU_MODELS_FILES_JSON_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace nibu {

// A JSON document. InvalidArgument naming `file`: not JSON, nested deeper than 32, or an object
// with the same key twice.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text, const std::string& file);

// The value of one key of a document that is an object, reading no further than it; null when it is
// not there. Errors as above.
absl::StatusOr<nlohmann::json> ParseJsonMember(absl::string_view text, const std::string& file,
                                               const std::string& key);

// A value for a message: in one line, any bytes that are not UTF-8 replaced, cut where it is long.
std::string QuotedJson(const nlohmann::json& value);

// Typed look-ups in a configuration file that is one object. Errors name file, field, what was
// expected and what is there. Null counts as absent.
class ConfigFile {
 public:
  // None when there is no such file.
  static absl::StatusOr<std::optional<ConfigFile>> OpenOptional(const std::string& path);
  static absl::StatusOr<ConfigFile> Parse(absl::string_view text, std::string file);
  // From a document that was read already (YAML).
  static absl::StatusOr<ConfigFile> From(nlohmann::json json, std::string file);

  // A copy in which absent fields have the values of `absent`, and those of `fixed` have these.
  ConfigFile With(const nlohmann::json& absent, const nlohmann::json& fixed) const;

  const std::string& file() const { return file_; }
  const nlohmann::json& object() const { return object_; }
  // Null when the field is absent.
  const nlohmann::json* Find(const std::string& key) const;

  // The field's value, or `absent`.
  absl::StatusOr<int> Int(const std::string& key, int absent) const;
  absl::StatusOr<std::optional<int>> OptionalInt(const std::string& key) const;
  absl::StatusOr<float> Float(const std::string& key, float absent) const;
  absl::StatusOr<bool> Bool(const std::string& key, bool absent) const;
  absl::StatusOr<std::string> String(const std::string& key, absl::string_view absent) const;

  // "FILE: "key" must be EXPECTED, found VALUE"
  absl::Status Wrong(const std::string& key, absl::string_view expected) const;

 private:
  ConfigFile(nlohmann::json object, std::string file)
      : object_(std::move(object)), file_(std::move(file)) {}

  nlohmann::json object_;
  std::string file_;
};

}  // namespace nibu

#endif  // NIBU_MODELS_FILES_JSON_H_
