#include "engine/model/output_layer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "engine/core/token_set.h"

namespace nibu::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void Suppress(absl::Span<const int> suppressed, const LogitTokens& tokens, float* logits) {
  for (const int token : suppressed) {
    const int i = tokens.Find(token);
    if (i >= 0) logits[i] = -kInfinity;
  }
}

// What the rules of a row do to its logits, wherever these come by.
void Edit(const OutputLayer::Query& query, const LogitTokens& tokens, float* logits) {
  Suppress(query.suppressed, tokens, logits);
  if (query.rules == nullptr) return;
  Suppress(query.rules->suppressed, tokens, logits);
  const float penalty = query.rules->repetition_penalty;
  for (const int token : query.rules->repeated) {
    const int i = tokens.Find(token);
    if (i >= 0) logits[i] = logits[i] < 0 ? logits[i] * penalty : logits[i] / penalty;
  }
}

// On their way to the best tokens.
void Take(const OutputLayer::Query& query, const LogitTokens& tokens, const float* logits,
          TopK* top) {
  if (query.rules != nullptr) {
    for (const int token : query.rules->wanted) {
      const int i = tokens.Find(token);
      if (i >= 0) top->Want(token, logits[i]);
    }
  }
  top->Update(logits, tokens);
}

bool Share(const OutputSubset* a, const OutputSubset* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->linears[0].packed() == b->linears[0].packed();
}

// The logits of a subset's tokens, in place of those of all that share its linears.
void Pick(const OutputSubset& subset, float* logits) {
  for (size_t i = 0; i < subset.columns.size(); ++i) {
    logits[i] = logits[static_cast<size_t>(subset.columns[i])];
  }
}

}  // namespace

void OutputLayer::Select(absl::Span<OutputSubset* const> subsets) const {
  const bool share = absl::c_all_of(models_, [](const Part& part) {
    return MatmulContext::SharesOutputs(part.model->weights.output.blocks[0]);
  });
  if (!share && subsets.size() > 1) {
    for (OutputSubset* const subset : subsets) Select({subset});
    return;
  }
  TokenSet needed(models_[0].model->config.vocab_target);
  for (const OutputSubset* subset : subsets) {
    for (const int token : subset->tokens) needed.Add(token);
  }
  const std::vector<int> all = needed.Ascending();
  std::vector<Linear> linears;
  for (const Part& part : models_) {
    linears.push_back(Linear::Select(part.model->weights.output.blocks, all, &workspace_->heap));
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

void OutputLayer::BestTokens(absl::Span<const float* const> hidden, absl::Span<const Query> queries,
                             absl::Span<TopK> tops) {
  for (size_t i = 0; i < queries.size(); ++i) {
    const RowRules* const rules = queries[i].rules;
    if (rules != nullptr && rules->sampling != nullptr) {
      tops[i].Reset(*rules->sampling, rules->noises);
    } else {
      tops[i].Reset(queries[i].k, queries[i].normalize);
    }
  }
  for (size_t first = 0; first < queries.size();) {
    size_t end = first + 1;
    while (end < queries.size() && Share(queries[end].subset, queries[first].subset)) ++end;
    const auto some = queries.subspan(first, end - first);
    const Arena::Mark mark = workspace_->arena.mark();
    absl::InlinedVector<const float*, 1> rows;
    for (size_t m = 0; m < models_.size(); ++m) {
      const auto dim = static_cast<size_t>(models_[m].model->config.d_model);
      rows.push_back(Gather(hidden[m], dim, some));
    }
    BestOfSubset(rows, some, tops.subspan(first, some.size()));
    workspace_->arena.Rewind(mark);
    first = end;
  }
}

const float* OutputLayer::Gather(const float* hidden, size_t dim, absl::Span<const Query> queries) {
  const auto row = [&](size_t i) { return hidden + static_cast<size_t>(queries[i].row) * dim; };
  const int count = static_cast<int>(queries.size());
  if (queries.back().row - queries[0].row == count - 1) return row(0);  // none is left out
  float* const gathered = workspace_->Rows(count, static_cast<int>(dim));
  for (size_t i = 0; i < queries.size(); ++i) std::copy_n(row(i), dim, gathered + i * dim);
  return gathered;
}

void OutputLayer::Mix(absl::Span<float* const> logits, size_t n) const {
  for (size_t i = 0; i < n; ++i) {
    float mean = 0;
    for (size_t m = 0; m < logits.size(); ++m) mean += models_[m].weight * logits[m][i];
    logits[0][i] = mean;
  }
}

void OutputLayer::BestOfSubset(absl::Span<const float* const> hidden,
                               absl::Span<const Query> queries, absl::Span<TopK> tops) {
  const OutputSubset* const subset = queries[0].subset;
  const size_t models = models_.size();
  const auto blocks = [&](size_t m) {
    return subset == nullptr ? absl::MakeConstSpan(models_[m].model->weights.output.blocks)
                             : absl::MakeConstSpan(&subset->linears[m], 1);
  };
  const int most = MatmulContext::PieceRows(blocks(0)[0]);
  const int rows = static_cast<int>(queries.size());
  const bool is_mixed = models > 1;
  absl::InlinedVector<float*, 1> logits;
  size_t count_of_blocks = blocks(0).size();
  for (size_t m = 0; m < models; ++m) {
    logits.push_back(workspace_->Rows(std::min(rows, most), blocks(m)[0].out()));
    count_of_blocks = std::min(count_of_blocks, blocks(m).size());
  }
  if (is_mixed && sums_.size() < queries.size() * models) sums_.resize(queries.size() * models);
  for (size_t i = 0; is_mixed && i < queries.size() * models; ++i) sums_[i].Reset(1, true);
  MatmulContext& matmul = workspace_->matmul;
  int first = 0;
  for (size_t b = 0; b < count_of_blocks; ++b) {
    int width = blocks(0)[b].out();
    for (size_t m = 1; m < models; ++m) width = std::min(width, blocks(m)[b].out());
    for (int from = 0; from < rows; from += most) {
      const int count = std::min(most, rows - from);
      for (size_t m = 0; m < models; ++m) {
        ScopedTimer timer(&workspace_->profile.decoder_matmul);
        if (is_mixed || (first == 0 && from == 0)) matmul.SetInput(blocks(m)[b], hidden[m], rows);
        matmul.ApplyToInput(blocks(m)[b], from, count, logits[m]);
      }
      ScopedTimer timer(&workspace_->profile.search);
      for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
        const size_t i = static_cast<size_t>(from) + r;
        const OutputSubset* const own = queries[i].subset;
        const LogitTokens tokens =
            own == nullptr ? LogitTokens(first, width) : LogitTokens(own->tokens);
        absl::InlinedVector<float*, 1> row;
        for (size_t m = 0; m < models; ++m) {
          row.push_back(logits[m] + r * static_cast<size_t>(blocks(m)[b].out()));
          if (own != nullptr) Pick(*own, row[m]);
          Edit(queries[i], tokens, row[m]);
          if (is_mixed) sums_[i * models + m].Update(row[m], tokens);
        }
        if (is_mixed) Mix(row, static_cast<size_t>(tokens.count()));
        Take(queries[i], tokens, row[0], &tops[i]);
      }
    }
    first += width;
  }
  for (size_t i = 0; is_mixed && i < queries.size(); ++i) {
    float sum = 0;
    for (size_t m = 0; m < models; ++m) sum += models_[m].weight * sums_[i * models + m].LogSum();
    tops[i].SetLogSum(sum);
  }
}

}  // namespace nibu::internal
