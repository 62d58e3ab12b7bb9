// Tests of the server's keys, client addresses behind proxies, and limits; and of the result cache.
#include "tools/serve/access.h"

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
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
  access.Set({}, 0, {"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(access.AddressOf(From("1.2.3.4", "5.6.7.8")), "1.2.3.4");
  EXPECT_EQ(access.AddressOf(From("10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(access.AddressOf(From("10.0.0.1", "5.6.7.8")), "5.6.7.8");
  // The client itself wrote the addresses in front of the last one.
  EXPECT_EQ(access.AddressOf(From("10.0.0.1", "9.9.9.9, 5.6.7.8 ,10.0.0.2")), "5.6.7.8");
}

TEST(AccessTest, Keys) {
  const std::string path = testing::TempDir() + "/keys.txt";
  std::ofstream(path) << "# ours\r\nsecret\r\n\nother \n";
  Access access;
  access.Set(*ReadKeys(path), 0, {});
  const auto now = Access::Clock::now();
  EXPECT_EQ(access.Refuse("1.2.3.4", "", now)->status, 400);
  EXPECT_EQ(access.Refuse("1.2.3.4", "# ours", now)->status, 403);
  EXPECT_FALSE(access.Refuse("1.2.3.4", "secret", now).has_value());
  EXPECT_FALSE(access.Refuse("1.2.3.4", "other", now).has_value());
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
  access.Set({}, 3, {});
  const auto start = Access::Clock::now();
  const auto at = [&](int seconds, const char* client = "a") {
    const auto refusal = access.Refuse(client, "", start + std::chrono::seconds(seconds));
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

}  // namespace
}  // namespace nibu::internal
