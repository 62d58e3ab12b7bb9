// Packed weights: what a Linear is made of. Internal to engine/ops, since it includes dnnl.hpp.
//
// A packed weight is one blob of bytes and oneDNN's views of it:
//
//   PackedHeader | Blocking of each part | bias f32 [out], if any |
//   int8: scales f32 [out], zero sums s32 [out]; int4: units f32 [out] |
//   weights, part by part; int4: see int4_product.h
//
// Everything is 64-byte aligned, and numbers are little-endian, so that a blob can be written to a
// file, mapped into memory and used there.
//
//  * Layout: oneDNN chooses the order of the weights for this CPU, for kPackRows rows. Kernels for
//    all row counts then read that order. If oneDNN would use its gemm kernels, the weights are
//    plain rows [in, out] instead.
//  * Parts: where a rule says so (MatmulRule::part_inputs), the inputs are cut into parts, W =
//    [W_1; W_2; ...], each of which is packed as a matrix of its own: y = act(x_1 W_1 + b + x_2 W_2
//    + ...). oneDNN 2's bfloat16 AMX kernels split a long sum over inputs into passes, as many as
//    the number of rows asks for. Parts short enough for one pass keep a row's result the same for
//    all row counts.
//  * A blob says how it is laid out. It is used where it lies only if this CPU and this oneDNN
//    would choose the same layout (CheckPacked). Linear::Unpack reads it on every CPU.
//  * int8: if this CPU has kernels of our own (int8_product.h) and the weights are one part in
//    BA16a64b4a with multiples of 64 inputs and outputs, `int8_weights` points to them. Then Matmul
//    can run those kernels instead of oneDNN's (int8_backend.h), and does so with one thread,
//    unless MatmulKernels::kOneDnn is asked for. Else `int8_weights` is null. Where oneDNN wants
//    plain rows and there are kernels of our own for few rows (int8_rows.h), `int8_rows` points to
//    them.
//  * int4: oneDNN has no such weights. The blob has no parts and is the same on every CPU.
//
// Linear::Create and Linear::Select make room with the first constructor and then fill in bias,
// scales, zero sums and weights. Linear::FromPacked uses the second on a blob of a file.
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
#include "absl/types/span.h"
#include "engine/ops/backend/int4_product.h"
#include "engine/ops/backend/onednn.h"
#include "engine/ops/backend/row_counts.h"
#include "engine/ops/linear.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {

// The description of one oneDNN matmul. x [rows, in] is float32, bfloat16 or u8; y [rows, out]
// float32 (bfloat16 with bfloat16_output), or the int32 sums of int8, which DequantizeRows turns
// into floats, since oneDNN 2 has no scales for each row.
struct MatmulSpec {
  ComputeType type;
  int in;
  int out;
  // Bias and activation are applied by oneDNN; never set for int8 and int4.
  bool bias = false;
  Activation activation = Activation::kNone;
  bool bfloat16_output = false;
  bool adds = false;  // the product is added to what y holds, before the activation

  auto operator<=>(const MatmulSpec&) const =
      default;  // NOLINT(modernize-use-nullptr): the 0 is in the compiler's comparison
};

// Returns oneDNN's description of such a matmul of `rows` rows. `weights`: a fixed layout, or
// format_tag::any to let oneDNN choose. Throws dnnl::error.
dnnl::matmul::primitive_desc DescribeMatmul(const MatmulSpec& spec, int rows,
                                            const dnnl::memory::desc& weights);

// Return oneDNN's element types of x and of the weights. REQUIRES: WeightType: type is not kInt4.
dnnl::memory::data_type SourceType(ComputeType type);
dnnl::memory::data_type WeightType(ComputeType type);

// The beginning of a blob.
struct PackedHeader {
  uint32_t magic;
  ComputeType type;
  Activation activation;
  uint8_t has_bias;
  uint8_t zero;  // the zero point of activations, in int8 a factor of the zero sums
  int32_t in;
  int32_t out;
  float activation_scale;  // see MatrixView
  uint32_t parts;
  uint64_t size;  // bytes of the blob
  char padding[32];

  // The parts' layouts follow the header.
  absl::Span<const Blocking> blockings() const {
    return {reinterpret_cast<const Blocking*>(this + 1), parts};
  }
};
static_assert(sizeof(PackedHeader) == 64);

// The offsets of what follows the header and the layouts in a blob, in bytes. 0: it has none.
struct PackedOffsets {
  size_t bias = 0;
  size_t scales = 0;
  size_t zero_sums = 0;
  size_t weights = 0;
};
PackedOffsets OffsetsIn(const PackedHeader& header);

// Returns the weights of a blob of type kInt4.
Int4Weights Int4WeightsIn(char* blob);

// Returns how many bytes a part takes up in a blob.
inline size_t RoomOf(const Blocking& part) {
  return (static_cast<size_t>(part.bytes) + 63) / 64 * 64;
}

// Checks that bytes are a whole blob, of any CPU. InvalidArgument: they are not.
absl::Status CheckBlob(absl::string_view bytes);

// Checks that bytes are a blob that the second constructor can use. FailedPrecondition: they are
// laid out for another CPU or oneDNN. Other errors are those of CheckBlob. Throws dnnl::error where
// the sizes are beyond oneDNN.
absl::Status CheckPacked(absl::string_view bytes);

// Immutable once it has been filled in; threads may then share it.
struct Linear::Packed {
  // Makes room for a blob and its views and writes the header, whose sizes and layout it works out
  // itself. Bias, scales, zero sums and padding are 0. The memory comes from `from`, which outlives
  // it; null: from AllocateHuge, for weights that live as long as a model. Throws dnnl::error and
  // std::bad_alloc.
  Packed(PackedHeader header, std::pmr::memory_resource* from);
  // Makes views of the blob at `bytes`, which `owner` keeps alive. Throws dnnl::error and
  // std::bad_alloc. REQUIRES: CheckPacked is OK, and `bytes` is 64-byte aligned.
  Packed(char* bytes, std::shared_ptr<const void> owner);

  const PackedHeader& header() const { return *reinterpret_cast<const PackedHeader*>(blob); }

  // Returns the matmul of a part of the inputs. The first part adds the bias, all others add to y
  // what the parts before them have put there, and the last one applies the activation.
  MatmulSpec PartSpec(size_t part) const;
  // Returns null for a part without bias.
  dnnl_memory_t BiasOf(size_t part) const { return part == 0 ? bias.get(true) : nullptr; }

  // int8 and int4: returns what turns the sums into floats.
  Dequantization dequantization() const {
    return {scales, zero_sums, bias_data, header().activation};
  }

  MatmulSpec spec;
  MatmulRule rule;
  bool is_lasting = true;             // lives as long as the model; else as long as a sentence
  std::shared_ptr<const void> owner;  // keeps the blob alive
  char* blob = nullptr;
  // int8, int4: the step of all activations, as this CPU quantizes them; 0: each row has one of its
  // own.
  float static_scale = 0;
  // Vectors [out] in the blob; null: it does not have them.
  float* bias_data = nullptr;
  float* scales = nullptr;  // int8, int4: see Dequantization
  // int8: for each output, the zero point of activations times the sum of its weights, which is
  // taken off the sum of products (see Dequantization).
  int32_t* zero_sums = nullptr;
  // int8: the weights, if our own kernels can read them (see above); else null.
  const int8_t* int8_weights = nullptr;
  // int8: the weights as plain rows, if our own kernels can read them (see above); else null.
  const int8_t* int8_rows = nullptr;
  // Views of the blob. They are made once, since setting a data handle writes to a layout's
  // padding.
  absl::InlinedVector<dnnl::memory, 1> parts;  // the weights, a view for each part of the inputs
  dnnl::memory bias;                           // empty for int8, whose bias Dequantization adds

  struct Layout;

 private:
  void SetViews(const Layout& layout);
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_BACKEND_PACKED_LINEAR_H_
