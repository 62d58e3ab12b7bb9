// Reads Argos Translate packages. They are folders, as LibreTranslate keeps them on disk, or the
// zip files that are published (.argosmodel), which have such a folder in them:
//
//   metadata.json         "type" (absent: "translate"), "from_code", "to_code"; "target_prefix", a
//                         token that each translation begins with, which is no part of its text
//   model/                a CTranslate2 directory (ctranslate2.h)
//   sentencepiece.model   for both sides, even if the target's pieces are another model's
//   bpe.model             in its place: the merges of subword-nmt, for text that Moses' tokenizer
//   has
//                         split
//
// Argos searches with a beam of 4 and a length penalty of 0.2.
// https://github.com/argosopentech/argos-translate/blob/master/argostranslate/package.py
#ifndef NIBU_MODELS_FORMATS_ARGOS_H_
#define NIBU_MODELS_FORMATS_ARGOS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"
#include "models/files/folder.h"

namespace nibu::internal {

// Returns true if a directory has metadata.json and model/.
bool IsArgos(const std::string& directory);

// Returns the folder of the package in a zip file; nothing if there is none. InvalidArgument or
// Unimplemented naming the file: it is called .argosmodel, but is no zip archive that can be read;
// or there are several packages in it.
absl::StatusOr<std::optional<Folder>> FindZippedArgos(const std::shared_ptr<const FileBytes>& file);

// Opens a package. Unimplemented: it has another type than "translate". InvalidArgument: its
// target_prefix is not among its tokens. Other errors are those of OpenCTranslate2().
absl::StatusOr<OpenedModel> OpenArgos(const Folder& folder);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_ARGOS_H_
