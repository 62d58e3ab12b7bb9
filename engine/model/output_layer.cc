// Computes logits = h W_out + b for the rows h [R, D] of a step, W_out [D, V].
//
// W_out is cut into blocks of OutputWeights::kBlock columns, so that a block's logits stay in the
// cache while they are read. The steps of Run:
//   1. Queries whose sentences share their copied columns (below), or have no shortlist, are worked
//      on together. Their rows are copied one after the other, unless they lie so already.
//   2. For each block, and for each piece of as many rows as a matmul takes: logits [rows, block],
//      for every model of an ensemble.
//   3. Each row goes to its sink, which edits it (suppression, penalties) and takes it. A row of an
//      ensemble is the weighted mean of the models' edited logits.
//   4. An ensemble's sink is also told the mean of the models' log-sum-exp.
// With a shortlist there is one block: the columns of the sentence's tokens, which Select copies.
// Several sentences may share the columns of all their tokens; each picks its own (Pick).
#include "engine/model/output_layer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/container/inlined_vector.h"
#include "engine/core/token_set.h"

namespace nibu::internal {
namespace {

// Returns whether two queries multiply by the same weights.
bool Share(const OutputSubset* a, const OutputSubset* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->linears[0].packed() == b->linears[0].packed();
}

// Keeps the tokens of a subset that a model's output layer has, of which there is at least the end
// token.
void KeepOutputs(const ModelConfig& config, std::vector<int>* tokens) {
  if (config.output_tokens.empty()) return;
  std::vector<int> kept;
  absl::c_set_intersection(*tokens, config.output_tokens, std::back_inserter(kept));
  if (kept.empty()) kept.push_back(config.eos);
  *tokens = std::move(kept);
}

// Returns the outputs that have the logits of some tokens.
std::vector<int> OutputsOf(const ModelConfig& config, std::vector<int> tokens) {
  auto output = config.output_tokens.begin();
  for (int& token : tokens) {
    if (config.output_tokens.empty()) break;
    output = std::lower_bound(output, config.output_tokens.end(), token);
    token = static_cast<int>(output - config.output_tokens.begin());
  }
  return tokens;
}

// Moves the logits of a subset's tokens to the front of a row that has those of all tokens of the
// shared product. Columns ascend, so that no logit is overwritten before it is read.
void Pick(const OutputSubset& subset, float* logits) {
  for (size_t i = 0; i < subset.columns.size(); ++i) {
    logits[i] = logits[static_cast<size_t>(subset.columns[i])];
  }
}

}  // namespace

void OutputLayer::Select(absl::Span<OutputSubset* const> subsets) const {
  ABSL_ASSERT(!subsets.empty());
  const ModelConfig& config = models_[0].model->config;
  for (OutputSubset* const subset : subsets) {
    ABSL_ASSERT(!subset->tokens.empty() && absl::c_is_sorted(subset->tokens));
    ABSL_ASSERT(subset->tokens.front() >= 0);
    ABSL_ASSERT(subset->tokens.back() < config.vocab_target);
    KeepOutputs(config, &subset->tokens);
  }
  const bool share = absl::c_all_of(models_, [](const Part& part) {
    return Matmul::SharesOutputs(part.model->weights.output.blocks[0]);
  });
  if (!share && subsets.size() > 1) {
    for (OutputSubset* const subset : subsets) Select({subset});
    return;
  }
  TokenSet needed(config.vocab_target);
  for (const OutputSubset* subset : subsets) {
    for (const int token : subset->tokens) needed.Add(token);
  }
  const std::vector<int> all = needed.Ascending();
  const std::vector<int> outputs = OutputsOf(config, all);
  std::vector<Linear> linears;
  for (const Part& part : models_) {
    linears.push_back(
        Linear::Select(part.model->weights.output.blocks, outputs, workspace_->memory));
  }
  for (OutputSubset* const subset : subsets) {
    subset->linears = linears;
    subset->columns.clear();
    auto column = all.begin();
    for (const int token : subset->tokens) {
      column = std::find(column, all.end(), token);
      subset->columns.push_back(static_cast<int>(column - all.begin()));
    }
  }
}

void OutputLayer::Run(absl::Span<const RowSpan<const float>> hidden,
                      absl::Span<const Query> queries) {
  ABSL_ASSERT(hidden.size() == models_.size());
  const auto descend = [](const Query& a, const Query& b) { return a.row >= b.row; };
  ABSL_ASSERT(absl::c_adjacent_find(queries, descend) == queries.end());
  for (size_t first = 0; first < queries.size();) {
    size_t end = first + 1;
    while (end < queries.size() && Share(queries[end].subset, queries[first].subset)) ++end;
    const auto some = queries.subspan(first, end - first);
    const Arena::Mark mark = workspace_->arena.mark();
    absl::InlinedVector<RowSpan<const float>, 1> rows;
    for (const RowSpan<const float>& each : hidden) rows.push_back(Gather(each, some));
    RunShared(rows, some);
    workspace_->arena.Rewind(mark);
    first = end;
  }
}

RowSpan<const float> OutputLayer::Gather(RowSpan<const float> hidden,
                                         absl::Span<const Query> queries) {
  const int count = static_cast<int>(queries.size());
  if (queries.back().row - queries[0].row == count - 1) {  // none is left out
    return hidden.Slice(queries[0].row, count);
  }
  const RowSpan<float> gathered = workspace_->Rows(count, hidden.columns());
  for (int i = 0; i < count; ++i) {
    std::copy_n(hidden.row(queries[static_cast<size_t>(i)].row), hidden.columns(), gathered.row(i));
  }
  return gathered;
}

// For an ensemble, the mean of the logits less the mean of their log-sum-exp is the mean of the
// log-probabilities.
void OutputLayer::HandOver(const Query& query, const LogitTokens& tokens,
                           absl::Span<float* const> logits, absl::Span<LogSumExp> sums) const {
  const auto count = static_cast<size_t>(tokens.count());
  for (size_t m = 0; m < models_.size(); ++m) {
    if (query.subset != nullptr) Pick(*query.subset, logits[m]);
    query.sink->Edit(tokens, logits[m]);
    if (!sums.empty()) sums[m].Add({logits[m], count});
  }
  for (size_t i = 0; !sums.empty() && i < count; ++i) {
    float mean = 0;
    for (size_t m = 0; m < models_.size(); ++m) mean += models_[m].weight * logits[m][i];
    logits[0][i] = mean;
  }
  query.sink->Take(tokens, logits[0]);
}

void OutputLayer::RunShared(absl::Span<const RowSpan<const float>> hidden,
                            absl::Span<const Query> queries) {
  const OutputSubset* const subset = queries[0].subset;
  const absl::Span<const int> output_tokens = models_[0].model->config.output_tokens;
  const size_t models = models_.size();
  const auto blocks = [&](size_t m) {
    return subset == nullptr ? absl::MakeConstSpan(models_[m].model->weights.output.blocks)
                             : absl::MakeConstSpan(&subset->linears[m], 1);
  };
  const int most = Matmul::PieceRows(blocks(0)[0]);
  const int rows = static_cast<int>(queries.size());
  const bool is_mixed = models > 1;
  absl::InlinedVector<RowSpan<float>, 1> logits;
  size_t count_of_blocks = blocks(0).size();
  for (size_t m = 0; m < models; ++m) {
    logits.push_back(workspace_->Rows(std::min(rows, most), blocks(m)[0].out()));
    count_of_blocks = std::min(count_of_blocks, blocks(m).size());
  }
  if (is_mixed) sums_.assign(queries.size() * models, LogSumExp());
  Matmul& matmul = workspace_->matmul;
  int first = 0;
  for (size_t b = 0; b < count_of_blocks; ++b) {
    int width = blocks(0)[b].out();
    for (size_t m = 1; m < models; ++m) width = std::min(width, blocks(m)[b].out());
    for (int from = 0; from < rows; from += most) {
      const int count = std::min(most, rows - from);
      for (size_t m = 0; m < models; ++m) {
        ScopedTimer timer(&workspace_->profile.decoder_matmul);
        const Linear& block = blocks(m)[b];
        // All blocks read one input, which is prepared once; the models of an ensemble take turns.
        if (is_mixed || (first == 0 && from == 0)) matmul.SetInput(block, hidden[m]);
        matmul.ApplyToInput(block, from, logits[m].WithColumns(block.out()).Slice(0, count));
      }
      ScopedTimer timer(&workspace_->profile.search);
      for (int r = 0; r < count; ++r) {
        const auto i = static_cast<size_t>(from) + static_cast<size_t>(r);
        const OutputSubset* const own = queries[i].subset;
        const LogitTokens tokens =
            own != nullptr          ? LogitTokens(own->tokens)
            : output_tokens.empty() ? LogitTokens(first, width)
                                    : LogitTokens(output_tokens.subspan(
                                          static_cast<size_t>(first), static_cast<size_t>(width)));
        absl::InlinedVector<float*, 1> row;
        for (size_t m = 0; m < models; ++m) {
          row.push_back(logits[m].WithColumns(blocks(m)[b].out()).row(r));
        }
        const auto sums =
            absl::MakeSpan(sums_).subspan(is_mixed ? i * models : 0, is_mixed ? models : 0);
        HandOver(queries[i], tokens, row, sums);
      }
    }
    first += width;
  }
  for (size_t i = 0; is_mixed && i < queries.size(); ++i) {
    float sum = 0;
    for (size_t m = 0; m < models; ++m) sum += models_[m].weight * sums_[i * models + m].value();
    queries[i].sink->SetLogSum(sum);
  }
}

}  // namespace nibu::internal
