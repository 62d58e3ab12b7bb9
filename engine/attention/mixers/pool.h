// Mean pooling in place of attention (PoolFormer, Yu et al. 2022): the mean of the `width` nearest
// positions, fewer at the ends of the sentence, minus the position itself.
#ifndef NIBU_ENGINE_ATTENTION_MIXERS_POOL_H_
#define NIBU_ENGINE_ATTENTION_MIXERS_POOL_H_

namespace nibu::internal {

// x, out [positions, dim], which do not overlap. `width` is odd.
void MeanPool(const float* x, int positions, int dim, int width, float* out);

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_ATTENTION_MIXERS_POOL_H_
