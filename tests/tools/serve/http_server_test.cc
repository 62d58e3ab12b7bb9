// Tests of the server's connections: requests in pieces of any size, and those that are refused.
// Threads: the thread sanitizer runs this file.
#include "tools/serve/http_server.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/serve/raw_connection.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

HttpAnswer Text(const char* text) {
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
          if (request.path == "/hold") {
            const std::lock_guard<std::mutex> lock(mutex_);
            held_.push_back(std::move(reply));
            return HttpCancel([this] { ++cancelled_; });
          }
          HttpAnswer answer;
          answer.body = absl::StrCat(request.method, " ", request.path, "?", request.query, " ",
                                     request.content_type, " ", request.body);
          if (request.path == "/large") answer.body.assign(size_t{8} << 20, 'x');
          reply(std::move(answer));
          return HttpCancel();
        });
    thread_ = std::thread([this] { server_->Run(); });
  }
  ~EchoServer() {
    server_->Post([this] { server_->Stop(); });
    thread_.join();
  }

  HttpServer& server() { return *server_; }
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

TEST(HttpServerTest, AnswersRequestsOfAConnectionInOrder) {
  EchoServer echo;
  RawConnection client = echo.Connect();
  client.SendPost("/a?x=1|2", "text/plain", "first");
  EXPECT_EQ(client.Read().body, "POST /a?x=1|2 text/plain first");
  // These are sent ahead, while the first one is held.
  client.SendGet("/hold");
  client.SendGet("/b");
  client.SendPost("/c", "t", "third");
  echo.AwaitRequests(2);
  EXPECT_FALSE(client.HasData(50));
  EXPECT_EQ(echo.requests(), 2);
  echo.Release();
  EXPECT_EQ(client.Read().body, "held");
  EXPECT_EQ(client.Read().body, "GET /b?  ");
  EXPECT_EQ(client.Read().body, "POST /c? t third");
}

TEST(HttpServerTest, TakesBodiesInPiecesAndChunks) {
  EchoServer echo;
  RawConnection client = echo.Connect();
  for (const char c : std::string("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")) {
    client.Send(std::string(1, c));
  }
  EXPECT_EQ(client.Read().body, "POST /a?  abc");
  client.Send(
      "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nxy\r\n1\r\nz\r\n0\r\n\r\n");
  EXPECT_EQ(client.Read().body, "POST /b?  xyz");
  client.Send("POST /c HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  client.Send("ok");
  EXPECT_EQ(client.Read().body, "POST /c?  ok");
  client.Send("HEAD /d HTTP/1.1\r\nHost: x\r\n\r\n");
  const ReceivedAnswer head = client.Read(/*has_body=*/false);
  EXPECT_EQ(head.headers.at("content-length"), "10");
  client.Send("GET http://x.y:80/e?f HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /e?f  ");
  client.Send("GET /e HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /e?  ");
  EXPECT_TRUE(client.IsClosed());
}

// Each of these is answered with an error, and its connection is closed.
TEST(HttpServerTest, RefusesWhatIsNoHttpOrTooLarge) {
  HttpLimits limits;
  limits.max_body_bytes = 1000;
  EchoServer echo(limits);
  const std::string many_headers = [] {
    std::string headers;
    for (int i = 0; i < 2000; ++i) absl::StrAppend(&headers, "X-", i, ": y\r\n");
    return headers;
  }();
  const std::pair<std::string, int> kBad[] = {
      {"garbage\r\n\r\n", 400},
      {"GET / HTTP/9.9\r\n\r\n", 400},
      {"GET /\x01 HTTP/1.1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
      // A proxy may take these requests for others than the server does.
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\nGET /a HTTP/1.1\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" + std::string(4095, 'x'),
       413},
      {"POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n", 415},
      {"POST / HTTP/1.1\r\nExpect: wonders\r\nContent-Length: 3\r\n\r\n", 417},
      {"GET / HTTP/1.1\r\n" + many_headers + "\r\n", 431},
      {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n", 431},
  };
  for (const auto& [bytes, status] : kBad) {
    RawConnection client = echo.Connect();
    client.Send(bytes);
    const ReceivedAnswer answer = client.Read();
    EXPECT_EQ(answer.status, status) << bytes.substr(0, 100);
    EXPECT_THAT(answer.body, HasSubstr("\"error\"")) << bytes.substr(0, 100);
    client.FinishSending();
    EXPECT_TRUE(client.IsClosed()) << bytes.substr(0, 100);
  }
  EXPECT_EQ(echo.requests(), 0);
  RawConnection client = echo.Connect();
  client.SendGet("/still/here");
  EXPECT_EQ(client.Read().status, 200);
}

TEST(HttpServerTest, KnowsAllThatProxiesSayOfTheClient) {
  std::promise<std::string> said;
  const auto server =
      *HttpServer::Listen("127.0.0.1", 0, {}, [&](const HttpRequest& request, const HttpReply&) {
        said.set_value(request.forwarded_for);
        return HttpCancel();
      });
  std::thread thread([&] { server->Run(); });
  RawConnection client(server->url());
  // The client itself may have written the first header.
  client.Send("GET / HTTP/1.1\r\nX-Forwarded-For: a, b\r\nx-forwarded-for: c\r\n\r\n");
  EXPECT_EQ(said.get_future().get(), "a, b, c");
  server->Post([&] { server->Stop(); });
  thread.join();
}

// A client that keeps sending ahead is disconnected, and its request is cancelled.
TEST(HttpServerTest, BoundsWhatIsSentAhead) {
  EchoServer echo;
  RawConnection client = echo.Connect();
  client.SendGet("/hold");
  client.Send(std::string(size_t{2} << 20, 'x'));
  while (echo.cancelled() < 1) std::this_thread::yield();
}

TEST(HttpServerTest, NoticesThatClientsGoAway) {
  EchoServer echo;
  RawConnection finished = echo.Connect();
  RawConnection reset = echo.Connect();
  RawConnection stays = echo.Connect();
  RawConnection sends_ahead = echo.Connect();
  for (RawConnection* client : {&finished, &reset, &stays, &sends_ahead}) client->SendGet("/hold");
  sends_ahead.SendGet("/never");
  echo.AwaitRequests(4);
  finished.FinishSending();
  reset.Reset();
  sends_ahead.Close();
  while (echo.cancelled() < 3) std::this_thread::yield();
  echo.Release();
  EXPECT_EQ(stays.Read().body, "held");
  EXPECT_EQ(echo.cancelled(), 3);
  EXPECT_EQ(echo.requests(), 4);
}

TEST(HttpServerTest, ClosesConnectionsThatTakeTooLong) {
  HttpLimits limits;
  limits.timeout = std::chrono::milliseconds(200);
  EchoServer echo(limits);
  RawConnection idle = echo.Connect();
  RawConnection half_head = echo.Connect();
  half_head.Send("GET / HT");
  RawConnection half_body = echo.Connect();
  half_body.Send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  // Each piece comes in time, but the whole head does not.
  RawConnection drips = echo.Connect();
  std::thread dripping([&] {
    for (int i = 0; i < 50; ++i) {
      drips.Send(i == 0 ? "GET / HTTP/1.1\r\nX: " : "y");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  RawConnection takes_nothing = echo.Connect();
  takes_nothing.SendGet("/large");
  RawConnection held = echo.Connect();
  held.SendGet("/hold");
  EXPECT_TRUE(idle.IsClosed());
  EXPECT_TRUE(half_head.IsClosed());
  EXPECT_TRUE(half_body.IsClosed());
  dripping.join();
  EXPECT_TRUE(drips.IsClosed());
  // A request may take any time while its answer is computed.
  EXPECT_FALSE(held.HasData(0));
  while (echo.Ask([](const HttpServer& server) -> uint64_t { return server.connections(); }) > 1) {
    std::this_thread::yield();
  }
  echo.Release();
  EXPECT_EQ(held.Read().body, "held");
}

TEST(HttpServerTest, ServesOthersBesideIdleAndSlowConnections) {
  EchoServer echo;
  std::vector<RawConnection> others;
  for (int i = 0; i < 200; ++i) {
    others.push_back(echo.Connect());
    others.push_back(echo.Connect());
    others.back().Send("POST /hold HTTP/1.1\r\nContent-Le");
    others.push_back(echo.Connect());
    others.back().SendGet(i < 20 ? "/large" : "/hold");
  }
  RawConnection client = echo.Connect();
  for (int i = 0; i < 10; ++i) {
    client.SendGet("/quick");
    EXPECT_EQ(client.Read().body, "GET /quick?  ");
  }
  echo.Release();
}

TEST(HttpServerTest, BoundsAllBodiesThatAreBeingReceived) {
  HttpLimits limits;
  limits.max_body_bytes = 1000;
  EchoServer echo(limits);
  std::vector<RawConnection> halves;
  for (int i = 0; i < 64; ++i) {
    halves.push_back(echo.Connect());
    halves.back().Send(
        "POST /half HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
    ASSERT_EQ(halves.back().Read().status, 100);
  }
  RawConnection client = echo.Connect();
  client.SendPost("/", "text/plain", "x");
  EXPECT_EQ(client.Read().status, 503);
  RawConnection asks = echo.Connect();
  asks.SendGet("/");
  EXPECT_EQ(asks.Read().status, 200);
  halves.pop_back();
  int status = 0;
  // The server needs a moment to notice.
  while (status != 200) {
    RawConnection again = echo.Connect();
    again.SendPost("/", "text/plain", "x");
    status = again.Read().status;
    ASSERT_TRUE(status == 200 || status == 503) << status;
  }
}

TEST(HttpServerTest, RefusesConnectionsBeyondTheLimit) {
  HttpLimits limits;
  limits.max_connections = 2;
  EchoServer echo(limits);
  RawConnection first = echo.Connect();
  auto second = std::make_unique<RawConnection>(echo.Connect());
  first.SendGet("/");
  second->SendGet("/");
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(second->Read().status, 200);
  RawConnection third = echo.Connect();
  third.SendGet("/");
  const ReceivedAnswer refused = third.Read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  third.Close();
  second.reset();
  // The server needs a moment to notice.
  while (true) {
    RawConnection fourth = echo.Connect();
    fourth.SendGet("/");
    if (fourth.Read().status == 200) break;
  }
  EXPECT_GE(echo.Ask([](const HttpServer& server) { return server.refused_connections(); }), 1u);
}

TEST(HttpServerTest, DrainAnswersWhatWasAccepted) {
  std::vector<HttpReply> held;
  std::atomic<bool> is_held{false};
  const auto server = *HttpServer::Listen("127.0.0.1", 0, {}, [&](HttpRequest, HttpReply reply) {
    held.push_back(std::move(reply));
    is_held = true;
    return HttpCancel();
  });
  std::thread thread([&] { server->Run(); });
  RawConnection idle(server->url());
  RawConnection client(server->url());
  client.SendGet("/");
  while (!is_held) std::this_thread::yield();
  server->Post([&] { server->Drain(); });
  EXPECT_TRUE(idle.IsClosed());
  server->Post([&] { held.at(0)(Text("late")); });
  const ReceivedAnswer answer = client.Read();
  EXPECT_EQ(answer.body, "late");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  thread.join();
}

TEST(HttpServerTest, SaysWhyItCannotListen) {
  EchoServer echo;
  const std::string url = echo.server().url();
  const int port = std::atoi(url.substr(url.rfind(':') + 1).c_str());
  const auto handler = [](HttpRequest, const HttpReply&) { return HttpCancel(); };
  const auto taken = HttpServer::Listen("127.0.0.1", port, {}, handler);
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(taken.status().message(), HasSubstr("cannot listen on 127.0.0.1:"));
  EXPECT_FALSE(HttpServer::Listen("no.such.host.invalid", 0, {}, handler).ok());
  EXPECT_TRUE(echo.server().is_loopback());
}

}  // namespace
}  // namespace nibu::internal
