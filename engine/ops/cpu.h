// The number types of matmuls, and what this CPU and the oneDNN in use can do.
#ifndef NIBU_ENGINE_OPS_CPU_H_
#define NIBU_ENGINE_OPS_CPU_H_

#include <cstdint>
#include <string>

namespace nibu::internal {

// The number type in which matrices are multiplied. kInt4: weights of 4 bits and inputs of 8, for
// the least memory (backend/int4_product.h).
enum class ComputeType : uint8_t { kFloat32, kBFloat16, kInt8, kInt4 };

// Returns "float32", "bfloat16", "int8" or "int4".
const char* ComputeTypeName(ComputeType type);

// Returns whether the rows that are multiplied by such weights are quantized to 8 bits.
constexpr bool HasInt8Inputs(ComputeType type) { return type >= ComputeType::kInt8; }

// The instruction sets among which matmuls differ, in ascending order. One that is not listed
// counts as the highest listed one that it includes.
enum class Isa : uint8_t {
  kNone,
  kSse41,
  kAvx,
  kAvx2,
  kAvx2Vnni,
  kAvx512,
  kAvx512Vnni,
  kAvx512Bf16,
  kAmx
};

// Returns the instruction set that oneDNN's kernels use on this CPU, which the environment variable
// ONEDNN_MAX_CPU_ISA may lower. Our own kernels for matmuls keep to it, too.
Isa CurrentIsa();

// Returns its name as oneDNN writes it: "avx2", "avx512_core_vnni", ...; with a "+" if the CPU has
// more than the name says.
std::string InstructionSet();

// Returns the fastest compute type of this CPU: int8 if oneDNN has kernels for it (x86-64 with
// SSE4.1), else float32.
ComputeType FastestComputeType();

// Returns whether there are kernels for a compute type. bfloat16 needs AVX-512; it is emulated on
// CPUs whose AVX-512 has no bfloat16 instructions.
bool IsSupported(ComputeType type, Isa isa);
bool IsSupported(ComputeType type);  // on this CPU

// Returns the names of all that the layout of packed weights depends on: instruction set and oneDNN
// version. Weights of kInt4 are the same everywhere.
std::string PackFingerprint();

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_CPU_H_
