// Memory that changes its size often.
#ifndef NIBU_ENGINE_CORE_ELASTIC_MEMORY_H_
#define NIBU_ENGINE_CORE_ELASTIC_MEMORY_H_

#include <cstddef>

namespace nibu {

// A piece of memory of its own pages, so that many of them, of sizes that come and go, leave no
// holes: in a heap of sizes from 50 to 500 KB a quarter was. It shrinks when it is more than twice
// what is asked for, and what a smaller and a larger size have in common stays mapped: a fresh page
// costs more than writing it. Not thread-safe; neither copied nor moved.
class ElasticMemory {
 public:
  ElasticMemory() = default;
  ~ElasticMemory();
  ElasticMemory(const ElasticMemory&) = delete;
  ElasticMemory& operator=(const ElasticMemory&) = delete;

  // Room for so many bytes, 64-byte aligned; what was there is lost. Throws std::bad_alloc (and
  // holds nothing then).
  void Resize(size_t bytes);

  char* data() const { return data_; }   // null: no bytes
  size_t size() const { return size_; }  // whole pages, at most twice those asked for

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_CORE_ELASTIC_MEMORY_H_
