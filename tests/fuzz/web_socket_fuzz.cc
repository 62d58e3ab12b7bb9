// Fuzzes the WebSockets of nibu-serve. The input is what a client sends once its WebSocket is open
// and has answered a message: a byte 0xFE and the byte behind it make a frame with a mask of what
// follows, up to the next such byte; other bytes are sent as they are. Whatever comes, the server
// must send whole frames, and go on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/tools/serve/raw_connection.h"
#include "tests/tools/serve/web_socket_client.h"
#include "tools/serve/answers.h"
#include "tools/serve/http_server.h"

namespace nibu::internal {
namespace {

// The byte that begins a command.
constexpr char kCommand = '\xFE';

// Returns the address of a server that runs until the program ends. It answers messages with
// themselves, and refuses those that begin with "!".
const std::string& Url() {
  static const std::string url = [] {
    HttpLimits limits;
    limits.max_body_bytes = 1000;
    auto server =
        HttpServer::Listen("127.0.0.1", 0, limits, [](HttpRequest request, const HttpReply& reply) {
          HttpAnswer answer;
          answer.body = request.body;
          if (request.kind == HttpRequest::Kind::kUpgrade) answer.status = 101;
          if (request.body.substr(0, 1) == "!") answer = ErrorAnswer(503, "refused");
          reply(std::move(answer));
          return HttpCancel();
        });
    if (!server.ok()) std::abort();
    HttpServer* const running = server->release();
    std::thread([running] { running->Run(); }).detach();
    return running->url();
  }();
  return url;
}

// Returns what is sent for a command and the bytes behind it.
std::string BytesOf(uint8_t command, absl::string_view rest) {
  return ClientFrame(command & 0x0F, std::string(rest), (command & 0x80) != 0);
}

}  // namespace
}  // namespace nibu::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nibu::internal;  // NOLINT(google-build-using-namespace)
  absl::string_view rest(reinterpret_cast<const char*>(data), size);
  RawConnection client(Url());
  if (AskForWebSocket("/translate", &client).status != 101) std::abort();
  client.Send(ClientFrame(kTextFrame, "first"));
  if (ReadFrame(&client).payload != "first") std::abort();
  std::string sent;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(kCommand), rest.size());
    absl::StrAppend(&sent, rest.substr(0, end));
    rest.remove_prefix(end);
    if (rest.size() < 2) break;
    const auto command = static_cast<uint8_t>(rest[1]);
    rest.remove_prefix(2);
    const size_t next = std::min(rest.find(kCommand), rest.size());
    absl::StrAppend(&sent, BytesOf(command, rest.substr(0, next)));
    rest.remove_prefix(next);
  }
  client.Send(sent);
  client.FinishSending();
  while (client.HasData(20'000)) {
    const ServerFrame frame = ReadFrame(&client);
    if (frame.opcode == -1) break;
    if (frame.opcode != kTextFrame && frame.opcode != kCloseFrame && frame.opcode != kPong) {
      std::abort();
    }
  }
  client.Reset();
  RawConnection last(Url());
  last.SendGet("/health");
  if (last.Read().status != 200) std::abort();
  last.Reset();
  return 0;
}
