// Files that people try as models and that nibu does not read, recognized by their first bytes or
// their names: an error says what they are and what to do.
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

// What to do with a zip archive that is no file of weights.
inline constexpr char kUnpackZip[] =
    "; if a model is packed in it, unpack it and give its folder as the model";

// Returns whether the bytes are those of a Git LFS pointer, which stands for a file that was not
// fetched.
bool IsGitLfsPointer(absl::string_view bytes);
// DataLoss, with the command that fetches the file.
absl::Status GitLfsPointerError(const std::string& path);

// OK for bytes that it does not recognize. REQUIRES: they are no Git LFS pointer, which
// FileBytes::Open refuses.
absl::Status RefuseForeignFile(const std::string& path, absl::string_view bytes);

// The same for a directory in which no weights were found.
absl::Status RefuseForeignDirectory(const std::string& directory);

// For a Hugging Face or CTranslate2 configuration that says that its weights are quantized in a way
// that nibu does not read.
absl::Status RefuseForeignQuantization(const ConfigFile& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_FOREIGN_H_
