// Reads the heads of requests, and writes those of answers, with Boost.Beast. Only
// http_request_reader.h and http_connection.h include this file.
#ifndef NIBU_TOOLS_SERVE_HTTP_MESSAGE_H_
#define NIBU_TOOLS_SERVE_HTTP_MESSAGE_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "boost/beast/websocket.hpp"
#include "tools/serve/answers.h"
#include "tools/serve/http.h"

namespace nibu::internal {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

// The most bytes of a head, of the trailers behind a chunked body, and of the line in front of a
// chunk.
inline constexpr size_t kMaxHeadBytes = size_t{16} << 10;

// The dynamic body grows with the bytes that come. A string would reserve the length that the head
// announces.
using HttpParser = http::request_parser<http::dynamic_body>;
using HttpResponse = http::response<http::string_body>;

inline std::string Text(beast::string_view text) { return {text.data(), text.size()}; }

inline HttpAnswer HeadTooLarge() {
  return ErrorAnswer(
      431, absl::StrCat("the request's head or trailers have more than ", kMaxHeadBytes, " bytes"));
}

// Returns the answer to a request that the parser refuses.
inline HttpAnswer AnswerToError(const boost::system::error_code& error) {
  if (error == http::error::header_limit) return HeadTooLarge();
  if (error == http::error::body_limit) return ErrorAnswer(413, "the request's body is too large");
  return ErrorAnswer(400, "the request is no HTTP/1.1");
}

// Returns the answer to a request that is refused because of its head, or nullopt.
inline std::optional<HttpAnswer> RefuseHead(const HttpParser::value_type& head) {
  const size_t hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= 11)) {
    return ErrorAnswer(400, "the request must have one field Host");
  }
  // With any other coding, a proxy in front may see another end of the body (request smuggling).
  const size_t codings = head.count(http::field::transfer_encoding);
  const bool is_known = codings == 1 && head.version() >= 11 &&
                        beast::iequals(head[http::field::transfer_encoding], "chunked");
  if (codings > 0 && !is_known) return ErrorAnswer(400, "the only transfer encoding is chunked");
  const auto encoding = head[http::field::content_encoding];
  if (!encoding.empty() && !beast::iequals(encoding, "identity")) {
    return ErrorAnswer(415, "the request's body is compressed; send it as it is");
  }
  const auto expected = head[http::field::expect];
  if (!expected.empty() && !beast::iequals(expected, "100-continue")) {
    return ErrorAnswer(417, "the request expects what is not known");
  }
  return std::nullopt;
}

// Returns a request without its body, which may still be on its way.
inline HttpRequest ReadRequestHead(const HttpParser::value_type& head, const std::string& address) {
  HttpRequest request;
  request.method = Text(head.method_string());
  std::string target = Text(head.target());
  if (absl::StartsWithIgnoreCase(target, "http://")) {  // the host stands in front, as for proxies
    target.erase(0, std::min(target.find_first_of("/?#", 7), target.size()));
    if (!absl::StartsWith(target, "/")) target.insert(0, 1, '/');
  }
  const size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  request.content_type = Text(head[http::field::content_type]);
  request.authorization = Text(head[http::field::authorization]);
  request.host = Text(head[http::field::host]);
  request.forwarded_proto = Text(head["X-Forwarded-Proto"]);
  request.request_id = Text(head["X-Request-Id"]);
  if (websocket::is_upgrade(head)) request.kind = HttpRequest::Kind::kUpgrade;
  const auto [first, last] = head.equal_range("X-Forwarded-For");
  for (auto field = first; field != last; ++field) {
    if (field != first) request.forwarded_for += ", ";
    request.forwarded_for += Text(field->value());
  }
  request.address = address;
  return request;
}

// Makes the response that stands for an answer. `is_head`: its request has the method HEAD.
inline void MakeResponse(HttpAnswer answer, bool is_head, bool keeps_open, HttpResponse* response) {
  response->result(static_cast<http::status>(answer.status));
  response->set(http::field::server, "nibu");
  if (answer.status != 204) response->set(http::field::content_type, answer.content_type);
  if (!answer.disposition.empty()) {
    response->set(http::field::content_disposition, answer.disposition);
  }
  // A file of a client is nothing else than it says, and no other site shows the page within its
  // own.
  response->set("X-Content-Type-Options", "nosniff");
  if (absl::StartsWith(answer.content_type, "text/html")) {
    response->set("Content-Security-Policy", "frame-ancestors 'self'");
  }
  if (!answer.location.empty()) response->set(http::field::location, answer.location);
  if (!answer.request_id.empty()) response->set("X-Request-Id", answer.request_id);
  response->set(http::field::access_control_allow_origin, "*");
  response->set(http::field::access_control_allow_headers,
                "Authorization, Content-Type, X-Request-Id");
  response->set(http::field::access_control_expose_headers, "Authorization, X-Request-Id");
  response->set(http::field::access_control_allow_methods, "DELETE, GET, POST");
  response->set(http::field::access_control_allow_credentials, "true");
  response->set(http::field::access_control_max_age, "1728000");
  if (!answer.allow.empty()) response->set(http::field::allow, answer.allow);
  if (answer.retry_after > 0) {
    response->set(http::field::retry_after, std::to_string(answer.retry_after));
  }
  response->keep_alive(keeps_open);
  if (answer.status != 204) response->content_length(answer.body.size());
  if (!is_head) response->body() = std::move(answer.body);
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_MESSAGE_H_
