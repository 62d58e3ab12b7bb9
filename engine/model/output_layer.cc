#include "engine/model/output_layer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nibu {
namespace {

// Where every row of logits passes by, block by block, on its way to the best tokens: rules for
// logits belong here.
void TakeLogits(const OutputLayer::Query& query, const LogitTokens& tokens, float* logits,
                TopK* top) {
  for (const int token : query.suppressed) {
    const int i = tokens.Find(token);
    if (i >= 0) logits[i] = -std::numeric_limits<float>::infinity();
  }
  top->Update(logits, tokens);
}

}  // namespace

OutputSubset OutputLayer::Select(std::vector<int> tokens) const {
  Linear linear = Linear::Select(model_.weights.output.blocks, tokens);
  return {std::move(tokens), std::move(linear)};
}

void OutputLayer::BestTokens(const float* hidden, absl::Span<const Query> queries,
                             absl::Span<TopK> tops) {
  const auto dim = static_cast<size_t>(model_.config.d_model);
  for (size_t i = 0; i < queries.size(); ++i) tops[i].Reset(queries[i].k, queries[i].normalize);
  for (size_t first = 0; first < queries.size();) {
    size_t end = first + 1;
    while (end < queries.size() && queries[end].subset == queries[first].subset) ++end;
    const auto some = queries.subspan(first, end - first);
    const Arena::Mark mark = workspace_->arena.mark();
    const float* rows = hidden + static_cast<size_t>(some[0].row) * dim;
    if (some.back().row - some[0].row != static_cast<int>(some.size()) - 1) {  // some are left out
      float* const gathered =
          workspace_->Rows(static_cast<int>(some.size()), model_.config.d_model);
      for (size_t i = 0; i < some.size(); ++i) {
        std::copy_n(hidden + static_cast<size_t>(some[i].row) * dim, dim, gathered + i * dim);
      }
      rows = gathered;
    }
    BestOfSubset(rows, some, tops.subspan(first, some.size()));
    workspace_->arena.Rewind(mark);
    first = end;
  }
}

void OutputLayer::BestOfSubset(const float* hidden, absl::Span<const Query> queries,
                               absl::Span<TopK> tops) {
  constexpr int kMost = MatmulContext::kMostRows;
  const OutputSubset* const subset = queries[0].subset;
  const absl::Span<const Linear> blocks =
      subset == nullptr ? model_.weights.output.blocks : absl::MakeConstSpan(&subset->linear, 1);
  const int rows = static_cast<int>(queries.size());
  float* const logits = workspace_->Rows(std::min(rows, kMost), blocks[0].out());
  MatmulContext& matmul = workspace_->matmul;
  int first = 0;
  for (const Linear& block : blocks) {
    const LogitTokens tokens =
        subset == nullptr ? LogitTokens(first, block.out()) : LogitTokens(subset->tokens);
    for (int from = 0; from < rows; from += kMost) {
      const int count = std::min(kMost, rows - from);
      {
        ScopedTimer timer(&workspace_->profile.decoder_matmul);
        if (first == 0 && from == 0) matmul.SetInput(block, hidden, rows);
        matmul.ApplyToInput(block, from, count, logits);
      }
      ScopedTimer timer(&workspace_->profile.search);
      for (int r = 0; r < count; ++r) {
        const size_t i = static_cast<size_t>(from) + static_cast<size_t>(r);
        TakeLogits(queries[i], tokens, logits + static_cast<long>(r) * block.out(), &tops[i]);
      }
    }
    first += block.out();
  }
}

}  // namespace nibu
