// Maps embeddings and positions apart, and multiplies their queries and keys.
#include "engine/model/score_terms.h"

#include <algorithm>

#include "engine/model/layers.h"

namespace nibu::internal {

// Row i of `rows` is x_i, row S + i is p_i, and the last row is 0, whose queries and keys are the
// biases of the maps.
std::optional<ScoreTerms> FindScoreTerms(const Model& model, absl::Span<const int> source) {
  const ModelConfig& config = model.config;
  const bool is_added = config.position_kind != PositionKind::kRelative &&
                        config.position_kind != PositionKind::kRelativeVectors;
  const MixerSpec mixer = config.encoder_mixer(0);
  const bool is_sum = mixer.keeps_positions() && mixer.score == Score::kScaledDot && !mixer.dense &&
                      mixer.biased_width() == 0;
  if (!is_added || config.norm_order == NormOrder::kPre || config.embedding_norm || !is_sum) {
    return std::nullopt;
  }
  const int count = static_cast<int>(source.size());
  const Embedder embedder(config, model.weights.source, count);
  Workspace workspace;
  const RowSpan<float> rows = workspace.Rows(2 * count + 1, config.d_model);
  for (int i = 0; i < count; ++i) {
    float* const x = rows.row(i);
    float* const p = rows.row(count + i);
    embedder.Embed(source[static_cast<size_t>(i)], i, x);
    embedder.Embed(-1, i, p);  // a zero vector, and the position
    for (int c = 0; c < config.d_model; ++c) x[c] -= p[c];
  }
  std::fill_n(rows.row(2 * count), config.d_model, 0.0f);
  const int inner = config.inner_encoder();
  const RowSpan<float> qkv = workspace.Rows(rows.rows(), 3 * inner);
  workspace.matmul.Apply(model.weights.encoder[0].self.qkv, rows, qkv);

  const AttentionShape shape = ShapeOf(config, config.heads_encoder);
  const float* const bias = qkv.row(2 * count);
  // A factor of a product: a row less the biases, or the biases alone.
  enum Part { kX, kP, kBias };
  const auto value = [&](Part part, int i, int column) {
    if (part == kBias) return static_cast<double>(bias[column]);
    const float* const row = qkv.row(part == kX ? i : count + i);
    return static_cast<double>(row[column]) - static_cast<double>(bias[column]);
  };
  ScoreTerms terms;
  const auto add = [&](absl::Span<const std::pair<Part, Part>> products) {
    for (int h = 0; h < shape.heads; ++h) {
      for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
          double sum = 0;
          for (const auto& [q, k] : products) {
            for (int c = h * shape.head_dim; c < (h + 1) * shape.head_dim; ++c) {
              sum += value(q, i, c) * value(k, j, inner + c);
            }
          }
          terms.push_back(static_cast<float>(sum * static_cast<double>(shape.Scale())));
        }
      }
    }
  };
  add({{kX, kX}});
  add({{kX, kP}});
  add({{kP, kX}});
  add({{kP, kP}});
  add({{kX, kBias}, {kP, kBias}, {kBias, kX}, {kBias, kP}, {kBias, kBias}});
  return terms;
}

}  // namespace nibu::internal
