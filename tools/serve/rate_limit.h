// Limits what each client takes in a period of time: its requests, or their characters.
#ifndef NIBU_TOOLS_SERVE_RATE_LIMIT_H_
#define NIBU_TOOLS_SERVE_RATE_LIMIT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

namespace nibu::internal {

// Has a bucket of tokens for each client: a request takes some, and within a period as many come
// back as there were. Used by one thread.
//
// A call takes constant time, and at most `most_clients` are known. Beyond that the one is
// forgotten that asked longest ago, and starts with a full bucket if it comes again. Buckets are
// full again after a period, so only someone who asks from `most_clients` addresses within a period
// can gain by that; and with so many addresses, each of which has a limit of its own, this is
// nothing.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimit(size_t most_clients = 50'000, Clock::duration period = std::chrono::minutes(1))
      : most_clients_(most_clients), period_(period) {}

  // Takes `tokens` from a client's bucket if it has one at least, and returns 0; otherwise returns
  // the seconds until it has one. A client may take more than it has: what is missing comes first
  // then, so that a request as large as the bucket, or larger, has its turn, too. With 0 tokens, it
  // only tells whether the client may ask. REQUIRES: most > 0, the size of the bucket.
  double Take(const std::string& client, int64_t most, Clock::time_point now, int64_t tokens = 1);
  // Returns the tokens that the client has; fewer than 0 if it has taken more than it had.
  double Left(const std::string& client, int64_t most, Clock::time_point now) const;
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
  const std::chrono::duration<double> period_;
  std::list<Bucket> buckets_;  // The client that asked last comes first.
  std::unordered_map<std::string, std::list<Bucket>::iterator> places_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_RATE_LIMIT_H_
