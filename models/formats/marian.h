// Reader of Marian models as they are published: a directory, or its model file, with
//
//   *.npz or *.bin    the weights and, as "special:model.yml", their configuration
//   (marian_config.h)
//   *.spm or *.yml    the vocabularies: SentencePiece models, whose ids are the model's, or
//                     "token: id" lines (source.spm and target.spm beside them then cut the text)
//   decoder.yml       optional: models, vocabs, shortlist, and options that become defaults
//   a binary shortlist, without decoder.yml found by its content
//
// Each of these files but decoder.yml may be compressed by gzip, with the ending .gz, as Firefox's
// registry has them.
//
// Without decoder.yml one vocabulary file serves both sides; of two, the one whose name begins with
// "src" or "source" is the source's.
#ifndef NIBU_MODELS_FORMATS_MARIAN_H_
#define NIBU_MODELS_FORMATS_MARIAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Returns whether `file` is a Marian model, perhaps compressed, by its content.
bool IsMarianModel(const FileBytes& file);

// Whether a directory with these files holds a decoder.yml or a Marian model.
bool IsMarianDirectory(const std::vector<std::string>& files);

// `path`: the directory, or a model file in it.
absl::StatusOr<OpenedModel> OpenMarian(const std::string& path);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MARIAN_H_
