// Collects models and their languages, and finds routes between languages.

#include "tools/text/model/catalog.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/model/model_paths.h"

namespace nibu::internal {
namespace {

constexpr char kEnglish[] = "en";

using LanguagePair = std::pair<std::string, std::string>;

// Returns the languages of a text like "en-de" as short codes, or nullopt if it is no such pair.
std::optional<LanguagePair> ParsePair(absl::string_view text) {
  const std::vector<std::string> codes = absl::StrSplit(text, '-');
  if (codes.size() != 2) return std::nullopt;
  LanguagePair pair = {ShortLanguageCode(codes[0]), ShortLanguageCode(codes[1])};
  if (pair.first.empty() || pair.second.empty()) return std::nullopt;
  return pair;
}

// Returns the languages at the end of a model's name, as in "opus-mt-en-de".
std::optional<LanguagePair> PairOfName(absl::string_view name) {
  const std::vector<absl::string_view> words = absl::StrSplit(name, absl::ByAnyChar("-_."));
  if (words.size() < 2) return std::nullopt;
  const absl::string_view first = words[words.size() - 2];
  const absl::string_view second = words.back();
  if (first.size() > 3 || second.size() > 3) return std::nullopt;
  return ParsePair(absl::StrCat(first, "-", second));
}

// Adds the languages that a model has on one side: the one that its files name or, for a model that
// has to be told, those that it knows. `has_tokens`: it has tokens for more than the one.
void AddLanguages(const std::string& only, const std::vector<std::string>& choice, bool has_tokens,
                  std::map<std::string, std::string>* languages) {
  const bool says_one = IsOneLanguage(only);
  for (const std::string& known : choice) {
    if ((says_one && !has_tokens) || !IsLanguageCode(known)) continue;
    if (const std::string code = ShortLanguageCode(known); !code.empty()) {
      languages->emplace(code, known);
    }
  }
  if (says_one) languages->emplace(ShortLanguageCode(only), "");
}

std::string NameOf(const std::string& path) {
  std::filesystem::path named(path);
  if (!named.has_filename()) named = named.parent_path();
  return path.empty() ? "en-de" : named.filename().string();
}

}  // namespace

absl::Status Catalog::Add(const std::string& model, bool is_pinned) {
  // "en-de=PATH" names the languages. A `=` behind anything else is a part of the path.
  std::string path = model;
  std::optional<LanguagePair> pair;
  if (const size_t equals = model.find('='); equals != std::string::npos) {
    pair = ParsePair(model.substr(0, equals));
    if (pair.has_value()) path = model.substr(equals + 1);
  }
  NIBU_ASSIGN_OR_RETURN(const ModelInfo info, nibu::Model::ReadInfo(path));
  auto served = std::make_shared<ServedModel>();
  served->name = NameOf(path);
  served->path = path;
  served->is_pinned = is_pinned;
  // The languages come from the argument, else from the model's files, else from its name.
  const bool is_named = pair.has_value();
  if (!is_named) pair = PairOfName(served->name);
  // A model with tokens for its targets that has the same family of languages on both sides reads
  // what it writes. If no file says the sides, its name may tell a source, as in "en-mul".
  const bool tells_source = pair.has_value() && IsOneLanguage(pair->first);
  const bool is_symmetric = info.source_language == info.target_language &&
                            !(info.source_language.empty() && tells_source);
  AddLanguages(info.source_language, is_symmetric ? info.target_languages : info.source_languages,
               /*has_tokens=*/false, &served->sources);
  AddLanguages(info.target_language, info.target_languages, info.source_languages.empty(),
               &served->targets);
  if (pair.has_value()) {
    for (const auto& [code, languages] :
         {std::pair(pair->first, &served->sources), {pair->second, &served->targets}}) {
      if (is_named || languages->empty()) *languages = {{code, (*languages)[code]}};
    }
  }
  if (served->sources.empty() || served->targets.empty()) {
    return Invalid(info.path,
                   ": its files do not say its languages; name them, as in --model=en-de=", path);
  }
  models_.push_back(std::move(served));
  return absl::OkStatus();
}

absl::Status Catalog::AddFolder(const std::string& folder, const std::vector<std::string>& pinned,
                                const Catalog* before, std::vector<std::string>* warnings) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    if (!absl::StartsWith(i->path().filename().string(), ".")) paths.push_back(i->path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  absl::c_sort(paths);
  for (const std::string& path : paths) {
    absl::Status status = Add(path, absl::c_linear_search(pinned, NameOf(path)));
    if (status.ok()) continue;
    if (before != nullptr && before->FindModel(path) != nullptr) return status;
    warnings->push_back(absl::StrCat("passed over: ", status.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Catalog>> Catalog::Read(const std::vector<std::string>& models,
                                                             const std::string& folder,
                                                             const std::vector<std::string>& pinned,
                                                             const Catalog* before,
                                                             std::vector<std::string>* warnings) {
  const auto catalog = std::make_shared<Catalog>();
  for (const std::string& model : models) NIBU_RETURN_IF_ERROR(catalog->Add(model, true));
  if (!folder.empty()) NIBU_RETURN_IF_ERROR(catalog->AddFolder(folder, pinned, before, warnings));
  if (catalog->models_.empty()) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     ": no model in it; tools/get_model.sh (installed as nibu-get-model) "
                     "fetches models"));
  }
  for (const std::string& name : pinned) {
    const auto has_name = [&](const auto& model) { return model->name == name; };
    if (!absl::c_any_of(catalog->models_, has_name)) {
      return absl::NotFoundError(absl::StrCat(folder, ": no model ", name, " in it to be pinned"));
    }
  }
  NIBU_RETURN_IF_ERROR(catalog->Finish());
  return catalog;
}

// Works out the languages, and for each the targets that one model or two in a row translate into.
absl::Status Catalog::Finish() {
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& model : models_) {
    for (const auto& [code, own] : model->targets) targets[code].insert(code);
    for (const auto& [code, own] : model->sources) {
      targets[code].insert(code);
      for (const auto& [target, name] : model->targets) targets[code].insert(target);
    }
  }
  std::vector<std::string> codes;
  for (const auto& [code, direct] : targets) {
    codes.push_back(code);
    ServedLanguage& language = languages_.emplace_back();
    language.code = code;
    language.name = LanguageName(code);
    for (const auto& [target, unused] : targets) {
      if (direct.count(target) > 0 || FindRoute(code, target).has_value()) {
        language.targets.push_back(target);
      }
    }
  }
  absl::c_stable_sort(languages_, [](const auto& a, const auto& b) { return a.name < b.name; });
  NIBU_ASSIGN_OR_RETURN(detector_, nibu::LanguageDetector::Create(codes));
  return absl::OkStatus();
}

std::shared_ptr<ServedModel> Catalog::FindModel(const std::string& path) const {
  const auto found = absl::c_find_if(models_, [&](const auto& each) { return each->path == path; });
  return found == models_.end() ? nullptr : *found;
}

const ServedLanguage* Catalog::FindLanguage(absl::string_view code) const {
  static constexpr std::pair<absl::string_view, absl::string_view> kAliases[] = {
      {"zh", "zh-Hans"}, {"zt", "zh-Hant"}, {"pb", "pt-BR"}};
  for (const auto& [alias, meant] : kAliases) {
    if (absl::EqualsIgnoreCase(code, alias)) code = meant;
  }
  const std::string short_code = ShortLanguageCode(code);
  const ServedLanguage* found = nullptr;
  for (const ServedLanguage& language : languages_) {
    if (absl::EqualsIgnoreCase(language.code, code)) return &language;
    if (!short_code.empty() && language.code == short_code) found = &language;
  }
  return found;
}

std::optional<Route> Catalog::FindRoute(const std::string& source,
                                        const std::string& target) const {
  std::vector<std::shared_ptr<ServedModel>> readers;
  std::vector<std::shared_ptr<ServedModel>> writers;
  for (const auto& model : models_) {
    const auto from = model->sources.find(source);
    const auto to = model->targets.find(target);
    if (from != model->sources.end() && to != model->targets.end() && source != target) {
      return Route{model, nullptr, from->second, to->second};
    }
    if (from != model->sources.end()) readers.push_back(model);
    if (to != model->targets.end()) writers.push_back(model);
  }
  // The language between two models is the one that a model without a choice has. If both have a
  // choice, it is English; see Model::Pivot.
  const auto joins = [](const ServedModel& first, const ServedModel& second, bool in_english) {
    const bool both_choose = first.targets.size() > 1 && second.sources.size() > 1;
    if (in_english || both_choose) {
      return first.targets.count(kEnglish) > 0 && second.sources.count(kEnglish) > 0;
    }
    return absl::c_any_of(first.targets,
                          [&](const auto& each) { return second.sources.count(each.first) > 0; });
  };
  for (const bool in_english : {true, false}) {
    for (const auto& first : readers) {
      for (const auto& second : writers) {
        if (first == second || source == target || !joins(*first, *second, in_english)) continue;
        return Route{first, second, first->sources.at(source), second->targets.at(target)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace nibu::internal

namespace nibu {

absl::StatusOr<ModelChoice> ChooseModel(absl::string_view source, absl::string_view target) try {
  std::string folder = internal::ModelsFolder();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) folder.clear();
  // A model that was fetched comes before the bundled one, which is the least of all.
  for (const bool bundled : {false, true}) {
    std::vector<std::string> models;
    if (bundled && !internal::BundledModelPath().empty()) models.emplace_back();
    if (models.empty() && folder.empty()) continue;
    std::vector<std::string> warnings;  // about files that are no models
    const auto catalog = internal::Catalog::Read(models, folder, {}, nullptr, &warnings);
    if (absl::IsNotFound(catalog.status())) continue;  // the folder is empty
    if (!catalog.ok()) return catalog.status();
    const auto* const from = (*catalog)->FindLanguage(source);
    const auto* const to = (*catalog)->FindLanguage(target);
    if (from == nullptr || to == nullptr) continue;
    const auto route = (*catalog)->FindRoute(from->code, to->code);
    if (!route.has_value()) continue;
    return ModelChoice{.path = route->first->path,
                       .pivot = route->second == nullptr ? "" : route->second->path,
                       .src_lang = route->src_lang,
                       .tgt_lang = route->tgt_lang};
  }
  for (const absl::string_view asked : {source, target}) {
    if (ShortLanguageCode(asked).empty()) return internal::Invalid("'", asked, "' is no language");
  }
  return absl::NotFoundError(
      absl::StrCat("no installed model translates from ", source, " into ", target,
                   "; nibu-get-model (tools/get_model.sh) fetches models, such as opus-mt-en-fr"));
} catch (...) {
  return internal::StatusOfException();
}

}  // namespace nibu
