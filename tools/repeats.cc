#include "tools/repeats.h"

namespace nibu {

std::function<void(uint64_t, Repeats::Result)> Repeats::Add(const std::string& key, uint64_t index,
                                                            Done done) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto [place, is_new] = entries_.try_emplace(key);
  Entry& entry = place->second;
  ++entry.lines;
  lines_.emplace_back(index, &*place);
  if (const std::shared_ptr<const Result> known = entry.result) {
    lock.unlock();
    done(index, *known);
    return nullptr;
  }
  entry.waiting.emplace_back(index, std::move(done));
  if (!is_new) return nullptr;
  return [this, &entry](uint64_t, Result result) noexcept {
    const auto shared = std::make_shared<const Result>(std::move(result));
    std::unique_lock<std::mutex> again(mutex_);
    entry.result = shared;
    const auto waiting = std::exchange(entry.waiting, {});
    again.unlock();
    for (const auto& [line, waits] : waiting) waits(line, *shared);
  };
}

void Repeats::Forget(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (; !lines_.empty() && lines_.front().first < index; lines_.pop_front()) {
    auto* entry = lines_.front().second;
    if (--entry->second.lines == 0) entries_.erase(entries_.find(entry->first));
  }
}

}  // namespace nibu
