#include "tools/repeats.h"

namespace nibu {

std::function<void(uint64_t, Repeats::Result)> Repeats::Add(const std::string& key, uint64_t index,
                                                            Done done) {
  std::shared_ptr<const Result> known;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [place, is_new] = entries_.try_emplace(key);
    Entry& entry = place->second;
    ++entry.lines;
    lines_.emplace_back(index, &*place);
    known = entry.result;
    if (known == nullptr) entry.waiting.emplace_back(index, std::exchange(done, nullptr));
    if (is_new) {
      return [this, &entry](uint64_t, Result result) noexcept {
        const auto shared = std::make_shared<const Result>(std::move(result));
        std::vector<std::pair<uint64_t, Done>> waiting;
        {
          const std::lock_guard<std::mutex> again(mutex_);
          entry.result = shared;
          waiting.swap(entry.waiting);
        }
        for (const auto& [line, waits] : waiting) waits(line, *shared);
      };
    }
  }
  if (done != nullptr) done(index, *known);
  return nullptr;
}

void Repeats::Forget(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (; !lines_.empty() && lines_.front().first < index; lines_.pop_front()) {
    auto* entry = lines_.front().second;
    if (--entry->second.lines == 0) entries_.erase(entries_.find(entry->first));
  }
}

}  // namespace nibu
