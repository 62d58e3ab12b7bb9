// Fills buckets with tokens, and forgets the oldest.

#include "tools/serve/rate_limit.h"

#include <algorithm>

#include "absl/base/macros.h"

namespace nibu::internal {

double RateLimit::Left(const std::string& client, int64_t most, Clock::time_point now) const {
  const auto size = static_cast<double>(most);
  const auto known = places_.find(client);
  if (known == places_.end()) return size;
  const Bucket& bucket = *known->second;
  return std::min(size, bucket.tokens + (now - bucket.filled) / period_ * size);
}

double RateLimit::Take(const std::string& client, int64_t most, Clock::time_point now,
                       int64_t tokens) {
  ABSL_ASSERT(most > 0);
  // A map that grew would now and then take long.
  if (places_.empty()) places_.reserve(most_clients_ + 1);
  const auto known = places_.find(client);
  if (known != places_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, known->second);
  } else {
    buckets_.push_front({client, static_cast<double>(most), now});
    places_[client] = buckets_.begin();
  }
  if (buckets_.size() > most_clients_) {
    places_.erase(buckets_.back().client);
    buckets_.pop_back();
  }
  Bucket& bucket = buckets_.front();
  bucket.tokens = Left(client, most, now);
  bucket.filled = now;
  if (bucket.tokens < 1) return (1 - bucket.tokens) * period_.count() / static_cast<double>(most);
  bucket.tokens -= static_cast<double>(tokens);
  return 0;
}

}  // namespace nibu::internal
