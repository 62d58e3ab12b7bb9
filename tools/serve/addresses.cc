// Reads addresses with inet_pton.

#include "tools/serve/addresses.h"

#include <arpa/inet.h>

#include <cstdint>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace nibu::internal {
namespace {

// The longest address, its zone, brackets and port fit into so many bytes.
constexpr size_t kLongestAddress = 128;

bool IsPort(absl::string_view text) {
  uint32_t port = 0;
  return absl::c_all_of(text, absl::ascii_isdigit) && absl::SimpleAtoi(text, &port) &&
         port <= UINT16_MAX;
}

template <typename Address>
std::optional<Address> Read(int family, absl::string_view text) {
  Address address;
  // inet_pton would stop at a NUL.
  if (absl::StrContains(text, '\0')) return std::nullopt;
  if (inet_pton(family, std::string(text).c_str(), &address) != 1) return std::nullopt;
  return address;
}

std::string Write(int family, const void* address) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family, address, text, sizeof(text));
  return text;
}

std::optional<std::string> ParseIpv4(absl::string_view text) {
  if (const size_t colon = text.find(':'); colon != absl::string_view::npos) {
    if (!IsPort(text.substr(colon + 1))) return std::nullopt;
    text = text.substr(0, colon);
  }
  const auto address = Read<in_addr>(AF_INET, text);
  if (!address.has_value()) return std::nullopt;
  return Write(AF_INET, &*address);
}

std::optional<std::string> ParseIpv6(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "[")) {
    const size_t end = text.find(']');
    if (end == absl::string_view::npos) return std::nullopt;
    absl::string_view port = text.substr(end + 1);
    if (!port.empty() && !(absl::ConsumePrefix(&port, ":") && IsPort(port))) return std::nullopt;
    text = text.substr(0, end);
  }
  const auto address = Read<in6_addr>(AF_INET6, text.substr(0, text.find('%')));
  if (!address.has_value()) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&*address)) return Write(AF_INET, &address->s6_addr[12]);
  return Write(AF_INET6, &*address);
}

}  // namespace

std::optional<std::string> ParseAddress(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() > kLongestAddress) return std::nullopt;
  // IPv4 has one colon at most, in front of the port, and IPv6 without brackets has at least two.
  const auto colons = absl::c_count(text, ':');
  return colons < 2 ? ParseIpv4(text) : ParseIpv6(text);
}

std::string NetworkOf(const std::string& address) {
  auto ipv6 = Read<in6_addr>(AF_INET6, address);
  if (!ipv6.has_value()) return address;
  std::memset(&ipv6->s6_addr[8], 0, 8);
  return absl::StrCat(Write(AF_INET6, &*ipv6), "/64");
}

}  // namespace nibu::internal
