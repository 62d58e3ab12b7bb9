// Limits the requests of each client in a minute.
#ifndef NIBU_TOOLS_SERVE_RATE_LIMIT_H_
#define NIBU_TOOLS_SERVE_RATE_LIMIT_H_

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

namespace nibu::internal {

// Has a bucket of tokens for each client: a request takes one, and one comes back every
// 1/per_minute. Used by one thread.
//
// A call takes constant time, and at most `most_clients` are known. Beyond that the one is
// forgotten that asked longest ago, and starts with a full bucket if it comes again. Buckets are
// full again after a minute, so only someone who asks from `most_clients` addresses within a minute
// can gain by that; and with so many addresses, each of which has a limit of its own, this is
// nothing.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimit(size_t most_clients = 50'000) : most_clients_(most_clients) {}

  // Takes `tokens` from a client's bucket if it has one at least, and returns 0; otherwise returns
  // the seconds until it has one. With 0 tokens, it only tells whether the client may ask.
  // REQUIRES: per_minute > 0.
  double Take(const std::string& client, int per_minute, Clock::time_point now, int tokens = 1);
  // Returns whether the client has asked and was not forgotten since.
  bool Knows(const std::string& client) const { return places_.count(client) > 0; }

  size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    std::string client;
    double tokens;
    Clock::time_point filled;
  };

  const size_t most_clients_;
  std::list<Bucket> buckets_;  // The client that asked last comes first.
  std::unordered_map<std::string, std::list<Bucket>::iterator> places_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_RATE_LIMIT_H_
