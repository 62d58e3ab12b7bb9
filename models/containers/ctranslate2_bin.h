// Reads CTranslate2's model.bin, binary versions 2 to 6.
//
//   str = u16 bytes (with a NUL) | bytes | NUL                                  (little-endian)
//   u32 version | str spec | u32 revision | u32 n | n x variable |
//   version >= 3: u32 m | m x { str alias | str name of a variable }
//   variable = str name | u8 rank | u32 dimension[rank] |
//     version >= 4: u8 type | u32 bytes | data;   else: u8 item bytes | u32 items | data
//
// Types: 0 float32, 1 int8, 2 int16, 3 int32, 4 float16, 5 bfloat16. Before version 4 an item of 4
// bytes is a float32, one of 2 an int16, and one of 1 an int8. A quantized NAME has its scales in
// NAME_scale (one for each row, or one scalar): weight = value / scale. An alias of NAME has the
// scales of NAME.
#ifndef NIBU_MODELS_CONTAINERS_CTRANSLATE2_BIN_H_
#define NIBU_MODELS_CONTAINERS_CTRANSLATE2_BIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// The contents of a model.bin.
struct CTranslate2File {
  std::string spec;     // the architecture: "TransformerSpec", ...
  TensorSource source;  // variables and aliases; scales are attached to their tensors
};

// Returns true if the bytes begin like a model.bin of any version.
bool IsCTranslate2Bin(absl::string_view bytes);

// InvalidArgument naming the file: it is damaged. Unimplemented: it has version 1, or one that is
// not known.
absl::StatusOr<CTranslate2File> ReadCTranslate2Bin(std::shared_ptr<const FileBytes> file);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_CTRANSLATE2_BIN_H_
