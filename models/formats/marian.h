// Reads Marian models as they are published or trained: a directory, or one of the first two files
//
//   *.npz or *.bin    the weights and, as "special:model.yml", their configuration
//                     (marian_config.h)
//   *.yml             optional: a configuration of Marian's decoder, as its option -c takes it:
//                     models, vocabs, shortlist, and options that become defaults. It is
//                     decoder.yml, MODEL.decoder.yml as training writes it, or has another name
//                     (marian_files.h)
//   *.spm             the vocabularies: SentencePiece models, whose ids are the model's; or
//   *.yml, *.json     "token: id" lines; or
//   any other name    a token a line, in the order of the ids
//   source.spm and target.spm, or source.bpe and target.bpe
//                     optional: they split the text if the vocabularies are lists of tokens; .bpe
//                     is subword-nmt's
//   *.bin             optional: a binary shortlist; without a configuration it is found by its
//   content
//
// All but source.* and target.* may be compressed by gzip, with the ending .gz, as in Firefox's
// registry.
//
// Without a configuration, a single vocabulary file serves both sides; if there are two, the one
// whose name begins with "src" or "source" is the source's.
#ifndef NIBU_MODELS_FORMATS_MARIAN_H_
#define NIBU_MODELS_FORMATS_MARIAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/formats/marian_files.h"

namespace nibu::internal {

// Returns true if one of the files of a directory is a Marian model, or a configuration of its
// decoder.
bool IsMarianDirectory(const std::vector<std::string>& files);

// `path`: the directory, a model, or a configuration. InvalidArgument, NotFound or Unimplemented
// naming the file: it is damaged, missing or not supported.
absl::StatusOr<OpenedModel> OpenMarian(const std::string& path);
// Opens the model of these files. Their names need not say which model they belong to.
absl::StatusOr<OpenedModel> OpenMarian(const MarianFiles& files);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_MARIAN_H_
