// Token mixing of MLP-Mixer (Tolstikhin et al. 2021): the columns of a sentence, each a vector of P
// positions with zeros behind the sentence's own, go through down(gelu(up(x))), up P -> F and
// down F -> P. No attention; P is fixed.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_TOKEN_MLP_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_TOKEN_MLP_H_

#include "engine/core/arena.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"

namespace nibu::internal {

// x, out [positions, dim]; the activation belongs to `up`. REQUIRES: 0 < positions <= P.
void MixByMlp(const Linear& up, const Linear& down, const float* x, int positions, int dim,
              Matmul* matmul, Arena* arena, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_TOKEN_MLP_H_
