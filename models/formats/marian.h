// Reads Marian models as they are published: a directory, or its model file, with
//
//   *.npz or *.bin    the weights and, as "special:model.yml", their configuration
//                     (marian_config.h)
//   *.spm or *.yml    the vocabularies: SentencePiece models, whose ids are the model's, or
//                     "token: id" lines, beside which source.spm and target.spm split the text
//   decoder.yml       optional: models, vocabs, shortlist, and options that become defaults
//   *.bin             optional: a binary shortlist; without decoder.yml it is found by its content
//
// The model, its vocabularies, decoder.yml and the shortlist may be compressed by gzip, with the
// ending .gz, as in Firefox's registry.
//
// Without decoder.yml, a single vocabulary file serves both sides; if there are two, the one whose
// name begins with "src" or "source" is the source's.
#ifndef NIBU_MODELS_FORMATS_MARIAN_H_
#define NIBU_MODELS_FORMATS_MARIAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Returns true if `file` is a Marian model, perhaps compressed, by its content.
bool IsMarianModel(const FileBytes& file);

// Returns true if one of the files of a directory is a decoder.yml or a Marian model.
bool IsMarianDirectory(const std::vector<std::string>& files);

// `path`: the directory, or a model file in it. InvalidArgument, NotFound or Unimplemented naming
// the file: it is damaged, missing or not supported.
absl::StatusOr<OpenedModel> OpenMarian(const std::string& path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MARIAN_H_
