// Applies affine maps: y = act(x W + b). A Matmul belongs to one worker; it chooses the back end
// for each call, oneDNN or our own int8 kernels, and keeps what these need from call to call.
//
// Rows are padded to a small set of counts, since the fast kernels have fixed shapes. So the memory
// of the rows that a call reads or writes has room for more of them, Matmul::RoomFor(rows). Padding
// rows of the input may hold anything; those of the output are overwritten with anything. A row's
// result never depends on the number of rows.
//
// Calls throw oneDNN's errors, which are std::exceptions, and std::bad_alloc. A Matmul that has
// thrown can be used again, and its results are right.
#ifndef NIBU_ENGINE_OPS_MATMUL_H_
#define NIBU_ENGINE_OPS_MATMUL_H_

#include <cstdint>
#include <memory>

#include "engine/core/row_span.h"
#include "engine/ops/backend/backend.h"
#include "engine/ops/backend/row_counts.h"
#include "engine/ops/linear.h"
#include "nibu/engine.h"

namespace nibu::internal {

// One product of prepared rows with packed weights, as a MatmulObserver sees it.
struct MatmulCall {
  const Linear& linear;
  int rows;            // at most Matmul::kMostRows
  DType output;        // the type of the results, float32 or bfloat16
  int threads;         // the OpenMP threads that it may use
  bool is_own_kernel;  // the kernel is our own, not oneDNN's
  double seconds;      // the time that it took
};

// Sees the calls of a Matmul on the thread that makes them. For benchmarks.
class MatmulObserver {
 public:
  virtual ~MatmulObserver() = default;
  virtual void Observe(const MatmulCall& call) = 0;
};

// Not thread-safe: each thread has its own. Calls set the number of OpenMP threads of the thread
// they are made on.
class Matmul {
 public:
  // The most rows of a single product. More rows are cut into pieces.
  static constexpr int kMostRows = internal::kMostRows;
  // The most rows that a product is padded to.
  static constexpr int kMostPaddedRows = internal::kMostPaddedRows;
  // Returns the rows of the pieces into which calls for a map are cut.
  static int PieceRows(const Linear& linear);
  // Returns the room, in rows, that x and y of a call with `rows` rows need.
  static int RoomFor(int rows);
  // Returns whether rows that need different outputs of a map are faster in one call, and have the
  // same results: see row_counts.h.
  static bool SharesOutputs(const Linear& linear);

  explicit Matmul(MatmulKernels kernels = MatmulKernels::kAuto);
  ~Matmul();
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  // Sets the OpenMP threads that calls use from now on; at first, it is 1. They may get fewer, if
  // OpenMP's limits (OMP_THREAD_LIMIT) say so or the system had no more when so many were first
  // asked for. With more than one, sums of float32 and bfloat16 may be taken in another order;
  // those of int8 are exact.
  void SetThreads(int threads);
  // `observer`: null for none; it outlives the calls.
  void SetObserver(MatmulObserver* observer);

  // Sets y [rows, out] = act(x [rows, in] W + b). REQUIRES: x and y do not overlap; x has in()
  // columns, y has as many rows and out() columns, and both have room for RoomFor(rows) rows.
  void Apply(const Linear& linear, RowSpan<const float> x, RowSpan<float> y);

  // These two do the same for maps with an input in common (the blocks of an output layer), which
  // is quantized once. After SetInput, ApplyToInput sets y [n, out] for rows first .. first + n - 1
  // of x. x must stay valid until the last ApplyToInput, and no other call may come in between.
  // REQUIRES: columns and room as in Apply; `first` is a multiple of PieceRows (of any map), n at
  // most kMostRows, and x has first + n rows; `linear` has the number and the type of inputs of the
  // map given to SetInput.
  void SetInput(const Linear& linear, RowSpan<const float> x);
  void ApplyToInput(const Linear& linear, int first, RowSpan<float> y);

  // Sets y [rows, out of second] = second(first(x)). The hidden layer stays in here, in the compute
  // type. REQUIRES: as in Apply, and the first map has as many outputs as the second has inputs.
  void ApplyPair(const Linear& first, const Linear& second, RowSpan<const float> x,
                 RowSpan<float> y);

  // Does the product alone, of rows that are in the map's own type already, as a MatmulObserver
  // sees it. REQUIRES: 1 to kMostRows rows; x and y have room for kMostPaddedRows rows; y is
  // float32, or bfloat16 where an observed call for the map was.
  void Multiply(const Linear& linear, const MatmulInput& x, int rows, const MatmulOutput& y);

  // The number of oneDNN's primitives created so far. It stays the same once all shapes have been
  // seen.
  int primitives() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_OPS_MATMUL_H_
