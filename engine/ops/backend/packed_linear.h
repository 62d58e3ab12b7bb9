// Packed weights: what a Linear is made of. Internal to engine/ops, since it includes dnnl.hpp.
#ifndef NIBU_ENGINE_OPS_BACKEND_PACKED_LINEAR_H_
#define NIBU_ENGINE_OPS_BACKEND_PACKED_LINEAR_H_

#include <compare>
#include <cstdint>
#include <dnnl.hpp>
#include <memory>
#include <memory_resource>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/ops/backend/onednn.h"
#include "engine/ops/backend/row_counts.h"
#include "engine/ops/linear.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// The description of one oneDNN matmul. x [rows, in] is float32, bfloat16 or u8; y [rows, out]
// float32 (bfloat16 with bfloat16_output), or the int32 sums of int8, which are finished by kernels
// of ours, since oneDNN 2 has no scales for each row.
struct MatmulSpec {
  ComputeType type;
  int in;
  int out;
  bool bias = false;  // bias and activation are applied by oneDNN; never set for int8
  Activation activation = Activation::kNone;
  bool bfloat16_output = false;
  bool adds = false;  // onto what y holds, before the activation

  auto operator<=>(const MatmulSpec&) const =
      default;  // NOLINT(modernize-use-nullptr): 0 is not ours
};

// `weights`: a fixed layout, or format_tag::any to let oneDNN choose. Throws dnnl::error.
dnnl::matmul::primitive_desc DescribeMatmul(const MatmulSpec& spec, int rows,
                                            const dnnl::memory::desc& weights);

// Element type of x and the weights.
dnnl::memory::data_type SourceType(ComputeType type);
dnnl::memory::data_type WeightType(ComputeType type);

// Everything about a packed weight that lies in memory is one blob, which can be written to a file
// and used from there (little-endian, every part 64-byte aligned):
//
//   PackedHeader | bias f32[out], if any | int8: scales f32[out], zero sums s32[out] | weights,
//   a part of the inputs after the other
struct PackedHeader {
  uint32_t magic;
  ComputeType type;
  Activation activation;
  uint8_t has_bias;
  uint8_t reserved;
  int32_t in;
  int32_t out;
  float static_scale;       // of the activations; 0: each row its own
  uint32_t weights_offset;  // from the blob's start
  uint64_t size;            // of the blob
  uint64_t layout;          // of the weights: see Layout::Code
  char padding[24];
};
static_assert(sizeof(PackedHeader) == 64);

// InvalidArgument: the bytes are no whole blob. FailedPrecondition: they are laid out for another
// CPU or oneDNN. Throws dnnl::error where the sizes are beyond oneDNN.
absl::Status CheckPacked(absl::string_view bytes);

struct Linear::Packed {
  // Makes room in `blob` for the layout that oneDNN prefers on this CPU. The memory comes from a
  // resource that outlives it; null: from AllocateHuge, for weights that live as long as a model.
  // Throws dnnl::error.
  Packed(PackedHeader header, std::pmr::memory_resource* from);
  // Uses the blob at `bytes`, which `owner` keeps alive. Throws dnnl::error.
  Packed(char* bytes, std::shared_ptr<const void> owner);

  const PackedHeader& header() const { return *reinterpret_cast<const PackedHeader*>(blob); }

  // Returns what the matmul of a part of the inputs is to do (see MatmulRule). The bias comes with
  // the first part, the activation with the last one.
  MatmulSpec PartSpec(size_t part) const;
  // Returns null for a part without bias.
  dnnl_memory_t BiasOf(size_t part) const { return part == 0 ? bias.get(true) : nullptr; }

  // int8: turns its sums into floats.
  Dequantization dequantization() const {
    return {scales, zero_sums, bias_data, header().activation};
  }

  MatmulSpec spec;
  MatmulRule rule;
  bool is_lasting = true;             // lives as long as the model; else as long as a sentence
  std::shared_ptr<const void> owner;  // of the blob
  char* blob = nullptr;
  // Parts of the blob; null: not there.
  float* bias_data = nullptr;
  float* scales = nullptr;  // int8: see Dequantization
  int32_t* zero_sums = nullptr;
  // int8: the weights, if they lie as our own kernels want them and this CPU has such kernels; else
  // null.
  const int8_t* int8_weights = nullptr;
  // Views of the blob. They are made once, since setting a data handle writes to a layout's
  // padding.
  absl::InlinedVector<dnnl::memory, 1> parts;  // of the weights
  dnnl::memory bias;

  struct Layout;

 private:
  void SetViews(const Layout& layout);
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_PACKED_LINEAR_H_
