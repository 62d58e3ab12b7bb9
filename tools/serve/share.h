// Divides what is bounded, such as connections, among clients.
#ifndef NIBU_TOOLS_SERVE_SHARE_H_
#define NIBU_TOOLS_SERVE_SHARE_H_

#include <cstddef>
#include <string>
#include <unordered_map>

#include "absl/base/macros.h"

namespace nibu::internal {

// Counts what clients hold of a limit. A client may hold at most as much as it leaves free: alone
// it gets half of the limit, a second client a quarter, and so on. So one client, or a few, cannot
// shut others out, and a single client still gets a large part. Used by one thread.
class ClientShares {
 public:
  explicit ClientShares(size_t limit) : limit_(limit) {}

  // Clients keep what they hold, even if the new limit is lower.
  void SetLimit(size_t limit) { limit_ = limit; }

  // Takes an amount for a client, unless the client would then hold more than is left free. A
  // client that holds nothing may take 1 as long as there is any left, so that small limits serve
  // clients, too. The client "" stands for many clients (a trusted proxy): only the limit bounds
  // it.
  bool Take(const std::string& client, size_t amount) {
    if (amount > free()) return false;
    const size_t own = HeldBy(client) + amount;
    if (!client.empty() && own > free() - amount && own != 1) return false;
    if (amount > 0) by_client_[client] = own;
    held_ += amount;
    return true;
  }

  // Gives back what Take has taken. REQUIRES: the client holds the amount.
  void Release(const std::string& client, size_t amount) {
    if (amount == 0) return;
    const auto found = by_client_.find(client);
    ABSL_ASSERT(found != by_client_.end() && found->second >= amount);
    found->second -= amount;
    if (found->second == 0) by_client_.erase(found);
    held_ -= amount;
  }

  size_t HeldBy(const std::string& client) const {
    const auto found = by_client_.find(client);
    return found == by_client_.end() ? 0 : found->second;
  }
  size_t held() const { return held_; }
  size_t free() const { return limit_ > held_ ? limit_ - held_ : 0; }

 private:
  size_t limit_;
  size_t held_ = 0;
  std::unordered_map<std::string, size_t> by_client_;  // Nobody in it holds 0.
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_SHARE_H_
