// The models that a server or a computer has, and those among them that translate between two
// languages.
#ifndef NIBU_TOOLS_TEXT_MODEL_CATALOG_H_
#define NIBU_TOOLS_TEXT_MODEL_CATALOG_H_

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/language.h"
#include "nibu/model.h"

namespace nibu::internal {

// A model of the catalog.
struct ServedModel {
  std::string name;  // The last part of its path.
  std::string path;
  bool is_pinned = false;  // It stays in memory once it is loaded.
  // The languages that it translates from and into: maps their short codes (see ShortLanguageCode)
  // to the values of src_lang and tgt_lang, which are empty for a model that has no choice.
  std::map<std::string, std::string> sources;
  std::map<std::string, std::string> targets;
  // The time when a request last needed it.
  std::atomic<std::chrono::steady_clock::time_point> last_use{
      std::chrono::steady_clock::time_point()};
  // Null if it is not in memory. Used only by the thread that loads models.
  std::shared_ptr<const nibu::Model> model;
};

// The models that translate between two languages: one, or two in a row (pivoting).
struct Route {
  std::shared_ptr<ServedModel> first;
  std::shared_ptr<ServedModel> second;  // Null if there is one model.
  std::string src_lang;                 // Options::src_lang and tgt_lang; may be empty.
  std::string tgt_lang;

  const ServedModel& last() const { return second != nullptr ? *second : *first; }
};

// A language that some model reads or writes.
struct ServedLanguage {
  std::string code;
  std::string name;
  std::vector<std::string> targets;  // The codes that it can be translated into, and its own.
};

// An immutable list of models, which threads may share.
class Catalog {
 public:
  // Reads the facts about models, without their weights. `models` are paths as Model::Load takes
  // them, each perhaps with languages in front, as in "en-de=PATH"; they are needed if the model's
  // files do not say them. `folder` has a model in each of its files and folders; others are
  // skipped with a warning, unless they are models of `before`, the catalog that is to be replaced
  // (null if there is none): such a file may be half copied. The models named in `pinned`, and all
  // of `models`, stay in memory. Returns an error if a model cannot be read or has no languages, if
  // the folder or a pinned model is missing, or if there is no model at all.
  static absl::StatusOr<std::shared_ptr<const Catalog>> Read(const std::vector<std::string>& models,
                                                             const std::string& folder,
                                                             const std::vector<std::string>& pinned,
                                                             const Catalog* before,
                                                             std::vector<std::string>* warnings);

  const std::vector<std::shared_ptr<ServedModel>>& models() const { return models_; }
  // Returns the model with this path, or null.
  std::shared_ptr<ServedModel> FindModel(const std::string& path) const;
  // Sorted by name.
  const std::vector<ServedLanguage>& languages() const { return languages_; }

  // Returns the language that a client means, or null if the catalog does not have it. Codes may be
  // in lower case, and in any form that LanguageCode knows; "zh", "zt" and "pb" are
  // LibreTranslate's names for zh-Hans, zh-Hant and pt-BR.
  const ServedLanguage* FindLanguage(absl::string_view code) const;

  // Returns the models for two languages of the catalog: the first single one, or else the first
  // two with English between them, or else the first two with any other language; nullopt if none.
  std::optional<Route> FindRoute(const std::string& source, const std::string& target) const;

  // Returns a detector of the catalog's languages, including those that models only write.
  const nibu::LanguageDetector& detector() const { return *detector_; }

 private:
  absl::Status Add(const std::string& model, bool is_pinned);
  absl::Status AddFolder(const std::string& folder, const std::vector<std::string>& pinned,
                         const Catalog* before, std::vector<std::string>* warnings);
  absl::Status Finish();

  std::vector<std::shared_ptr<ServedModel>> models_;
  std::vector<ServedLanguage> languages_;
  std::unique_ptr<const nibu::LanguageDetector> detector_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_CATALOG_H_
