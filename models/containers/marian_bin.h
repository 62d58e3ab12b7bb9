// Reads Marian's binary model files.
//
//   u64 1 | u64 n | n x { u64 name bytes (with a NUL) | u64 type | u64 rank | u64 data bytes } |
//   names | dimensions, i32 each | u64 pad | pad bytes | data, one tensor after the other
//
// Types: 0x404 float32, 0x402 float16, 0x408 float64, 0x101 int8; intgemm8 is 0x10001, or 0x4101 in
// the fork whose files Firefox uses. An intgemm8 tensor has int8 elements, then one f32 s:
// weight = element / s. Its matrix is stored transposed, as [out, in], although its dimensions say
// [in, out]; an embedding ("...Wemb") is stored as they say. For a matrix W, the tensor
// W_QuantMultA is a static multiplier of its inputs; the output layer's is none_QuantMultA.
#ifndef NIBU_MODELS_CONTAINERS_MARIAN_BIN_H_
#define NIBU_MODELS_CONTAINERS_MARIAN_BIN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Returns true if the bytes begin like such a file.
bool IsMarianBin(absl::string_view bytes);

// float64 tensors become float32. InvalidArgument naming the file: it is damaged. Unimplemented,
// with what to do: a tensor is packed for one kind of CPU, or of an unknown type.
absl::StatusOr<TensorSource> ReadMarianBin(std::shared_ptr<const FileBytes> file);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_MARIAN_BIN_H_
