// Estimates what int8 loses in each joint from the sizes of its weights, and scales tensors.
#include "models/assembly/equalize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/ops/convert.h"
#include "models/assembly/joints.h"

namespace nibu::internal {
namespace {

// Where the largest channels are that much of a loss (LossOf), a layer is equalized. The loss is at
// most 7.7 in any layer of the trained models at hand (en-de of this tree 2.6, de-en 2.9, captions
// 7.7, an SSRU student 4.3, CTranslate2's transliteration 2.8), which therefore stay as they are.
constexpr double kMostLoss = 32;
// A layer that cannot be equalized is worth a warning from here on. Of 40 lines that int8
// translated as float32 did for 39 of them, 35 were left at a loss of 170, 8 at 16,000 and none at
// 180,000 (units of the student's feed-forward layers scaled by 0.1, 0.01 and 0.003); at a loss
// of 120, in a single unit, as many as before.
constexpr double kWarnedLoss = 128;

// The numbers of a row that are read at a time.
constexpr int64_t kPiece = 32;

// Calls f(row, column, n, values) for pieces of a matrix as it is stored, values[0..n) being those
// from `column` on: every step-th piece of a row, and other ones in the next row.
template <typename F>
void ForEachPiece(const MatrixView& view, int64_t step, F f) {
  const int64_t rows = view.values.shape[0];
  const int64_t columns = view.values.shape[1];
  const auto element = static_cast<int64_t>(DTypeSize(view.values.dtype));
  const auto* data = static_cast<const char*>(view.values.data);
  float values[kPiece];
  for (int64_t r = 0; r < rows; ++r, data += columns * element) {
    for (int64_t first = r % step * kPiece; first < columns; first += step * kPiece) {
      const int64_t n = std::min(kPiece, columns - first);
      ConvertToFloat(view.values.dtype, data + first * element, static_cast<size_t>(n), values);
      for (int64_t c = 0; !view.scales.empty() && c < n; ++c) {
        const int64_t output = view.out_in ? r : first + c;
        values[c] /= view.scales[view.scales.size() == 1 ? 0 : static_cast<size_t>(output)];
      }
      f(r, first, n, static_cast<const float*>(values));
    }
  }
}

// Returns which pieces a sample of a matrix takes: one of so many, but at least 32 numbers of each
// row and column. To read all of a model would take a third of the time that packing it takes.
int64_t SampleStep(const Shape& shape) {
  constexpr int64_t kLeast = 32;
  const auto fits = [&](int64_t step) {
    return std::min(shape[0], shape[1]) >= step * kLeast && shape[1] % (step * kPiece) == 0;
  };
  int64_t step = 16;
  while (step > 1 && !fits(step)) step /= 2;
  return step;
}

absl::StatusOr<MatrixView> View(const Slice& slice, TensorSource* source) {
  if (slice.columns > 0) {
    return source->GetMatrix(slice.tensor, slice.columns, slice.rows, slice.out_in);
  }
  absl::StatusOr<TensorView> vector = source->GetVector(slice.tensor, slice.rows);
  if (!vector.ok()) return vector.status();
  vector->shape = {slice.rows, 1};
  return MatrixView{*vector, true, {}, 0};
}

// Returns the channel of a slice that has an element of the stored matrix, or another number.
size_t ChannelOf(const Slice& slice, const MatrixView& view, int64_t row, int64_t column) {
  return static_cast<size_t>((slice.is_columns == view.out_in ? column : row) - slice.first);
}

// The sums of squares of each channel.
using Powers = std::vector<double>;

// Returns the powers of a side, of all numbers or of a sample; nothing if a tensor is misshapen or
// missing, or has been prepared for int8 already: it is int8, or has a scale for its inputs.
std::optional<Powers> PowersOf(const Side& side, int channels, bool is_sample,
                               TensorSource* source) {
  Powers powers(static_cast<size_t>(channels));
  for (const Slice& slice : side) {
    const absl::StatusOr<MatrixView> view = View(slice, source);
    if (!view.ok() || view->values.dtype == DType::kInt8 || view->activation_scale != 0) {
      return std::nullopt;
    }
    const int64_t step = is_sample ? SampleStep(view->values.shape) : 1;
    // Sums along the stored rows, or of the pieces of a row.
    const bool is_along = slice.is_columns == view->out_in;
    std::vector<float> sums(static_cast<size_t>(view->values.shape[is_along ? 1 : 0]));
    ForEachPiece(*view, step, [&](int64_t r, int64_t first, int64_t n, const float* values) {
      if (is_along) {
        float* const to = sums.data() + first;
        for (int64_t c = 0; c < n; ++c) to[c] += values[c] * values[c];
      } else {
        float sum = 0;
        for (int64_t c = 0; c < n; ++c) sum += values[c] * values[c];
        sums[static_cast<size_t>(r)] += sum;
      }
    });
    for (size_t c = 0; c < powers.size(); ++c) {
      powers[c] += static_cast<double>(sums[static_cast<size_t>(slice.first) + c]) *
                   static_cast<double>(step);
    }
  }
  return powers;
}

// Multiplies the channels of a side by `factors`, in tensors of float32 that replace the file's.
void Scale(const Side& side, const std::vector<float>& factors, TensorSource* source) {
  for (const Slice& slice : side) {
    const MatrixView view = *View(slice, source);
    std::string bytes;
    ForEachPiece(view, 1, [&](int64_t r, int64_t first, int64_t n, const float* values) {
      float scaled[kPiece];
      for (int64_t c = 0; c < n; ++c) {
        const size_t channel = ChannelOf(slice, view, r, first + c);
        scaled[c] = values[c] * (channel < factors.size() ? factors[channel] : 1.0f);
      }
      bytes.append(reinterpret_cast<const char*>(scaled), static_cast<size_t>(n) * sizeof(float));
    });
    StoredTensor& stored = *source->Mutable(slice.tensor);
    stored.file = FileBytes::InMemory(stored.file->path(), std::move(bytes));
    stored.view.dtype = DType::kFloat32;
    stored.view.data = stored.file->bytes().data();
    stored.scales = {};
  }
}

// Returns an estimate of the power of int8's rounding errors in sum over c of x_c w_c, relative to
// that of the sum. `from` has the powers of x_c, `to` those of w_c. A step of x has a power in
// proportion to that of the largest channel, and is multiplied by all w; and the other way round.
// It is 1 if all channels are equal.
double LossOf(const Powers& from, const Powers& to) {
  double most_from = 0;
  double most_to = 0;
  double sum_from = 0;
  double sum_to = 0;
  double product = 0;
  for (size_t c = 0; c < from.size(); ++c) {
    most_from = std::max(most_from, from[c]);
    most_to = std::max(most_to, to[c]);
    sum_from += from[c];
    sum_to += to[c];
    product += from[c] * to[c];
  }
  return product > 0 ? std::max(most_from * sum_to, most_to * sum_from) / product : 0;
}

// Returns the powers of two that bring the ratio of both sides in each channel close to the ratio
// of the median channel, so that most channels of a model stay as they are.
std::vector<float> FactorsOf(const Powers& from, const Powers& to) {
  constexpr double kMost = 40;  // keeps products far from float's limits
  const auto carries = [&](size_t c) { return from[c] > 0 && to[c] > 0; };
  // Ratios of powers are fourth powers of the factors: one side is multiplied, the other divided.
  const auto octaves = [&](size_t c) { return (std::log2(to[c]) - std::log2(from[c])) / 4; };
  std::vector<double> sorted;
  for (size_t c = 0; c < from.size(); ++c) {
    if (carries(c)) sorted.push_back(octaves(c));
  }
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  std::vector<float> factors(from.size(), 1.0f);
  for (size_t c = 0; c < from.size(); ++c) {
    if (!carries(c)) continue;
    const double power = std::round(octaves(c) - sorted[sorted.size() / 2]);
    factors[c] = static_cast<float>(std::exp2(std::clamp(power, -kMost, kMost)));
  }
  return factors;
}

// Returns the loss of a joint, after equalizing it if that is necessary and exact.
double LossOfEqualized(const Joint& joint, TensorSource* source) {
  std::optional<Powers> from;
  std::optional<Powers> to;
  const auto measure = [&](bool is_sample) {
    from = PowersOf(joint.from, joint.channels, is_sample, source);
    to = PowersOf(joint.to, joint.channels, is_sample, source);
    return from.has_value() && to.has_value() ? LossOf(*from, *to) : 0;
  };
  double loss = measure(/*is_sample=*/true);
  if (!(loss > kMostLoss / 2)) return loss;
  loss = measure(/*is_sample=*/false);
  if (!(loss > kMostLoss) || !joint.is_exact) return loss;
  std::vector<float> factors = FactorsOf(*from, *to);
  Scale(joint.from, factors, source);
  for (float& factor : factors) factor = 1.0f / factor;
  Scale(joint.to, factors, source);
  return measure(/*is_sample=*/false);
}

}  // namespace

std::string EqualizeForInt8(const ModelConfig& config, const NameTable& names,
                            TensorSource* source) {
  std::vector<std::string> lossy;
  for (const Joint& joint : ListJoints(config, names)) {
    if (LossOfEqualized(joint, source) > kWarnedLoss) lossy.push_back(joint.name);
    if (absl::EndsWith(joint.name, "ffn")) source->DropPages();  // a layer's end
  }
  if (lossy.empty()) return "";
  return absl::StrCat(source->description(), ": int8 loses small values in ",
                      absl::StrJoin(lossy, ", "),
                      ", whose channels differ too much in size; --compute_type=float32 or ",
                      "bfloat16 keeps them");
}

}  // namespace nibu::internal
