// Takes the requests of a connection out of the bytes that come. It includes Boost.Beast, like
// http_connection.h, which alone includes this file.
#ifndef NIBU_TOOLS_SERVE_HTTP_REQUEST_READER_H_
#define NIBU_TOOLS_SERVE_HTTP_REQUEST_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "tools/serve/http_message.h"

namespace nibu::internal {

// Hands bytes to Beast's parser and counts all of them, which Beast's own reading functions do not
// do; besides, the exceptions of these would get into the event loop. The functions throw what the
// parser throws. Used by one thread at a time.
class HttpRequestReader {
 public:
  enum class Step : uint8_t {
    kMore,     // More bytes are needed.
    kHead,     // The head is complete. The next call of Take goes on with the body.
    kRequest,  // The request is complete.
    kRefused,  // The request is no HTTP, or is too large; refusal() is its answer.
  };

  // Begins the next request. What frames the chunks of its body may be as long as the body.
  void Begin(size_t max_body_bytes) {
    most_bytes_ = 2 * (kMaxHeadBytes + max_body_bytes);
    bytes_ = 0;
    parser_.emplace();
    parser_->header_limit(kMaxHeadBytes);
    parser_->body_limit(max_body_bytes);
  }
  // Gives back the memory of the request.
  void End() { parser_.reset(); }

  // Takes bytes of a request that has begun out of `buffer`. The parser takes pieces of a body as
  // they come, but needs a line in front of a chunk, and all trailers, in one piece. So the size of
  // the pieces bounds these.
  Step Take(beast::flat_buffer* buffer) {
    while (!parser_->is_done()) {
      if (!parser_->got_some() && SkipLineBreaks(buffer)) return Step::kMore;
      const bool had_head = parser_->is_header_done();
      const size_t most = had_head ? kMaxHeadBytes : kMaxHeadBytes - bytes_;
      if (most == 0) return Refuse(HeadTooLarge());
      const boost::asio::const_buffer piece = boost::asio::buffer(buffer->cdata(), most);
      if (piece.size() == 0) return Step::kMore;
      boost::system::error_code error;
      const size_t used = parser_->put(piece, error);
      buffer->consume(used);
      bytes_ += used;
      if (error && error != http::error::need_more) return Refuse(AnswerToError(error));
      if (!had_head && parser_->is_header_done()) {
        parser_->eager(true);
        return Step::kHead;
      }
      if (parser_->is_done()) break;
      if (bytes_ > most_bytes_) return Refuse(AnswerToError(http::error::body_limit));
      if (used == 0) return piece.size() == most ? Refuse(HeadTooLarge()) : Step::kMore;
    }
    return Step::kRequest;
  }

  const HttpParser::value_type& head() const { return parser_->get(); }
  size_t body_bytes() const { return parser_->get().body().size(); }
  std::string body() const { return beast::buffers_to_string(parser_->get().body().cdata()); }
  const HttpAnswer& refusal() const { return refusal_; }

 private:
  Step Refuse(HttpAnswer answer) {
    refusal_ = std::move(answer);
    return Step::kRefused;
  }

  // Skips line breaks in front of a request, which some clients send behind the one before. Returns
  // whether more bytes are needed to know where they end.
  bool SkipLineBreaks(beast::flat_buffer* buffer) {
    const auto text = [buffer] {
      return absl::string_view(static_cast<const char*>(buffer->cdata().data()), buffer->size());
    };
    while (bytes_ + 2 <= kMaxHeadBytes && absl::StartsWith(text(), "\r\n")) {
      buffer->consume(2);
      bytes_ += 2;
    }
    return text().empty() || text() == "\r";
  }

  std::optional<HttpParser> parser_;
  size_t most_bytes_ = 0;
  size_t bytes_ = 0;  // that the parser has taken of this request
  HttpAnswer refusal_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_HTTP_REQUEST_READER_H_
