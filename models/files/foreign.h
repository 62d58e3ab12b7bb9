// Recognizes files that people try as models and that nibu does not read, by their first bytes or
// their names. The errors say what the files are and what to do.
//
// Sources: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md (pointers);
// https://www.gnu.org/software/tar/manual/html_node/Standard.html ("ustar" at byte 257);
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; the names that Hugging Face
// transformers, PEFT, Optimum and OpenNMT-tf give to what they save.
#ifndef NIBU_MODELS_FILES_FOREIGN_H_
#define NIBU_MODELS_FILES_FOREIGN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "models/files/json.h"

namespace nibu::internal {

// The end of an error about a zip archive that is no file of weights.
inline constexpr char kUnpackZip[] =
    "; if a model is packed in it, unpack it and give its folder as the model";

// Returns true for a Git LFS pointer, which stands for a file that was not fetched.
bool IsGitLfsPointer(absl::string_view bytes);
// DataLoss, with the command that fetches the file.
absl::Status GitLfsPointerError(const std::string& path);

// Returns an error for a file that it recognizes: Unimplemented for another format, InvalidArgument
// for an archive or a damaged file, DataLoss for a Git LFS pointer. OK for all others. The bytes
// may be any: also those of a file within another one, which FileBytes::Open has not seen.
absl::Status RefuseForeignFile(const std::string& path, absl::string_view bytes);

// Does the same for each file of a directory in which no weights were found, and returns the first
// error.
absl::Status RefuseForeignDirectory(const std::string& directory);

// Returns Unimplemented if a configuration of Hugging Face or CTranslate2 says that its weights are
// quantized in a way that nibu does not read.
absl::Status RefuseForeignQuantization(const ConfigFile& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_FOREIGN_H_
