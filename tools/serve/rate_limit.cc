// Fills buckets with tokens, and forgets the oldest.

#include "tools/serve/rate_limit.h"

#include <algorithm>

#include "absl/base/macros.h"

namespace nibu::internal {

double RateLimit::Take(const std::string& client, int per_minute, Clock::time_point now,
                       int tokens) {
  ABSL_ASSERT(per_minute > 0);
  // A map that grew would now and then take long.
  if (places_.empty()) places_.reserve(most_clients_ + 1);
  const auto known = places_.find(client);
  if (known != places_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, known->second);
  } else {
    buckets_.push_front({client, static_cast<double>(per_minute), now});
    places_[client] = buckets_.begin();
  }
  if (buckets_.size() > most_clients_) {
    places_.erase(buckets_.back().client);
    buckets_.pop_back();
  }
  Bucket& bucket = buckets_.front();
  const double minutes = std::chrono::duration<double>(now - bucket.filled).count() / 60;
  bucket.tokens = std::min<double>(per_minute, bucket.tokens + minutes * per_minute);
  bucket.filled = now;
  if (bucket.tokens < 1) return (1 - bucket.tokens) * 60 / per_minute;
  bucket.tokens -= tokens;
  return 0;
}

}  // namespace nibu::internal
