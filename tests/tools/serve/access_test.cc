// Tests of the server's keys, client addresses behind proxies, and limits; and of the result cache.
#include "tools/serve/access.h"

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/serve/rate_limit.h"
#include "tools/serve/result_cache.h"

namespace nibu::internal {
namespace {

HttpRequest From(const std::string& address, const std::string& forwarded = "",
                 const std::string& authorization = "") {
  HttpRequest request;
  request.address = address;
  request.forwarded_for = forwarded;
  request.authorization = authorization;
  return request;
}

TEST(AccessTest, BelievesTrustedProxiesAlone) {
  Access access;
  access.Set({}, {0}, {"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(access.AddressOf(From("1.2.3.4", "5.6.7.8")), "1.2.3.4");
  EXPECT_EQ(access.AddressOf(From("10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(access.AddressOf(From("10.0.0.1", "5.6.7.8")), "5.6.7.8");
  // The client itself wrote the addresses in front of the last one.
  EXPECT_EQ(access.AddressOf(From("10.0.0.1", "9.9.9.9, 5.6.7.8 ,10.0.0.2")), "5.6.7.8");
}

TEST(AccessTest, ForwardedAddressesHaveManyForms) {
  Access access;
  access.Set({}, {0}, {"10.0.0.1", "2001:DB8::A"});
  for (const char* proxy : {"10.0.0.1", "::ffff:10.0.0.1", "2001:db8:0::a"}) {
    EXPECT_EQ(access.AddressOf(From(proxy, "5.6.7.8:1234")), "5.6.7.8");
    EXPECT_EQ(access.AddressOf(From(proxy, "[2001:db8::1]:443")), "2001:db8::1");
    EXPECT_EQ(access.AddressOf(From(proxy, "::ffff:5.6.7.8, [2001:db8::a]:80")), "5.6.7.8");
  }
  EXPECT_EQ(access.AddressOf(From("::ffff:1.2.3.4", "5.6.7.8")), "1.2.3.4");
  // What stands in front of a hop that is no address was written by somebody unknown.
  for (const char* unknown : {"unknown", "", " ", "_hidden", "5.6.7", "x\r\ny"}) {
    EXPECT_EQ(access.AddressOf(From("10.0.0.1", absl::StrCat("5.6.7.8, ", unknown))), "10.0.0.1");
    EXPECT_EQ(access.AddressOf(From("10.0.0.1", absl::StrCat("9.9.9.9, ", unknown, ", 10.0.0.1"))),
              "10.0.0.1");
    EXPECT_EQ(access.AddressOf(From("10.0.0.1", absl::StrCat(unknown, ", 5.6.7.8"))), "5.6.7.8");
  }
}

TEST(AccessTest, Ipv6ClientsAreNetworks) {
  Access access;
  access.Set({}, {1}, {});
  EXPECT_EQ(access.ClientOf(From("2001:db8::1"), ""), "2001:db8::/64");
  EXPECT_EQ(access.AddressOf(From("2001:db8::1")), "2001:db8::1");
  const auto now = Access::Clock::now();
  EXPECT_FALSE(access.Refuse(From("2001:db8::1"), "", now).has_value());
  EXPECT_EQ(access.Refuse(From("2001:db8::2"), "", now)->status, 429);
  EXPECT_FALSE(access.Refuse(From("2001:db8:0:1::1"), "", now).has_value());
}

TEST(AccessTest, KeysAreReadAndRequired) {
  const std::string path = testing::TempDir() + "/keys.txt";
  std::ofstream(path) << "# ours\r\nsecret\r\n\nother \n";
  Access access;
  access.Set(*ReadKeys(path), {}, {});
  const auto now = Access::Clock::now();
  EXPECT_EQ(access.Refuse(From("1.2.3.4"), "", now)->status, 400);
  for (const char* wrong : {"# ours", "secre", "secret ", "Secret", "secretother", "sEcret"}) {
    EXPECT_EQ(access.Refuse(From("1.2.3.4"), wrong, now)->status, 403);
  }
  EXPECT_FALSE(access.Refuse(From("1.2.3.4"), "secret", now).has_value());
  EXPECT_FALSE(access.Refuse(From("1.2.3.4"), "other", now).has_value());
  EXPECT_EQ(KeyOf(From("", "", "Bearer secret"), ""), "secret");
  EXPECT_EQ(KeyOf(From("", "", "DeepL-Auth-Key secret"), ""), "secret");
  EXPECT_EQ(KeyOf(From("", "", "Basic secret"), ""), "");
  EXPECT_EQ(KeyOf(From("", "", "Bearer secret"), "other"), "other");
  // All requests with a key count as one client's, and no address can pretend to be this client.
  EXPECT_EQ(access.ClientOf(From("1.2.3.4"), "secret"), access.ClientOf(From("5.6.7.8"), "secret"));
  EXPECT_EQ(access.ClientOf(From("1.2.3.4"), "wrong"), "1.2.3.4");

  std::ofstream(path) << "# none\n";
  EXPECT_EQ(ReadKeys(path).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadKeys(path + "x").status().code(), absl::StatusCode::kNotFound);
}

TEST(AccessTest, RequestsInAMinute) {
  Access access;
  access.Set({}, {3}, {});
  const auto start = Access::Clock::now();
  const auto at = [&](int seconds, const char* client = "a") {
    const auto refusal = access.Refuse(From(client), "", start + std::chrono::seconds(seconds));
    return refusal.has_value() ? refusal->status * 1000 + refusal->retry_after : 200;
  };
  EXPECT_EQ(at(0), 200);
  EXPECT_EQ(at(0), 200);
  EXPECT_EQ(at(0), 200);
  EXPECT_EQ(at(0), 429'020);
  EXPECT_EQ(at(0, "b"), 200);
  EXPECT_EQ(at(10), 429'010);
  EXPECT_EQ(at(20), 200);
  EXPECT_EQ(at(20), 429'020);
  EXPECT_EQ(at(1000), 200);
}

// A network that guesses does not learn that a guess was right, once it has sent too many.
TEST(AccessTest, WrongKeysAreLimited) {
  for (const int per_minute : {0, 30, 1000}) {
    Access access;
    access.Set({{{"secret", {}}, {"other", {}}}, {}}, {per_minute}, {});
    const auto start = Access::Clock::now();
    const auto status = [&](const char* address, const std::string& key, int second = 0) {
      const auto refusal = access.Refuse(From(address), key, start + std::chrono::seconds(second));
      return refusal.has_value() ? refusal->status : 200;
    };
    EXPECT_EQ(status("2001:db8::1", "other"), 200);
    const int most = per_minute == 30 ? 30 : 60;
    for (int i = 0; i < most; ++i) {
      EXPECT_EQ(status("2001:db8::1", absl::StrCat("guess ", i)), 403) << i;
    }
    EXPECT_EQ(status("2001:db8::2", "guess"), 429);
    EXPECT_EQ(status("2001:db8::2", "secret"), 429);
    EXPECT_GE(access.Refuse(From("2001:db8::1"), "guess", start)->retry_after, 1);
    // Others are not shut out, and neither is who has sent the right key before.
    EXPECT_EQ(status("2001:db8::2", "other"), 200);
    EXPECT_EQ(status("1.2.3.4", "guess"), 403);
    EXPECT_EQ(status("1.2.3.4", "secret"), 200);
    EXPECT_EQ(status("2001:db8::2", "secret", 60), 200);
    EXPECT_EQ(status("2001:db8::2", "guess", 60), 403);
  }
}

TEST(RateLimitTest, KnowsABoundedNumberOfClients) {
  RateLimit limit(/*most_clients=*/3);
  const auto now = RateLimit::Clock::now();
  const auto may = [&](const char* client) { return limit.Take(client, 1, now) == 0; };
  for (const char* client : {"a", "b", "c"}) EXPECT_TRUE(may(client));
  EXPECT_FALSE(may("a"));
  // "b" asked longest ago, so it is forgotten for "d", and "c" for "b".
  EXPECT_TRUE(may("d"));
  EXPECT_TRUE(may("b"));
  for (const char* client : {"a", "d", "b"}) EXPECT_FALSE(may(client));
  EXPECT_FALSE(limit.Knows("c"));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(may(std::to_string(i).c_str()));
  EXPECT_EQ(limit.size(), 3u);
}

TEST(ResultCacheTest, KeepsWhatWasUsedLast) {
  const auto texts = [](const char* text) {
    return std::make_shared<const Translations>(Translations{std::string(1000, *text)});
  };
  ResultCache cache(3 * 1500);
  for (const char* key : {"a", "b", "c"}) cache.Add(key, texts(key));
  EXPECT_EQ(*cache.Find("a"), *texts("a"));
  cache.Add("d", texts("d"));
  EXPECT_EQ(cache.Find("b"), nullptr);
  for (const char* key : {"a", "c", "d"}) EXPECT_EQ(*cache.Find(key), *texts(key));
  EXPECT_LE(cache.bytes(), 3u * 1500);
  // An entry that exists is kept.
  cache.Add("d", texts("e"));
  EXPECT_EQ(*cache.Find("d"), *texts("d"));
  cache.SetMaxBytes(1500);
  EXPECT_NE(cache.Find("d"), nullptr);
  EXPECT_EQ(cache.Find("a"), nullptr);
  cache.SetMaxBytes(0);
  cache.Add("f", texts("f"));
  EXPECT_EQ(cache.Find("f"), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

// A key may have limits of its own, and "*" lets clients without a key ask.
TEST(AccessTest, KeysWithLimits) {
  const std::string path = absl::StrCat(testing::TempDir(), "/keys_", getpid());
  std::ofstream(path)
      << "# keys\n\nplain\n  slow requests_per_minute=1 \t characters_per_day=10\r\n"
         "free characters_per_day=0\n* requests_per_minute=2\n";
  const absl::StatusOr<Keys> keys = ReadKeys(path);
  ASSERT_TRUE(keys.ok()) << keys.status();
  Access access;
  access.Set(*keys, {3, 1000}, {});
  EXPECT_TRUE(access.has_keys());
  EXPECT_FALSE(access.needs_key());
  const auto now = Access::Clock::now();
  const auto allowed = [&](const std::string& key) {
    int count = 0;
    while (count < 9 && !access.Refuse(From("1.2.3.4"), key, now).has_value()) ++count;
    return count;
  };
  EXPECT_EQ(allowed("plain"), 3);
  EXPECT_EQ(allowed("slow"), 1);
  EXPECT_EQ(allowed(""), 2);
  EXPECT_EQ(access.Refuse(From("1.2.3.4"), "*", now)->status, 403);
  const auto characters = [&](const std::string& key, size_t count, int hours) {
    const auto refusal = access.RefuseCharacters(access.ClientOf(From("1.2.3.4"), key), count,
                                                 now + std::chrono::hours(hours));
    return refusal.has_value() ? refusal->status : 200;
  };
  // One request may be larger than what is left. Then what is missing has to come back first.
  EXPECT_EQ(characters("slow", 8, 0), 200);
  EXPECT_EQ(characters("slow", 12, 0), 200);
  EXPECT_EQ(characters("slow", 1, 0), 429);
  EXPECT_EQ(characters("slow", 1, 24), 429);
  EXPECT_EQ(characters("slow", 1, 27), 200);
  EXPECT_EQ(characters("free", 1'000'000, 0), 200);
  EXPECT_EQ(characters("free", 1, 0), 200);
  EXPECT_EQ(characters("", 1001, 0), 200);
  EXPECT_EQ(characters("", 1, 0), 429);
  EXPECT_FALSE(access.RefuseCharacters("", 5000, now).has_value());
  for (const char* line : {"key limit=1", "key requests_per_minute", "key requests_per_minute=-1",
                           "key characters_per_day=x", "two words"}) {
    std::ofstream(path) << "good\n" << line << "\n";
    EXPECT_EQ(ReadKeys(path).status().message(),
              absl::StrCat(path,
                           ": line 2: behind a key stand requests_per_minute=N and "
                           "characters_per_day=N alone"));
  }
  for (const char* key : {"good", "*"}) {
    std::ofstream(path) << "good\n" << key << "\n" << key << " characters_per_day=1\n";
    EXPECT_THAT(ReadKeys(path).status().message(), testing::HasSubstr("the key stands twice"))
        << key;
  }
}

}  // namespace
}  // namespace nibu::internal
