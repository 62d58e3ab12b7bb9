// The four terms of the scores of a model's first layer (Cordonnier, Loukas and Jaggi 2020). Where
// positions P are added to the embeddings X, a score (X + P) W_q ((X + P) W_k)^T is the sum of
//   XX = X W_q W_k^T X^T  words look for words
//   XP = X W_q W_k^T P^T  words look for positions
//   PX = P W_q W_k^T X^T  positions look for words
//   PP = P W_q W_k^T P^T  positions look for positions, all that a convolution has
// and, where the maps have biases, of products with these.
#ifndef NIBU_ENGINE_MODEL_SCORE_TERMS_H_
#define NIBU_ENGINE_MODEL_SCORE_TERMS_H_

#include <array>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/weights.h"

namespace nibu::internal {

inline constexpr std::array<const char*, 5> kScoreTermNames = {"XX", "XP", "PX", "PP", "bias"};

// The terms of all heads, times the model's scale, in the order of the names: [5, H, S, S].
using ScoreTerms = std::vector<float>;

// Returns the terms of the encoder's first layer for a source, its frame included. Returns none for
// a model whose first layer does not attend to embeddings with positions added: one with relative
// positions, or with a norm in front of its first attention; and of a mechanism whose scores are
// others than these products. REQUIRES: the model has these tokens
// and so many positions.
std::optional<ScoreTerms> FindScoreTerms(const Model& model, absl::Span<const int> source);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_MODEL_SCORE_TERMS_H_
