// Checks who sends a request, and whether they may.
#ifndef NIBU_TOOLS_SERVE_ACCESS_H_
#define NIBU_TOOLS_SERVE_ACCESS_H_

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/serve/http.h"

namespace nibu::internal {

// Returns the key of a request: `api_key`, its parameter of this name, or the text behind "Bearer"
// or "DeepL-Auth-Key" in its header Authorization. It is empty if there is none.
std::string KeyOf(const HttpRequest& request, const std::string& api_key);

// Reads a file of keys, one in each line; empty lines and lines that begin with "#" are skipped.
// Returns NotFound if it cannot be read, and InvalidArgument if it has no key.
absl::StatusOr<std::set<std::string>> ReadKeys(const std::string& path);

// Checks keys, and limits the requests of each client. Used by one thread.
class Access {
 public:
  using Clock = std::chrono::steady_clock;

  void Set(std::set<std::string> keys, int requests_per_minute,
           std::vector<std::string> trusted_proxies);

  // Returns the address of the client that sent a request: the one at the other end of the
  // connection or, if that is a trusted proxy, the last address in X-Forwarded-For that is no
  // trusted proxy. An untrusted sender could write any address there.
  std::string AddressOf(const HttpRequest& request) const;
  // Returns the client to which the fair share and the limit apply: a valid key, or else an
  // address.
  std::string ClientOf(const HttpRequest& request, const std::string& key) const;

  // Returns the answer for a client that may not ask: because of a wrong key (403), a missing one
  // (400), or too many requests (429); the texts are LibreTranslate's. Returns nullopt if it may,
  // and counts the request.
  std::optional<HttpAnswer> Refuse(const std::string& client, const std::string& key,
                                   Clock::time_point now);

  bool has_keys() const { return !keys_.empty(); }
  bool has_limit() const { return requests_per_minute_ > 0; }

 private:
  // A bucket of tokens: each request takes one, and one comes back every 1/requests_per_minute.
  struct Bucket {
    double tokens;
    Clock::time_point filled;
  };
  double TokensAt(const Bucket& bucket, Clock::time_point now) const;

  std::set<std::string> keys_;
  int requests_per_minute_ = 0;
  std::vector<std::string> trusted_proxies_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ACCESS_H_
