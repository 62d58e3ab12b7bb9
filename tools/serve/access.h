// Checks who sends a request, and whether they may.
#ifndef NIBU_TOOLS_SERVE_ACCESS_H_
#define NIBU_TOOLS_SERVE_ACCESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/http.h"
#include "tools/serve/rate_limit.h"

namespace nibu::internal {

// Returns the key of a request: `api_key`, its parameter of this name, or the text behind "Bearer"
// or "DeepL-Auth-Key" in its header Authorization. It is empty if there is none.
std::string KeyOf(const HttpRequest& request, const std::string& api_key);

// The most that a client may ask for; 0: any number. Without a value, what the server's options
// say.
struct ClientLimits {
  std::optional<int> requests_per_minute = {};
  std::optional<int> characters_per_day = {};
};

// The keys, and who may ask without one.
struct Keys {
  std::map<std::string, ClientLimits> keys;  // Without keys, anyone may ask.
  std::optional<ClientLimits> anonymous;     // Clients without a key; nullopt: they need one.
};

// Reads a file of keys: in each line a key and, if it has limits of its own, "characters_per_day=N"
// or "requests_per_minute=N". The key "*" stands for clients without a key. Empty lines and lines
// that begin with "#" are skipped. Returns NotFound if it cannot be read, and InvalidArgument,
// naming the line, if it has no key or anything else.
absl::StatusOr<Keys> ReadKeys(const std::string& path);

// Checks keys, and limits the requests of each client. Used by one thread.
class Access {
 public:
  using Clock = RateLimit::Clock;

  // `limits` are those of the server's options.
  void Set(Keys keys, const ClientLimits& limits, const std::vector<std::string>& trusted_proxies);

  // Returns the address of the client that sent a request: the one at the other end of the
  // connection or, if that is a trusted proxy, the last address in X-Forwarded-For that is no
  // trusted proxy. An untrusted sender could write any address there. Where a trusted proxy names
  // no address ("unknown"), the client is that proxy, since the unknown sender may have written
  // what stands in front of it.
  std::string AddressOf(const HttpRequest& request) const;
  // Returns the client to which the fair share and the limit apply: a valid key, or else a network
  // (see NetworkOf).
  std::string ClientOf(const HttpRequest& request, const std::string& key) const;

  // Returns whether this is the address of a trusted proxy. If AddressOf returns it, the proxy has
  // not named the client behind it.
  bool IsProxy(const std::string& address) const;

  // Returns the answer for a client that may not ask: because of a wrong key (403), a missing one
  // (400), or too many requests (429); the texts are LibreTranslate's. Returns nullopt if it may,
  // and counts the request.
  //
  // A network that has sent too many wrong keys gets 429 for the right ones, too, so that it
  // cannot go on guessing; except for those that it has used before, so that nobody who shares the
  // network is shut out by the guesses.
  std::optional<HttpAnswer> Refuse(const HttpRequest& request, const std::string& key,
                                   Clock::time_point now);

  // Returns the answer for a client (of ClientOf) that has translated too many characters (429), or
  // counts those of its request and returns nullopt. A client that is not known has no limit.
  std::optional<HttpAnswer> RefuseCharacters(const std::string& client, size_t characters,
                                             Clock::time_point now);

  // Returns the answer for a request for figures whose header has another token than `token`: 401,
  // or 429 after too many wrong ones. Returns nullopt if it has the token.
  std::optional<HttpAnswer> RefuseToken(const HttpRequest& request, const std::string& token,
                                        Clock::time_point now);

  // Counts the characters that a client (of ClientOf) has used, of those that it may translate in a
  // day. Both are 0 if it has no limit.
  struct Characters {
    int64_t used = 0;
    int64_t most = 0;
  };
  Characters CharactersOf(const std::string& client, Clock::time_point now) const;

  bool has_keys() const { return !keys_.keys.empty(); }
  // Returns whether a client needs a key.
  bool needs_key() const { return has_keys() && !keys_.anonymous.has_value(); }

 private:
  // Returns the limits of a key, in a time that tells nothing about the valid ones, or null if it
  // is none of them.
  const ClientLimits* FindKey(const std::string& key) const;
  // Returns the limits of a client (of ClientOf), all of which have values.
  ClientLimits LimitsOf(const std::string& client) const;
  // Does the part of Refuse that concerns keys which are not empty.
  std::optional<HttpAnswer> RefuseKey(const std::string& network, const std::string& key,
                                      Clock::time_point now);

  Keys keys_;
  ClientLimits limits_;
  std::set<std::string> trusted_proxies_;
  RateLimit requests_;
  RateLimit characters_{50'000, std::chrono::hours(24)};
  RateLimit wrong_keys_;  // of networks
  RateLimit right_keys_;  // Knows the networks with the keys that they have used.
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ACCESS_H_
