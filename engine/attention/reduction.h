// Attention to fewer keys: every R neighbours make one key and one value. Weight-free: their mean,
// the last one's of what is left.
#ifndef NIBU_ENGINE_ATTENTION_REDUCTION_H_
#define NIBU_ENGINE_ATTENTION_REDUCTION_H_

#include "engine/attention/attention.h"

namespace nibu {

// A mean's weight is shared by the keys that it is the mean of, so that matrices are [H, R, S].
void AttendMeans(const AttentionSpec& spec, const Queries& queries, const KeyValueRows& memory,
                 const AttentionOutput& output, MatmulContext* matmul, Arena* arena);

}  // namespace nibu

#endif  // NIBU_ENGINE_ATTENTION_REDUCTION_H_
