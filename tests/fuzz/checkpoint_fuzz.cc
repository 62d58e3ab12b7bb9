// The input is a checkpoint of any program.
#include <cstdint>
#include <string>

#include "models/formats/checkpoint.h"
#include "models/formats/fairseq.h"
#include "models/formats/opennmt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto torch = nibu::ReadCheckpoint(nibu::FileBytes::InMemory("input", bytes));
  if (!torch.ok()) return 0;
  if (nibu::IsFairseq(*torch)) {
    (void)nibu::ReadFairseqConfig(nibu::FairseqOptions(*torch));
    (void)nibu::OpenFairseq(*torch);
  }
  if (nibu::IsOpenNmt(*torch)) (void)nibu::OpenOpenNmt(*torch);
  return 0;
}
