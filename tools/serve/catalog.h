// The models that a server offers, and which of them translate from one language into another.
#ifndef NIBU_TOOLS_SERVE_CATALOG_H_
#define NIBU_TOOLS_SERVE_CATALOG_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/nibu.h"

namespace nibu::internal {

// A model of the catalog.
struct ServedModel {
  std::string name;  // The last part of its path.
  std::string path;
  bool is_pinned = false;  // It stays in memory once it is loaded.
  // The languages that it translates from and into, by their short codes (see ShortLanguageCode),
  // and what the options src_lang and tgt_lang call them; empty for a model that has no choice.
  std::map<std::string, std::string> sources;
  std::map<std::string, std::string> targets;
  // When a request last needed it.
  std::atomic<std::chrono::steady_clock::time_point> last_use{
      std::chrono::steady_clock::time_point()};
  // Belongs to the thread that loads models; null: it is not in memory.
  std::shared_ptr<const nibu::Model> model;
};

// The models that translate between two languages: one, or two in a row (pivoting).
struct Route {
  std::shared_ptr<ServedModel> first;
  std::shared_ptr<ServedModel> second;  // Null: there is one model.
  std::string src_lang;                 // Options::src_lang and tgt_lang; may be empty.
  std::string tgt_lang;

  const ServedModel& last() const { return second != nullptr ? *second : *first; }
};

// A language that some model reads or writes.
struct ServedLanguage {
  std::string code;
  std::string name;
  std::vector<std::string> targets;  // The codes that it can be translated into, itself included.
};

// Immutable.
class Catalog {
 public:
  // Finds out about models, without reading their weights. `models` are paths as Model::Load takes
  // them, each perhaps with the languages in front, as in "en-de=PATH", which it needs if its files
  // do not say them. `folder` has a model in each of its files and folders; what is no model is
  // passed over, with a warning. The models of `pinned` (names), and all of `models`, stay in
  // memory. Errors: a model cannot be read or has no languages; a folder, or a pinned model, is not
  // there; there is no model at all.
  static absl::StatusOr<std::shared_ptr<const Catalog>> Read(const std::vector<std::string>& models,
                                                             const std::string& folder,
                                                             const std::vector<std::string>& pinned,
                                                             std::vector<std::string>* warnings);

  const std::vector<std::shared_ptr<ServedModel>>& models() const { return models_; }
  // Sorted by name.
  const std::vector<ServedLanguage>& languages() const { return languages_; }

  // The language that a client means; null: none of the catalog's. Codes may be in small letters,
  // and in any form that LanguageCode knows; "zh", "zt" and "pb" are LibreTranslate's names for
  // zh-Hans, zh-Hant and pt-BR.
  const ServedLanguage* FindLanguage(absl::string_view code) const;

  // The models for two languages of the catalog: the first single one, or else the first two with
  // English between them, or else with any other language. No value: there are none.
  std::optional<Route> FindRoute(const std::string& source, const std::string& target) const;

  // Tells the catalog's languages apart; of languages that are only written by models, too.
  const nibu::LanguageDetector& detector() const { return *detector_; }

 private:
  absl::Status Add(const std::string& model, bool is_pinned);
  absl::Status AddFolder(const std::string& folder, const std::vector<std::string>& pinned,
                         std::vector<std::string>* warnings);
  absl::Status Finish();

  std::vector<std::shared_ptr<ServedModel>> models_;
  std::vector<ServedLanguage> languages_;
  std::unique_ptr<const nibu::LanguageDetector> detector_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_CATALOG_H_
