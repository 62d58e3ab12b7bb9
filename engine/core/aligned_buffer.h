// An owner of memory that is aligned to cache lines.
#ifndef NIBU_ENGINE_CORE_ALIGNED_BUFFER_H_
#define NIBU_ENGINE_CORE_ALIGNED_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace nibu::internal {

// Owns a fixed number of elements of a trivial type T, 64-byte aligned and not initialized. It can
// be moved, but not copied. Throws std::bad_alloc; Reserve then leaves an empty buffer.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size) : data_(Allocate(size)), size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  // Makes room for `size` elements. If the buffer has to grow, its contents are lost.
  void Reserve(size_t size) {
    if (size <= size_) return;
    *this = AlignedBuffer();  // so that the old and the new memory are not held together
    *this = AlignedBuffer(size);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, kAlignment); }
  };
  static T* Allocate(size_t size) {
    const size_t bytes = (std::max<size_t>(size, 1) * sizeof(T) + 63) / 64 * 64;
    return static_cast<T*>(::operator new(bytes, kAlignment));
  }

  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_ALIGNED_BUFFER_H_
