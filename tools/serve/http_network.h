// The network that the connections of a server share. Like http_connection.h, it includes Boost,
// which takes long to compile: only http_server.cc and http_connection.h include this file.
#ifndef NIBU_TOOLS_SERVE_HTTP_NETWORK_H_
#define NIBU_TOOLS_SERVE_HTTP_NETWORK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "boost/asio.hpp"
#include "tools/serve/http_server.h"
#include "tools/serve/share.h"

namespace nibu::internal {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;

// The number of bodies of the largest size that may be received at a time, or of answers of this
// size that may wait for their readers. There may be more small ones.
inline constexpr size_t kMostBodies = 64;

class HttpConnection;

// Used by the network's thread.
struct HttpNetwork {
  using Clock = std::chrono::steady_clock;
  // Connections in the order in which they were added; the keys only grow.
  using ByAge = std::map<uint64_t, HttpConnection*>;
  static constexpr auto kNever = Clock::time_point::max();

  HttpNetwork(const HttpLimits& first_limits, HttpServer::Handler given_handler)
      : handler(std::move(given_handler)) {
    SetLimits(first_limits);
  }

  void SetLimits(const HttpLimits& new_limits) {
    limits = new_limits;
    places.SetLimit(limits.max_connections);
    received.SetLimit(MostBytes());
  }
  // Returns the bound of all bytes that are being received, and of those of all answers.
  size_t MostBytes() const { return kMostBodies * limits.max_body_bytes; }

  // Closes connections at their deadlines; to be called when `deadlines` has changed. One timer
  // waits for the earliest of them, so that a server without connections does nothing.
  void ArmDeadlines();

  void AddIdle(uint64_t age, const std::string& client, HttpConnection* connection) {
    idle[age] = connection;
    idle_of[client][age] = connection;
    EndIfDrained();
  }
  void RemoveIdle(uint64_t age, const std::string& client) {
    idle.erase(age);
    const auto own = idle_of.find(client);
    if (own == idle_of.end()) return;
    own->second.erase(age);
    if (own->second.empty()) idle_of.erase(own);
  }

  // Ends the event loop if the server is to end and no connection has a request.
  void EndIfDrained() {
    if (is_draining && idle.size() == connections.size()) io.stop();
  }

  HttpLimits limits;
  const HttpServer::Handler handler;
  // Returns the seconds that refused clients are asked to wait.
  std::function<int()> seconds_to_wait = [] { return 1; };

  std::set<HttpConnection*> connections;  // all that are open
  uint64_t last_age = 0;                  // the greatest key so far in any ByAge
  ByAge idle;                             // those that wait for a request
  std::map<std::string, ByAge> idle_of;   // the same, by client
  ByAge beyond;                           // those for which `places` had no room
  ByAge writing;                          // those whose answers wait for their readers
  std::set<std::pair<Clock::time_point, HttpConnection*>> deadlines;
  Clock::time_point armed = kNever;  // the deadline for which the timer waits

  ClientShares places{0};    // of connections
  ClientShares received{0};  // of bytes that have been received and not yet handled
  size_t answer_bytes = 0;   // the sum over all answers that wait for their readers
  uint64_t refused = 0;      // connections that were refused for lack of a place

  bool is_draining = false;
  Clock::time_point draining_since;

  asio::io_context io{1};  // Connections end with it at the latest, and use what stands above.
  asio::steady_timer deadline_timer{io};
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_NETWORK_H_
