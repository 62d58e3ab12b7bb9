// Factorized attention (CoaT, Xu et al. 2021): scale q (softmax(K)^T V), the softmax of each column
// of K over the positions. A head's [d, d] matrix stands between, so that time grows with N. With a
// `kernel`, the convolutional relative position encoding of the same paper is added,
//   q * (conv(V) + b), element by element,
// where conv is a depthwise convolution of `kernel` positions with zeros beyond the sentence. In
// the paper groups of heads have kernels of several sizes: one of the largest size, with zeros,
// holds the smaller ones. The paper's convolutional position encoding of the layer's input is left
// out, since it is no part of the attention.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_FACTORIZED_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_FACTORIZED_H_

#include "engine/attention/attention_spec.h"
#include "engine/core/arena.h"

namespace nibu::internal {

// Has no matrix of weights.
void AttendFactorized(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                      const AttentionOutput& output, Arena* arena);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_FACTORIZED_H_
