// A connection of the server, on Boost.Beast and Asio, which take long to compile: only
// http_server.cc includes this file.
//
// A connection goes through these states, each of which waits for one thing:
//
//   kIdle       the first byte of a request                (deadline: an idle connection)
//   kReading    the head, then the body                    (deadline: the whole of each)
//   kWaiting    the handler's reply, or the client's end   (no deadline)
//   kWriting    room for the next piece of the answer      (deadline: each piece)
//   kLingering  the client's end, after the last answer    (deadline: two seconds)
//   kClosed     the end of its last operation
//
// Once a client has opened a WebSocket, its messages go through the same states (web_socket.h).
#ifndef NIBU_TOOLS_SERVE_HTTP_CONNECTION_H_
#define NIBU_TOOLS_SERVE_HTTP_CONNECTION_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "tools/serve/addresses.h"
#include "tools/serve/http_message.h"
#include "tools/serve/http_network.h"
#include "tools/serve/http_request_reader.h"

namespace nibu::internal {

// The most bytes that a client may send ahead of its turn. They are read, to notice that the client
// goes away. If it sends more, the connection is closed.
inline constexpr size_t kMaxBytesAhead = size_t{1} << 20;
// The most bytes that are read at a time.
inline constexpr size_t kMostBytesRead = size_t{64} << 10;
inline constexpr std::chrono::milliseconds kLingerTime(2000);
// The time for the head of a request on a connection for which there is no place.
inline constexpr std::chrono::milliseconds kTimeWithoutPlace(2000);

// A connection with a client, in one of the states above. Used by the network's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Tcp::socket socket, bool is_operators, HttpNetwork* network)
      : network_(network), socket_(std::move(socket)), is_operators_(is_operators) {
    Error ignored;
    const asio::ip::address address = socket_.remote_endpoint(ignored).address();
    address_ = ParseAddress(address.to_string()).value_or("");
    const bool is_proxy = absl::c_linear_search(network_->limits.trusted_proxies, address_);
    if (!is_proxy) client_ = NetworkOf(address_);
    network_->connections.insert(this);
  }
  ~HttpConnection() {
    Close();
    network_->connections.erase(this);
    network_->EndIfDrained();
  }

  // Returns the name under which the client is counted; empty: it is a trusted proxy.
  const std::string& client() const { return client_; }

  // Calls a function of this connection. If it throws an exception, only this connection ends:
  // after an answer with status 503 if memory is lacking and no answer has been begun, or else at
  // once.
  template <typename F>
  void Guard(F f) {
    try {
      try {
        return f();
      } catch (const std::bad_alloc&) {
        if (state_ < State::kWriting) return RefuseForMemory();
      }
    } catch (...) {  // The connection is closed below.
    }
    try {
      Leave(request_);
    } catch (...) {  // The handler's function that cancels the request has thrown it.
    }
  }

  // Begins to read. `has_place`: a place of HttpNetwork::places was taken for it. Without one it is
  // only asked whether the server is well.
  void Start(bool has_place) {
    has_place_ = has_place;
    if (!has_place_) network_->beyond[number_ = ++network_->last_age] = this;
    Error ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(Tcp::no_delay(true), ignored);
    AwaitRequest();
  }

  // Closes the connection and gives back all that it holds of the network's limits.
  void Close() {
    if (state_ == State::kClosed) return;
    Enter(State::kClosed);
    HoldReceived(0);
    has_place_ ? network_->places.Release(client_, 1) : (void)network_->beyond.erase(number_);
    Error ignored;
    socket_.close(ignored);
  }

  // Called when the deadline has passed.
  void EndLate() {
    SetDeadline(HttpNetwork::kNever);
    if (state_ != State::kReading || !network_->is_draining) return Close();
    Refuse("the server is about to end");
  }

  // Called when the server is to end. A request that has come is answered; the client of an idle
  // connection can send no other one.
  void Drain() {
    if (state_ == State::kIdle && !HasMore()) {
      return web_socket_.has_value() ? EndWebSocket(websocket::close_code::going_away, "")
                                     : Close();
    }
    SetDeadline(deadline_);
  }
  // Returns whether bytes have come that have not been handled.
  bool HasMore() const {
    if (!messages_.empty()) return true;
    Error ignored;
    return buffer_.size() > 0 || socket_.available(ignored) > 0;
  }

 private:
  using Time = HttpNetwork::Clock::time_point;
  enum class State : uint8_t { kIdle, kReading, kWaiting, kWriting, kLingering, kClosed };

  // Returns `f` as a handler for Asio that keeps the connection alive. All that happens to a
  // connection is done by these handlers, so that none of its exceptions gets into the event loop.
  template <typename F>
  auto Then(F f) {
    return [self = shared_from_this(), f = std::move(f)](auto... results) mutable {
      self->Guard([&] { f(results...); });
    };
  }

  // Enters a state, which ends after a time unless it is left before.
  void Enter(State state, std::chrono::milliseconds time) {
    Enter(state);
    SetDeadline(entered_ + time);
  }
  void Enter(State state) {
    SetDeadline(HttpNetwork::kNever);
    if (state_ == State::kIdle) network_->RemoveIdle(age_, client_);
    if (state_ == State::kWriting) {
      network_->writing.erase(age_);
      network_->answer_bytes -= std::exchange(answer_bytes_, 0);
    }
    state_ = state;
    entered_ = HttpNetwork::Clock::now();
    age_ = ++network_->last_age;
    if (state_ == State::kIdle && has_place_) network_->AddIdle(age_, client_, this);
    if (state_ == State::kWriting) network_->writing[age_] = this;
  }

  // Closes the connection at a time, unless another deadline is set before.
  void SetDeadline(Time deadline) {
    if (network_->is_draining && deadline != HttpNetwork::kNever) {
      deadline = std::min(deadline,
                          std::max(entered_, network_->draining_since) + network_->limits.end_time);
    }
    if (deadline_ != HttpNetwork::kNever) network_->deadlines.erase({deadline_, this});
    deadline_ = deadline;
    if (deadline_ == HttpNetwork::kNever) return;
    network_->deadlines.insert({deadline_, this});
    network_->ArmDeadlines();
  }

  // Returns the number of bytes that have come and have not been handled.
  size_t WaitingBytes() const {
    size_t bytes = buffer_.size();
    for (const std::string& message : messages_) bytes += message.size();
    return bytes;
  }
  // Counts the bytes that have come and wait. Returns false if the client holds too many. The bytes
  // of a head do not count, so that there is always room for small requests.
  bool HoldReceived(size_t bytes) {
    const size_t counted = std::max(bytes, kMaxHeadBytes) - kMaxHeadBytes;
    if (counted > received_) {
      if (!network_->received.Take(client_, counted - received_)) return false;
    } else {
      network_->received.Release(client_, received_ - counted);
    }
    received_ = counted;
    return true;
  }

  void AwaitRequest() {
    HoldReceived(buffer_.size());
    if (buffer_.size() > 0) return ReadHead();
    if (buffer_.capacity() > kMaxHeadBytes) buffer_.shrink_to_fit();
    Enter(State::kIdle, has_place_ ? network_->limits.timeout
                                   : std::min<std::chrono::milliseconds>(network_->limits.timeout,
                                                                         kTimeWithoutPlace));
    socket_.async_wait(Tcp::socket::wait_read, Then([this](const Error& error) {
                         if (!error) ReadHead();
                       }));
  }

  void ReadHead() {
    Enter(State::kReading, network_->limits.timeout);
    is_head_ = false;
    version_ = 11;
    message_ = {};
    reader_.Begin(has_place_ ? network_->limits.max_body_bytes : kMaxHeadBytes);
    Parse();
  }

  void ReadMore() {
    if (!HoldReceived(buffer_.size() + reader_.body_bytes())) {
      return Refuse("the server is receiving too much; try again");
    }
    const auto room = buffer_.prepare(beast::read_size(buffer_, kMostBytesRead));
    socket_.async_read_some(room, Then([this](const Error& error, size_t read) {
                              if (state_ != State::kReading) return;  // It was refused.
                              if (error) return Close();
                              buffer_.commit(read);
                              Parse();
                            }));
  }

  void Parse() {
    switch (reader_.Take(&buffer_)) {
      case HttpRequestReader::Step::kMore:
        return ReadMore();
      case HttpRequestReader::Step::kHead:
        return OnHead();
      case HttpRequestReader::Step::kRequest:
        return Handle();
      case HttpRequestReader::Step::kRefused:
        message_.path = Text(reader_.head().target());  // as far as it was read
        return Fail(reader_.refusal());
    }
  }

  void OnHead() {
    const auto& head = reader_.head();
    is_head_ = head.method() == http::verb::head;
    version_ = head.version();
    // The head is read now, since the parser adds trailers to its fields.
    message_ = ReadRequestHead(head, address_);
    message_.is_operators = is_operators_;
    if (const auto refusal = RefuseHead(head)) return Fail(*refusal);
    keeps_open_ = has_place_ && head.keep_alive();
    const bool is_of_health =
        absl::EndsWith(message_.path, "/health") || absl::EndsWith(message_.path, "/ready");
    if (!has_place_ && !is_operators_ && !is_of_health) {
      ++network_->refused;
      return Refuse("too many connections; try again");
    }
    Enter(State::kReading, network_->limits.timeout);
    if (head[http::field::expect].empty()) return Parse();
    static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(socket_, asio::buffer(kContinue.data(), kContinue.size()),
                      Then([this](const Error& failed, size_t) {
                        if (state_ != State::kReading) return;  // It was refused.
                        failed ? Close() : Parse();
                      }));
  }

  // Answers a request that is not handed to the handler, and closes the connection.
  void Fail(HttpAnswer answer) {
    keeps_open_ = false;
    Write(WithErrorForm(std::move(answer), ErrorFormOf(message_.path)));
  }
  // Does so with status 503.
  void Refuse(const char* message) { Fail(ErrorAnswer(503, message, network_->seconds_to_wait())); }
  void RefuseForMemory() {
    const HttpCancel cancel = std::exchange(cancel_, nullptr);
    if (cancel != nullptr) cancel();
    answered_ = request_;
    reader_.End();
    Refuse("the server is out of memory; try again");
  }

  void Handle() {
    message_.body = reader_.body();
    // What opens a WebSocket still needs the head of its request.
    if (message_.kind == HttpRequest::Kind::kHttp) {
      reader_.End();
    } else {
      opening_ = message_;
    }
    HandOver(std::move(message_));
    Watch(request_);
  }

  // Hands a request to the handler, and waits for its reply.
  void HandOver(HttpRequest request) {
    Enter(State::kWaiting);
    HoldReceived(WaitingBytes());
    const uint64_t number = ++request_;
    cancel_ = network_->handler(std::move(request), [network = network_, weak = weak_from_this(),
                                                     number](HttpAnswer answer) {
      asio::post(network->io, [weak, number, answer = std::move(answer)]() mutable {
        const auto self = weak.lock();
        if (self == nullptr || self->answered_ >= number) return;
        self->answered_ = number;
        self->Guard([&] { self->Write(std::move(answer)); });
      });
    });
  }

  // Reads ahead while a request waits for its answer, to notice that the client goes away.
  void Watch(uint64_t number) {
    if (buffer_.size() >= kMaxBytesAhead || !HoldReceived(buffer_.size())) return Leave(number);
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
    Close();
    const HttpCancel cancel = std::exchange(cancel_, nullptr);
    if (cancel != nullptr) cancel();
  }

  // The part that writes answers, which http_answer.h defines.
  void Write(HttpAnswer answer);
  void HoldAnswer(size_t bytes);
  void WriteOn();
  void Linger();
  void Discard();

  // The part that speaks WebSocket, which web_socket.h defines.
  void OpenWebSocket();
  void ReadMessages();
  void TakeMessageBytes(const Error& error, size_t read);
  void AwaitMessage();
  void WriteMessage(HttpAnswer answer);
  void EndWebSocket(websocket::close_code code, const std::string& reason);

  HttpNetwork* const network_;
  Tcp::socket socket_;
  const bool is_operators_;  // It came by HttpServer::AddOperatorsAddress.
  std::string address_;
  std::string client_;
  bool has_place_ = false;
  uint64_t number_ = 0;  // its key in HttpNetwork::beyond, if it has no place

  State state_ = State::kIdle;
  uint64_t age_ = 0;  // its key in the network's list of the connections in this state
  Time entered_;      // when this state began
  Time deadline_ = HttpNetwork::kNever;

  beast::flat_buffer buffer_;  // bytes that `reader_` has not taken
  HttpRequestReader reader_;
  size_t received_ = 0;  // its share of HttpNetwork::received
  HttpRequest message_;  // the request while its body is being read
  HttpCancel cancel_;
  uint64_t request_ = 0;   // the number of the last request
  uint64_t answered_ = 0;  // the number of the last request that was answered or abandoned

  std::optional<HttpResponse> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  size_t answer_bytes_ = 0;  // its share of HttpNetwork::answer_bytes
  unsigned version_ = 11;
  bool keeps_open_ = true;
  bool is_head_ = false;

  std::optional<websocket::stream<Tcp::socket&, /*deflateSupported=*/false>> web_socket_;
  HttpRequest opening_;               // the request that has opened it
  std::deque<std::string> messages_;  // that have come whole and wait
  std::string text_;                  // the message that is being sent
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_CONNECTION_H_
