// The input is a checkpoint of any program.
#include <cstdint>
#include <string>

#include "models/formats/fairseq.h"
#include "models/formats/opennmt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto file = nibu::FileBytes::InMemory("input", bytes);
  const auto fairseq = nibu::TorchFile::Open(file, nibu::FairseqClasses());
  if (fairseq.ok() && nibu::IsFairseq(*fairseq)) {
    (void)nibu::ReadFairseqConfig(nibu::FairseqOptions(*fairseq));
    (void)nibu::OpenFairseq(*fairseq);
  }
  const auto opennmt = nibu::TorchFile::Open(file, nibu::OpenNmtClasses());
  if (opennmt.ok() && nibu::IsOpenNmt(*opennmt)) (void)nibu::OpenOpenNmt(*opennmt);
  return 0;
}
