// Reads NumPy's .npz files. Such a file is a zip archive (zip.h) of members NAME.npy, each with
//
//   "\x93NUMPY" | u8 major | u8 minor | u16 (major 1) or u32 header bytes | header | data
//
// The header is a Python dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef NIBU_MODELS_CONTAINERS_NPZ_H_
#define NIBU_MODELS_CONTAINERS_NPZ_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

// Returns the tensors by their names without ".npy". They may be of types <f4, <f2, |i1, |u1, <i2,
// <i4 and <i8, and of <f8, which becomes float32. Checks the archive's checksums. InvalidArgument
// naming file and member: damaged, or not row-major. Unimplemented: another type.
absl::StatusOr<TensorSource> ReadNpz(std::shared_ptr<const FileBytes> file);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_CONTAINERS_NPZ_H_
