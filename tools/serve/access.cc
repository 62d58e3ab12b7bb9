// Checks keys, and counts the requests of each client.

#include "tools/serve/access.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
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

// What stands in front of a key in the name of its client.
constexpr absl::string_view kKeyClient = "key ";

// Compares all characters of `key`, whatever `guess` is.
bool IsSame(const std::string& key, const std::string& guess) {
  unsigned char difference = key.size() == guess.size() ? 0 : 1;
  for (size_t i = 0; i < key.size(); ++i) {
    difference |= static_cast<unsigned char>(key[i] ^ (i < guess.size() ? guess[i] : 0));
  }
  return difference == 0;
}

HttpAnswer SlowDown(int most, const char* period, double seconds) {
  return ErrorAnswer(429, absl::StrCat("Slowdown: ", most, " ", period),
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

absl::StatusOr<Keys> ReadKeys(const std::string& path) {
  std::ifstream file(path);
  Keys keys;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty() || words[0][0] == '#') continue;
    ClientLimits limits;
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<std::string, std::string> limit =
          absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      auto* const value = limit.first == "requests_per_minute"  ? &limits.requests_per_minute
                          : limit.first == "characters_per_day" ? &limits.characters_per_day
                                                                : nullptr;
      int most = 0;
      if (value == nullptr || !absl::SimpleAtoi(limit.second, &most) || most < 0) {
        return Invalid(path, ": line ", number, ": behind a key stand requests_per_minute=N and ",
                       "characters_per_day=N alone");
      }
      *value = most;
    }
    if (words[0] == "*" ? keys.anonymous.has_value() : keys.keys.count(words[0]) > 0) {
      return Invalid(path, ": line ", number, ": the key stands twice");
    }
    if (words[0] == "*") {
      keys.anonymous = limits;
    } else {
      keys.keys[words[0]] = limits;
    }
  }
  if (!file.eof()) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  if (keys.keys.empty()) return Invalid(path, ": no key in it; write one in each line");
  return keys;
}

void Access::Set(Keys keys, const ClientLimits& limits,
                 const std::vector<std::string>& trusted_proxies) {
  keys_ = std::move(keys);
  limits_ = limits;
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

const ClientLimits* Access::FindKey(const std::string& key) const {
  const ClientLimits* found = nullptr;
  for (const auto& [each, limits] : keys_.keys) {
    if (IsSame(each, key)) found = &limits;
  }
  return found;
}

ClientLimits Access::LimitsOf(const std::string& client) const {
  ClientLimits limits;
  const auto key = absl::StartsWith(client, kKeyClient)
                       ? keys_.keys.find(client.substr(kKeyClient.size()))
                       : keys_.keys.end();
  if (key != keys_.keys.end()) {
    limits = key->second;
  } else if (keys_.anonymous.has_value()) {
    limits = *keys_.anonymous;
  }
  return {limits.requests_per_minute.value_or(limits_.requests_per_minute.value_or(0)),
          limits.characters_per_day.value_or(limits_.characters_per_day.value_or(0))};
}

bool Access::IsProxy(const std::string& address) const {
  return trusted_proxies_.count(address) > 0;
}

std::string Access::ClientOf(const HttpRequest& request, const std::string& key) const {
  return FindKey(key) != nullptr ? absl::StrCat(kKeyClient, key) : NetworkOf(AddressOf(request));
}

std::optional<HttpAnswer> Access::RefuseKey(const std::string& network, const std::string& key,
                                            Clock::time_point now) {
  const bool is_key = FindKey(key) != nullptr;
  const std::string pair = absl::StrCat(network, " ", is_key ? key : "");
  if (!is_key || !right_keys_.Knows(pair)) {
    const int limit = limits_.requests_per_minute.value_or(0);
    const int most = limit > 0 ? std::min(limit, kWrongKeysPerMinute) : kWrongKeysPerMinute;
    const double seconds = wrong_keys_.Take(network, most, now, is_key ? 0 : 1);
    if (seconds > 0) return SlowDown(most, "per 1 minute", seconds);
    if (!is_key) return ErrorAnswer(403, "Invalid API key");
  }
  right_keys_.Take(pair, 1, now);
  return std::nullopt;
}

std::optional<HttpAnswer> Access::Refuse(const HttpRequest& request, const std::string& key,
                                         Clock::time_point now) {
  if (key.empty() && needs_key()) {
    return ErrorAnswer(400, "Please contact the server operator to get an API key");
  }
  if (has_keys() && !key.empty()) {
    if (auto refusal = RefuseKey(NetworkOf(AddressOf(request)), key, now)) return refusal;
  }
  const std::string client = ClientOf(request, key);
  const int most = *LimitsOf(client).requests_per_minute;
  const double seconds = most > 0 ? requests_.Take(client, most, now) : 0;
  if (seconds > 0) return SlowDown(most, "per 1 minute", seconds);
  return std::nullopt;
}

std::optional<HttpAnswer> Access::RefuseToken(const HttpRequest& request, const std::string& token,
                                              Clock::time_point now) {
  if (IsSame(token, KeyOf(request, ""))) return std::nullopt;
  const double seconds = wrong_keys_.Take(NetworkOf(AddressOf(request)), kWrongKeysPerMinute, now);
  if (seconds > 0) return SlowDown(kWrongKeysPerMinute, "per 1 minute", seconds);
  return ErrorAnswer(401, "the header Authorization must have the token of --metrics_token");
}

std::optional<HttpAnswer> Access::RefuseCharacters(const std::string& client, size_t characters,
                                                   Clock::time_point now) {
  const int most = client.empty() ? 0 : *LimitsOf(client).characters_per_day;
  const double seconds =
      most > 0 ? characters_.Take(client, most, now, static_cast<int64_t>(characters)) : 0;
  if (seconds > 0) return SlowDown(most, "characters per 1 day", seconds);
  return std::nullopt;
}

Access::Characters Access::CharactersOf(const std::string& client, Clock::time_point now) const {
  const int most = client.empty() ? 0 : *LimitsOf(client).characters_per_day;
  if (most == 0) return {};
  return {std::llround(most - characters_.Left(client, most, now)), most};
}

}  // namespace nibu::internal
