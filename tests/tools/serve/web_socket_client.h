// The client's side of WebSockets (RFC 6455), for tests.
#ifndef NIBU_TESTS_TOOLS_SERVE_WEB_SOCKET_CLIENT_H_
#define NIBU_TESTS_TOOLS_SERVE_WEB_SOCKET_CLIENT_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/tools/serve/raw_connection.h"

namespace nibu::internal {

constexpr int kContinued = 0;
constexpr int kTextFrame = 1;
constexpr int kCloseFrame = 8;
constexpr int kPing = 9;
constexpr int kPong = 10;

// Returns the bytes of a frame with a mask, as clients send it.
inline std::string ClientFrame(int opcode, const std::string& payload, bool is_last = true) {
  const std::string mask = "\x11\x22\x33\x44";
  std::string frame(1, static_cast<char>(opcode | (is_last ? 0x80 : 0)));
  const size_t size = payload.size();
  if (size < 126) {
    frame += static_cast<char>(0x80 | size);
  } else {
    const int bytes = size < 65536 ? 2 : 8;
    frame += static_cast<char>(0x80 | (bytes == 2 ? 126 : 127));
    for (int i = bytes - 1; i >= 0; --i) frame += static_cast<char>((size >> (8 * i)) & 0xFF);
  }
  frame += mask;
  for (size_t i = 0; i < size; ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
  return frame;
}

// Sends the request that opens a WebSocket, and returns the answer.
inline ReceivedAnswer AskForWebSocket(const std::string& target, RawConnection* connection,
                                      const std::string& fields = "") {
  connection->Send(absl::StrCat("GET ", target,
                                " HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: "
                                "Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                "Sec-WebSocket-Version: 13\r\n",
                                fields, "\r\n"));
  return connection->Read();
}

struct ServerFrame {
  int opcode = -1;  // -1: the connection has ended
  std::string payload;
};

// Reads the next frame, which must be whole and without a mask.
inline ServerFrame ReadFrame(RawConnection* connection) {
  const std::string head = connection->ReadBytes(2);
  if (head.size() < 2) return {};
  size_t size = static_cast<unsigned char>(head[1]);
  if (size >= 126) {
    const std::string bytes = connection->ReadBytes(size == 126 ? 2 : 8);
    size = 0;
    for (const char byte : bytes) size = size << 8 | static_cast<unsigned char>(byte);
  }
  const bool is_last = (head[0] & 0x80) != 0;
  return {is_last ? head[0] & 0x0F : -2, connection->ReadBytes(size)};
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_SERVE_WEB_SOCKET_CLIENT_H_
