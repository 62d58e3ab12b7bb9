// Checks keys, and counts the requests of each client.

#include "tools/serve/access.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "tools/serve/addresses.h"
#include "tools/serve/answers.h"

namespace nibu::internal {
namespace {

// The most wrong keys that a network may send in a minute. People who mistype a key, or a program
// with an old one, send fewer; and 32 random digits cannot be guessed at any such rate.
constexpr int kWrongKeysPerMinute = 60;

// Compares all characters of `key`, whatever `guess` is.
bool IsSame(const std::string& key, const std::string& guess) {
  unsigned char difference = key.size() == guess.size() ? 0 : 1;
  for (size_t i = 0; i < key.size(); ++i) {
    difference |= static_cast<unsigned char>(key[i] ^ (i < guess.size() ? guess[i] : 0));
  }
  return difference == 0;
}

HttpAnswer SlowDown(int per_minute, double seconds) {
  return ErrorAnswer(429, absl::StrCat("Slowdown: ", per_minute, " per 1 minute"),
                     static_cast<int>(std::ceil(seconds)));
}

}  // namespace

std::string KeyOf(const HttpRequest& request, const std::string& api_key) {
  if (!api_key.empty()) return api_key;
  const absl::string_view header = request.authorization;
  for (const absl::string_view scheme : {"Bearer ", "DeepL-Auth-Key "}) {
    if (absl::StartsWithIgnoreCase(header, scheme)) {
      return std::string(absl::StripAsciiWhitespace(header.substr(scheme.size())));
    }
  }
  return "";
}

absl::StatusOr<std::set<std::string>> ReadKeys(const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    absl::StripAsciiWhitespace(&line);
    if (!line.empty() && line[0] != '#') keys.insert(line);
  }
  if (!file.eof()) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  if (keys.empty()) return Invalid(path, ": no key in it; write one in each line");
  return keys;
}

void Access::Set(std::set<std::string> keys, int requests_per_minute,
                 const std::vector<std::string>& trusted_proxies) {
  keys_ = std::move(keys);
  requests_per_minute_ = requests_per_minute;
  trusted_proxies_.clear();
  for (const std::string& proxy : trusted_proxies) {
    trusted_proxies_.insert(ParseAddress(proxy).value_or(proxy));
  }
}

std::string Access::AddressOf(const HttpRequest& request) const {
  std::string address = ParseAddress(request.address).value_or(request.address);
  const std::vector<absl::string_view> hops = absl::StrSplit(request.forwarded_for, ',');
  // The last hop was added by the nearest proxy. Goes back as long as the sender is trusted.
  for (auto hop = hops.rbegin(); hop != hops.rend() && trusted_proxies_.count(address) > 0; ++hop) {
    std::optional<std::string> sender = ParseAddress(*hop);
    if (!sender.has_value()) break;
    address = *std::move(sender);
  }
  return address;
}

bool Access::IsKey(const std::string& key) const {
  bool is_key = false;
  for (const std::string& each : keys_) is_key |= IsSame(each, key);
  return is_key;
}

bool Access::IsProxy(const std::string& address) const {
  return trusted_proxies_.count(address) > 0;
}

std::string Access::ClientOf(const HttpRequest& request, const std::string& key) const {
  return IsKey(key) ? absl::StrCat("key ", key) : NetworkOf(AddressOf(request));
}

std::optional<HttpAnswer> Access::RefuseKey(const std::string& network, const std::string& key,
                                            Clock::time_point now) {
  const bool is_key = IsKey(key);
  const std::string pair = absl::StrCat(network, " ", is_key ? key : "");
  if (!is_key || !right_keys_.Knows(pair)) {
    const int most =
        has_limit() ? std::min(requests_per_minute_, kWrongKeysPerMinute) : kWrongKeysPerMinute;
    const double seconds = wrong_keys_.Take(network, most, now, is_key ? 0 : 1);
    if (seconds > 0) return SlowDown(most, seconds);
    if (!is_key) return ErrorAnswer(403, "Invalid API key");
  }
  right_keys_.Take(pair, 1, now);
  return std::nullopt;
}

std::optional<HttpAnswer> Access::Refuse(const HttpRequest& request, const std::string& key,
                                         Clock::time_point now) {
  if (has_keys()) {
    if (key.empty()) {
      return ErrorAnswer(400, "Please contact the server operator to get an API key");
    }
    if (auto refusal = RefuseKey(NetworkOf(AddressOf(request)), key, now)) return refusal;
  }
  if (!has_limit()) return std::nullopt;
  const double seconds = requests_.Take(ClientOf(request, key), requests_per_minute_, now);
  if (seconds > 0) return SlowDown(requests_per_minute_, seconds);
  return std::nullopt;
}

}  // namespace nibu::internal
