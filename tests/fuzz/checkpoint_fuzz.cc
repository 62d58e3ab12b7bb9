// Fuzzes the readers of fairseq's and OpenNMT-py's checkpoints. The input is a PyTorch file.
#include <cstdint>
#include <string>

#include "models/formats/checkpoint.h"
#include "models/formats/fairseq.h"
#include "models/formats/opennmt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto torch =
      nibu::internal::ReadCheckpoint(nibu::internal::FileBytes::InMemory("input", bytes));
  if (!torch.ok()) return 0;
  if (nibu::internal::IsFairseq(*torch)) {
    (void)nibu::internal::ReadFairseqConfig(nibu::internal::FairseqOptions(*torch));
    (void)nibu::internal::OpenFairseq(*torch);
  }
  if (nibu::internal::IsOpenNmt(*torch)) (void)nibu::internal::OpenOpenNmt(*torch);
  return 0;
}
