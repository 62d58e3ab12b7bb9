// Tests of the limits of the server's connections (HttpLimits).
// Threads: the thread sanitizer runs this file.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/serve/echo_server.h"
#include "tests/tools/serve/raw_connection.h"
#include "tools/serve/http_server.h"

namespace nibu::internal {
namespace {

// A client that keeps sending ahead is disconnected, and its request is cancelled.
TEST(HttpLimitsTest, BoundsWhatIsSentAhead) {
  EchoServer echo;
  RawConnection client = echo.Connect();
  client.SendGet("/hold");
  client.Send(std::string(size_t{2} << 20, 'x'));
  while (echo.cancelled() < 1) std::this_thread::yield();
}

TEST(HttpLimitsTest, ClosesConnectionsThatTakeTooLong) {
  HttpLimits limits;
  limits.timeout = std::chrono::milliseconds(200);
  EchoServer echo(limits);
  RawConnection idle = echo.Connect();
  RawConnection half_head = echo.Connect();
  half_head.Send("GET / HT");
  RawConnection half_body = echo.Connect();
  half_body.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
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

TEST(HttpLimitsTest, ServesOthersBesideIdleAndSlowConnections) {
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

// Bodies count as they come, not as they are announced, and a client gets half of the room at most.
TEST(HttpLimitsTest, BoundsAllBodiesThatAreBeingReceived) {
  HttpLimits limits;
  limits.max_body_bytes = 100'000;
  EchoServer echo(limits);
  const std::string head = "POST /half HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
  std::vector<RawConnection> announced;
  for (int i = 0; i < 64; ++i) {
    announced.push_back(echo.Connect());
    announced.back().Send(head);
  }
  RawConnection client = echo.Connect();
  client.SendPost("/", "text/plain", std::string(90'000, 'x'));
  EXPECT_EQ(client.Read().status, 200);
  // The server holds 64 times 100,000 bytes, of which this client may take half. The first bytes of
  // each connection, as many as a head may have, do not count.
  const auto send_halves = [&](int count) {
    std::vector<RawConnection> halves;
    for (int i = 0; i < count; ++i) {
      halves.push_back(echo.Connect());
      halves.back().Send(head + std::string(99'000, 'x'));
    }
    return halves;
  };
  for (RawConnection& half : send_halves(35)) {
    half.Send(std::string(1000, 'x'));
    EXPECT_EQ(half.Read().status, 200);
  }
  std::vector<RawConnection> halves = send_halves(60);
  RawConnection* const refused = RawConnection::AwaitAny(&halves);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->Read().status, 503);
  RawConnection other(echo.server().url(), "127.0.0.2");
  other.SendPost("/", "text/plain", std::string(90'000, 'x'));
  EXPECT_EQ(other.Read().status, 200);
}

// One client gets half of the connections at most. /health has room even then.
TEST(HttpLimitsTest, RefusesConnectionsBeyondTheLimit) {
  HttpLimits limits;
  limits.max_connections = 4;
  EchoServer echo(limits);
  echo.server().Post([&] { echo.server().SetSecondsToWait([] { return 7; }); });
  std::vector<RawConnection> held;
  for (int i = 0; i < 2; ++i) {
    held.push_back(echo.Connect());
    held.back().SendGet("/hold");
  }
  echo.AwaitRequests(2);
  RawConnection third = echo.Connect();
  third.SendGet("/");
  const ReceivedAnswer refused = third.Read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "7");
  RawConnection health = echo.Connect();
  health.SendGet("/health");
  EXPECT_EQ(health.Read().status, 200);
  RawConnection other(echo.server().url(), "127.0.0.2");
  other.SendGet("/");
  EXPECT_EQ(other.Read().status, 200);
  EXPECT_GE(echo.Ask([](const HttpServer& server) { return server.refused_connections(); }), 1u);
  echo.Release();
}

// Idle connections make room for new ones, the oldest first.
TEST(HttpLimitsTest, ClosesTheOldestIdleConnectionsWhenThereAreTooMany) {
  HttpLimits limits;
  limits.max_connections = 4;
  EchoServer echo(limits);
  std::vector<RawConnection> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(echo.Connect());
    idle.back().SendGet("/");
    ASSERT_EQ(idle.back().Read().status, 200);
  }
  EXPECT_TRUE(idle[97].IsClosed());
  idle[98].SendGet("/");
  EXPECT_EQ(idle[98].Read().status, 200);
}

// All bytes of a request count: those of trailers, of chunks' extensions, and of folded lines.
TEST(HttpLimitsTest, BoundsHeadsTrailersAndChunks) {
  HttpLimits limits;
  limits.max_body_bytes = 1000;
  EchoServer echo(limits);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string trailers;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&trailers, "X: 0123456789abcdef\r\n");
  std::string small_chunks;
  for (int i = 0; i < 100; ++i)
    absl::StrAppend(&small_chunks, "1;x=", std::string(999, 'y'), "\r\nz\r\n");
  std::string folded = "X: y";
  for (int i = 0; i < 5000; ++i) folded += "\r\n z";
  const std::pair<std::string, int> kLarge[] = {
      {chunked + "0\r\nX: " + std::string(65'534, '0') + "\r\n\r\n", 431},
      {chunked + "0\r\n" + trailers + "\r\n", 431},
      {chunked + "1;x=" + std::string(20'000, 'y') + "\r\nz\r\n0\r\n\r\n", 431},
      {chunked + small_chunks + "0\r\n\r\n", 413},
      {"GET / HTTP/1.1\r\nHost: x\r\n" + trailers + "\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: x\r\n" + folded + "\r\n\r\n", 431},
  };
  for (const auto& [bytes, status] : kLarge) {
    RawConnection client = echo.Connect();
    client.Send(bytes);
    EXPECT_EQ(client.Read().status, status) << bytes.substr(0, 100);
  }
  EXPECT_EQ(echo.requests(), 0);
  // Trailers are no fields of the head.
  RawConnection client = echo.Connect();
  client.Send(chunked + "1\r\nz\r\n0\r\nContent-Type: evil\r\n\r\n");
  EXPECT_EQ(client.Read().body, "POST /?  z");
}

// The connection whose answer has waited longest for its reader is closed.
TEST(HttpLimitsTest, BoundsAnswersThatWait) {
  HttpLimits limits;
  limits.max_body_bytes = 500'000;  // 32 MB in all answers
  EchoServer echo(limits);
  std::vector<RawConnection> slow;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(echo.Connect());
    slow.back().SendGet("/large");
    echo.AwaitRequests(i + 1);
  }
  const ReceivedAnswer first = slow.front().Read();
  EXPECT_LT(first.body.size(), size_t{8} << 20);
  EXPECT_EQ(slow.back().Read().body.size(), size_t{8} << 20);
}

}  // namespace
}  // namespace nibu::internal
