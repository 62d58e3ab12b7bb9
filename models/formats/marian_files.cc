// Reads the configurations of Marian's decoder, and tells files apart by their contents.
#include "models/formats/marian_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/model_defaults.h"
#include "models/containers/marian_bin.h"
#include "models/files/directory.h"
#include "models/files/gzip.h"
#include "models/files/json.h"
#include "models/files/yaml.h"
#include "models/files/zip.h"

namespace nibu::internal {
namespace {

constexpr size_t kFront = 200;  // bytes that tell a model or a shortlist apart from other files
constexpr char kDecoderYml[] = "decoder.yml";

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string NameOf(absl::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
}

// Returns the path of a file that a configuration names, or that of its compressed form. Marian
// takes names as relative to the working directory of the process, and with "relative-paths" to the
// configuration's. Training writes names as they were on its command line, so that in a folder that
// has been moved only the last part of a name is right.
std::string Resolve(const std::string& directory, const std::string& name) {
  std::string first = name[0] == '/' ? name : absl::StrCat(directory, "/", name);
  for (const std::string& path : {first, name, absl::StrCat(directory, "/", NameOf(name))}) {
    for (const char* ending : {"", ".gz"}) {
      if (Exists(path + ending)) return path + ending;
    }
  }
  return first;
}

// The known options of a decoder.yml, separated by blanks.
constexpr char kOptions[] =
    "models vocabs shortlist beam-size normalize word-penalty max-length-factor allow-unk weights "
    // The following ones change how Marian runs, not its translations, and are ignored.
    "mini-batch mini-batch-words maxi-batch maxi-batch-sort workspace cpu-threads devices "
    "num-devices gemm-precision gemm-type optimize int8shift quiet quiet-translation log log-level "
    "skip-cost max-length max-length-crop max-length-break mini-batch-break-size ssplit-mode "
    "ssplit-prefix-file fp16 precision port seed version tsv tsv-fields cache-translations "
    "alignment n-best stat-freq relative-paths input output";

// Reads a list of `count` file names.
absl::Status ReadPaths(const ConfigFile& yml, const std::string& key, size_t count,
                       const std::string& directory, std::vector<std::string>* paths) {
  const nlohmann::json* list = yml.Find(key);
  if (list == nullptr || !list->is_array() || list->size() != count) {
    return yml.Wrong(key, absl::StrCat("a list of ", count, count == 1 ? " file" : " files"));
  }
  for (const nlohmann::json& item : *list) {
    if (!item.is_string() || item.get_ref<const std::string&>().empty()) {
      return yml.Wrong(key, "a list of file names");
    }
    paths->push_back(Resolve(directory, item.get<std::string>()));
  }
  return absl::OkStatus();
}

absl::StatusOr<float> Number(const ConfigFile& yml, const std::string& key, float absent) {
  const nlohmann::json* value = yml.Find(key);
  if (value == nullptr) return absent;
  if (value->is_boolean()) return value->get<bool>() ? 1.0f : 0.0f;  // "normalize: true"
  if (!value->is_number()) return yml.Wrong(key, "a number");
  return value->get<float>();
}

// Reads the option shortlist: [path, first, best, threshold] for a text file, [path, flag] for a
// binary one. The flag tells Marian to check the file, which nibu always does.
absl::Status ReadShortlistOption(const ConfigFile& yml, const std::string& directory,
                                 MarianFiles* files) {
  const char* key = "shortlist";
  const nlohmann::json* list = yml.Find(key);
  if (list == nullptr || (list->is_array() && list->empty())) return absl::OkStatus();
  if (!list->is_array() || list->size() > 4 || !(*list)[0].is_string() ||
      (*list)[0].get_ref<const std::string&>().empty()) {
    return yml.Wrong(key, "a list: file name, first, best, threshold");
  }
  files->shortlist = Resolve(directory, (*list)[0].get<std::string>());
  for (size_t i = 1; i < list->size(); ++i) {
    const nlohmann::json& item = (*list)[i];
    if (item.is_boolean()) continue;
    if (!item.is_number() || item < 0 || item > 1'000'000) {
      return yml.Wrong(key, "a list: file name, first, best, threshold");
    }
    if (i == 1) files->limits.first = item.get<int>();
    if (i == 2) files->limits.best = item.get<int>();
    if (i == 3) files->limits.threshold = item.get<float>();
  }
  return absl::OkStatus();
}

absl::StatusOr<MarianFiles> ReadDecoderYml(const ConfigFile& yml) {
  const std::string directory = DirectoryOf(yml.file());
  const std::vector<absl::string_view> known = absl::StrSplit(kOptions, ' ');
  for (const auto& [key, value] : yml.object().items()) {
    if (!absl::c_linear_search(known, key)) {
      return NotSupported(yml.file(), ": option \"", key,
                          "\" is not supported; remove it from the file");
    }
  }
  MarianFiles files;
  std::vector<std::string> models;
  NIBU_RETURN_IF_ERROR(ReadPaths(yml, "models", 1, directory, &models));
  files.model = models[0];
  NIBU_RETURN_IF_ERROR(ReadPaths(yml, "vocabs", 2, directory, &files.vocabularies));
  NIBU_RETURN_IF_ERROR(ReadShortlistOption(yml, directory, &files));
  NIBU_ASSIGN_OR_RETURN(files.defaults, ReadModelDefaults(yml, "beam-size"));
  NIBU_ASSIGN_OR_RETURN(files.defaults.length_penalty, Number(yml, "normalize", 0));
  NIBU_ASSIGN_OR_RETURN(const float factor, Number(yml, "max-length-factor", 0));
  if (!(factor >= 0)) return yml.Wrong("max-length-factor", "at least 0");
  if (factor > 0) files.defaults.max_length_factor = factor;
  NIBU_ASSIGN_OR_RETURN(files.defaults.word_penalty, Number(yml, "word-penalty", 0));
  for (const char* name : {"normalize", "max-length-factor", "word-penalty"}) {
    AddSource(yml, name, &files.defaults);
  }
  NIBU_ASSIGN_OR_RETURN(files.allow_unknown, yml.Bool("allow-unk", false));
  return files;
}

bool IsYaml(absl::string_view name) {
  return absl::EndsWith(name, ".yml") || absl::EndsWith(name, ".yaml");
}

absl::StatusOr<ConfigFile> OpenYaml(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const auto file, OpenInflated(path));
  NIBU_ASSIGN_OR_RETURN(nlohmann::json json, ParseYaml(file->bytes(), path));
  return ConfigFile::From(std::move(json), path);
}

// Returns true for a .yml of tokens and their ids. Training leaves others beside a model: its own
// options (model.npz.yml) and its state (model.npz.progress.yml).
bool IsYamlVocabulary(const std::string& path) {
  const absl::StatusOr<ConfigFile> yml = OpenYaml(path);
  return yml.ok() && !yml->object().empty() &&
         absl::c_all_of(yml->object(), [](const auto& id) { return id.is_number_integer(); });
}

// Returns true for a list of tokens, one a line, by its first bytes: the tokens that Marian needs
// come first in such a file.
bool IsTextVocabulary(const FileBytes& file) {
  bool has_eos = false;
  bool has_unk = false;
  for (absl::string_view line : absl::StrSplit(FrontOf(file.bytes(), kFront), '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    has_eos |= line == "</s>";
    has_unk |= line == "<unk>";
  }
  return has_eos && has_unk;
}

// Files of a directory, by what they hold.
struct Found {
  std::vector<std::string> models;
  std::vector<std::string> configs;     // with decoder.yml first
  std::vector<std::string> pieces;      // SentencePiece models
  std::vector<std::string> yamls;       // vocabularies, and perhaps other files
  std::vector<std::string> texts;       // vocabularies
  std::vector<std::string> shortlists;  // binary
};

absl::StatusOr<Found> LookInto(const std::string& directory) {
  Found found;
  NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> all, FilesIn(directory));
  for (const std::string& path : all) {
    const absl::string_view name = WithoutGz(path);
    // gunzip --keep leaves both files; the plain one is read faster.
    if (name != path && absl::c_linear_search(all, name)) continue;
    if (NameOf(name) == kDecoderYml) {
      found.configs.insert(found.configs.begin(), path);
      continue;
    }
    if (absl::EndsWith(name, kMarianPieces) || absl::EndsWith(name, kMarianFactored)) {
      found.pieces.push_back(path);
      continue;
    }
    const bool may_be_model = absl::EndsWith(name, ".npz") || absl::EndsWith(name, ".bin");
    const auto file = FileBytes::Open(path);
    if (!file.ok()) {
      if (may_be_model || (IsYaml(name) && absl::IsDataLoss(file.status()))) return file.status();
    } else if (IsYaml(name)) {
      (IsMarianDecoderYml(**file) ? found.configs : found.yamls).push_back(path);
    } else if (may_be_model) {
      if (IsMarianModel(**file)) found.models.push_back(path);
      if (IsBinaryShortlist(FrontOf((*file)->bytes(), kFront))) found.shortlists.push_back(path);
    } else if (IsTextVocabulary(**file)) {
      found.texts.push_back(path);
    }
  }
  return found;
}

// Puts the files of a directory without a configuration together.
absl::StatusOr<MarianFiles> Assemble(const std::string& directory, Found found) {
  if (found.models.size() > 1) {
    return Invalid(directory, ": more than one model (*.npz, *.bin) in it; give one of them as ",
                   "the model, or put a decoder.yml there that names it");
  }
  const auto not_one = [&](absl::string_view what) {
    return Invalid(directory, ": ", what, " in it; put one there, or a decoder.yml that names it");
  };
  if (found.models.empty()) return not_one("no model (*.npz, *.bin)");
  MarianFiles files;
  files.model = found.models[0];
  if (found.yamls.size() > 1) {
    std::erase_if(found.yamls, [](const std::string& path) { return !IsYamlVocabulary(path); });
  }
  std::vector<std::string>& vocabularies = files.vocabularies;
  for (auto* kind : {&found.pieces, &found.yamls, &found.texts}) {
    if (vocabularies.empty()) vocabularies = std::move(*kind);
  }
  if (vocabularies.size() == 1) vocabularies.push_back(vocabularies[0]);
  if (vocabularies.empty()) return not_one("no vocabulary (*.spm, *.yml, or a text of tokens)");
  if (vocabularies.size() > 2) return not_one("more than two vocabularies");
  const auto is_source = [](const std::string& path) {
    return NameBeginsWith(path, {"src", "source"});
  };
  if (is_source(vocabularies[1])) std::swap(vocabularies[0], vocabularies[1]);
  if (vocabularies[0] != vocabularies[1] && !is_source(vocabularies[0])) {
    return Invalid(directory,
                   ": which vocabulary is the source's? Name it source.spm, or add a decoder.yml");
  }
  if (found.shortlists.size() > 1) return not_one("more than one shortlist (*.bin)");
  if (!found.shortlists.empty()) files.shortlist = found.shortlists[0];
  return files;
}

absl::Status WhichConfig(const std::string& directory, const std::vector<std::string>& configs) {
  const auto add_name = [](std::string* text, const std::string& path) {
    absl::StrAppend(text, NameOf(path));
  };
  return Invalid(directory, ": which of its configurations counts? Give one of them as the model: ",
                 absl::StrJoin(configs, ", ", add_name));
}

// Returns true if a configuration names `model`, by the last part of the name.
bool Names(const ConfigFile& yml, absl::string_view model) {
  const nlohmann::json* models = yml.Find("models");
  return models != nullptr && models->is_array() && models->size() == 1 &&
         (*models)[0].is_string() &&
         WithoutGz(NameOf((*models)[0].get<std::string>())) == WithoutGz(NameOf(model));
}

// Returns the path of the configuration that counts for a model; empty if there is none.
absl::StatusOr<std::string> ConfigOf(const std::string& model,
                                     const std::vector<std::string>& configs) {
  std::string of_directory;
  std::string own;
  std::vector<std::string> others;
  for (const std::string& path : configs) {
    const std::string name = NameOf(WithoutGz(path));
    if (name == absl::StrCat(NameOf(WithoutGz(model)), ".", kDecoderYml)) {
      own = path;
      continue;
    }
    NIBU_ASSIGN_OR_RETURN(const ConfigFile yml, OpenYaml(path));
    if (name == kDecoderYml) {
      if (Names(yml, model)) return path;
      of_directory = path;
    } else if (Names(yml, model)) {
      others.push_back(path);
    }
  }
  if (!own.empty()) return own;
  if (others.size() > 1) return WhichConfig(DirectoryOf(model), others);
  return others.empty() ? of_directory : others[0];
}

}  // namespace

bool IsMarianYaml(absl::string_view path) {
  const absl::string_view name = WithoutGz(path);
  return IsYaml(name) || absl::EndsWith(name, ".json");
}

bool IsMarianModel(const FileBytes& file) {
  const std::string front = FrontOf(file.bytes(), kFront);
  if (IsMarianBin(front)) return true;
  if (!ZipArchive::IsZip(front)) return false;
  return absl::EndsWith(WithoutGz(file.path()), ".npz") || absl::StrContains(front, ".npy");
}

bool IsMarianDecoderYml(const FileBytes& file) {
  if (!IsYaml(WithoutGz(file.path()))) return false;
  constexpr size_t kMost = 1 << 16;  // configurations are shorter, and vocabularies mostly longer
  const std::string front = FrontOf(file.bytes(), kMost + 1);
  if (front.size() > kMost || !absl::StrContains(front, "models") ||
      !absl::StrContains(front, "vocabs")) {
    return false;
  }
  const auto yml = ParseYaml(front, file.path());
  if (!yml.ok() || !yml->is_object()) return false;
  // A token "models" of a vocabulary has its id there. Other forms are refused when it is read.
  const auto names = [&](const char* key) {
    const auto value = yml->find(key);
    return value != yml->end() && !value->is_number();
  };
  return names("models") && names("vocabs");
}

absl::StatusOr<MarianFiles> FindMarianFiles(const std::string& path) {
  const bool is_directory = IsDirectory(path);
  const std::string directory = is_directory ? path : DirectoryOf(path);
  std::string config;
  if (!is_directory) {
    NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
    if (IsMarianDecoderYml(*file)) config = path;
  }
  const bool is_model = !is_directory && config.empty();
  if (config.empty()) {
    NIBU_ASSIGN_OR_RETURN(Found found, LookInto(directory));
    const std::vector<std::string>& configs = found.configs;
    if (is_model) {
      NIBU_ASSIGN_OR_RETURN(config, ConfigOf(path, configs));
      found.models = {path};
    } else if (!configs.empty()) {
      const bool has_decoder_yml = NameOf(WithoutGz(configs[0])) == kDecoderYml;
      if (!has_decoder_yml && configs.size() > 1) return WhichConfig(directory, configs);
      config = configs[0];
    }
    if (config.empty()) return Assemble(directory, std::move(found));
  }
  NIBU_ASSIGN_OR_RETURN(const ConfigFile yml, OpenYaml(config));
  NIBU_ASSIGN_OR_RETURN(MarianFiles files, ReadDecoderYml(yml));
  if (is_model) files.model = path;
  return files;
}

}  // namespace nibu::internal
