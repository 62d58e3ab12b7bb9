// Reads the files of a Marian model.
#include "models/formats/marian.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/containers/marian_bin.h"
#include "models/containers/npz.h"
#include "models/files/byte_reader.h"
#include "models/files/directory.h"
#include "models/files/foreign.h"
#include "models/files/gzip.h"
#include "models/files/json.h"
#include "models/files/yaml.h"
#include "models/formats/marian_config.h"
#include "models/formats/marian_files.h"
#include "models/vocabulary/shortlist_file.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

constexpr char kConfigTensor[] = "special:model.yml";

// Reads the tokens of a vocabulary of any form, which its name tells as in Marian, except that a
// SentencePiece model may have any name: it begins with a line feed, and a list of tokens does not.
// Its bytes are copied to `pieces`. Marian leaves out the tokens of a list whose ids are beyond the
// model's rows ("dim-vocabs" cuts a vocabulary at training).
absl::StatusOr<std::vector<std::string>> Tokens(const FileBytes& file, int size,
                                                std::string* pieces) {
  const absl::string_view name = WithoutGz(file.path());
  const auto rows = static_cast<size_t>(size);
  if (absl::EndsWith(name, kMarianFactored)) {
    return NotSupported(file.path(),
                        ": a factored vocabulary, which nibu does not support; use a model whose ",
                        "vocabulary is a .spm or a .yml");
  }
  if (absl::EndsWith(name, kMarianPieces) || absl::StartsWith(file.bytes(), "\n")) {
    NIBU_ASSIGN_OR_RETURN(auto tokens, ReadSentencePieces(file.bytes(), file.path()));
    if (tokens.size() != rows) {
      return WrongVocabularySize(file.path(), tokens.size(), size, "the model");
    }
    *pieces = std::string(file.bytes());
    return tokens;
  }
  if (!IsMarianYaml(name)) {
    NIBU_ASSIGN_OR_RETURN(auto tokens, ReadTokenLines(file.bytes(), file.path()));
    if (tokens.size() < rows) {
      return WrongVocabularySize(file.path(), tokens.size(), size, "the model");
    }
    tokens.resize(rows);
    return tokens;
  }
  NIBU_ASSIGN_OR_RETURN(nlohmann::json json, ParseYaml(file.bytes(), file.path()));
  const bool is_longer = json.size() > rows;
  for (auto it = json.begin(); is_longer && it != json.end();) {
    it = it->is_number_integer() && *it >= size ? json.erase(it) : std::next(it);
  }
  NIBU_ASSIGN_OR_RETURN(auto tokens, TokensById(json, file.path(), size, "the model"));
  // Marian takes Nematus's names of the two special tokens at their usual ids.
  if (rows > 0 && tokens[0] == "eos") tokens[0] = "</s>";
  if (rows > 1 && tokens[1] == "UNK") tokens[1] = "<unk>";
  return tokens;
}

absl::StatusOr<ModelVocabulary> ReadVocabularies(const MarianFiles& files, ModelConfig* model) {
  ModelVocabulary vocabulary;
  NIBU_ASSIGN_OR_RETURN(const auto source, OpenInflated(files.vocabularies[0]));
  NIBU_ASSIGN_OR_RETURN(vocabulary.source_tokens,
                        Tokens(*source, model->vocab_source, &vocabulary.source_sentencepiece));
  NIBU_ASSIGN_OR_RETURN(const auto target, OpenInflated(files.vocabularies[1]));
  NIBU_ASSIGN_OR_RETURN(vocabulary.target_tokens,
                        Tokens(*target, model->vocab_target, &vocabulary.target_sentencepiece));
  // Beside lists of tokens, there may be models of OPUS-MT that split the text: of SentencePiece,
  // or the merges of subword-nmt.
  if (vocabulary.source_sentencepiece.empty() && vocabulary.target_sentencepiece.empty()) {
    const std::string directory = DirectoryOf(source->path());
    NIBU_ASSIGN_OR_RETURN(const bool found,
                          TakeSentencePieces(directory, "source.spm", "target.spm", &vocabulary));
    if (!found) {
      NIBU_RETURN_IF_ERROR(
          TakeSentencePieces(directory, "source.bpe", "target.bpe", &vocabulary).status());
    }
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

bool IsMarianDirectory(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& path) {
    const auto file = FileBytes::Open(path);
    return absl::EndsWith(WithoutGz(path), "/decoder.yml") ||
           (file.ok() && (IsMarianModel(**file) || IsMarianDecoderYml(**file)));
  });
}

absl::StatusOr<OpenedModel> OpenMarian(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const MarianFiles files, FindMarianFiles(path));
  return OpenMarian(files);
}

absl::StatusOr<OpenedModel> OpenMarian(const MarianFiles& files) {
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
