// Finds the files of a Marian model, by decoder.yml or by their names, and reads them.
#include "models/formats/marian.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/model_defaults.h"
#include "models/containers/marian_bin.h"
#include "models/containers/npz.h"
#include "models/files/byte_reader.h"
#include "models/files/directory.h"
#include "models/files/foreign.h"
#include "models/files/gzip.h"
#include "models/files/json.h"
#include "models/files/yaml.h"
#include "models/files/zip.h"
#include "models/formats/marian_config.h"
#include "models/vocabulary/shortlist_file.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

constexpr char kConfigTensor[] = "special:model.yml";
constexpr absl::string_view kFactored = ".fsv";
constexpr size_t kFront = 200;  // bytes that tell a model or a shortlist apart from other files

// The files of a model, and the options of decoder.yml.
struct MarianFiles {
  std::string model;
  std::vector<std::string> vocabularies;  // source, target
  std::string shortlist;                  // empty: none
  LexicalLimits limits;
  ModelDefaults defaults;
  bool allow_unknown = false;
};

// The known options of a decoder.yml, separated by blanks.
constexpr char kOptions[] =
    "models vocabs shortlist beam-size normalize word-penalty max-length-factor allow-unk weights "
    // The following ones change how Marian runs, not its translations, and are ignored.
    "mini-batch mini-batch-words maxi-batch maxi-batch-sort workspace cpu-threads devices "
    "num-devices gemm-precision gemm-type optimize int8shift quiet quiet-translation log log-level "
    "skip-cost max-length max-length-crop max-length-break mini-batch-break-size ssplit-mode "
    "ssplit-prefix-file fp16 precision port seed version tsv tsv-fields cache-translations "
    "alignment n-best stat-freq relative-paths";

// Returns the path of a file that decoder.yml names; that of its compressed form if only that is
// there.
std::string Resolve(const std::string& directory, const std::string& name) {
  const std::string path = name[0] == '/' ? name : absl::StrCat(directory, "/", name);
  const std::string compressed = absl::StrCat(path, ".gz");
  std::error_code error;
  return !std::filesystem::exists(path, error) && std::filesystem::exists(compressed, error)
             ? compressed
             : path;
}

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

absl::StatusOr<MarianFiles> ReadDecoderYml(const ConfigFile& yml, const std::string& directory) {
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
  NIBU_ASSIGN_OR_RETURN(files.allow_unknown, yml.Bool("allow-unk", false));
  return files;
}

bool IsYaml(absl::string_view name) {
  return absl::EndsWith(name, ".yml") || absl::EndsWith(name, ".yaml");
}

// Returns true for a vocabulary of tokens and ids; others are SentencePiece models.
bool IsList(absl::string_view name) { return IsYaml(name) || absl::EndsWith(name, ".json"); }

// Finds the files in a directory without decoder.yml. `model`: the model's path; if it is empty,
// the model is looked for, too.
absl::StatusOr<MarianFiles> FindFiles(const std::string& directory, const std::string& model) {
  std::vector<std::string> models;
  std::vector<std::string> pieces;
  std::vector<std::string> lists;
  std::vector<std::string> shortlists;
  NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> all, FilesIn(directory));
  for (const std::string& path : all) {
    const absl::string_view name = WithoutGz(path);
    // gunzip --keep leaves both files; the plain one is read faster.
    if (name != path && absl::c_linear_search(all, name)) continue;
    if (absl::EndsWith(name, ".spm") || absl::EndsWith(name, kFactored)) {
      pieces.push_back(path);
    } else if (IsYaml(name)) {
      lists.push_back(path);
    } else if (absl::EndsWith(name, ".npz") || absl::EndsWith(name, ".bin")) {
      NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
      if (IsMarianModel(*file)) models.push_back(path);
      if (IsBinaryShortlist(FrontOf(file->bytes(), kFront))) shortlists.push_back(path);
    }
  }
  if (!model.empty()) models = {model};
  if (models.size() > 1) {
    return Invalid(directory, ": more than one model (*.npz, *.bin) in it; give one of them as ",
                   "the model, or put a decoder.yml there that names it");
  }
  const auto not_one = [&](absl::string_view found) {
    return Invalid(directory, ": ", found, " in it; put one there, or a decoder.yml that names it");
  };
  if (models.empty()) return not_one("no model (*.npz, *.bin)");
  MarianFiles files;
  files.model = models[0];
  files.vocabularies = pieces.empty() ? lists : pieces;
  std::vector<std::string>& vocabularies = files.vocabularies;
  if (vocabularies.size() == 1) vocabularies.push_back(vocabularies[0]);
  if (vocabularies.size() != 2) return not_one("no vocabulary (*.spm, *.yml)");
  const auto is_source = [](const std::string& path) {
    return NameBeginsWith(path, {"src", "source"});
  };
  if (is_source(vocabularies[1])) std::swap(vocabularies[0], vocabularies[1]);
  if (vocabularies[0] != vocabularies[1] && !is_source(vocabularies[0])) {
    return Invalid(directory,
                   ": which vocabulary is the source's? Name it source.spm, or add a decoder.yml");
  }
  if (shortlists.size() > 1) return not_one("more than one shortlist (*.bin)");
  if (!shortlists.empty()) files.shortlist = shortlists[0];
  return files;
}

absl::StatusOr<MarianFiles> Files(const std::string& path) {
  const bool is_directory = IsDirectory(path);
  const std::string directory = is_directory ? path : DirectoryOf(path);
  const std::string decoder = Resolve(directory, "decoder.yml");
  const auto file = OpenInflated(decoder);
  if (absl::IsNotFound(file.status())) return FindFiles(directory, is_directory ? "" : path);
  NIBU_RETURN_IF_ERROR(file.status());
  NIBU_ASSIGN_OR_RETURN(nlohmann::json json, ParseYaml((*file)->bytes(), decoder));
  NIBU_ASSIGN_OR_RETURN(const ConfigFile yml, ConfigFile::From(std::move(json), decoder));
  NIBU_ASSIGN_OR_RETURN(MarianFiles files, ReadDecoderYml(yml, directory));
  if (!is_directory) files.model = path;
  return files;
}

// Reads the tokens of a vocabulary of either form. The bytes of a SentencePiece model are copied to
// `pieces`.
absl::StatusOr<std::vector<std::string>> Tokens(const FileBytes& file, int size,
                                                std::string* pieces) {
  if (absl::EndsWith(WithoutGz(file.path()), kFactored)) {
    return NotSupported(file.path(),
                        ": a factored vocabulary, which nibu does not support; use a model whose ",
                        "vocabulary is a .spm or a .yml");
  }
  if (!IsList(WithoutGz(file.path()))) {
    NIBU_ASSIGN_OR_RETURN(auto tokens, ReadSentencePieces(file.bytes(), file.path()));
    if (tokens.size() != static_cast<size_t>(size)) {
      return WrongVocabularySize(file.path(), tokens.size(), size, "the model");
    }
    *pieces = std::string(file.bytes());
    return tokens;
  }
  NIBU_ASSIGN_OR_RETURN(const nlohmann::json json, ParseYaml(file.bytes(), file.path()));
  return TokensById(json, file.path(), size, "the model");
}

absl::StatusOr<ModelVocabulary> ReadVocabularies(const MarianFiles& files, ModelConfig* model) {
  ModelVocabulary vocabulary;
  NIBU_ASSIGN_OR_RETURN(const auto source, OpenInflated(files.vocabularies[0]));
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_tokens,
                        Tokens(*source, model->vocab_source, &vocabulary.source_sentencepiece));
  NIBU_ASSIGN_OR_RETURN(const auto target, OpenInflated(files.vocabularies[1]));
  NIBU_ASSIGN_OR_RETURN(vocabulary.target_tokens,
                        Tokens(*target, model->vocab_target, &vocabulary.target_sentencepiece));
  // Beside lists of tokens, there may be SentencePiece models that split the text.
  if (IsList(WithoutGz(source->path())) && IsList(WithoutGz(target->path()))) {
    NIBU_RETURN_IF_ERROR(
        TakeSentencePieces(DirectoryOf(source->path()), "source.spm", "target.spm", &vocabulary)
            .status());
  }
  NIBU_ASSIGN_OR_RETURN(const int suffix,
                        FindToken(vocabulary.source_tokens, "</s>", source->path()));
  model->source_suffix = {suffix};
  NIBU_ASSIGN_OR_RETURN(model->unk, FindToken(vocabulary.source_tokens, "<unk>", source->path()));
  NIBU_ASSIGN_OR_RETURN(model->eos, FindToken(vocabulary.target_tokens, "</s>", target->path()));
  NIBU_ASSIGN_OR_RETURN(model->unk_target,
                        FindToken(vocabulary.target_tokens, "<unk>", target->path()));
  if (!files.allow_unknown) model->suppressed = {model->unk_target};
  return vocabulary;
}

// Attaches the multipliers W_QuantMultA to their matrices W. `output` is the output layer's matrix.
absl::Status AttachMultipliers(const std::string& output, TensorSource* source) {
  constexpr absl::string_view kSuffix = "_QuantMultA";
  for (const std::string& name : source->Names()) {
    if (!absl::EndsWith(name, kSuffix)) continue;
    std::string matrix = name.substr(0, name.size() - kSuffix.size());
    source->Ignore(name);
    // The embedding's own multiplier has no meaning, by an accident of Marian's converter.
    if (absl::EndsWith(matrix, "Wemb")) continue;
    if (matrix == "none") matrix = output;
    NIBU_ASSIGN_OR_RETURN(const TensorView view, source->Get(name, {1, 1}, {DType::kFloat32}));
    const float scale =
        ByteReader({static_cast<const char*>(view.data), sizeof(float)}).Read<float>();
    if (!(scale > 0.0f && scale < 1e30f)) {
      return Invalid(source->description(), ": tensor \"", name, "\" is no multiplier: ", scale);
    }
    if (StoredTensor* tensor = source->Mutable(matrix); tensor != nullptr) {
      tensor->activation_scale = scale;
    }
  }
  return absl::OkStatus();
}

// Reads the configuration, a text in a tensor, which NULs may follow.
absl::StatusOr<ConfigFile> ModelYml(const TensorSource& source) {
  const StoredTensor* tensor = source.Find(kConfigTensor);
  if (tensor == nullptr || DTypeSize(tensor->view.dtype) != 1) {
    return Invalid(source.description(), ": no \"", kConfigTensor, "\" in it; ",
                   "it is not a model of a version of Marian that nibu can read");
  }
  absl::string_view text(static_cast<const char*>(tensor->view.data), tensor->view.bytes());
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  const std::string name = absl::StrCat(source.description(), ": ", kConfigTensor);
  NIBU_ASSIGN_OR_RETURN(nlohmann::json json, ParseYaml(text, name));
  return ConfigFile::From(std::move(json), name);
}

}  // namespace

bool IsMarianModel(const FileBytes& file) {
  const std::string front = FrontOf(file.bytes(), kFront);
  if (IsMarianBin(front)) return true;
  if (!ZipArchive::IsZip(front)) return false;
  return absl::EndsWith(WithoutGz(file.path()), ".npz") || absl::StrContains(front, ".npy");
}

bool IsMarianDirectory(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& path) {
    const auto file = FileBytes::Open(path);
    return absl::EndsWith(WithoutGz(path), "/decoder.yml") || (file.ok() && IsMarianModel(**file));
  });
}

absl::StatusOr<OpenedModel> OpenMarian(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const MarianFiles files, Files(path));
  NIBU_ASSIGN_OR_RETURN(auto file, FileBytes::Open(files.model));
  if (!IsMarianModel(*file)) NIBU_RETURN_IF_ERROR(RefuseForeignFile(file->path(), file->bytes()));
  NIBU_ASSIGN_OR_RETURN(file, OpenInflated(files.model));
  const bool binary = IsMarianBin(file->bytes());
  OpenedModel opened;
  TensorSource& source = *opened.source;
  NIBU_ASSIGN_OR_RETURN(source, binary ? ReadMarianBin(std::move(file)) : ReadNpz(std::move(file)));
  NIBU_ASSIGN_OR_RETURN(const ConfigFile yml, ModelYml(source));
  NIBU_ASSIGN_OR_RETURN(MarianConfig config, ReadMarianConfig(yml));

  opened.format = binary ? "Marian binary" : "Marian npz";
  opened.config_file = yml.file();
  opened.defaults = files.defaults;
  NIBU_ASSIGN_OR_RETURN(opened.vocabulary, ReadVocabularies(files, &config.model));
  opened.names = MarianNames(config, source);
  NIBU_RETURN_IF_ERROR(AttachMultipliers(opened.names.Tensor("output"), &source));
  if (!files.shortlist.empty()) {
    NIBU_ASSIGN_OR_RETURN(const auto shortlist, FileBytes::Open(files.shortlist));
    NIBU_ASSIGN_OR_RETURN(opened.shortlist,
                          ReadShortlist(*shortlist, opened.vocabulary, files.limits));
  }
  opened.config = std::move(config.model);
  return opened;
}

}  // namespace nibu::internal
