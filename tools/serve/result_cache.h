// Keeps translations in bounded memory, so that a client that asks again gets them at once.
#ifndef NIBU_TOOLS_SERVE_RESULT_CACHE_H_
#define NIBU_TOOLS_SERVE_RESULT_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace nibu::internal {

// The translations of a unit of text, best first.
using Translations = std::vector<std::string>;

// Keeps the translations that were used last. Thread-safe.
class ResultCache {
 public:
  explicit ResultCache(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns the translations of a key, or null. A key has all that its translations depend on.
  std::shared_ptr<const Translations> Find(const std::string& key);
  void Add(const std::string& key, std::shared_ptr<const Translations> translations);
  // Sets the limit, and drops the entries that were used longest ago until it is met; 0 keeps none.
  void SetMaxBytes(size_t max_bytes);

  size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Translations> translations;
    size_t bytes;
  };
  // REQUIRES: the lock holds mutex_.
  void DropBeyond(size_t bytes, const std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;  // guards what follows
  size_t max_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the one that was used last comes first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_RESULT_CACHE_H_
