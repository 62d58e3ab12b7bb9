// Requests and answers of HTTP, independent of the library that reads and writes them.
#ifndef NIBU_TOOLS_SERVE_HTTP_H_
#define NIBU_TOOLS_SERVE_HTTP_H_

#include <cstdint>
#include <functional>
#include <string>

namespace nibu::internal {

// A request whose head and body have come. Fields that the client did not send are empty.
struct HttpRequest {
  enum class Kind : uint8_t {
    kHttp,
    // The client asks for a WebSocket. The answer with status 101 opens it; any other is that of
    // HTTP.
    kUpgrade,
    // A message on a WebSocket; the rest is as in the request that has opened it. With status 200
    // the answer's body is the message that is sent back; any other one closes the WebSocket, for
    // the reason that is the answer's error.
    kMessage,
  };
  Kind kind = Kind::kHttp;
  std::string method;           // "POST"
  std::string path;             // "/translate", as it was sent
  std::string query;            // The part of the target behind "?".
  std::string content_type;     // "application/json; charset=utf-8"
  std::string authorization;    // "Bearer KEY"
  std::string host;             // "127.0.0.1:5000", as the client calls this server.
  std::string forwarded_for;    // X-Forwarded-For: the addresses that proxies name.
  std::string forwarded_proto;  // X-Forwarded-Proto: "https".
  std::string request_id;       // X-Request-Id: the name that a client or proxy gives it.
  std::string address;          // The IP address at the other end of the connection.
  bool is_operators = false;    // It came by HttpServer::AddOperatorsAddress.
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string error;        // Of an error, the message that the body has.
  std::string disposition;  // Content-Disposition; empty: none.
  std::string location;     // With status 308, where the client finds what it asks for.
  std::string request_id;   // X-Request-Id; empty: none.
  std::string allow;        // With status 405, the methods that the path has.
  int retry_after = 0;      // In seconds; 0: the client is not asked to come back.
};

// Takes the answer to a request, at most once, on any thread. If it is never called, the client
// waits until it goes away.
using HttpReply = std::function<void(HttpAnswer answer)>;

// Called when a client goes away before it has been answered; may be empty.
using HttpCancel = std::function<void()>;

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_H_
