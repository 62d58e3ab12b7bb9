// Fuzzes the connections of nibu-serve's HTTP server. The input is what four connections send: a
// byte 0xFF and the byte behind it choose the connection for what follows, and what happens to it
// first. Whatever comes, each connection must get whole answers or none, and the server must go on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/tools/serve/raw_connection.h"
#include "tools/serve/http_server.h"

namespace nibu::internal {
namespace {

constexpr size_t kConnections = 4;

// Returns the address of a server that runs until the program ends.
const std::string& Url() {
  static const std::string url = [] {
    HttpLimits limits;
    limits.max_body_bytes = 10'000;
    auto server =
        HttpServer::Listen("127.0.0.1", 0, limits, [](HttpRequest request, const HttpReply& reply) {
          HttpAnswer answer;
          answer.body = request.path + request.body;
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

void Act(int action, RawConnection* connection) {
  if (action == 1) connection->FinishSending();
  if (action == 2) {  // Another connection takes its place.
    connection->Reset();
    *connection = RawConnection(Url());
  }
  if (action == 3) (void)connection->HasData(0);
}

}  // namespace
}  // namespace nibu::internal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nibu::internal::RawConnection;
  absl::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::unique_ptr<RawConnection>> connections;
  for (size_t i = 0; i < nibu::internal::kConnections; ++i) {
    connections.push_back(std::make_unique<RawConnection>(nibu::internal::Url()));
  }
  size_t current = 0;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\xFF'), rest.size());
    connections[current]->Send(rest.substr(0, end));
    rest.remove_prefix(end);
    if (rest.size() < 2) break;
    const auto command = static_cast<uint8_t>(rest[1]);
    rest.remove_prefix(2);
    current = command % nibu::internal::kConnections;
    nibu::internal::Act(command / nibu::internal::kConnections % 4, connections[current].get());
  }
  for (const auto& connection : connections) {
    connection->FinishSending();
    while (connection->HasData(20'000)) {
      const int status = connection->Read().status;
      if (status == 0) break;
      if (status < 100 || status > 503 || status == 500) std::abort();
    }
    connection->Reset();
  }
  RawConnection last(nibu::internal::Url());
  last.SendGet("/health");
  if (last.Read().status != 200) std::abort();
  last.Reset();
  return 0;
}
