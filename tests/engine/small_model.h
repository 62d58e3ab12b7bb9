// Small models with random weights, and helpers that translate with them.
#ifndef NIBU_TESTS_ENGINE_SMALL_MODEL_H_
#define NIBU_TESTS_ENGINE_SMALL_MODEL_H_

#include <cstring>
#include <memory>
#include <vector>

#include "engine/translator.h"
#include "gtest/gtest.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

using Sources = std::vector<std::vector<int>>;
using Results = std::vector<std::vector<Hypothesis>>;

inline ModelConfig SmallConfig() {
  ModelConfig config;
  config.d_model = 32;
  config.heads_encoder = config.heads_decoder = 4;
  config.ffn_encoder = config.ffn_decoder = 64;
  config.layers_encoder = config.layers_decoder = 2;
  config.vocab_source = config.vocab_target = 50;
  config.max_positions = 64;
  config.decoder_start = -1;
  config.source_suffix = {0};
  config.embedding_scale = 3;
  return config;
}

inline Sources RandomSources(int count, int longest, int vocabulary) {
  Random random(5);
  Sources sources;
  for (int i = 0; i < count; ++i) {
    sources.emplace_back(static_cast<size_t>(random.Int(1, longest)));
    for (int& token : sources.back()) token = random.Int(1, vocabulary - 1);
  }
  return sources;
}

inline Results Translate(const std::shared_ptr<const Model>& model, const DecodingOptions& decoding,
                         const TranslatorOptions& options, const Sources& sources) {
  auto translator = Translator::Create(model, options);
  EXPECT_TRUE(translator.ok()) << translator.status();
  auto results = (*translator)->Translate(sources, decoding);
  EXPECT_TRUE(results.ok()) << results.status();
  return *std::move(results);
}

// Returns a shortlist with 5 candidates or none for each token, and 3 that are always there.
inline std::shared_ptr<const Shortlist> SmallShortlist(int vocabulary) {
  auto shortlist = std::make_shared<Shortlist>();
  shortlist->first = 3;
  Random random(21);
  shortlist->offsets = {0};
  for (int s = 0; s < vocabulary; ++s) {
    for (int n = random.Chance() ? 5 : 0; n > 0; --n) {
      shortlist->ids.push_back(random.Int(0, vocabulary - 1));
    }
    shortlist->offsets.push_back(static_cast<uint32_t>(shortlist->ids.size()));
  }
  return shortlist;
}

inline bool SameBits(const Results& a, const Results& b) {
  const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
    return x.size() == y.size() &&
           (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
  };
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) return false;
    for (size_t n = 0; n < a[i].size(); ++n) {
      if (a[i][n].tokens != b[i][n].tokens || a[i][n].score != b[i][n].score ||
          a[i][n].finished != b[i][n].finished ||
          !same(a[i][n].token_scores, b[i][n].token_scores)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_SMALL_MODEL_H_
