// Fuzzes the reader of PyTorch files.
#include <cstdint>
#include <string>

#include "models/containers/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto torch =
      nibu::internal::TorchFile::Open(nibu::internal::FileBytes::InMemory("input", bytes));
  if (!torch.ok()) return 0;
  const auto tensors = torch->Tensors(torch->pickle()[torch->pickle().root()]);
  if (tensors.ok()) (void)tensors->CheckAllUsed();
  return 0;
}
