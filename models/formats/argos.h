// Reader of unpacked Argos Translate packages, as LibreTranslate keeps them on disk:
//
//   metadata.json         "type" (absent: "translate"), "from_code", "to_code", "target_prefix"
//   model/                a CTranslate2 directory (ctranslate2.h)
//   sentencepiece.model   of both sides, even where the target's pieces are another model's
//   bpe.model             or this one in its place, of subword-nmt behind Moses: refused
//
// Argos searches with a beam of 4 and a length penalty of 0.2.
// https://github.com/argosopentech/argos-translate/blob/master/argostranslate/package.py
#ifndef NIBU_MODELS_FORMATS_ARGOS_H_
#define NIBU_MODELS_FORMATS_ARGOS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/assembly/opened_model.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Whether a directory has metadata.json and model/.
bool IsArgos(const std::string& directory);

// InvalidArgument, with the command that unpacks it, for a package that is still one zip file.
absl::Status RefuseZippedArgos(const std::shared_ptr<const FileBytes>& file);

// Unimplemented: bpe.model, a target_prefix, another type.
absl::StatusOr<OpenedModel> OpenArgos(const std::string& directory);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_ARGOS_H_
