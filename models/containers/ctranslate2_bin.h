// Reader of CTranslate2's model.bin, binary versions 2 to 6.
//
//   str = u16 bytes (with a NUL) | bytes | NUL                                  (little-endian)
//   u32 version | str spec | u32 revision | u32 n | n x variable |
//   version >= 3: u32 m | m x { str alias | str name of a variable }
//   variable = str name | u8 rank | u32 dimension[rank] |
//     version >= 4: u8 type | u32 bytes | data;   else: u8 item bytes | u32 items | data
//
// types: 0 float32, 1 int8, 2 int16, 3 int32, 4 float16, 5 bfloat16; before version 4 an item of 4
// bytes is a float32, of 2 an int16, of 1 an int8. A quantized NAME has its scales in NAME_scale
// (one for each row, or one scalar): weight = value / scale; an alias of NAME is one of NAME_scale
// as well.
#ifndef NIBU_MODELS_CONTAINERS_CTRANSLATE2_BIN_H_
#define NIBU_MODELS_CONTAINERS_CTRANSLATE2_BIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

struct CTranslate2File {
  std::string spec;     // "TransformerSpec", ...
  TensorSource source;  // variables and aliases, scales already with their tensors
};

// Whether the bytes begin like a model.bin of any version.
bool IsCTranslate2Bin(absl::string_view bytes);

// InvalidArgument naming the file: damaged. Unimplemented: version 1, or one that is not known.
absl::StatusOr<CTranslate2File> ReadCTranslate2Bin(std::shared_ptr<const FileBytes> file);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_CTRANSLATE2_BIN_H_
