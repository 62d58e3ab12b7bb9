// Checks keys, and counts the requests of each client.

#include "tools/serve/access.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "tools/serve/answers.h"

namespace nibu::internal {
namespace {

// Clients with a full bucket are forgotten when there are more than so many.
constexpr size_t kMostBuckets = 10'000;

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
                 std::vector<std::string> trusted_proxies) {
  keys_ = std::move(keys);
  requests_per_minute_ = requests_per_minute;
  trusted_proxies_ = std::move(trusted_proxies);
}

std::string Access::AddressOf(const HttpRequest& request) const {
  std::string address = request.address;
  const std::vector<absl::string_view> hops =
      absl::StrSplit(request.forwarded_for, ',', absl::SkipWhitespace());
  // The last hop was added by the nearest proxy. Goes back as long as the sender is trusted.
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    if (!absl::c_linear_search(trusted_proxies_, address)) break;
    address = std::string(absl::StripAsciiWhitespace(*hop));
  }
  return address;
}

std::string Access::ClientOf(const HttpRequest& request, const std::string& key) const {
  return keys_.count(key) > 0 ? absl::StrCat("key ", key) : AddressOf(request);
}

std::optional<HttpAnswer> Access::Refuse(const std::string& client, const std::string& key,
                                         Clock::time_point now) {
  if (has_keys()) {
    if (key.empty()) {
      return ErrorAnswer(400, "Please contact the server operator to get an API key");
    }
    if (keys_.count(key) == 0) return ErrorAnswer(403, "Invalid API key");
  }
  if (!has_limit()) return std::nullopt;
  // A full bucket is like a new one, so it can be forgotten.
  if (buckets_.size() > kMostBuckets) {
    std::erase_if(buckets_, [&](const auto& each) {
      return TokensAt(each.second, now) >= requests_per_minute_;
    });
  }
  const auto most = static_cast<double>(requests_per_minute_);
  Bucket& bucket = buckets_.try_emplace(client, Bucket{most, now}).first->second;
  bucket = {TokensAt(bucket, now), now};
  if (bucket.tokens < 1) {
    HttpAnswer answer =
        ErrorAnswer(429, absl::StrCat("Slowdown: ", requests_per_minute_, " per 1 minute"));
    answer.retry_after = static_cast<int>(std::ceil((1 - bucket.tokens) * 60 / most));
    return answer;
  }
  --bucket.tokens;
  return std::nullopt;
}

double Access::TokensAt(const Bucket& bucket, Clock::time_point now) const {
  const double minutes = std::chrono::duration<double>(now - bucket.filled).count() / 60;
  return std::min<double>(requests_per_minute_, bucket.tokens + minutes * requests_per_minute_);
}

}  // namespace nibu::internal
