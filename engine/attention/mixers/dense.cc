// Attention in plain loops and double precision, one row of the matrix at a time.
#include "engine/attention/mixers/dense.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/attention/mixers/local.h"
#include "engine/attention/mixers/pattern.h"

namespace nibu::internal {
namespace {

template <typename X>
double Dot(const X* x, const float* y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

// score(q, k) of a head, see Score, and what the mechanism adds to it.
class HeadScore {
 public:
  HeadScore(const AttentionSpec& spec, const KeyValueRows& memory, size_t head)
      : spec_(spec),
        head_(head),
        positions_(memory.positions),
        score_(spec.mixer.score),
        scale_(score_ == Score::kScaledDot ? static_cast<double>(spec.shape.Scale()) : 1),
        dim_(static_cast<size_t>(spec.shape.head_dim)),
        keys_(memory.keys + head * dim_),
        stride_(memory.stride),
        columns_(score_ == Score::kConcat ? 2 * dim_ : dim_),
        map_(spec.weights.map == nullptr ? nullptr : spec.weights.map + head * dim_ * columns_),
        vector_(spec.weights.vector == nullptr ? nullptr : spec.weights.vector + head * dim_),
        query_(dim_) {
    if (score_ != Score::kConcat) return;
    mapped_keys_.resize(static_cast<size_t>(memory.positions) * dim_);
    for (size_t j = 0; j < static_cast<size_t>(memory.positions); ++j) {
      Map(map_, keys_ + j * stride_, &mapped_keys_[j * dim_]);
    }
  }

  // Sets scores [S] of query r of the head, -infinity where it does not see the key.
  void Find(const Queries& queries, int r, std::vector<double>* scores) {
    const auto query = static_cast<size_t>(r);
    const int position = queries.position(r);
    const float* const q = queries.rows + query * queries.stride + head_ * dim_;
    SetQuery(q);
    FindKeys(spec_.mixer, positions_, {position, static_cast<int>(head_), queries.centre(r)},
             &spans_);
    const auto places = 2 * static_cast<size_t>(spec_.mixer.biased_width()) - 1;
    const float* const bias = spec_.bias.Of(head_, static_cast<size_t>(queries.first) + query, 0);
    std::fill(scores->begin(), scores->end(), -HUGE_VAL);
    for (const KeySpan& span : spans_) {
      for (int key = span.begin; key < span.end; key += span.step) {
        const auto j = static_cast<size_t>(key);
        double score = Of(j);
        if (bias != nullptr) score += static_cast<double>(bias[j]);
        if (spec_.mixer.biased_width() > 0) {
          const int place = RelativePlace(spec_.mixer, positions_, position, key);
          score += static_cast<double>(
              spec_.weights.relative[head_ * places + static_cast<size_t>(place)]);
        }
        if (spec_.relative.keys != nullptr) {
          const auto row = static_cast<size_t>(spec_.relative.RowOf(position, key));
          score += scale_ * Dot(q, spec_.relative.keys + row * dim_, dim_);
        }
        (*scores)[j] = score;
      }
    }
  }

 private:
  void SetQuery(const float* q) {
    if (score_ == Score::kGeneral) return Map(map_, q, query_.data());
    if (score_ == Score::kConcat) return Map(map_ + dim_, q, query_.data());
    std::copy_n(q, dim_, query_.data());
  }

  double Of(size_t j) const {
    if (score_ != Score::kConcat) {
      return scale_ * Dot(query_.data(), keys_ + j * stride_, dim_);
    }
    double sum = 0;
    for (size_t i = 0; i < dim_; ++i) {
      sum += static_cast<double>(vector_[i]) * std::tanh(mapped_keys_[j * dim_ + i] + query_[i]);
    }
    return sum;
  }

  // out [d]: the first d columns of `map` times x.
  void Map(const float* map, const float* x, double* out) const {
    for (size_t i = 0; i < dim_; ++i) out[i] = Dot(x, map + i * columns_, dim_);
  }

  const AttentionSpec& spec_;
  size_t head_;
  int positions_;
  std::vector<KeySpan> spans_;
  Score score_;
  double scale_;
  size_t dim_;
  const float* keys_;
  size_t stride_;
  size_t columns_;  // of W
  const float* map_;
  const float* vector_;
  std::vector<double> query_;        // times W, where the score has one
  std::vector<double> mapped_keys_;  // kConcat: [S, d], times W
};

}  // namespace

void AttendDense(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                 const AttentionOutput& output) {
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  const auto* const local = spec.mixer.As<PredictedWindow>();
  std::vector<double> weights(positions);
  std::vector<double> out(dim);
  for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
    HeadScore score(spec, memory, h);
    for (int r = 0; r < queries.count; ++r) {
      const auto query = static_cast<size_t>(r);
      score.Find(queries, r, &weights);
      const double most = *std::max_element(weights.begin(), weights.end());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - most);
      std::fill(out.begin(), out.end(), 0.0);
      float* const wanted = output.WeightsOf(h, query, queries, positions);
      for (size_t j = 0; j < positions; ++j) {
        double weight = weights[j] / sum;
        if (local != nullptr) {
          const double distance = static_cast<double>(j) - static_cast<double>(queries.centre(r));
          weight *= LocalWeight(distance, local->width);
        }
        if (wanted != nullptr) wanted[j] = static_cast<float>(weight);
        if (weight == 0) continue;
        const float* const v = memory.values + j * memory.stride + h * dim;
        for (size_t i = 0; i < dim; ++i) out[i] += weight * static_cast<double>(v[i]);
      }
      for (size_t i = 0; i < dim; ++i) {
        output.rows[query * output.stride + h * dim + i] = static_cast<float>(out[i]);
      }
    }
  }
}

void DenseScores(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                 float* scores) {
  std::vector<double> row(static_cast<size_t>(memory.positions));
  for (int h = 0; h < spec.shape.heads; ++h) {
    HeadScore score(spec, memory, static_cast<size_t>(h));
    for (int r = 0; r < queries.count; ++r) {
      score.Find(queries, r, &row);
      for (const double each : row) *scores++ = static_cast<float>(each);
    }
  }
}

}  // namespace nibu::internal
