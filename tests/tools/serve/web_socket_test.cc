// Tests of the server's WebSockets: frames in any pieces, order, limits, and ends.
// Threads: the thread sanitizer runs this file.
#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/serve/echo_server.h"
#include "tests/tools/serve/web_socket_client.h"

namespace nibu::internal {
namespace {

RawConnection Open(EchoServer* echo, const std::string& target = "/") {
  RawConnection client = echo->Connect();
  const ReceivedAnswer answer = AskForWebSocket(target, &client);
  EXPECT_EQ(answer.status, 101);
  // The example of RFC 6455, section 1.3.
  EXPECT_EQ(answer.headers.at("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  return client;
}

void ExpectText(const std::string& text, RawConnection* client) {
  const ServerFrame frame = ReadFrame(client);
  EXPECT_EQ(frame.opcode, kTextFrame);
  EXPECT_EQ(frame.payload, text);
}

// Expects that the server closes the WebSocket for a reason, and the connection once the client has
// said the same.
void ExpectClosed(int code, RawConnection* client) {
  const ServerFrame frame = ReadFrame(client);
  EXPECT_EQ(frame.opcode, kCloseFrame);
  ASSERT_GE(frame.payload.size(), 2u);
  EXPECT_EQ(static_cast<unsigned char>(frame.payload[0]) << 8 |
                static_cast<unsigned char>(frame.payload[1]),
            code);
  client->Send(ClientFrame(kCloseFrame, frame.payload.substr(0, 2)));
  EXPECT_TRUE(client->IsClosed());
}

TEST(WebSocketTest, AnswersMessagesInOrder) {
  EchoServer echo;
  RawConnection client = Open(&echo);
  for (const std::string& text :
       {std::string("one"), std::string(), std::string(200, 'x'), std::string(300'000, 'y')}) {
    client.Send(ClientFrame(kTextFrame, text));
    ExpectText(text, &client);
  }
  // Byte by byte, and in several frames with a ping between them.
  for (const char byte : ClientFrame(kTextFrame, "slow")) client.Send(std::string(1, byte));
  ExpectText("slow", &client);
  client.Send(ClientFrame(kTextFrame, "a", /*is_last=*/false));
  client.Send(ClientFrame(kPing, "p"));
  client.Send(ClientFrame(kContinued, "b"));
  const ServerFrame pong = ReadFrame(&client);
  EXPECT_EQ(pong.opcode, kPong);
  EXPECT_EQ(pong.payload, "p");
  ExpectText("ab", &client);
  // Sent ahead.
  std::string many;
  for (int i = 0; i < 100; ++i) many += ClientFrame(kTextFrame, absl::StrCat(i));
  client.Send(many);
  for (int i = 0; i < 100; ++i) ExpectText(absl::StrCat(i), &client);
}

TEST(WebSocketTest, OpensAndCloses) {
  EchoServer echo;
  RawConnection polite = Open(&echo);
  polite.Send(ClientFrame(kCloseFrame, "\x03\xE8"));
  EXPECT_EQ(ReadFrame(&polite).opcode, kCloseFrame);
  EXPECT_TRUE(polite.IsClosed());
  Open(&echo).Close();
  Open(&echo).Reset();
  RawConnection other = Open(&echo);
  other.Send(ClientFrame(kTextFrame, "still there"));
  ExpectText("still there", &other);
}

// While a message is held, the next ones wait, and a client that goes away ends its request.
TEST(WebSocketTest, AMessageIsHandledAtATime) {
  EchoServer echo;
  RawConnection client = Open(&echo, "/hold");
  client.Send(ClientFrame(kTextFrame, "first") + ClientFrame(kTextFrame, "second"));
  echo.AwaitRequests(2);  // the one that has opened the WebSocket, and the first message
  EXPECT_FALSE(client.HasData(50));
  EXPECT_EQ(echo.requests(), 2);
  echo.Release();
  ExpectText("held", &client);
  echo.AwaitRequests(3);
  client.Close();
  while (echo.cancelled() == 0) std::this_thread::yield();
}

TEST(WebSocketTest, BoundsMessages) {
  HttpLimits limits;
  limits.max_body_bytes = 1000;
  EchoServer echo(limits);
  RawConnection client = Open(&echo);
  client.Send(ClientFrame(kTextFrame, std::string(1000, 'x')));
  ExpectText(std::string(1000, 'x'), &client);
  client.Send(ClientFrame(kTextFrame, std::string(1001, 'x')));
  EXPECT_EQ(ReadFrame(&client).opcode, kCloseFrame);
  // Nobody may send more than 1 MB, or 1,024 messages, ahead of the turn.
  EchoServer other;
  RawConnection fast = Open(&other, "/hold");
  std::string many;
  for (int i = 0; i < 1100; ++i) many += ClientFrame(kTextFrame, "");
  fast.Send(many);
  EXPECT_TRUE(fast.IsClosed());
  RawConnection large = Open(&other, "/hold");
  large.Send(ClientFrame(kTextFrame, "") + ClientFrame(kTextFrame, std::string(1'100'000, 'x')));
  EXPECT_TRUE(large.IsClosed());
}

TEST(WebSocketTest, EndsWhatIsNoWebSocket) {
  EchoServer echo;
  for (const std::string& bytes :
       {std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
        std::string("GET / HTTP/1.1\r\n\r\n"), ClientFrame(kTextFrame, "\xFF\xFE"),
        ClientFrame(3, "x"), std::string("\x81\x01x")}) {
    RawConnection client = Open(&echo);
    client.Send(bytes);
    while (ReadFrame(&client).opcode != -1) {
    }
  }
  // A version that is not known.
  RawConnection client = echo.Connect();
  client.Send(
      "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 12\r\n\r\n");
  EXPECT_GE(client.Read().status, 200);
}

TEST(WebSocketTest, ErrorsAndTheEndOfTheServerCloseIt) {
  EchoServer echo;
  RawConnection busy = Open(&echo);
  busy.Send(ClientFrame(kTextFrame, "busy"));
  ExpectClosed(1013, &busy);
  // What has begun is answered; what is idle ends.
  RawConnection idle = Open(&echo);
  RawConnection held = Open(&echo, "/hold");
  held.Send(ClientFrame(kTextFrame, "x"));
  echo.AwaitRequests(5);
  echo.Drain();
  ExpectClosed(1001, &idle);
  echo.Release();
  ExpectText("held", &held);
  ExpectClosed(1001, &held);
  echo.AwaitEnd();
}

// An idle WebSocket is closed for a new connection, like any other one, and when its time has
// passed.
TEST(WebSocketTest, HasTheLimitsOfConnections) {
  HttpLimits limits;
  limits.max_connections = 1;
  EchoServer echo(limits);
  RawConnection first = Open(&echo);
  RawConnection second = Open(&echo);
  EXPECT_TRUE(first.IsClosed());
  second.Send(ClientFrame(kTextFrame, "x"));
  ExpectText("x", &second);
  limits.timeout = std::chrono::milliseconds(50);
  EchoServer hasty(limits);
  EXPECT_TRUE(Open(&hasty).IsClosed());
}

}  // namespace
}  // namespace nibu::internal
