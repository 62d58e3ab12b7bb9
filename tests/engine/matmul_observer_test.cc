// Tests of the observers of a translator's matmuls.
// Threads: the thread sanitizer runs this file.
#include "engine/ops/matmul.h"

#include "engine/ops/backend/int8_rows.h"
#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

TEST(MatmulObserverTest, MeasuresARun) {
  class Counter final : public MatmulObserver {
   public:
    void Observe(const MatmulCall& call) override {
      ++calls;
      EXPECT_GE(call.rows, 1);
      EXPECT_LE(call.rows, Matmul::kMostRows);
      EXPECT_FALSE(call.is_own_kernel);  // Float32 has no kernels of our own.
    }
    int calls = 0;
  };
  const auto model = reference::Transformer(SmallConfig(), 17).Build(ComputeType::kFloat32);
  Counter counter;
  TranslatorOptions options;
  options.observers = {&counter};
  auto translator = *Translator::Create(model, options);
  translator->StartMeasuring();
  EXPECT_TRUE(translator->Translate(RandomSources(200, 10, 50), {}).ok());
  const Translator::Measurement measurement = translator->FinishMeasuring();
  EXPECT_EQ(measurement.latencies.size(), 200u);
  EXPECT_GT(measurement.profile.decoder_matmul, 0);
  EXPECT_GT(counter.calls, 0);
}

// If oneDNN is asked for, it computes all products, and int8 results stay the same bit for bit.
TEST(MatmulObserverTest, OneDnnAloneGivesTheSameInt8) {
  class Counter final : public MatmulObserver {
   public:
    void Observe(const MatmulCall& call) override { ++(call.is_own_kernel ? own : others); }
    int own = 0;
    int others = 0;
  };
  // These shapes have kernels of our own.
  ModelConfig config = SmallConfig();
  config.d_model = 64;
  config.ffn_encoder = config.ffn_decoder = 128;
  config.vocab_source = config.vocab_target = 128;
  const auto model = reference::Transformer(config, 17).Build(ComputeType::kInt8);
  const Sources sources = RandomSources(40, 10, 128);
  for (const int beam : {1, 4}) {
    DecodingOptions decoding;
    decoding.beam_size = decoding.num_hypotheses = beam;
    decoding.max_decoding_length = 12;
    Counter counters[2];
    Results results[2];
    for (const MatmulKernels kernels : {MatmulKernels::kAuto, MatmulKernels::kOneDnn}) {
      const size_t i = kernels == MatmulKernels::kAuto ? 0 : 1;
      TranslatorOptions options;
      options.kernels = kernels;
      options.observers = {&counters[i]};
      results[i] = Translate(model, decoding, options, sources);
    }
    if (!HasInt8Rows(CurrentIsa())) {  // for whose maps oneDNN chooses the layout
      EXPECT_EQ(counters[0].own > 0, CurrentIsa() >= Isa::kAvx512Vnni);
    }
    EXPECT_EQ(counters[1].own, 0);
    EXPECT_GT(counters[1].others, 0);
    EXPECT_TRUE(SameBits(results[0], results[1])) << "beam " << beam;
  }
}

}  // namespace
}  // namespace nibu::internal
