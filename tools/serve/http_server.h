// A server of HTTP/1.1 on one thread, which any number of connections share.
#ifndef NIBU_TOOLS_SERVE_HTTP_SERVER_H_
#define NIBU_TOOLS_SERVE_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/serve/http.h"

namespace nibu::internal {

struct HttpLimits {
  size_t max_body_bytes = size_t{4} << 20;
  size_t max_connections = 1024;
  // The time for a whole head, a whole body, an idle connection, and each piece of an answer that a
  // slow client takes.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

// Reads requests, hands each to a handler, and writes the answers: one request of a connection at a
// time, in order, so that requests that were sent ahead (pipelining) wait. Connections are kept
// open. A request that is not HTTP, or too large, is answered with a status and {"error": "..."},
// and its connection is closed. The thread that calls Run is called the network's thread. All
// functions except Post must be called on it, or before Run.
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

  // Returns the server's address, such as "http://127.0.0.1:5000".
  std::string url() const;
  // Returns whether only this machine can connect.
  bool is_loopback() const;

  // Answers requests until Stop, or until Drain has ended.
  void Run();
  // Ends Run, and all connections, at once.
  void Stop();
  // Ends Run once every request that the handler has taken is answered. Until then, connections are
  // accepted, but none is kept open.
  void Drain();
  void SetLimits(const HttpLimits& limits);

  // Calls `task` on the network's thread. May be called on any thread, as long as the server
  // exists.
  void Post(std::function<void()> task);
  // Calls `task` on the network's thread again and again.
  void Every(std::chrono::milliseconds period, std::function<void()> task);
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
