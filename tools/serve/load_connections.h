// The connections of nibu-load. The headers of Boost take long to compile, so only nibu_load.cc and
// the test of contracts include this one.
#ifndef NIBU_TOOLS_SERVE_LOAD_CONNECTIONS_H_
#define NIBU_TOOLS_SERVE_LOAD_CONNECTIONS_H_

#include <sys/socket.h>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/string_view.h"

// The namespace of its own keeps these short names apart from those of the rest of nibu.
namespace nibu::internal::load {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

inline constexpr std::chrono::seconds kConnectLimit(60);
inline constexpr std::chrono::milliseconds kSlowPeriod(100);   // between bytes of a slow client
inline constexpr std::chrono::milliseconds kIdlePeriod(1000);  // between looks at idle connections

// A server's address.
struct Server {
  std::string authority;  // "localhost:5000", as in the field Host
  std::string path;       // the part of the path in front of "/translate"
  tcp::resolver::results_type endpoints;
};

// Returns whether a connection on which nothing is expected is still open and has received no
// bytes.
inline bool IsQuiet(tcp::socket* socket) {
  char byte;
  return recv(socket->native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

// A connection that sends one request after the other.
class Connection {
 public:
  // Gets the answer, or the error if there is none; beast::error::timeout if the limit was reached.
  using Done = std::function<void(error_code, const Response&)>;

  Connection(asio::io_context* context, const Server* server)
      : context_(context), server_(server) {}

  // Sends a request. Closes the connection if the request is not answered within `limit`, which
  // begins when the connection is open. A connection that is not open yet, or that the server has
  // closed after the last answer, is opened first. REQUIRES: the last request is done.
  void Send(Request request, std::chrono::milliseconds limit, Done done) {
    ABSL_ASSERT(done_ == nullptr);
    request_ = std::move(request);
    request_.set(http::field::host, server_->authority);
    request_.set(http::field::user_agent, "nibu-load");
    request_.prepare_payload();
    limit_ = limit;
    done_ = std::move(done);
    if (stream_.has_value() && IsQuiet(&stream_->socket())) return Write();
    stream_.emplace(*context_);
    buffer_.clear();
    stream_->expires_after(kConnectLimit);
    stream_->async_connect(server_->endpoints, [this](error_code error, const tcp::endpoint&) {
      if (error == beast::error::timeout) error = asio::error::timed_out;
      if (error) return Finish(error);
      stream_->socket().set_option(tcp::no_delay(true), error);
      Write();
    });
  }

 private:
  void Write() {
    parser_.emplace();
    parser_->body_limit(boost::none);
    stream_->expires_after(limit_);
    http::async_write(*stream_, request_, [this](error_code error, size_t) {
      if (error == beast::error::timeout) return Finish(error);
      // After other errors there may be an answer, too: a server may refuse a request and close the
      // connection before it has read all of it.
      http::async_read(*stream_, buffer_, *parser_,
                       [this](error_code failure, size_t) { Finish(failure); });
    });
  }

  void Finish(error_code error) {
    const Response response = error ? Response() : parser_->release();
    if (error || !response.keep_alive()) {
      stream_.reset();
    } else {
      stream_->expires_never();
    }
    std::exchange(done_, nullptr)(error, response);
  }

  asio::io_context* const context_;
  const Server* const server_;
  std::optional<beast::tcp_stream> stream_;  // nullopt: the connection is not open
  beast::flat_buffer buffer_;
  std::optional<http::response_parser<http::string_body>> parser_;
  Request request_;
  std::chrono::milliseconds limit_{};
  Done done_;
};

// A connection that is held open without a request: it sends nothing, or an endless head.
class HeldConnection {
 public:
  // `closed` counts how often the server has closed the connection.
  HeldConnection(asio::io_context* context, const Server* server, bool is_slow, uint64_t* closed)
      : server_(server), is_slow_(is_slow), closed_(closed), socket_(*context), timer_(*context) {}

  void Open() {
    asio::async_connect(socket_, server_->endpoints, [this](error_code error, tcp::endpoint) {
      sent_ = 0;
      if (error) socket_.close(error);
      Wait();
    });
  }

 private:
  void Wait() {
    timer_.expires_after(is_slow_ ? kSlowPeriod : kIdlePeriod);
    timer_.async_wait([this](error_code) { Step(); });
  }

  void Step() {
    error_code error;
    if (socket_.is_open() && !IsQuiet(&socket_)) {
      ++*closed_;
      socket_.close(error);
    }
    if (!socket_.is_open()) return Open();
    if (is_slow_) {
      static constexpr absl::string_view kHead = "POST /translate HTTP/1.1\r\nX-Slow: ";
      const char byte = sent_ < kHead.size() ? kHead[sent_] : 'a';
      sent_ += socket_.write_some(asio::buffer(&byte, 1), error);
    }
    Wait();
  }

  const Server* const server_;
  const bool is_slow_;
  uint64_t* const closed_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  size_t sent_ = 0;  // number of bytes of the head that were sent
};

}  // namespace nibu::internal::load

#endif  // NIBU_TOOLS_SERVE_LOAD_CONNECTIONS_H_
