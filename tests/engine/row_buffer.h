// Rows for the matmuls of tests, with their memory.
#ifndef NIBU_TESTS_ENGINE_ROW_BUFFER_H_
#define NIBU_TESTS_ENGINE_ROW_BUFFER_H_

#include <algorithm>
#include <cstddef>

#include "engine/core/aligned_buffer.h"
#include "engine/core/row_span.h"
#include "engine/ops/matmul.h"
#include "tests/engine/testing.h"

namespace nibu::internal {

// [rows, columns], with as much room as a matmul needs, and `more` rows beyond that. All are 0 at
// first.
class RowBuffer {
 public:
  RowBuffer(int rows, int columns, int more = 0)
      : rows_(rows),
        columns_(columns),
        room_(Matmul::RoomFor(rows) + more),
        memory_(static_cast<size_t>(room_) * static_cast<size_t>(columns)) {
    std::fill_n(data(), memory_.size(), 0.0f);
  }

  // Sets all values, padding included, to random ones.
  void Fill(Random* random) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i] = random->Float();
  }

  float* data() { return memory_.data(); }
  const float* data() const { return memory_.data(); }
  // The number of values without the padding's.
  size_t size() const { return static_cast<size_t>(rows_) * static_cast<size_t>(columns_); }
  float operator[](size_t i) const { return memory_[i]; }
  RowSpan<float> span() { return {data(), rows_, columns_, room_}; }

 private:
  int rows_;
  int columns_;
  int room_;
  AlignedBuffer<float> memory_;
};

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_ROW_BUFFER_H_
