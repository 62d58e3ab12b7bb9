// Tests of the addresses of the server's clients.
#include "tools/serve/addresses.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

TEST(AddressesTest, ReadsWhatProxiesWrite) {
  const std::pair<const char*, const char*> cases[] = {
      {"192.0.2.1", "192.0.2.1"},
      {" \t192.0.2.1 ", "192.0.2.1"},
      {"192.0.2.1:1234", "192.0.2.1"},
      {"2001:db8::1", "2001:db8::1"},
      {"2001:0DB8:0:0::0001", "2001:db8::1"},
      {"[2001:db8::1]", "2001:db8::1"},
      {"[2001:db8::1]:443", "2001:db8::1"},
      {"::", "::"},
      {"[::]:0", "::"},
      {"fe80::1%eth0", "fe80::1"},
      {"::ffff:192.0.2.1", "192.0.2.1"},
      {"::FFFF:c000:201", "192.0.2.1"},
      {"[::ffff:192.0.2.1]:65535", "192.0.2.1"},
  };
  for (const auto& [text, address] : cases) EXPECT_EQ(ParseAddress(text), address) << text;
}

TEST(AddressesTest, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           ":",
                           "::1::",
                           "unknown",
                           "_hidden",
                           "localhost",
                           "192.0.2",
                           "192.0.2.256",
                           "192.0.2.1:",
                           "192.0.2.1:+1",
                           "192.0.2.1:65536",
                           "192.0.2.1:x",
                           "192.0.2.1/32",
                           "[192.0.2.1]",
                           "[192.0.2.1]:80",
                           "[::1",
                           "::1]",
                           "[::1]x",
                           "[::1]:",
                           "[::1]:-1",
                           "[::1]:99999999999",
                           "\"[::1]:80\"",
                           "for=192.0.2.1",
                           "192.0.2.1 192.0.2.2",
                           "%eth0",
                           "1"}) {
    EXPECT_FALSE(ParseAddress(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseAddress(std::string("192.0.2.1\0x", 11)).has_value());
  EXPECT_FALSE(ParseAddress("::1%" + std::string(1000, 'x')).has_value());
}

TEST(AddressesTest, CountsIpv6ByItsFirst64Bits) {
  EXPECT_EQ(NetworkOf("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(NetworkOf("2001:db8::1"), "2001:db8::/64");
  EXPECT_EQ(NetworkOf("2001:db8::ffff:0:0:1"), NetworkOf("2001:db8::1"));
  EXPECT_NE(NetworkOf("2001:db8:0:1::1"), NetworkOf("2001:db8::1"));
  EXPECT_EQ(NetworkOf("unix"), "unix");
}

}  // namespace
}  // namespace nibu::internal
