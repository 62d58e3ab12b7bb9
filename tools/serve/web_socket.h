// The part of HttpConnection that speaks WebSocket (RFC 6455), by Boost.Beast. Like
// http_connection.h, only http_server.cc includes it.
//
// Messages are read all the time, also while one of them is being handled, to notice that the
// client goes away; but they are handled one at a time, in order, and those that have come ahead
// wait. So answers come in the order of the messages.
#ifndef NIBU_TOOLS_SERVE_WEB_SOCKET_H_
#define NIBU_TOOLS_SERVE_WEB_SOCKET_H_

#include <string>
#include <utility>

#include "tools/serve/http_answer.h"
#include "tools/serve/http_connection.h"

namespace nibu::internal {

// Accepts the WebSocket that the client has asked for. A client that has not waited for that is
// none.
inline void HttpConnection::OpenWebSocket() {
  if (buffer_.size() > 0) return Close();
  Enter(State::kReading, network_->limits.timeout);
  auto& stream = web_socket_.emplace(socket_);
  stream.set_option(websocket::stream_base::decorator(
      [](websocket::response_type& response) { response.set(http::field::server, "nibu"); }));
  stream.auto_fragment(false);  // Simple clients expect a message in one frame.
  stream.read_message_max(network_->limits.max_body_bytes);
  stream.control_callback([this](websocket::frame_type, beast::string_view) {
    if (state_ == State::kIdle) Enter(State::kIdle, network_->limits.timeout);
  });
  stream.async_accept(reader_.head(), Then([this](const Error& error) {
                        reader_.End();
                        if (error) return Close();
                        ReadMessages();
                        AwaitMessage();
                      }));
}

inline void HttpConnection::ReadMessages() {
  web_socket_->async_read_some(
      buffer_, kMostBytesRead,
      Then([this](const Error& error, size_t read) { TakeMessageBytes(error, read); }));
}

inline void HttpConnection::TakeMessageBytes(const Error& error, size_t read) {
  if (state_ == State::kClosed || state_ == State::kLingering) return;
  // The client has closed the WebSocket or the connection, or has sent what is no message.
  if (error) return Leave(request_);
  // A message of no bytes is one, too, but takes memory.
  if (web_socket_->is_message_done()) {
    messages_.push_back(beast::buffers_to_string(buffer_.cdata()));
    buffer_.consume(buffer_.size());
    if (buffer_.capacity() > kMaxHeadBytes) buffer_.shrink_to_fit();
  }
  constexpr size_t kMostMessagesAhead = 1024;
  const bool is_handled = state_ == State::kWaiting || state_ == State::kWriting;
  const bool is_too_much =
      is_handled && (WaitingBytes() > kMaxBytesAhead || messages_.size() > kMostMessagesAhead);
  if (is_too_much || !HoldReceived(WaitingBytes())) return Leave(request_);
  if (!is_handled && !messages_.empty()) {
    AwaitMessage();
  } else if (state_ == State::kIdle && read > 0) {
    Enter(State::kReading, network_->limits.timeout);
  }
  ReadMessages();
}

// Handles the next message, or waits for it.
inline void HttpConnection::AwaitMessage() {
  if (messages_.empty()) {
    HoldReceived(WaitingBytes());
    if (network_->is_draining && buffer_.size() == 0) {
      return EndWebSocket(websocket::close_code::going_away, "");
    }
    return Enter(buffer_.size() == 0 ? State::kIdle : State::kReading, network_->limits.timeout);
  }
  HttpRequest request = opening_;
  request.kind = HttpRequest::Kind::kMessage;
  request.body = std::move(messages_.front());
  messages_.pop_front();
  HandOver(std::move(request));
}

// Sends an answer as a message, or closes the WebSocket if it is an error.
inline void HttpConnection::WriteMessage(HttpAnswer answer) {
  if (answer.status != 200) {
    const bool is_busy = answer.status == 429 || answer.status == 503;
    return EndWebSocket(
        is_busy ? websocket::close_code::try_again_later : websocket::close_code::policy_error,
        answer.error);
  }
  text_ = std::move(answer.body);
  Enter(State::kWriting, network_->limits.timeout);
  HoldAnswer(text_.size());
  web_socket_->text(true);
  web_socket_->async_write(asio::buffer(text_), Then([this](const Error& error, size_t) {
                             text_ = std::string();
                             if (state_ != State::kWriting) return;
                             error ? Close() : AwaitMessage();
                           }));
}

// Tells the client why the WebSocket ends, and closes the connection. Beast's async_close is not
// used, since it and a read that gets the client's close frame would wait for each other.
inline void HttpConnection::EndWebSocket(websocket::close_code code, const std::string& reason) {
  Error ignored;
  socket_.cancel(ignored);  // ends ReadMessages
  Enter(State::kLingering, kLingerTime);
  messages_.clear();
  // The payload of such a frame has at most 125 bytes: the code, and whole characters.
  constexpr size_t kMostReason = 123;
  const std::string fitting = reason.size() <= kMostReason ? reason : "";
  text_ = {'\x88', static_cast<char>(2 + fitting.size()), static_cast<char>(code >> 8),
           static_cast<char>(code & 0xFF)};
  text_ += fitting;
  asio::async_write(socket_, asio::buffer(text_),
                    Then([this](const Error& error, size_t) { error ? Close() : Linger(); }));
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_WEB_SOCKET_H_
