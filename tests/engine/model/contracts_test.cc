// Contracts of engine/model: sources and states, tokens and positions, rows that ask for logits.
#include <memory>
#include <vector>

#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "engine/model/output_layer.h"
#include "engine/model/token_mixer.h"
#include "engine/search/search_row.h"
#include "tests/contracts.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/row_buffer.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

// A model, and a sentence of four tokens.
class ModelContracts : public ContractTest {
 protected:
  ModelContracts() { state_.Start(model_->config, &pool_, 4, /*beam_size=*/2); }

  RowSpan<float> EncodeSource(absl::Span<const absl::Span<const int>> sources,
                              AttentionMaps::Layers* maps = nullptr) {
    return Encode(*model_, source_, sources, &workspace_, maps);
  }
  void Step(std::vector<int> tokens, bool consecutive = false, AttentionMaps* maps = nullptr) {
    Decoder::Input input{&state_, tokens, consecutive};
    input.maps = maps;
    decoder_.Step({&input, 1});
  }
  void Select(std::vector<int> tokens) {
    OutputSubset subset;
    subset.tokens = std::move(tokens);
    output_.Select({&subset});
  }

  const std::shared_ptr<const Model> model_ =
      reference::Transformer(SmallConfig(), 3).Build(ComputeType::kFloat32);
  const Embedder source_{model_->config, model_->weights.source, 8};
  const Embedder target_{model_->config, model_->weights.target, 8};
  Workspace workspace_;
  PagePool pool_{model_->config, CacheType::kFloat32, workspace_.memory};
  Decoder decoder_{*model_, target_, &workspace_};
  OutputLayer output_{*model_, &workspace_};
  DecoderState state_;
  const std::vector<int> sentence_ = {1, 2, 3, 4};
};

TEST_F(ModelContracts, SourcesHaveTokens) {
  EXPECT_BROKEN(EncodeSource({}), "!sources.empty()");
  EXPECT_BROKEN(EncodeSource({{}}), "source.empty()");
}

TEST_F(ModelContracts, TokensAndPositionsAreTheEmbedders) {
  std::vector<float> out(32);
  target_.Embed(-1, 7, out.data());
  EXPECT_BROKEN(target_.Embed(-2, 0, out.data()), "-1 <= token");
  EXPECT_BROKEN(target_.Embed(50, 0, out.data()), "token < weights_.tokens->rows()");
  EXPECT_BROKEN(target_.Embed(1, 8, out.data()), "< count_");
  EXPECT_BROKEN(target_.Embed(1, -1, out.data()), "0 <= position");
}

TEST_F(ModelContracts, MatricesAreOfOneSource) {
  AttentionMaps::Layers maps;
  EXPECT_BROKEN(EncodeSource({sentence_, sentence_}, &maps), "sources.size() == 1");
}

TEST_F(ModelContracts, StatesHaveTheirSources) {
  const RowSpan<float> encoded = EncodeSource({sentence_});
  decoder_.Begin(encoded, {&state_});
  EXPECT_BROKEN(decoder_.Begin(encoded.Slice(0, 3), {&state_}), "positions == encoded.rows()");
}

TEST_F(ModelContracts, StepsReadTokens) {
  decoder_.Begin(EncodeSource({sentence_}), {&state_});
  EXPECT_BROKEN(Step({}), "count > 0");
  EXPECT_BROKEN(Step({1, 2, 3}), "hypotheses) <= cells_.size()");
}

TEST_F(ModelContracts, MatricesAreOfWholeHypotheses) {
  decoder_.Begin(EncodeSource({sentence_}), {&state_});
  AttentionMaps maps;
  EXPECT_BROKEN(Step({1}, /*consecutive=*/false, &maps), "input.consecutive");
  maps.decoder.resize(model_->weights.decoder.size());
  maps.cross.resize(model_->weights.decoder.size());
  EXPECT_BROKEN(Step({1}, /*consecutive=*/true, &maps), "keys > 0");  // those that Begin keeps
  Step({1});
  EXPECT_BROKEN(Step({2}, /*consecutive=*/true, &maps), "input.state->length() == count");
}

TEST_F(ModelContracts, MixersOfTheirOwnAreNoAttention) {
  RowBuffer rows(4, 32);
  const MixerSpec full;
  const absl::Span<const int> sources[] = {sentence_};
  const MixerCall call{model_->config, full, model_->weights.encoder[0], sources, rows.span()};
  EXPECT_BROKEN(MixTokens(call, &workspace_, rows.span()), "!call.spec.is_attention()");
}

TEST_F(ModelContracts, GroupsHaveAllRows) {
  const std::vector<float> w(64 * 32);
  MixerWeights own;
  own.reduce = *Linear::Create({MatrixView{View(w, {32, 64}), true, {}}}, {}, Activation::kNone,
                               ComputeType::kFloat32);
  own.centre = *Linear::Create({MatrixView{View(w, {32, 32}), true, {}}}, {}, Activation::kNone,
                               ComputeType::kFloat32);
  own.centre_vector = std::vector<float>(32);
  RowBuffer rows(4, 32);
  EXPECT_BROKEN(ReduceRows(model_->config, own, 2, rows.span(), {2}, &workspace_),
                "row == x.rows()");
  EXPECT_BROKEN(PredictCentres(model_->config, own, rows.span(), {{2, 4}}, &workspace_),
                "row == x.rows()");
}

TEST_F(ModelContracts, ShortlistsAreAscendingTokens) {
  Select({0, 7, 49});
  EXPECT_BROKEN(Select({}), "!subset->tokens.empty()");
  EXPECT_BROKEN(Select({7, 0}), "c_is_sorted(subset->tokens)");
  EXPECT_BROKEN(Select({-1, 0}), "subset->tokens.front() >= 0");
  EXPECT_BROKEN(Select({0, 50}), "subset->tokens.back() < ");
  EXPECT_BROKEN(output_.Select({}), "!subsets.empty()");
}

TEST_F(ModelContracts, RowsThatAskForLogitsAscend) {
  RowBuffer memory(3, 32, Matmul::kMostRows / 2);
  const RowSpan<const float> hidden = memory.span();
  SearchRow sinks[2];
  for (SearchRow& sink : sinks) sink.Start(1, /*normalize=*/false);
  const auto run = [&](int first, int second) {
    const OutputLayer::Query queries[] = {{first, &sinks[0]}, {second, &sinks[1]}};
    output_.Run({&hidden, 1}, queries);
  };
  run(0, 2);
  EXPECT_BROKEN(run(2, 0), "descend");
  EXPECT_BROKEN(run(1, 1), "descend");
  EXPECT_BROKEN(run(2, 3), "first + count <= rows_");
  EXPECT_BROKEN(output_.Run({}, {}), "hidden.size() == models_.size()");
}

TEST_F(ModelContracts, PositionsOfAStateAreHeld) {
  EXPECT_BROKEN(state_.Start(model_->config, &pool_, 0, 1), "source_length > 0");
  EXPECT_BROKEN(state_.Start(model_->config, &pool_, 4, 0), "beam_size > 0");
  state_.Extend(2);
  EXPECT_EQ(state_.history(1, 0, 0).cells.size(), 1u);
  EXPECT_BROKEN(state_.history(1, 0, 1), "last) < cells_");
  EXPECT_BROKEN(state_.history(2, 0, 0), "h) < cells_.size()");
  EXPECT_BROKEN(state_.Extend(3), "hypotheses) <= cells_.size()");
  EXPECT_BROKEN(state_.Extend(0), "0 < hypotheses");
}

TEST_F(ModelContracts, ParentsAreOfTheBeam) {
  state_.Extend(2);
  state_.Reorder({1, 0});
  EXPECT_BROKEN(state_.Reorder({2, 0}), "IsLive(h)");
  EXPECT_BROKEN(state_.Reorder({-1}), "IsLive(h)");
  EXPECT_BROKEN(state_.Reorder({0, 1, 1}), "parents.size() <= cells_.size()");
}

TEST_F(ModelContracts, PositionsAreDroppedWithinTheLimit) {
  EXPECT_BROKEN(state_.Truncate(0), "cells_.size() == 1");  // a beam of 2
  state_.Start(model_->config, &pool_, 4, /*beam_size=*/1, /*droppable=*/2);
  for (int i = 0; i < 5; ++i) state_.Extend(1);
  EXPECT_BROKEN(state_.Truncate(6), "length <= length_");
  EXPECT_BROKEN(state_.Truncate(2), "longest_ - length <= droppable_");
  state_.Truncate(4);
  EXPECT_BROKEN(state_.Truncate(2), "longest_ - length <= droppable_");
  state_.Truncate(3);
}

}  // namespace
}  // namespace nibu::internal
