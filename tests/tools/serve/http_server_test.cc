// Tests of the server's connections: requests in pieces of any size, and the server's end.
// Threads: the thread sanitizer runs this file.
#include "tools/serve/http_server.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/serve/echo_server.h"
#include "tests/tools/serve/raw_connection.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

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
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\nGET /a HTTP/1.1\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" +
           std::string(4095, 'x'),
       413},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n", 415},
      {"POST / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nContent-Length: 3\r\n\r\n", 417},
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

TEST(HttpServerTest, TellsTheOperatorsAddressApart) {
  std::unique_ptr<HttpServer> server =
      *HttpServer::Listen("127.0.0.1", 0, {}, [](HttpRequest request, HttpReply reply) {
        HttpAnswer answer = Text(request.is_operators ? "operator" : "client");
        answer.request_id = request.request_id;
        answer.content_type = "text/html; charset=utf-8";
        reply(std::move(answer));
        return HttpCancel();
      });
  EXPECT_EQ(server->operators_url(), "");
  EXPECT_FALSE(server->AddOperatorsAddress("no.such.host.invalid", 0).ok());
  ASSERT_TRUE(server->AddOperatorsAddress("127.0.0.1", 0).ok());
  std::thread thread([&] { server->Run(); });
  RawConnection client(server->url());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: name\r\n\r\n");
  const ReceivedAnswer answer = client.Read();
  EXPECT_EQ(answer.body, "client");
  EXPECT_EQ(answer.headers.at("x-request-id"), "name");
  EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(answer.headers.at("content-security-policy"), "frame-ancestors 'self'");
  RawConnection other(server->operators_url());
  other.SendGet("/");
  EXPECT_EQ(other.Read().body, "operator");
  server->Post([&] { server->Drain(std::chrono::steady_clock::now()); });
  thread.join();
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
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: a, b\r\nx-forwarded-for: c\r\n\r\n");
  EXPECT_EQ(said.get_future().get(), "a, b, c");
  server->Post([&] { server->Stop(); });
  thread.join();
}

// An exception ends the connection to which it belongs, and nothing else.
TEST(HttpServerTest, SurvivesExceptions) {
  EchoServer echo;
  RawConnection other = echo.Connect();
  other.SendGet("/hold");
  echo.AwaitRequests(1);
  // Beast cannot store a field of this size.
  RawConnection trailer = echo.Connect();
  trailer.Send(
      absl::StrCat("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
                   std::string(65'534, '0'), "\r\n\r\n"));
  trailer.FinishSending();
  trailer.Read();
  EXPECT_TRUE(trailer.IsClosed());
  RawConnection throws = echo.Connect();
  throws.SendGet("/throw");
  EXPECT_TRUE(throws.IsClosed());
  RawConnection memory = echo.Connect();
  memory.SendGet("/memory");
  const ReceivedAnswer answer = memory.Read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.count("retry-after"), 1u);
  echo.server().Post([] { throw std::bad_alloc(); });
  echo.Release();
  EXPECT_EQ(other.Read().body, "held");
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

TEST(HttpServerTest, ReadsRequestLinesAndHosts) {
  EchoServer echo;
  RawConnection client = echo.Connect();
  client.Send("\r\n\r");
  client.Send("\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /a?  ");
  client.Send("GET http://e?x=/health HTTP/1.1\r\nHost: e\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /?x=/health  ");
  client.Send("GET http://e#/health HTTP/1.1\r\nHost: e\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /#/health?  ");
  client.Send("GET HTTP://e HTTP/1.1\r\nHost: e\r\n\r\n");
  EXPECT_EQ(client.Read().body, "GET /?  ");
  for (const char* hosts : {"", "Host: x\r\nHost: x\r\n"}) {
    RawConnection bad = echo.Connect();
    bad.Send(absl::StrCat("GET / HTTP/1.1\r\n", hosts, "\r\n"));
    EXPECT_EQ(bad.Read().status, 400) << hosts;
  }
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
  server->Post([&] { server->Drain(std::chrono::steady_clock::now()); });
  EXPECT_TRUE(idle.IsClosed());
  server->Post([&] { held.at(0)(Text("late")); });
  const ReceivedAnswer answer = client.Read();
  EXPECT_EQ(answer.body, "late");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  thread.join();
}

// Requests in socket buffers, and on connections that nobody has accepted yet, are answered.
TEST(HttpServerTest, DrainAnswersWhatHasCome) {
  std::promise<void> begins;
  std::promise<void> goes_on;
  const auto server =
      *HttpServer::Listen("127.0.0.1", 0, {}, [&](HttpRequest, const HttpReply& reply) {
        reply(Text("yes"));
        return HttpCancel();
      });
  std::thread thread([&] { server->Run(); });
  RawConnection known(server->url());
  known.SendGet("/");
  EXPECT_EQ(known.Read().body, "yes");
  // Meanwhile the network's thread reads nothing.
  server->Post([&] {
    begins.set_value();
    goes_on.get_future().wait();
    server->Drain(std::chrono::steady_clock::now());
  });
  begins.get_future().wait();
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  known.Send(request + request);
  RawConnection new_one(server->url());
  new_one.SendGet("/");
  goes_on.set_value();
  EXPECT_EQ(known.Read().body, "yes");
  EXPECT_EQ(known.Read().body, "yes");
  EXPECT_EQ(new_one.Read().body, "yes");
  known.Close();
  new_one.Close();
  thread.join();
}

// A client that takes no more of its answer does not delay the end beyond HttpLimits::end_time.
TEST(HttpServerTest, DrainCutsTheAnswersOfSlowReaders) {
  HttpLimits limits;
  limits.timeout = std::chrono::hours(1);
  limits.end_time = std::chrono::milliseconds(50);
  EchoServer echo(limits);
  RawConnection slow = echo.Connect();
  slow.SendGet("/large");
  ASSERT_TRUE(slow.HasData(20'000));
  echo.Drain();
  echo.AwaitEnd();
  EXPECT_LT(slow.Read().body.size(), size_t{8} << 20);
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
