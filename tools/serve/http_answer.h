// The part of HttpConnection that writes answers. Like http_connection.h, only http_server.cc and
// web_socket.h include it.
#ifndef NIBU_TOOLS_SERVE_HTTP_ANSWER_H_
#define NIBU_TOOLS_SERVE_HTTP_ANSWER_H_

#include <algorithm>
#include <utility>

#include "tools/serve/http_connection.h"

namespace nibu::internal {

inline void HttpConnection::Write(HttpAnswer answer) {
  cancel_ = nullptr;
  if (web_socket_.has_value()) return WriteMessage(std::move(answer));
  Error ignored;
  socket_.cancel(ignored);  // ends Watch
  if (answer.status == 101) return OpenWebSocket();
  // At the end, only requests that have come already are answered.
  if (network_->is_draining) {
    keeps_open_ = keeps_open_ && HasMore() &&
                  HttpNetwork::Clock::now() < network_->draining_since + network_->limits.end_time;
  }
  Enter(State::kWriting);
  response_.emplace();
  response_->version(version_);
  MakeResponse(std::move(answer), is_head_, keeps_open_, &*response_);
  serializer_.emplace(*response_);
  HoldAnswer(response_->body().size());
  WriteOn();
}

// Counts the bytes of an answer that is being written.
inline void HttpConnection::HoldAnswer(size_t bytes) {
  answer_bytes_ = bytes;
  network_->answer_bytes += bytes;
  // The reader that has had the most time loses its answer; but the newest answer always counts
  // as being read.
  while (network_->answer_bytes > network_->MostBytes() &&
         network_->writing.begin()->second != this) {
    network_->writing.begin()->second->Close();
  }
}

inline void HttpConnection::WriteOn() {
  SetDeadline(HttpNetwork::Clock::now() + network_->limits.timeout);
  http::async_write_some(socket_, *serializer_, Then([this](const Error& error, size_t) {
                           if (error) return Close();
                           if (!serializer_->is_done()) return WriteOn();
                           serializer_.reset();
                           response_.reset();
                           keeps_open_ ? AwaitRequest() : Linger();
                         }));
}

// Reads until the client closes the connection. If it were closed now, a client that is still
// sending would lose the answer.
inline void HttpConnection::Linger() {
  Error ignored;
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  Enter(State::kLingering, kLingerTime);
  HoldReceived(0);
  Discard();
}

inline void HttpConnection::Discard() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(4096), Then([this](const Error& error, size_t) {
                            if (error) return Close();
                            Discard();
                          }));
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_ANSWER_H_
