// LSH attention: hashes and sorts the keys of a head, then attends query by query.
#include "engine/attention/mixers/lsh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/attention/cache.h"
#include "engine/attention/kernels.h"
#include "engine/attention/mixers/pattern.h"

namespace nibu::internal {
namespace {

constexpr int kDigitBits = 4;
constexpr size_t kDirections = size_t{1} << (kDigitBits - 1);  // and as many opposite ones

// Number `n` of a normal distribution (Box and Muller 1958).
float Normal(uint64_t seed, uint64_t round, uint64_t n) {
  const uint64_t hash = HashOf(seed, round, n);
  const double u = (static_cast<double>(hash >> 32) + 1) / 4294967296.0;
  const double angle = static_cast<double>(hash & 0xffffffff) * (2 * M_PI / 4294967296.0);
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(angle));
}

class Hasher {
 public:
  // For `positions` vectors of `dim` elements: about one bucket for each chunk.
  Hasher(const LshAttention& lsh, int positions, size_t dim) : dim_(dim), signed_(dim) {
    for (int64_t buckets = 1; buckets * lsh.bucket < positions; buckets *= 2) ++bits_;
    const size_t each = static_cast<size_t>(digits()) * dim * kDirections;
    directions_.resize(each * static_cast<size_t>(lsh.rounds));
    for (size_t i = 0; i < directions_.size(); ++i) {
      const auto digit = static_cast<int>(i % each / (dim * kDirections));
      if (i % kDirections >= DirectionsOf(digit)) continue;  // no bit asks for it
      directions_[i] = Normal(static_cast<uint64_t>(lsh.seed), i / each, i % each);
    }
  }

  // Turns all directions for a layer's head: each element keeps its sign or changes it. Mirrored
  // normal vectors are normal again, so that every head has random directions, drawn once.
  void Turn(uint64_t seed) {
    signs_.clear();
    for (size_t i = 0; i < dim_; ++i) {
      const uint64_t bits = HashOf(seed, i / 64, 0);
      signs_.push_back((bits >> i % 64 & 1) != 0 ? -1.0f : 1.0f);
    }
  }

  uint64_t operator()(int round, const float* vector) {
    for (size_t i = 0; i < dim_; ++i) signed_[i] = vector[i] * signs_[i];
    uint64_t bucket = 0;
    const auto digit_size = dim_ * kDirections;
    const float* directions =
        directions_.data() + static_cast<size_t>(round * digits()) * digit_size;
    for (int digit = 0; digit < digits(); ++digit, directions += digit_size) {
      bucket = bucket << BitsOf(digit) | Digit(directions, DirectionsOf(digit), signed_.data());
    }
    return bucket;
  }

 private:
  int digits() const { return CeilOf(bits_, kDigitBits); }
  int BitsOf(int digit) const { return std::min(bits_ - digit * kDigitBits, kDigitBits); }
  size_t DirectionsOf(int digit) const { return size_t{1} << (BitsOf(digit) - 1); }

  // argmax([x R; -x R]) of the first `count` directions.
  uint64_t Digit(const float* directions, size_t count, const float* x) const {
    float products[kDirections] = {};
    for (size_t i = 0; i < dim_; ++i) {
      for (size_t n = 0; n < kDirections; ++n)
        products[n] += x[i] * directions[i * kDirections + n];
    }
    size_t best = 0;
    for (size_t n = 1; n < count; ++n) {
      if (std::abs(products[n]) > std::abs(products[best])) best = n;
    }
    return best + (products[best] < 0 ? count : 0);
  }

  size_t dim_;
  int bits_ = 0;                   // of a hash
  std::vector<float> directions_;  // [rounds][digits][d][kDirections]
  std::vector<float> signs_;       // [d]
  std::vector<float> signed_;      // a vector times the signs
};

// A vector's place among others: by its hash, then its position.
uint64_t PlaceOf(uint64_t hash, int position) {
  return hash << 32 | static_cast<uint64_t>(position);
}

// The keys of one head as cells (cache.h), and where each round has them.
struct HashedKeys {
  std::vector<float> cells;                   // [S][2 d]
  std::vector<std::vector<uint64_t>> sorted;  // a round's places
  std::vector<int> seen_by;                   // the last query that has a key

  HashedKeys(const LshAttention& lsh, Hasher* hasher, const KeyValueRows& memory, size_t column,
             size_t dim)
      : cells(static_cast<size_t>(memory.positions) * 2 * dim),
        sorted(static_cast<size_t>(lsh.rounds)),
        seen_by(static_cast<size_t>(memory.positions), -1) {
    for (int j = 0; j < memory.positions; ++j) {
      const size_t from = static_cast<size_t>(j) * memory.stride + column;
      float* const cell = cells.data() + static_cast<size_t>(j) * 2 * dim;
      std::copy_n(memory.keys + from, dim, cell);
      std::copy_n(memory.values + from, dim, cell + dim);
      for (int r = 0; r < lsh.rounds; ++r) {
        sorted[static_cast<size_t>(r)].push_back(PlaceOf((*hasher)(r, cell), j));
      }
    }
    for (auto& places : sorted) std::sort(places.begin(), places.end());
  }

  // Adds the keys that a query sees in a round, and that are not marked as its own, to `seen`.
  void Find(size_t round, uint64_t place, size_t bucket, int query, std::vector<size_t>* seen) {
    const std::vector<uint64_t>& places = sorted[round];
    const auto at = std::lower_bound(places.begin(), places.end(), place) - places.begin();
    const size_t chunk = std::min(static_cast<size_t>(at), places.size() - 1) / bucket;
    const size_t end = std::min((chunk + 1) * bucket, places.size());
    for (size_t i = chunk == 0 ? 0 : (chunk - 1) * bucket; i < end; ++i) {
      const size_t key = places[i] & 0xffffffff;
      if (seen_by[key] == query) continue;
      seen_by[key] = query;
      seen->push_back(key);
    }
  }
};

}  // namespace

void AttendLsh(const LshAttention& lsh, const AttentionSpec& spec, const Queries& queries,
               const KeyValueRows& memory, const AttentionOutput& output, Arena* arena) {
  const auto dim = static_cast<size_t>(spec.shape.head_dim);
  const auto positions = static_cast<size_t>(memory.positions);
  AttentionSpec one_head = spec;
  one_head.shape = {1, spec.shape.head_dim, spec.shape.Scale()};
  Hasher hasher(lsh, memory.positions, dim);
  float* const biases = arena->Floats(positions);
  float* const weights = arena->Floats(positions);
  std::vector<size_t> seen;
  std::vector<void*> cells;
  for (size_t h = 0; h < static_cast<size_t>(spec.shape.heads); ++h) {
    hasher.Turn(
        HashOf(static_cast<uint64_t>(lsh.seed), static_cast<uint64_t>(spec.mixer.layer), h));
    HashedKeys keys(lsh, &hasher, memory, h * dim, dim);
    for (int i = 0; i < queries.count; ++i) {
      const auto query = static_cast<size_t>(i);
      const float* const q = queries.rows + query * queries.stride + h * dim;
      seen.clear();
      for (int r = 0; r < lsh.rounds; ++r) {
        keys.Find(static_cast<size_t>(r), PlaceOf(hasher(r, q), queries.first + i),
                  static_cast<size_t>(lsh.bucket), i, &seen);
      }
      cells.clear();
      const float* const bias = spec.bias.Of(h, static_cast<size_t>(queries.first) + query, 0);
      for (size_t n = 0; n < seen.size(); ++n) {
        cells.push_back(keys.cells.data() + seen[n] * 2 * dim);
        if (bias != nullptr) biases[n] = bias[seen[n]];
      }
      one_head.bias = {bias == nullptr ? nullptr : biases, 0, 0};
      float* const wanted = output.WeightsOf(h, query, queries, positions);
      const Arena::Mark mark = arena->mark();
      AttendCells(one_head, {q, dim, 1}, {CacheType::kFloat32, cells, 0},
                  {output.rows + query * output.stride + h * dim, dim,
                   wanted == nullptr ? nullptr : weights},
                  arena, /*next=*/nullptr);
      arena->Rewind(mark);
      if (wanted == nullptr) continue;
      std::fill_n(wanted, positions, 0.0f);
      for (size_t n = 0; n < seen.size(); ++n) wanted[seen[n]] = weights[n];
    }
  }
}

}  // namespace nibu::internal
