// Finds the files of a Marian model: by a configuration of Marian's decoder, which is a .yml with
// "models" and "vocabs", or by their names and contents.
#ifndef NIBU_MODELS_FORMATS_MARIAN_FILES_H_
#define NIBU_MODELS_FORMATS_MARIAN_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"
#include "models/vocabulary/shortlist_file.h"

namespace nibu::internal {

// The files of a model, and the options of its decoder's configuration.
struct MarianFiles {
  std::string model;
  std::vector<std::string> vocabularies;  // source, target
  std::string shortlist;                  // empty: none
  LexicalLimits limits;
  ModelDefaults defaults;
  bool allow_unknown = false;
};

// The endings of factored vocabularies and of SentencePiece models.
inline constexpr absl::string_view kMarianFactored = ".fsv";
inline constexpr absl::string_view kMarianPieces = ".spm";

// Returns true for the path of a vocabulary that is YAML or JSON, perhaps compressed.
bool IsMarianYaml(absl::string_view path);

// Returns true if `file` is a Marian model, perhaps compressed, by its content.
bool IsMarianModel(const FileBytes& file);

// Returns true if `file` is a configuration of Marian's decoder, perhaps compressed: a .yml in
// which lists of models and vocabularies stand. It need not be sound.
bool IsMarianDecoderYml(const FileBytes& file);

// `path`: a directory, a model, or a configuration. In a directory, decoder.yml counts, else the
// only other configuration. Beside a model, one counts that names this model or that is called
// MODEL.decoder.yml, as Marian's training writes it; of several, decoder.yml, then the latter.
// InvalidArgument, NotFound or Unimplemented naming the file or the option: it is damaged, missing
// or not supported; or several could be meant.
absl::StatusOr<MarianFiles> FindMarianFiles(const std::string& path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MARIAN_FILES_H_
