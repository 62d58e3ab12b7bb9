// Keeps translations in a list, the last used first, and a table of their places in it.

#include "tools/serve/result_cache.h"

#include "absl/base/macros.h"

namespace nibu::internal {
namespace {

// The memory of an entry without its texts: two nodes and two string objects.
constexpr size_t kEntryBytes = 256;

}  // namespace

std::shared_ptr<const Translations> ResultCache::Find(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->translations;
}

void ResultCache::Add(const std::string& key, std::shared_ptr<const Translations> translations) {
  size_t bytes = kEntryBytes + 2 * key.size();
  for (const std::string& text : *translations) bytes += sizeof(std::string) + text.size();
  const std::unique_lock<std::mutex> lock(mutex_);
  if (bytes > max_bytes_ || places_.count(key) > 0) return;
  DropBeyond(max_bytes_ - bytes, lock);
  entries_.push_front({key, std::move(translations), bytes});
  places_[key] = entries_.begin();
  bytes_ += bytes;
}

void ResultCache::SetMaxBytes(size_t max_bytes) {
  const std::unique_lock<std::mutex> lock(mutex_);
  max_bytes_ = max_bytes;
  DropBeyond(max_bytes, lock);
}

size_t ResultCache::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

void ResultCache::DropBeyond(size_t bytes, const std::unique_lock<std::mutex>& lock) {
  ABSL_ASSERT(lock.owns_lock() && lock.mutex() == &mutex_);
  while (bytes_ > bytes) {
    bytes_ -= entries_.back().bytes;
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

}  // namespace nibu::internal
