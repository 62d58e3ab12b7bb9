// The server's connections, on Boost.Beast and Asio. This is the only file of the server that
// includes them: they take long to compile.
//
// A connection goes through these states, each of which waits for one thing:
//
//   AwaitRequest  the first byte of a request                       (deadline: an idle connection)
//   ReadHead      the head                                          (deadline: the whole head)
//   ReadBody      the body                                          (deadline: the whole body)
//   Watch         the handler's reply, or the client going away     (no deadline)
//   Write         room for the next piece of the answer             (deadline: each piece)
//   Linger        the client's end, after the last answer           (deadline: two seconds)

#include "tools/serve/http_server.h"

#include <csignal>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "boost/asio.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "nlohmann/json.hpp"

namespace nibu::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxHeadBytes = size_t{16} << 10;
// Requests that a client sends ahead of their turn are read up to here; the rest waits in its
// socket, and whether it goes away behind them is noticed only after their turn.
constexpr size_t kMaxBytesAhead = size_t{64} << 10;
constexpr std::chrono::milliseconds kLingerTime(2000);
constexpr std::chrono::milliseconds kPauseWithoutSockets(100);

std::string Text(beast::string_view text) { return {text.data(), text.size()}; }

// The answer to a request that cannot be read; no value: the connection itself has failed.
std::optional<HttpAnswer> AnswerToError(const Error& error) {
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
  HttpAnswer answer;
  answer.status = status;
  answer.body = nlohmann::json{{"error", message}}.dump();
  return answer;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpLimits& given_limits, Handler given_handler)
      : limits(given_limits), handler(std::move(given_handler)) {}

  absl::Status Listen(const std::string& host, int port);
  void Accept();
  void Repeat(asio::steady_timer* timer, std::chrono::milliseconds period,
              std::function<void()> task);
  void AwaitSignal();

  HttpLimits limits;
  const Handler handler;
  std::set<Connection*> connections;  // all of them
  asio::io_context io{1};             // Connections end with it at the latest.
  // Those whose request the handler has taken and whose answer is not yet written.
  std::set<std::shared_ptr<Connection>> busy;
  Tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  asio::signal_set signals{io};
  std::function<void(int)> on_signal;
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  bool is_draining = false;
  uint64_t refused = 0;
};

class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, Impl* server)
      : server_(server), socket_(std::move(socket)), deadline_(server->io) {
    server_->connections.insert(this);
  }
  ~Connection() { server_->connections.erase(this); }

  void Start() {
    Error ignored;
    socket_.non_blocking(true, ignored);
    socket_.set_option(Tcp::no_delay(true), ignored);
    const Tcp::endpoint peer = socket_.remote_endpoint(ignored);
    address_ = peer.address().to_string();
    AwaitRequest();
  }

  // Answers a client for whom there is no room, and closes.
  void Refuse() {
    HttpAnswer answer;
    answer.status = 503;
    answer.retry_after = 1;
    answer.body = R"({"error": "too many connections; try again"})";
    keeps_open_ = false;
    Write(std::move(answer));
  }

  void CloseIfIdle() {
    if (is_idle_) Close();
  }

 private:
  // A handler of Asio's that keeps the connection alive.
  template <typename F>
  auto Then(F f) {
    return
        [self = shared_from_this(), f = std::move(f)](auto... results) mutable { f(results...); };
  }

  // Closes the connection at that time, unless a deadline is set anew before.
  void SetDeadline(std::chrono::milliseconds time) {
    deadline_.expires_after(time);
    deadline_.async_wait([weak = weak_from_this()](const Error& error) {
      const auto self = weak.lock();
      if (!error && self != nullptr && self->deadline_.expiry() <= Clock::now()) self->Close();
    });
  }

  void Close() {
    Error ignored;
    socket_.close(ignored);
    deadline_.cancel();
  }

  void AwaitRequest() {
    if (buffer_.size() > 0) return ReadHead();
    is_idle_ = true;
    SetDeadline(server_->limits.timeout);
    socket_.async_wait(Tcp::socket::wait_read, Then([this](const Error& error) {
                         is_idle_ = false;
                         if (!error) ReadHead();
                       }));
  }

  void ReadHead() {
    SetDeadline(server_->limits.timeout);
    parser_.emplace();
    parser_->header_limit(kMaxHeadBytes);
    parser_->body_limit(server_->limits.max_body_bytes);
    http::async_read_header(socket_, buffer_, *parser_,
                            Then([this](const Error& error, size_t) { OnHead(error); }));
  }

  void OnHead(const Error& error) {
    if (error) return Fail(error);
    const auto& head = parser_->get();
    const auto encoding = head[http::field::content_encoding];
    if (!encoding.empty() && !beast::iequals(encoding, "identity")) {
      return Fail(415, "the request's body is compressed; send it as it is");
    }
    SetDeadline(server_->limits.timeout);
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

  // Answers what cannot be read with its error, and closes the connection.
  void Fail(const Error& error) {
    std::optional<HttpAnswer> answer = AnswerToError(error);
    if (!answer.has_value()) return Close();
    keeps_open_ = false;
    Write(*std::move(answer));
  }
  void Fail(int status, const char* message) {
    HttpAnswer answer;
    answer.status = status;
    answer.body = nlohmann::json{{"error", message}}.dump();
    keeps_open_ = false;
    Write(std::move(answer));
  }

  void Handle() {
    auto message = parser_->release();
    keeps_open_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    version_ = message.version();
    HttpRequest request;
    request.method = Text(message.method_string());
    const std::string target = Text(message.target());
    const size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string::npos) request.query = target.substr(mark + 1);
    request.content_type = Text(message[http::field::content_type]);
    request.authorization = Text(message[http::field::authorization]);
    request.forwarded_for = Text(message["X-Forwarded-For"]);
    request.address = address_;
    request.body = std::move(message.body());

    server_->busy.insert(shared_from_this());
    const uint64_t number = ++request_;
    deadline_.cancel();
    cancel_ = server_->handler(
        std::move(request), [server = server_, weak = weak_from_this(), number](HttpAnswer answer) {
          asio::post(server->io, [weak, number, answer = std::move(answer)]() mutable {
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
    if (buffer_.size() >= kMaxBytesAhead) return;
    socket_.async_wait(Tcp::socket::wait_read, Then([this, number](const Error& failed) {
                         if (failed || answered_ >= number) return;
                         Error error;
                         const size_t read = socket_.read_some(buffer_.prepare(4096), error);
                         buffer_.commit(read);
                         if (!error || error == asio::error::would_block) return Watch(number);
                         answered_ = number;
                         const HttpCancel cancel = std::exchange(cancel_, nullptr);
                         if (cancel != nullptr) cancel();
                         Close();
                         EndRequest();
                       }));
  }

  void Write(HttpAnswer answer) {
    Error ignored;
    socket_.cancel(ignored);  // Watch
    cancel_ = nullptr;
    if (server_->is_draining) keeps_open_ = false;
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
    SetDeadline(server_->limits.timeout);
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

  // The request is answered, or its client is gone.
  void EndRequest() {
    server_->busy.erase(shared_from_this());
    if (server_->is_draining && server_->busy.empty()) server_->io.stop();
  }

  // A client that is still sending would lose the answer if the connection were closed now.
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

  Impl* const server_;
  Tcp::socket socket_;
  asio::steady_timer deadline_;
  std::string address_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  HttpCancel cancel_;
  uint64_t request_ = 0;   // the number of the last request
  uint64_t answered_ = 0;  // that of the last one that was answered, or whose client went away
  unsigned version_ = 11;
  bool keeps_open_ = true;
  bool is_head_ = false;
  bool is_idle_ = false;
};

absl::Status HttpServer::Impl::Listen(const std::string& host, int port) {
  const auto failed = [&](const Error& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", host, ":", port, ": ", error.message()));
  };
  Error error;
  Tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(port), Tcp::resolver::passive, error);
  if (error) return failed(error);
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  if (acceptor.open(endpoint.protocol(), error)) return failed(error);
  // A port that a server has just left can be taken again at once.
  if (acceptor.set_option(asio::socket_base::reuse_address(true), error)) return failed(error);
  if (acceptor.bind(endpoint, error)) return failed(error);
  if (acceptor.listen(asio::socket_base::max_listen_connections, error)) return failed(error);
  return absl::OkStatus();
}

void HttpServer::Impl::Accept() {
  acceptor.async_accept([this](const Error& error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {  // There are no more descriptors, say.
      pause.expires_after(kPauseWithoutSockets);
      pause.async_wait([this](const Error& stopped) {
        if (!stopped) Accept();
      });
      return;
    }
    const bool has_room = connections.size() < limits.max_connections;
    const auto connection = std::make_shared<Connection>(std::move(socket), this);
    if (has_room) {
      connection->Start();
    } else {
      ++refused;
      connection->Refuse();
    }
    Accept();
  });
}

void HttpServer::Impl::Repeat(asio::steady_timer* timer, std::chrono::milliseconds period,
                              std::function<void()> task) {
  timer->expires_after(period);
  timer->async_wait([this, timer, period, task = std::move(task)](const Error& error) mutable {
    if (error) return;
    task();
    Repeat(timer, period, std::move(task));
  });
}

void HttpServer::Impl::AwaitSignal() {
  signals.async_wait([this](const Error& error, int signal) {
    if (error) return;
    on_signal(signal);
    AwaitSignal();
  });
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(const std::string& host, int port,
                                                               const HttpLimits& limits,
                                                               Handler handler) {
  auto impl = std::make_unique<Impl>(limits, std::move(handler));
  absl::Status status = impl->Listen(host, port);
  if (!status.ok()) return status;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

std::string HttpServer::url() const {
  const Tcp::endpoint endpoint = impl_->acceptor.local_endpoint();
  const std::string address = endpoint.address().to_string();
  const bool is_v6 = endpoint.address().is_v6();
  return absl::StrCat("http://", is_v6 ? "[" : "", address, is_v6 ? "]:" : ":", endpoint.port());
}

bool HttpServer::is_loopback() const {
  return impl_->acceptor.local_endpoint().address().is_loopback();
}

void HttpServer::Run() {
  impl_->Accept();
  impl_->io.run();
}

void HttpServer::Stop() { impl_->io.stop(); }

void HttpServer::Drain() {
  impl_->is_draining = true;
  const std::set<Connection*> connections = impl_->connections;
  for (Connection* connection : connections) connection->CloseIfIdle();
  if (impl_->busy.empty()) impl_->io.stop();
}

void HttpServer::SetLimits(const HttpLimits& limits) { impl_->limits = limits; }

void HttpServer::Post(std::function<void()> task) { asio::post(impl_->io, std::move(task)); }

void HttpServer::Every(std::chrono::milliseconds period, std::function<void()> task) {
  impl_->timers.push_back(std::make_unique<asio::steady_timer>(impl_->io));
  impl_->Repeat(impl_->timers.back().get(), period, std::move(task));
}

void HttpServer::OnSignal(std::function<void(int)> task) {
  impl_->on_signal = std::move(task);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Error ignored;
    impl_->signals.add(signal, ignored);
  }
  impl_->AwaitSignal();
}

size_t HttpServer::connections() const { return impl_->connections.size(); }

uint64_t HttpServer::refused_connections() const { return impl_->refused; }

}  // namespace nibu::internal
