// Replaces the test program's operators new and delete, and mmap, by ones that count and fail.
#include "tests/engine/memory_hooks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "absl/base/config.h"

namespace nibu::internal {
namespace {

std::atomic<int64_t> allocations{0};
std::atomic<bool> is_armed{false};
std::atomic<int64_t> until_failure{0};  // the number of allocations until one fails
std::atomic<int64_t> to_fail{0};        // the number of allocations that then fail
std::atomic<bool> has_refused{false};

bool IsOneDnn(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && std::strstr(info.dli_fname, "dnnl") != nullptr;
}

// Returns whether oneDNN asks for memory, directly or through a template of the standard library.
// The only instance of such a template may be another library's or the program's, so the whole
// stack is searched.
bool IsBelowOneDnn() {
  std::array<void*, 64> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  return std::any_of(frames.begin(), frames.begin() + count, IsOneDnn);
}

// Counts an allocation that `caller` asks for, and returns whether it has to fail.
bool Fails(const void* caller) {
  ++allocations;
  if (!is_armed || IsOneDnn(caller) || --until_failure > 0 || to_fail <= 0) return false;
  if (IsBelowOneDnn() || to_fail-- <= 0) return false;
  has_refused = true;
  return true;
}

}  // namespace

int64_t Allocations() { return allocations; }

void FailAllocation(int64_t n, int64_t count) {
  has_refused = false;
  until_failure = n;
  to_fail = count;
  IsBelowOneDnn();  // The first call of backtrace allocates memory itself.
  is_armed = true;
}

bool StopFailing() {
  is_armed = false;
  return has_refused;
}

}  // namespace nibu::internal

// GCC reports the replaced operators as a mismatch of new and delete.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(size_t size) {
  void* p = nibu::internal::Fails(__builtin_return_address(0)) ? nullptr : std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* operator new(size_t size, std::align_val_t alignment) {
  void* p = nullptr;
  if (nibu::internal::Fails(__builtin_return_address(0)) ||
      posix_memalign(&p, static_cast<size_t>(alignment), size) != 0) {
    throw std::bad_alloc();
  }
  return p;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return nibu::internal::Fails(__builtin_return_address(0)) ? nullptr : std::malloc(size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && !defined(ABSL_HAVE_THREAD_SANITIZER) && \
    defined(SYS_mmap)
extern "C" void* mmap(void* address, size_t size, int protection, int flags, int fd,
                      off_t offset) noexcept {
  if (nibu::internal::Fails(__builtin_return_address(0))) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, fd, offset));
}
#endif
