// A connection of the server, on Boost.Beast and Asio, which take long to compile: only
// http_server.cc includes this file.
//
// A connection goes through these states, each of which waits for one thing:
//
//   AwaitRequest  the first byte of a request                       (deadline: an idle connection)
//   ReadHead      the head                                          (deadline: the whole head)
//   ReadBody      the body                                          (deadline: the whole body)
//   Watch         the handler's reply, or the client going away     (no deadline)
//   Write         room for the next piece of the answer             (deadline: each piece)
//   Linger        the client's end, after the last answer           (deadline: two seconds)
#ifndef NIBU_TOOLS_SERVE_HTTP_CONNECTION_H_
#define NIBU_TOOLS_SERVE_HTTP_CONNECTION_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "boost/asio.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "tools/serve/answers.h"
#include "tools/serve/http_server.h"

namespace nibu::internal {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;

inline constexpr size_t kMaxHeadBytes = size_t{16} << 10;
// The number of bodies of the largest size that may be received at a time. There may be more small
// ones.
inline constexpr size_t kMostBodies = 64;
// The most bytes that a client may send ahead of its turn. They are read, to notice that the client
// goes away. If it sends more, the connection is closed.
inline constexpr size_t kMaxBytesAhead = size_t{1} << 20;
inline constexpr std::chrono::milliseconds kLingerTime(2000);

class HttpConnection;

// The state that the connections of a server share.
struct HttpNetwork {
  HttpNetwork(const HttpLimits& given_limits, HttpServer::Handler given_handler)
      : limits(given_limits), handler(std::move(given_handler)) {}

  HttpLimits limits;
  const HttpServer::Handler handler;
  std::set<HttpConnection*> connections;  // all connections that are open
  asio::io_context io{1};                 // Connections end with it at the latest.
  // The connections whose request the handler has taken and whose answer is not yet written.
  std::set<std::shared_ptr<HttpConnection>> busy;
  size_t receiving = 0;  // bytes reserved for the bodies that are being received
  bool is_draining = false;
};

inline std::string Text(beast::string_view text) { return {text.data(), text.size()}; }

// Returns the answer to a request that cannot be read, or nullopt if the connection has failed.
inline std::optional<HttpAnswer> AnswerToError(const Error& error) {
  int status = 400;
  std::string message = "the request is no HTTP/1.1";
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    status = 431;
    message = absl::StrCat("the request's head has more than ", kMaxHeadBytes, " bytes");
  } else if (error == http::error::body_limit) {
    status = 413;
    message = "the request's body is too large";
  } else if (error == http::error::end_of_stream || error == http::error::partial_message ||
             error.category() != make_error_code(http::error::bad_version).category()) {
    return std::nullopt;
  }
  return ErrorAnswer(status, message);
}

// A connection with a client, in one of the states above. Used by the network's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Tcp::socket socket, HttpNetwork* network)
      : network_(network), socket_(std::move(socket)) {
    network_->connections.insert(this);
  }
  ~HttpConnection() {
    EndReceiving();
    network_->connections.erase(this);
  }

  void Start() {
    Error ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(Tcp::no_delay(true), ignored);
    const Tcp::endpoint peer = socket_.remote_endpoint(ignored);
    asio::ip::address address = peer.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    address_ = address.to_string();
    AwaitRequest();
  }

  // Answers a client for whom there is no room, and closes.
  void Refuse() {
    HttpAnswer answer = ErrorAnswer(503, "too many connections; try again");
    answer.retry_after = 1;
    keeps_open_ = false;
    Write(std::move(answer));
  }

  void CloseIfIdle() {
    if (is_idle_) Close();
  }
  // Closes the connection if its deadline has passed. The server calls it now and then, since a
  // timer for each connection would cost more.
  void CloseIfLate(std::chrono::steady_clock::time_point now) {
    if (now >= deadline_) Close();
  }

 private:
  // Returns `f` as a handler for Asio that keeps the connection alive.
  template <typename F>
  auto Then(F f) {
    return
        [self = shared_from_this(), f = std::move(f)](auto... results) mutable { f(results...); };
  }

  // Closes the connection after a time, unless a new deadline is set before; see CloseIfLate.
  void SetDeadline(std::chrono::milliseconds time) {
    deadline_ = std::chrono::steady_clock::now() + time;
  }

  void Close() {
    Error ignored;
    socket_.close(ignored);
  }

  void AwaitRequest() {
    if (buffer_.size() > 0) return ReadHead();
    is_idle_ = true;
    SetDeadline(network_->limits.timeout);
    socket_.async_wait(Tcp::socket::wait_read, Then([this](const Error& error) {
                         is_idle_ = false;
                         if (!error) ReadHead();
                       }));
  }

  void ReadHead() {
    SetDeadline(network_->limits.timeout);
    EndReceiving();
    is_head_ = false;
    version_ = 11;
    parser_.emplace();
    parser_->header_limit(kMaxHeadBytes);
    parser_->body_limit(network_->limits.max_body_bytes);
    http::async_read_header(socket_, buffer_, *parser_,
                            Then([this](const Error& error, size_t) { OnHead(error); }));
  }

  void OnHead(const Error& error) {
    if (error) return Fail(error);
    const auto& head = parser_->get();
    is_head_ = head.method() == http::verb::head;
    version_ = head.version();
    // With any other coding, a proxy in front may see another end of the body (request smuggling).
    const bool is_known = beast::iequals(head[http::field::transfer_encoding], "chunked") &&
                          version_ >= 11 && head.count(http::field::transfer_encoding) == 1;
    if (head.count(http::field::transfer_encoding) > 0 && !is_known) {
      return Fail(400, "the only transfer encoding is chunked");
    }
    const auto encoding = head[http::field::content_encoding];
    if (!encoding.empty() && !beast::iequals(encoding, "identity")) {
      return Fail(415, "the request's body is compressed; send it as it is");
    }
    const size_t most = network_->limits.max_body_bytes;
    receiving_ =
        parser_->chunked() ? most : static_cast<size_t>(parser_->content_length().value_or(0));
    network_->receiving += receiving_;
    if (receiving_ > 0 && network_->receiving > kMostBodies * most) {
      EndReceiving();
      return Fail(503, "the server is receiving too much; try again");
    }
    SetDeadline(network_->limits.timeout);
    const auto expected = head[http::field::expect];
    if (expected.empty()) return ReadBody();
    if (!beast::iequals(expected, "100-continue")) {
      return Fail(417, "the request expects what is not known");
    }
    static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(socket_, asio::buffer(kContinue.data(), kContinue.size()),
                      Then([this](const Error& failed, size_t) {
                        if (!failed) ReadBody();
                      }));
  }

  void ReadBody() {
    http::async_read(socket_, buffer_, *parser_, Then([this](const Error& error, size_t) {
                       if (error) return Fail(error);
                       Handle();
                     }));
  }

  void EndReceiving() { network_->receiving -= std::exchange(receiving_, 0); }

  // Answers a request that cannot be read with its error, and closes the connection.
  void Fail(const Error& error) {
    std::optional<HttpAnswer> answer = AnswerToError(error);
    if (!answer.has_value()) return Close();
    keeps_open_ = false;
    Write(*std::move(answer));
  }
  void Fail(int status, const char* message) {
    keeps_open_ = false;
    Write(ErrorAnswer(status, message));
  }

  void Handle() {
    EndReceiving();
    auto message = parser_->release();
    keeps_open_ = message.keep_alive();
    HttpRequest request;
    request.method = Text(message.method_string());
    std::string target = Text(message.target());
    if (target.rfind("http://", 0) == 0) {  // the host stands in front, as in requests to proxies
      target.erase(0, std::min(target.find('/', 7), target.size()));
    }
    const size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string::npos) request.query = target.substr(mark + 1);
    request.content_type = Text(message[http::field::content_type]);
    request.authorization = Text(message[http::field::authorization]);
    const auto [first, last] = message.equal_range("X-Forwarded-For");
    for (auto field = first; field != last; ++field) {
      if (field != first) request.forwarded_for += ", ";
      request.forwarded_for += Text(field->value());
    }
    request.address = address_;
    request.body = std::move(message.body());

    network_->busy.insert(shared_from_this());
    const uint64_t number = ++request_;
    deadline_ = kNever;
    cancel_ = network_->handler(std::move(request), [network = network_, weak = weak_from_this(),
                                                     number](HttpAnswer answer) {
      asio::post(network->io, [weak, number, answer = std::move(answer)]() mutable {
        const auto self = weak.lock();
        if (self == nullptr || self->answered_ >= number) return;
        self->answered_ = number;
        self->Write(std::move(answer));
      });
    });
    Watch(number);
  }

  // Reads ahead while a request waits for its answer, to notice that the client goes away.
  void Watch(uint64_t number) {
    if (buffer_.size() >= kMaxBytesAhead) return Leave(number);
    socket_.async_wait(Tcp::socket::wait_read, Then([this, number](const Error& failed) {
                         if (failed || answered_ >= number) return;
                         Error error;
                         const size_t read = socket_.read_some(buffer_.prepare(4096), error);
                         buffer_.commit(read);
                         if (!error || error == asio::error::would_block) return Watch(number);
                         Leave(number);
                       }));
  }

  // Ends a request whose client has gone away.
  void Leave(uint64_t number) {
    answered_ = number;
    const HttpCancel cancel = std::exchange(cancel_, nullptr);
    if (cancel != nullptr) cancel();
    Close();
    EndRequest();
  }

  void Write(HttpAnswer answer) {
    Error ignored;
    socket_.cancel(ignored);  // ends Watch
    cancel_ = nullptr;
    if (network_->is_draining) keeps_open_ = false;
    http::response<http::string_body>& response =
        response_.emplace(static_cast<http::status>(answer.status), version_);
    response.set(http::field::server, "nibu");
    response.set(http::field::content_type, answer.content_type);
    response.set(http::field::access_control_allow_origin, "*");
    response.set(http::field::access_control_allow_headers, "Authorization, Content-Type");
    response.set(http::field::access_control_expose_headers, "Authorization");
    response.set(http::field::access_control_allow_methods, "GET, POST");
    response.set(http::field::access_control_allow_credentials, "true");
    response.set(http::field::access_control_max_age, "1728000");
    if (!answer.allow.empty()) response.set(http::field::allow, answer.allow);
    if (answer.retry_after > 0) {
      response.set(http::field::retry_after, std::to_string(answer.retry_after));
    }
    response.keep_alive(keeps_open_);
    response.content_length(answer.body.size());
    if (!is_head_) response.body() = std::move(answer.body);
    serializer_.emplace(response);
    WriteOn();
  }

  void WriteOn() {
    SetDeadline(network_->limits.timeout);
    http::async_write_some(socket_, *serializer_, Then([this](const Error& error, size_t) {
                             if (!error && !serializer_->is_done()) return WriteOn();
                             if (error) {
                               Close();
                             } else if (keeps_open_) {
                               AwaitRequest();
                             } else {
                               Linger();
                             }
                             EndRequest();
                           }));
  }

  // Says that the request is answered, or its client is gone.
  void EndRequest() {
    serializer_.reset();
    response_.reset();
    network_->busy.erase(shared_from_this());
    if (network_->is_draining && network_->busy.empty()) network_->io.stop();
  }

  // Reads until the client closes the connection. If it were closed now, a client that is still
  // sending would lose the answer.
  void Linger() {
    Error ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
    SetDeadline(kLingerTime);
    Discard();
  }
  void Discard() {
    buffer_.clear();
    socket_.async_read_some(buffer_.prepare(4096), Then([this](const Error& error, size_t) {
                              if (error) return Close();
                              Discard();
                            }));
  }

  HttpNetwork* const network_;
  Tcp::socket socket_;
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::time_point deadline_ = kNever;
  std::string address_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  HttpCancel cancel_;
  uint64_t request_ = 0;   // the number of the last request
  uint64_t answered_ = 0;  // the number of the last request that was answered or abandoned
  size_t receiving_ = 0;   // its share of HttpNetwork::receiving
  unsigned version_ = 11;
  bool keeps_open_ = true;
  bool is_head_ = false;
  bool is_idle_ = false;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_CONNECTION_H_
