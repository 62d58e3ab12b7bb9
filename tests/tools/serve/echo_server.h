// A server of HTTP for tests of its connections.
#ifndef NIBU_TESTS_TOOLS_SERVE_ECHO_SERVER_H_
#define NIBU_TESTS_TOOLS_SERVE_ECHO_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/tools/serve/raw_connection.h"
#include "tools/serve/answers.h"
#include "tools/serve/http_server.h"

namespace nibu::internal {

inline HttpAnswer Text(const char* text) {
  HttpAnswer answer;
  answer.body = text;
  return answer;
}

// A server that answers with the request it was sent. Release answers the requests of /hold.
class EchoServer {
 public:
  explicit EchoServer(const HttpLimits& limits = {}) {
    server_ =
        *HttpServer::Listen("127.0.0.1", 0, limits, [this](HttpRequest request, HttpReply reply) {
          ++requests_;
          if (request.path == "/memory") throw std::bad_alloc();
          if (request.path == "/throw") throw std::runtime_error("a fault of the handler");
          const bool is_upgrade = request.kind == HttpRequest::Kind::kUpgrade;
          if (request.path == "/hold" && !is_upgrade) {
            const std::lock_guard<std::mutex> lock(mutex_);
            held_.push_back(std::move(reply));
            return HttpCancel([this] { ++cancelled_; });
          }
          if (request.kind == HttpRequest::Kind::kMessage) {
            reply(request.body == "busy" ? ErrorAnswer(503, "busy") : Text(request.body.c_str()));
            return HttpCancel();
          }
          HttpAnswer answer;
          if (is_upgrade) answer.status = 101;
          answer.body = absl::StrCat(request.method, " ", request.path, "?", request.query, " ",
                                     request.content_type, " ", request.body);
          if (request.path == "/large") answer.body.assign(size_t{8} << 20, 'x');
          reply(std::move(answer));
          return HttpCancel();
        });
    thread_ = std::thread([this] { server_->Run(); });
  }
  ~EchoServer() {
    if (!thread_.joinable()) return;
    server_->Post([this] { server_->Stop(); });
    thread_.join();
  }

  HttpServer& server() { return *server_; }
  void Drain() {
    server_->Post([this] { server_->Drain(std::chrono::steady_clock::now()); });
  }
  // Waits until the server's Run has returned.
  void AwaitEnd() { thread_.join(); }
  // Returns the answer to a question that is asked on the server's own thread.
  uint64_t Ask(uint64_t (*question)(const HttpServer& server)) {
    std::promise<uint64_t> answer;
    server_->Post([&] { answer.set_value(question(*server_)); });
    return answer.get_future().get();
  }
  RawConnection Connect() { return RawConnection(server_->url()); }
  int requests() const { return requests_; }
  int cancelled() const { return cancelled_; }
  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (HttpReply& reply : held_) reply(Text("held"));
    held_.clear();
  }
  // Waits until the handler has received so many requests.
  void AwaitRequests(int count) const {
    while (requests_ < count) std::this_thread::yield();
  }

 private:
  std::unique_ptr<HttpServer> server_;
  std::atomic<int> requests_{0};
  std::atomic<int> cancelled_{0};
  std::mutex mutex_;
  std::vector<HttpReply> held_;
  std::thread thread_;
};

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_SERVE_ECHO_SERVER_H_
