#include "engine/attention/cache.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/attention/bfloat16_attention.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu {
namespace {

// Attention as it is written: softmax(scale q k^T + bias) v for one query, at a position, all
// heads, in double precision.
std::vector<double> Reference(const AttentionShape& shape, const float* q, int position,
                              const DistanceBias& bias, const std::vector<std::vector<float>>& keys,
                              const std::vector<std::vector<float>>& values) {
  const int dim = shape.head_dim;
  const double scale = shape.scale != 0 ? static_cast<double>(shape.scale) : 1 / std::sqrt(dim);
  std::vector<double> out(static_cast<size_t>(shape.heads * dim));
  for (int h = 0; h < shape.heads; ++h) {
    std::vector<double> p(keys.size());
    double sum = 0;
    for (size_t s = 0; s < keys.size(); ++s) {
      double dot = 0;
      for (int i = 0; i < dim; ++i) {
        dot += static_cast<double>(q[h * dim + i]) *
               static_cast<double>(keys[s][static_cast<size_t>(h * dim + i)]);
      }
      p[s] = dot * scale;
      if (bias.values != nullptr) {
        const long at = static_cast<long>(bias.stride) * h + static_cast<long>(s) - position;
        p[s] += static_cast<double>(bias.values[at]);
      }
      p[s] = std::exp(p[s]);
      sum += p[s];
    }
    for (size_t s = 0; s < keys.size(); ++s) {
      for (int i = 0; i < dim; ++i) {
        const auto column = static_cast<size_t>(h * dim + i);
        out[column] += p[s] / sum * static_cast<double>(values[s][column]);
      }
    }
  }
  return out;
}

std::vector<std::vector<float>> Rows(Random* random, int n, size_t dim) {
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < n; ++i) rows.push_back(random->Floats(dim, 1.5f));
  return rows;
}

// Biases of the distances -max .. max.
struct Biases {
  Biases(Random* random, int heads, int max)
      : stride(2 * static_cast<size_t>(max) + 1),
        zero(static_cast<size_t>(max)),
        values(random->Floats(stride * static_cast<size_t>(heads), 3.0f)) {}
  DistanceBias view() const { return {values.data() + zero, stride}; }

  size_t stride;
  size_t zero;
  std::vector<float> values;
};

float Tolerance(CacheType type) {
  if (type == CacheType::kFloat32) return 1e-5f;
  return type == CacheType::kBFloat16 ? 3e-2f : 6e-2f;
}

void ExpectNear(const std::vector<double>& expected, const float* actual, float tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(expected[i], actual[i], tolerance) << "column " << i;
  }
}

class AttentionTest : public testing::TestWithParam<CacheType> {};

INSTANTIATE_TEST_SUITE_P(Types, AttentionTest,
                         testing::Values(CacheType::kFloat32, CacheType::kBFloat16,
                                         CacheType::kInt8));

TEST_P(AttentionTest, EqualsTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(1);
    for (int round = 0; round < 60; ++round) {
      const AttentionShape shape{random.Int(1, 5), random.Int(1, 70),
                                 random.Chance() ? 0.0f : 0.25f};
      const auto dim = static_cast<size_t>(shape.heads * shape.head_dim);
      const int positions = round < 50 ? random.Int(1, 70) : random.Int(200, 600);
      const int queries = random.Int(1, 9);
      const Biases biases(&random, shape.heads, std::max(positions, queries));
      const bool biased = random.Chance();
      const auto keys = Rows(&random, positions, dim);
      const auto values = Rows(&random, positions, dim);
      // Rows of keys and values as the decoder has them: side by side.
      std::vector<float> keys_values;
      for (int s = 0; s < positions; ++s) {
        const auto row = static_cast<size_t>(s);
        keys_values.insert(keys_values.end(), keys[row].begin(), keys[row].end());
        keys_values.insert(keys_values.end(), values[row].begin(), values[row].end());
      }
      AlignedBuffer<char> stored(SourceBytes(shape, positions, GetParam()));
      StoreSource(shape, keys_values.data(), positions, GetParam(), stored.data());
      KeysValues memory = ViewSource(shape, positions, GetParam(), stored.data());
      if (biased) memory.bias = biases.view();
      const size_t q_stride = dim + 3;
      const auto q = random.Floats(q_stride * static_cast<size_t>(queries), 1.5f);
      std::vector<float> out(dim * static_cast<size_t>(queries));
      Attend(shape, q.data(), q_stride, queries, memory, out.data(), dim);
      for (size_t r = 0; r < static_cast<size_t>(queries); ++r) {
        ExpectNear(Reference(shape, q.data() + r * q_stride, static_cast<int>(r), memory.bias, keys,
                             values),
                   out.data() + r * dim, Tolerance(GetParam()));
        // Bit for bit what the query gets alone.
        std::vector<float> alone(dim);
        KeysValues from_here = memory;
        if (biased) from_here.bias.values -= r;
        Attend(shape, q.data() + r * q_stride, q_stride, 1, from_here, alone.data(), dim);
        for (size_t i = 0; i < dim; ++i) ASSERT_EQ(alone[i], out[r * dim + i]);
      }
    }
  });
}

TEST_P(AttentionTest, CellsEqualTheDefinition) {
  ForEachHighwayTarget([] {
    Random random(2);
    for (int round = 0; round < 60; ++round) {
      const AttentionShape shape{random.Int(1, 5), random.Int(1, 70),
                                 random.Chance() ? 0.0f : 0.25f};
      const auto dim = static_cast<size_t>(shape.heads * shape.head_dim);
      const int positions = round < 50 ? random.Int(1, 40) : random.Int(200, 600);
      const auto keys = Rows(&random, positions, dim);
      const auto values = Rows(&random, positions, dim);
      const size_t offset = static_cast<size_t>(random.Int(0, 3)) * CellBytes(shape, GetParam());
      std::vector<AlignedBuffer<char>> memory;
      std::vector<void*> cells;
      for (size_t s = 0; s < keys.size(); ++s) {
        std::vector<float> both = keys[s];
        both.insert(both.end(), values[s].begin(), values[s].end());
        memory.emplace_back(offset + CellBytes(shape, GetParam()));
        StoreCell(shape, both.data(), GetParam(), memory.back().data() + offset);
        cells.push_back(memory.back().data());
      }
      const auto q = random.Floats(dim, 1.5f);
      std::vector<float> scores(cells.size() + kKeyBlock);
      std::vector<float> out(dim);
      const Biases biases(&random, shape.heads, positions);
      CellHistory history{GetParam(), cells, offset};
      if (random.Chance()) history.bias = biases.view();
      AttendCells(shape, q.data(), history, scores.data(), out.data());
      ExpectNear(Reference(shape, q.data(), positions - 1, history.bias, keys, values), out.data(),
                 Tolerance(GetParam()));
    }
  });
}

TEST(AttentionTest, InBFloat16EqualsTheDefinition) {
  if (!IsSupported(ComputeType::kBFloat16)) {
    GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  }
  ForEachHighwayTarget([] {
    Random random(3);
    MatmulContext matmul;
    Arena arena;
    for (int round = 0; round < 12; ++round) {
      const AttentionShape shape{random.Int(1, 3), random.Int(1, 70),
                                 random.Chance() ? 0.0f : 0.25f};
      const auto dim = static_cast<size_t>(shape.heads * shape.head_dim);
      const int positions = round < 6 ? random.Int(1, 140) : random.Int(200, 600);
      const auto keys = Rows(&random, positions, dim);
      const auto values = Rows(&random, positions, dim);
      const auto queries = Rows(&random, positions, dim);
      const size_t stride = 3 * dim + 1;
      std::vector<float> rows(stride * keys.size());
      for (size_t s = 0; s < keys.size(); ++s) {
        float* row = rows.data() + s * stride;
        row = std::copy(queries[s].begin(), queries[s].end(), row);
        row = std::copy(keys[s].begin(), keys[s].end(), row);
        std::copy(values[s].begin(), values[s].end(), row);
      }
      const Biases biases(&random, shape.heads, positions);
      const DistanceBias bias = random.Chance() ? biases.view() : DistanceBias();
      std::vector<float> out(dim * keys.size());
      AttendInBFloat16(shape, rows.data(), rows.data() + dim, rows.data() + 2 * dim, stride,
                       positions, bias, &matmul, &arena, out.data(), dim);
      for (size_t r = 0; r < keys.size(); r += 1 + keys.size() / 20) {
        ExpectNear(Reference(shape, queries[r].data(), static_cast<int>(r), bias, keys, values),
                   out.data() + r * dim, 2 * Tolerance(CacheType::kBFloat16));
      }
    }
  });
}

TEST(AttentionTest, LargeScoresDoNotOverflow) {
  ForEachHighwayTarget([] {
    const AttentionShape shape{1, 4};
    std::vector<float> keys(2 * 4, 0.0f);
    keys[0] = 1e4f;
    keys[4] = -1e4f;
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    AlignedBuffer<float> packed(PackedKeySize(shape, 2));
    PackKeys(shape, keys.data(), 4, 2, packed.data());
    const std::vector<float> q = {1e4f, 0, 0, 0};
    std::vector<float> out(4);
    KeysValues memory;
    memory.keys = packed.data();
    memory.values = values.data();
    memory.value_stride = 4;
    memory.positions = 2;
    Attend(shape, q.data(), 4, 1, memory, out.data(), 4);
    EXPECT_EQ(out, std::vector<float>({1, 2, 3, 4}));
  });
}

}  // namespace
}  // namespace nibu
