// nibu-microbench: measures matmuls, the dequantization behind them, and attention kernels alone,
// on the shapes of Transformer-base and of the bundled model. The counters are operations (multiply
// and add count as two) and bytes of weights or caches read, per second.
//
//   nibu-microbench --benchmark_filter='Linear/int8' --benchmark_repetitions=5
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "engine/attention/attention.h"
#include "engine/attention/cache.h"
#include "engine/core/aligned_buffer.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"
#include "engine/ops/quantize.h"

namespace nibu::internal {
namespace {

using benchmark::Counter;

// Returns pseudo-random floats between -1 and 1.
std::vector<float> Values(size_t n) {
  std::vector<float> values(n);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
  }
  return values;
}

void SetRates(benchmark::State& state, double operations, double bytes) {
  const auto runs = static_cast<double>(state.iterations());
  state.counters["ops"] = Counter(operations * runs, Counter::kIsRate);
  state.counters["bytes"] = Counter(bytes * runs, Counter::kIsRate, Counter::kIs1024);
}

// Returns linear layers of a shape, which are created once.
absl::StatusOr<const std::vector<Linear>*> Maps(ComputeType type, int maps, int in, int out) {
  static auto& all = *new std::map<std::tuple<ComputeType, int, int, int>, std::vector<Linear>>();
  std::vector<Linear>& made = all[{type, maps, in, out}];
  if (!made.empty()) return &made;
  const std::vector<float> weights = Values(static_cast<size_t>(in) * static_cast<size_t>(out));
  const MatrixView matrix{{DType::kFloat32, {out, in}, weights.data()}, true, {}};
  for (int i = 0; i < maps; ++i) {
    absl::StatusOr<Linear> linear = Linear::Create({matrix}, {}, Activation::kNone, type);
    if (!linear.ok()) return linear.status();
    made.push_back(*std::move(linear));
  }
  return &made;
}

// Applies linear layers. `maps`: the number of layers of the shape that take turns. With many,
// their weights come from memory, as in a decoder step; those of a single layer stay in the L2
// cache.
void BM_Linear(benchmark::State& state, ComputeType type, MatmulKernels kernels, int maps, int in,
               int out) {
  const int rows = static_cast<int>(state.range(0));
  const auto made = Maps(type, maps, in, out);
  if (!made.ok()) {
    state.SkipWithError(std::string(made.status().message()).c_str());
    return;
  }
  const std::vector<Linear>& linears = **made;
  Matmul matmul(kernels);
  const int room = Matmul::RoomFor(rows);
  AlignedBuffer<float> x(static_cast<size_t>(room) * static_cast<size_t>(in));
  AlignedBuffer<float> y(static_cast<size_t>(room) * static_cast<size_t>(out));
  const std::vector<float> values = Values(x.size());
  std::memcpy(x.data(), values.data(), x.size() * sizeof(float));
  size_t next = 0;
  for (auto _ : state) {
    matmul.Apply(linears[next], {x.data(), rows, in, room}, {y.data(), rows, out, room});
    next = next + 1 < linears.size() ? next + 1 : 0;
  }
  SetRates(state, 2.0 * rows * in * out, static_cast<double>(linears[0].bytes()));
}

// Finishes an int8 matmul: from its sums to 64 rows of a hidden layer of the bundled model.
void BM_Dequantize(benchmark::State& state, Activation activation) {
  constexpr size_t kRows = 64;
  constexpr size_t kColumns = 1024;
  const std::vector<float> scales(kColumns, 1e-8f);
  const std::vector<int32_t> zero_sums(kColumns);
  const std::vector<float> row_scales(kRows, 1.0f);
  const std::vector<float> bias = Values(kColumns);
  const std::vector<int32_t> sums(kRows * kColumns, 1000);
  std::vector<float> y(kRows * kColumns);
  for (auto _ : state) {
    DequantizeRows({scales.data(), zero_sums.data(), bias.data(), activation}, row_scales.data(),
                   kRows, kColumns, sums.data(), kColumns, y.data(), kColumns);
  }
}

constexpr AttentionShape kBase{8, 64};

void BM_StoreSource(benchmark::State& state, CacheType type) {
  const int positions = static_cast<int>(state.range(0));
  const auto dim = static_cast<size_t>(kBase.heads * kBase.head_dim);
  const std::vector<float> keys_values = Values(2 * dim * static_cast<size_t>(positions));
  AlignedBuffer<char> memory(SourceBytes(kBase, positions, type));
  for (auto _ : state) StoreSource(kBase, keys_values.data(), positions, type, memory.data());
}

// Attention over a stored source: an encoder's, with as many queries as positions, or a decoder's
// cross-attention, with those of a beam.
void BM_Attend(benchmark::State& state, CacheType type) {
  const int queries = static_cast<int>(state.range(0));
  const int positions = static_cast<int>(state.range(1));
  const auto dim = static_cast<size_t>(kBase.heads * kBase.head_dim);
  const std::vector<float> keys_values = Values(2 * dim * static_cast<size_t>(positions));
  AlignedBuffer<char> memory(SourceBytes(kBase, positions, type));
  StoreSource(kBase, keys_values.data(), positions, type, memory.data());
  const std::vector<float> q = Values(dim * static_cast<size_t>(queries));
  std::vector<float> out(q.size());
  const KeysValues view = ViewSource(kBase, positions, type, memory.data());
  Arena arena;
  const Attention attention({kBase}, &arena);
  for (auto _ : state) attention.Run({q.data(), dim, queries}, view, {out.data(), dim});
  SetRates(state, 4.0 * queries * positions * static_cast<double>(dim),
           static_cast<double>(memory.size()));
}

// An encoder's self-attention: queries, keys and values of each position, side by side.
void BM_AttendRows(benchmark::State& state) {
  const int positions = static_cast<int>(state.range(0));
  const auto dim = static_cast<size_t>(kBase.heads * kBase.head_dim);
  const std::vector<float> qkv = Values(3 * dim * static_cast<size_t>(positions));
  std::vector<float> out(qkv.size() / 3);
  const KeyValueRows rows{qkv.data() + dim, qkv.data() + 2 * dim, 3 * dim, positions};
  Arena arena;
  const Attention attention({kBase}, &arena);
  for (auto _ : state) attention.Run({qkv.data(), 3 * dim, positions}, rows, {out.data(), dim});
  SetRates(state, 4.0 * positions * positions * static_cast<double>(dim),
           static_cast<double>(qkv.size() * sizeof(float)));
}

// A decoder's self-attention: one query over the cells of its history.
void BM_AttendCells(benchmark::State& state, CacheType type) {
  const auto positions = static_cast<size_t>(state.range(0));
  const auto dim = static_cast<size_t>(kBase.heads * kBase.head_dim);
  const std::vector<float> keys_values = Values(2 * dim);
  std::vector<AlignedBuffer<char>> memory;
  std::vector<void*> cells;
  for (size_t t = 0; t < positions; ++t) {
    memory.emplace_back(CellBytes(kBase, type));
    StoreCell(kBase, keys_values.data(), type, memory.back().data());
    cells.push_back(memory.back().data());
  }
  std::vector<float> out(dim);
  const CellHistory history{type, cells, 0};
  Arena arena;
  const Attention attention({kBase}, &arena);
  for (auto _ : state) attention.Run({keys_values.data(), dim, 1}, history, {out.data(), dim});
  SetRates(state, 4.0 * static_cast<double>(positions * dim),
           static_cast<double>(positions * CellBytes(kBase, type)));
}

void RegisterAll() {
  const std::pair<ComputeType, const char*> types[] = {{ComputeType::kFloat32, "float32"},
                                                       {ComputeType::kBFloat16, "bfloat16"},
                                                       {ComputeType::kInt8, "int8"}};
  for (const auto& [type, name] : types) {
    // Bfloat16 needs AVX-512, as oneDNN has no kernels for it below.
    if (!IsSupported(type)) continue;
    for (const auto& [in, out] :
         {std::pair(512, 1536), std::pair(512, 512), std::pair(512, 2048), std::pair(2048, 512),
          std::pair(256, 256), std::pair(256, 2048)}) {
      const std::string title = absl::StrCat("Linear/", name, "/", in, "x", out);
      for (const int rows : {1, 4, 16, 64, 256}) {
        benchmark::RegisterBenchmark(title.c_str(), BM_Linear, type, MatmulKernels::kAuto,
                                     /*maps=*/1, in, out)
            ->Arg(rows);
      }
    }
  }
  // Our own int8 kernels are compared with oneDNN's, with 64 MB of weights.
  for (const auto& [in, out] :
       {std::pair(256, 256), std::pair(256, 768), std::pair(256, 1536), std::pair(1536, 256),
        std::pair(512, 512), std::pair(512, 1536), std::pair(512, 2048), std::pair(2048, 512),
        std::pair(1024, 1024), std::pair(1024, 4096)}) {
    for (const auto& [kernels, name] :
         {std::pair(MatmulKernels::kAuto, "nibu"), std::pair(MatmulKernels::kOneDnn, "oneDNN")}) {
      const std::string title = absl::StrCat("Int8FromMemory/", in, "x", out, "/", name);
      const int maps = (64 << 20) / (in * out);
      for (const int rows : {1, 4, 8, 16, 32, 64, 96}) {
        benchmark::RegisterBenchmark(title.c_str(), BM_Linear, ComputeType::kInt8, kernels, maps,
                                     in, out)
            ->Arg(rows);
      }
    }
  }
  const std::pair<Activation, const char*> activations[] = {
      {Activation::kNone, "none"},
      {Activation::kRelu, "relu"},
      {Activation::kGelu, "gelu"},
      {Activation::kGeluTanh, "gelu_tanh"},
      {Activation::kGeluSigmoid, "gelu_sigmoid"},
      {Activation::kSwish, "swish"}};
  for (const auto& [activation, name] : activations) {
    benchmark::RegisterBenchmark(absl::StrCat("Dequantize/", name).c_str(), BM_Dequantize,
                                 activation);
  }
  for (const CacheType type : {CacheType::kFloat32, CacheType::kBFloat16, CacheType::kInt8}) {
    benchmark::RegisterBenchmark(absl::StrCat("StoreSource/", ComputeTypeName(type)).c_str(),
                                 BM_StoreSource, type)
        ->Arg(30);
    for (const auto& [queries, positions] :
         {std::pair(1, 30), std::pair(4, 30), std::pair(6, 30), std::pair(8, 30), std::pair(1, 256),
          std::pair(32, 32), std::pair(512, 512)}) {
      benchmark::RegisterBenchmark(absl::StrCat("Attend/", ComputeTypeName(type)).c_str(),
                                   BM_Attend, type)
          ->Args({queries, positions});
    }
    if (type == CacheType::kFloat32) {
      for (const int positions : {16, 32, 64, 128, 256, 1024, 4096}) {
        benchmark::RegisterBenchmark("AttendRows/float32", BM_AttendRows)->Arg(positions);
      }
    }
    for (const int positions : {1, 15, 60, 250}) {
      benchmark::RegisterBenchmark(absl::StrCat("AttendCells/", ComputeTypeName(type)).c_str(),
                                   BM_AttendCells, type)
          ->Arg(positions);
    }
  }
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  nibu::internal::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
