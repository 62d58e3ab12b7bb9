// Fuzzes the reader of packed weights (engine/ops/backend/packed_linear.h), which .nibu files hold.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "engine/core/aligned_buffer.h"
#include "engine/ops/linear.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nibu::internal::AlignedBuffer<char> bytes(size + 1);
  std::copy_n(data, size, bytes.data());
  const auto plain = nibu::internal::Linear::Unpack(absl::string_view(bytes.data(), size));
  if (plain.ok()) {
    (void)nibu::internal::Linear::Create({plain->matrix()}, {}, plain->activation,
                                         nibu::internal::ComputeType::kFloat32);
  }
  (void)nibu::internal::Linear::FromPacked({bytes.data(), size}, nullptr);
  return 0;
}
