// Reads the IP addresses of clients.
#ifndef NIBU_TOOLS_SERVE_ADDRESSES_H_
#define NIBU_TOOLS_SERVE_ADDRESSES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Returns the address in a text as inet_ntop writes it, or nullopt if there is none. The text may
// come from X-Forwarded-For or from a socket: it may have white space around it and a port behind
// it, as in "192.0.2.1:1234" and "[2001:db8::1]:443". An IPv4 address that is mapped into IPv6
// ("::ffff:192.0.2.1") becomes "192.0.2.1", so that each client has one name. A zone
// ("fe80::1%eth0") is left out.
std::optional<std::string> ParseAddress(absl::string_view text);

// Returns the name under which the client of an address is counted. It is an IPv4 address itself,
// but the first 64 bits of an IPv6 address, as in "2001:db8::/64": one subscriber usually has all
// addresses with the same 64 bits. Any other text stays as it is.
std::string NetworkOf(const std::string& address);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_ADDRESSES_H_
