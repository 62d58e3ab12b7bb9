// Asks oneDNN for the instruction set and derives the rest from it.
#include "engine/ops/cpu.h"

#include <cstddef>
#include <dnnl.hpp>

#include "absl/strings/str_cat.h"
#include "engine/ops/backend/onednn.h"

namespace nibu::internal {

const char* ComputeTypeName(ComputeType type) {
  constexpr const char* kNames[] = {"float32", "bfloat16", "int8", "int4"};
  return kNames[static_cast<size_t>(type)];
}

Isa CurrentIsa() {
  static const Isa isa = IsaOf(static_cast<uint32_t>(dnnl::get_effective_cpu_isa()));
  return isa;  // kept, since oneDNN takes 0.2 us to answer
}

std::string InstructionSet() {
  return IsaName(static_cast<uint32_t>(dnnl::get_effective_cpu_isa()));
}

ComputeType FastestComputeType() {
  return CurrentIsa() == Isa::kNone ? ComputeType::kFloat32 : ComputeType::kInt8;
}

bool IsSupported(ComputeType type, Isa isa) {
  return type != ComputeType::kBFloat16 || isa >= Isa::kAvx512;
}

bool IsSupported(ComputeType type) { return IsSupported(type, CurrentIsa()); }

std::string PackFingerprint() {
  const dnnl_version_t& version = *dnnl_version();
  return absl::StrCat(InstructionSet(), ", oneDNN ", version.major, ".", version.minor, ".",
                      version.patch, ", ", version.hash);
}

}  // namespace nibu::internal
