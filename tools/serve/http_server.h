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
  // For a whole head, a whole body, an idle connection, and each piece of an answer that a slow
  // client takes.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

// Reads requests, hands each to a handler, and writes the answers: one request of a connection at a
// time, in order, so that requests that were sent ahead (pipelining) wait. Connections are kept
// open. What is not HTTP, or too large, is answered with a status and {"error": "..."}, and the
// connection is closed. The thread of Run is called the network's thread; all but Post belongs to
// it, or comes before Run.
class HttpServer {
 public:
  // Called on the network's thread, which it must not hold up. A client that closes its connection,
  // or its sending side of it, has gone away: the result is called then, on the network's thread,
  // and the reply is ignored.
  using Handler = std::function<HttpCancel(HttpRequest request, HttpReply reply)>;

  // Listens. `port` 0 is any free one. Unavailable: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(const std::string& host, int port,
                                                            const HttpLimits& limits,
                                                            Handler handler);
  ~HttpServer();

  // "http://127.0.0.1:5000".
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

  // Calls `task` on the network's thread. From any thread, as long as the server exists.
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
