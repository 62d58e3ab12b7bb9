// Tests of full attention against its definition in double precision, over sources that are stored
// in each cache type, over the decoder's cells and over plain rows; and of large scores.
#include "engine/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "engine/attention/cache.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {
namespace {

using Rows = std::vector<std::vector<float>>;

Rows RandomRows(Random* random, int n, size_t dim) {
  Rows rows;
  for (int i = 0; i < n; ++i) rows.push_back(random->Floats(dim, 1.5f));
  return rows;
}

// Biases of the scores by the distance of key and query, from -max to max.
struct Biases {
  Biases(Random* random, int heads, int max)
      : stride(2 * static_cast<size_t>(max) + 1),
        zero(static_cast<size_t>(max)),
        values(random->Floats(stride * static_cast<size_t>(heads), 3.0f)) {}
  ScoreBias view() const { return {values.data() + zero, stride}; }

  size_t stride;
  size_t zero;
  std::vector<float> values;
};

// Random queries, keys and values, and the specification of the attention over them.
struct Case {
  Case(Random* random, int most_keys, int most_queries)
      : spec{{random->Int(1, 5), random->Int(1, 70), random->Chance() ? 0.0f : 0.25f}},
        dim(static_cast<size_t>(spec.shape.heads * spec.shape.head_dim)),
        keys(RandomRows(random, random->Int(1, most_keys), dim)),
        values(RandomRows(random, positions(), dim)),
        stride(dim + 3),
        q(random->Floats(stride * static_cast<size_t>(most_queries), 1.5f)),
        queries{q.data(), stride, random->Int(1, most_queries), random->Int(0, 9)},
        biases(random, spec.shape.heads, positions() + 20 + most_queries) {
    if (random->Chance()) spec.bias = biases.view();
    spec.mixer.mechanism = FullAttention{16 * random->Int(1, 16)};
  }
  int positions() const { return static_cast<int>(keys.size()); }

  // Returns keys and values side by side, as the linear layers write them, behind `before` other
  // floats.
  std::vector<float> KeysValuesRows(size_t before = 0) const {
    std::vector<float> rows;
    for (size_t s = 0; s < keys.size(); ++s) {
      rows.insert(rows.end(), before, 0.0f);
      rows.insert(rows.end(), keys[s].begin(), keys[s].end());
      rows.insert(rows.end(), values[s].begin(), values[s].end());
    }
    return rows;
  }

  AttentionSpec spec;
  size_t dim;
  Rows keys;
  Rows values;
  size_t stride;
  std::vector<float> q;
  Queries queries;
  Biases biases;
};

// Attention as its definition has it, softmax(scale q k^T + bias) v, for head h of query r, in
// double precision: the weights [S] and the output [d].
struct Reference {
  Reference(const Case& c, size_t h, size_t r) : weights(c.keys.size()) {
    const AttentionShape& shape = c.spec.shape;
    const auto dim = static_cast<size_t>(shape.head_dim);
    const double scale = shape.scale != 0 ? static_cast<double>(shape.scale)
                                          : 1 / std::sqrt(static_cast<double>(dim));
    double sum = 0;
    for (size_t s = 0; s < weights.size(); ++s) {
      double score = 0;
      for (size_t i = h * dim; i < (h + 1) * dim; ++i) {
        score += scale * static_cast<double>(c.queries.rows[r * c.queries.stride + i]) *
                 static_cast<double>(c.keys[s][i]);
      }
      if (c.spec.bias.values != nullptr) {
        const long distance = static_cast<long>(s) - c.queries.first - static_cast<long>(r);
        score += static_cast<double>(
            c.spec.bias.values[static_cast<long>(h * c.spec.bias.stride) + distance]);
      }
      weights[s] = std::exp(score);
      sum += weights[s];
    }
    for (double& weight : weights) weight /= sum;
    for (size_t i = h * dim; i < (h + 1) * dim; ++i) {
      out.push_back(0);
      for (size_t s = 0; s < weights.size(); ++s) {
        out.back() += weights[s] * static_cast<double>(c.values[s][i]);
      }
    }
  }
  std::vector<double> weights;
  std::vector<double> out;
};

float Tolerance(CacheType type) {
  if (type == CacheType::kFloat32) return 1e-5f;
  return type == CacheType::kBFloat16 ? 3e-2f : 6e-2f;
}

// Fills the scratch memory with NaNs, on which no result may depend.
void Poison(Arena* arena) {
  constexpr size_t kFloats = size_t{1} << 18;
  arena->Rewind(0);
  // These bytes are not a number in any type.
  std::memset(arena->Floats(kFloats), 0xff, kFloats * sizeof(float));
  arena->Rewind(0);
}

// Expects that `attend` writes the output and the weights of the definition, and that the output is
// the same when no weights are asked for.
void ExpectTheDefinition(const Case& c, float tolerance,
                         const std::function<void(const AttentionOutput&)>& attend) {
  const auto rows = static_cast<size_t>(c.queries.count);
  const size_t out_stride = c.dim + 2;
  std::vector<float> bare(rows * out_stride);
  attend({bare.data(), out_stride});
  std::vector<float> out(rows * out_stride);
  std::vector<float> weights(static_cast<size_t>(c.spec.shape.heads) * rows * c.keys.size());
  attend({out.data(), out_stride, weights.data()});
  ASSERT_EQ(bare, out);
  const float* weight = weights.data();
  for (size_t h = 0; h < static_cast<size_t>(c.spec.shape.heads); ++h) {
    for (size_t r = 0; r < rows; ++r, weight += c.keys.size()) {
      double sum = 0;
      for (size_t s = 0; s < c.keys.size(); ++s) sum += static_cast<double>(weight[s]);
      ASSERT_NEAR(sum, 1, 1e-5);
      if (rows > 30 && r % 19 != 0) continue;
      const Reference reference(c, h, r);
      for (size_t s = 0; s < c.keys.size(); ++s) {
        ASSERT_NEAR(reference.weights[s], weight[s], tolerance) << "key " << s;
      }
      const float* row = out.data() + r * out_stride + h * reference.out.size();
      for (size_t i = 0; i < reference.out.size(); ++i) {
        ASSERT_NEAR(reference.out[i], row[i], tolerance) << "column " << i;
      }
    }
  }
}

// Expects that every `step`th query gets bit for bit what it gets alone.
void ExpectEachQueryAlone(const Case& c, const Attention& attention, const AttentionMemory& memory,
                          int step) {
  std::vector<float> all(c.dim * static_cast<size_t>(c.queries.count));
  attention.Run(c.queries, memory, {all.data(), c.dim});
  for (int r = 0; r < c.queries.count; r += step) {
    const auto row = static_cast<size_t>(r);
    std::vector<float> alone(c.dim);
    attention.Run({c.q.data() + row * c.stride, c.stride, 1, c.queries.first + r}, memory,
                  {alone.data(), c.dim});
    for (size_t i = 0; i < c.dim; ++i) ASSERT_EQ(alone[i], all[row * c.dim + i]) << "query " << r;
  }
}

class PlainAttentionTest : public testing::Test {
 protected:
  Attention Of(const AttentionSpec& spec) {
    Poison(&arena_);
    return Attention(spec, &arena_);
  }

  Arena arena_;
};

class AttentionTest : public PlainAttentionTest, public testing::WithParamInterface<CacheType> {};

INSTANTIATE_TEST_SUITE_P(Types, AttentionTest,
                         testing::Values(CacheType::kFloat32, CacheType::kBFloat16,
                                         CacheType::kInt8));

TEST_P(AttentionTest, StoredSourcesEqualTheDefinition) {
  ForEachHighwayTarget([this] {
    Random random(1);
    for (int round = 0; round < 60; ++round) {
      const Case c(&random, round < 50 ? 70 : 600, 9);
      AlignedBuffer<char> stored(SourceBytes(c.spec.shape, c.positions(), GetParam()));
      StoreSource(c.spec.shape, c.KeysValuesRows().data(), c.positions(), GetParam(),
                  stored.data());
      const KeysValues memory = ViewSource(c.spec.shape, c.positions(), GetParam(), stored.data());
      const Attention attention = Of(c.spec);
      ExpectTheDefinition(c, Tolerance(GetParam()), [&](const AttentionOutput& output) {
        attention.Run(c.queries, memory, output);
      });
      ExpectEachQueryAlone(c, attention, memory, /*step=*/1);
    }
  });
}

// Numbers near 0, whose inverses are no floats, and NaN are attended to like any others.
TEST_P(AttentionTest, TinyNumbersAndNan) {
  ForEachHighwayTarget([this] {
    constexpr AttentionShape kShape{1, 40};
    constexpr int kKeys = 5;
    std::vector<float> rows(kKeys * 2 * 40, 1e-39f);
    AlignedBuffer<char> stored(SourceBytes(kShape, kKeys, GetParam()));
    StoreSource(kShape, rows.data(), kKeys, GetParam(), stored.data());
    std::vector<float> query(40, 1e-38f);
    std::vector<float> out(40);
    const Attention attention = Of({kShape});
    const KeysValues memory = ViewSource(kShape, kKeys, GetParam(), stored.data());
    attention.Run({query.data(), 40, 1}, memory, {out.data(), 40});
    for (const float x : out) EXPECT_NEAR(x, 0, 1e-37);
    query.assign(40, 1);
    query[33] = std::numeric_limits<float>::quiet_NaN();
    query[3] = 100;
    attention.Run({query.data(), 40, 1}, memory, {out.data(), 40});
  });
}

TEST_P(AttentionTest, CellsEqualTheDefinition) {
  ForEachHighwayTarget([this] {
    Random random(2);
    for (int round = 0; round < 60; ++round) {
      const Case c(&random, round < 50 ? 40 : 600, 1);
      const size_t bytes = CellBytes(c.spec.shape, GetParam());
      const size_t offset = static_cast<size_t>(random.Int(0, 3)) * bytes;
      const std::vector<float> rows = c.KeysValuesRows();
      std::vector<AlignedBuffer<char>> memory;
      std::vector<void*> cells;
      for (size_t s = 0; s < c.keys.size(); ++s) {
        memory.emplace_back(offset + bytes);
        StoreCell(c.spec.shape, rows.data() + s * 2 * c.dim, GetParam(),
                  memory.back().data() + offset);
        cells.push_back(memory.back().data());
      }
      ExpectTheDefinition(c, Tolerance(GetParam()), [&](const AttentionOutput& output) {
        Of(c.spec).Run(c.queries, CellHistory{GetParam(), cells, offset}, output);
      });
    }
  });
}

TEST_F(PlainAttentionTest, RowsEqualTheDefinition) {
  ForEachHighwayTarget([this] {
    Random random(3);
    for (int round = 0; round < 30; ++round) {
      const Case c(&random, round < 24 ? 140 : 600, round < 24 ? 9 : 200);
      const std::vector<float> rows = c.KeysValuesRows(3);
      const KeyValueRows memory{rows.data() + 3, rows.data() + 3 + c.dim, 2 * c.dim + 3,
                                c.positions()};
      const Attention attention = Of(c.spec);
      ExpectTheDefinition(c, Tolerance(CacheType::kFloat32), [&](const AttentionOutput& output) {
        attention.Run(c.queries, memory, output);
      });
      ExpectEachQueryAlone(c, attention, memory, /*step=*/7);
    }
  });
}

TEST_F(PlainAttentionTest, LargeScoresDoNotOverflow) {
  ForEachHighwayTarget([this] {
    std::vector<float> keys(2 * 4, 0.0f);
    keys[0] = 1e4f;
    keys[4] = -1e4f;
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::vector<float> q = {1e4f, 0, 0, 0};
    std::vector<float> out(4);
    std::vector<float> weights(2);
    Of({{1, 4}}).Run({q.data(), 4, 1}, KeyValueRows{keys.data(), values.data(), 4, 2},
                     {out.data(), 4, weights.data()});
    EXPECT_EQ(out, std::vector<float>({1, 2, 3, 4}));
    EXPECT_EQ(weights, std::vector<float>({1, 0}));
  });
}

}  // namespace
}  // namespace nibu::internal
