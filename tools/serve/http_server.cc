// Accepts connections, hands them to HttpConnection, and waits for timers and signals.

#include "tools/serve/http_server.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/http_connection.h"

namespace nibu::internal {
namespace {

constexpr std::chrono::milliseconds kPauseWithoutSockets(100);
// The time between looks for connections whose deadline has passed.
constexpr std::chrono::milliseconds kSweep(500);

}  // namespace

// The server's state: the listening socket, timers and signals.
class HttpServer::Impl : public HttpNetwork {
 public:
  using HttpNetwork::HttpNetwork;

  absl::Status Listen(const std::string& host, int port);
  void Accept();
  void Sweep();
  void Repeat(asio::steady_timer* timer, std::chrono::milliseconds period,
              std::function<void()> task);
  void AwaitSignal();

  Tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  asio::steady_timer sweep{io};
  bool is_sweeping = false;
  asio::signal_set signals{io};
  std::function<void(int)> on_signal;
  std::vector<std::unique_ptr<asio::steady_timer>> timers;
  uint64_t refused = 0;
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
    if (error) {  // For example, there are no more descriptors.
      pause.expires_after(kPauseWithoutSockets);
      pause.async_wait([this](const Error& stopped) {
        if (!stopped) Accept();
      });
      return;
    }
    const bool has_room = connections.size() < limits.max_connections;
    const auto connection = std::make_shared<HttpConnection>(std::move(socket), this);
    if (has_room) {
      connection->Start();
    } else {
      ++refused;
      connection->Refuse();
    }
    if (!is_sweeping) Sweep();
    Accept();
  });
}

// Closes connections that are late, as long as there are any.
void HttpServer::Impl::Sweep() {
  is_sweeping = !connections.empty();
  if (!is_sweeping) return;
  sweep.expires_after(std::min<std::chrono::milliseconds>(kSweep, limits.timeout / 4));
  sweep.async_wait([this](const Error& error) {
    if (error) return;
    const std::set<HttpConnection*> all = connections;
    for (HttpConnection* connection : all) {
      connection->CloseIfLate(std::chrono::steady_clock::now());
    }
    Sweep();
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
  const std::set<HttpConnection*> connections = impl_->connections;
  for (HttpConnection* connection : connections) connection->CloseIfIdle();
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
