// A view of the rows of a matrix that a matmul reads or writes.
#ifndef NIBU_ENGINE_CORE_ROW_SPAN_H_
#define NIBU_ENGINE_CORE_ROW_SPAN_H_

#include <cstddef>
#include <type_traits>

#include "absl/base/macros.h"

namespace nibu::internal {

// The matrix [rows, columns], row by row, in memory that somebody else owns. `room` counts the rows
// that the memory holds. Those behind `rows` are padding: a matmul, whose kernels have fixed
// shapes, reads and overwrites them. T is float or const float.
template <typename T>
class RowSpan {
 public:
  // REQUIRES: rows >= 0, columns > 0, room >= rows.
  RowSpan(T* data, int rows, int columns, int room)
      : data_(data), rows_(rows), columns_(columns), room_(room) {
    ABSL_ASSERT(rows >= 0 && columns > 0 && room >= rows);
  }
  // Rows that can be written can be read.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  RowSpan(const RowSpan<U>& other)  // NOLINT(google-explicit-constructor)
      : RowSpan(other.data(), other.rows(), other.columns(), other.room()) {}

  T* data() const { return data_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int room() const { return room_; }

  // REQUIRES: 0 <= r < rows().
  T* row(int r) const {
    ABSL_ASSERT(0 <= r && r < rows_);
    return data_ + Offset(r);
  }

  // Returns `count` rows from row `first` on. The rows behind them are their padding.
  // REQUIRES: 0 <= first, 0 <= count, first + count <= rows().
  RowSpan Slice(int first, int count) const {
    ABSL_ASSERT(0 <= first && 0 <= count && first + count <= rows_);
    return {data_ + Offset(first), count, columns_, room_ - first};
  }

  // Returns a view of the same memory with as many rows, but of fewer columns.
  // REQUIRES: columns <= this->columns().
  RowSpan WithColumns(int columns) const {
    ABSL_ASSERT(columns <= columns_);
    return {data_, rows_, columns, room_};
  }

 private:
  size_t Offset(int r) const { return static_cast<size_t>(r) * static_cast<size_t>(columns_); }

  T* data_;
  int rows_;
  int columns_;
  int room_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_ROW_SPAN_H_
