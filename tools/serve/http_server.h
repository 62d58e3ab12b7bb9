// A server of HTTP/1.1 on one thread, which any number of connections share.
#ifndef NIBU_TOOLS_SERVE_HTTP_SERVER_H_
#define NIBU_TOOLS_SERVE_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/http.h"

namespace nibu::internal {

// There are so many connections beyond HttpLimits::max_connections, on which a server answers
// whether it is well (/health, /ready), and what comes by the operator's address. Other requests on
// them are refused.
inline constexpr size_t kSpareConnections = 64;

// A client is an IPv4 address or an IPv6 network (NetworkOf). It may hold at most as much as it
// leaves free (ClientShares) of the connections, and of all the bytes that are being received.
struct HttpLimits {
  size_t max_body_bytes = size_t{4} << 20;
  size_t max_connections = 1024;
  // Addresses that stand for many clients; only the limits bound what they hold.
  std::vector<std::string> trusted_proxies;
  // The time for a whole head, a whole body, an idle connection, and each piece of an answer that a
  // slow client takes.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  // The time for what clients send and take, from the moment when the server is to end.
  std::chrono::milliseconds end_time = std::chrono::seconds(5);
};

// Reads requests, hands each to a handler, and writes the answers: one request of a connection at a
// time, in order, so that requests that were sent ahead (pipelining) wait. Connections are kept
// open; if there are too many, those that have been idle for longest are closed. A request that is
// not HTTP, or too large, is answered with a status and {"error": "..."}, and its connection is
// closed. So many bytes may wait in answers as in bodies that are being received; beyond that the
// connection with the oldest answer is closed. The thread that calls Run is called the network's
// thread. All functions except Post must be called on it, or before Run.
class HttpServer {
 public:
  // Called on the network's thread, which it must not block. If the client closes its connection,
  // or the sending side of it, it counts as gone: the returned function is called on the network's
  // thread, and the reply is ignored.
  using Handler = std::function<HttpCancel(HttpRequest request, HttpReply reply)>;

  // Listens. `port` 0 stands for any free port. Returns Unavailable if the address cannot be used.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(const std::string& host, int port,
                                                            const HttpLimits& limits,
                                                            Handler handler);
  ~HttpServer();

  // Listens on a second address, whose requests have HttpRequest::is_operators. Returns what Listen
  // does. May be called once, before Run.
  absl::Status AddOperatorsAddress(const std::string& host, int port);

  // Returns the server's address, such as "http://127.0.0.1:5000", and the operator's one, or "".
  std::string url() const;
  std::string operators_url() const;
  // Returns whether only this machine can connect.
  bool is_loopback() const;

  // Answers requests until Stop, or until Drain has ended.
  void Run();
  // Ends Run, and all connections, at once.
  void Stop();
  // Ends Run once all requests that have come are answered, also those on connections that have not
  // been accepted yet. Until then, connections are accepted, but none is kept open. Clients have
  // HttpLimits::end_time from `since` on, or from the time when an answer is ready, to send what
  // they have begun and to take the answer.
  void Drain(std::chrono::steady_clock::time_point since);
  void SetLimits(const HttpLimits& limits);
  // Sets the function that says how many seconds refused clients shall wait (Retry-After).
  void SetSecondsToWait(std::function<int()> seconds);

  // Calls `task` on the network's thread. May be called on any thread, as long as the server
  // exists.
  void Post(std::function<void()> task);
  // Calls `task` on the network's thread at a time.
  void At(std::chrono::steady_clock::time_point time, std::function<void()> task);
  // Calls `task` on the network's thread with SIGINT, SIGTERM or SIGHUP when one arrives.
  void OnSignal(std::function<void(int signal)> task);

  size_t connections() const;
  uint64_t refused_connections() const;  // Those beyond HttpLimits::max_connections, so far.

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_SERVER_H_
