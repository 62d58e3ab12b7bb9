// Accepts connections, hands them to HttpConnection, and waits for timers and signals.

#include "tools/serve/http_server.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/http_connection.h"
#include "tools/serve/web_socket.h"

namespace nibu::internal {
namespace {

constexpr std::chrono::milliseconds kPauseWithoutSockets(100);

// A socket that listens.
struct Listener {
  explicit Listener(asio::io_context* io) : acceptor(*io), pause(*io) {}

  Tcp::acceptor acceptor;
  asio::steady_timer pause;
  bool is_accepting = false;
  bool is_operators = false;
};

std::string UrlOf(const Listener& listener) {
  const Tcp::endpoint endpoint = listener.acceptor.local_endpoint();
  const std::string address = endpoint.address().to_string();
  const bool is_v6 = endpoint.address().is_v6();
  return absl::StrCat("http://", is_v6 ? "[" : "", address, is_v6 ? "]:" : ":", endpoint.port());
}

}  // namespace

void HttpNetwork::ArmDeadlines() {
  if (deadlines.empty() || deadlines.begin()->first >= armed) return;
  const Clock::time_point time = deadlines.begin()->first;
  armed = kNever;  // if setting the timer fails
  deadline_timer.expires_at(time);
  deadline_timer.async_wait([this](const Error& error) {
    if (error) return;
    armed = kNever;
    const Clock::time_point now = Clock::now();
    while (!deadlines.empty() && deadlines.begin()->first <= now) {
      const auto connection = deadlines.begin()->second->shared_from_this();
      connection->Guard([&] { connection->EndLate(); });
    }
    ArmDeadlines();
  });
  armed = time;
}

// The server's state: the listening sockets and signals.
class HttpServer::Impl : public HttpNetwork {
 public:
  using HttpNetwork::HttpNetwork;

  absl::Status Listen(const std::string& host, int port);
  void Accept(Listener* listener);
  void AcceptWaiting();
  void Add(Tcp::socket socket, bool is_operators);
  bool MakeRoom(const std::string& client);
  bool HasRequests() const;
  void Guard(const std::function<void()>& f);
  void AwaitSignal();

  std::vector<std::unique_ptr<Listener>> listeners;  // the operator's one is the second
  bool is_stopped = false;
  asio::signal_set signals{io};
  std::function<void(int)> on_signal;
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
  auto listener = std::make_unique<Listener>(&io);
  listener->is_operators = !listeners.empty();
  Tcp::acceptor& acceptor = listener->acceptor;
  if (acceptor.open(endpoint.protocol(), error)) return failed(error);
  // A port that a server has just left can be taken again at once.
  if (acceptor.set_option(asio::socket_base::reuse_address(true), error)) return failed(error);
  if (acceptor.bind(endpoint, error)) return failed(error);
  if (acceptor.listen(asio::socket_base::max_listen_connections, error)) return failed(error);
  listeners.push_back(std::move(listener));
  return absl::OkStatus();
}

void HttpServer::Impl::Accept(Listener* listener) {
  listener->acceptor.async_accept([this, listener](const Error& error, Tcp::socket socket) {
    listener->is_accepting = false;
    if (error == asio::error::operation_aborted) return;
    if (error) {                      // For example, there are no more descriptors.
      listener->is_accepting = true;  // after the pause
      listener->pause.expires_after(kPauseWithoutSockets);
      listener->pause.async_wait([this, listener](const Error& stopped) {
        if (!stopped) Accept(listener);
      });
      return;
    }
    Guard([&] { Add(std::move(socket), listener->is_operators); });
    Accept(listener);
  });
  listener->is_accepting = true;
}

// Accepts all connections that wait to be accepted.
void HttpServer::Impl::AcceptWaiting() {
  for (const auto& listener : listeners) {
    Error error;
    listener->acceptor.non_blocking(true, error);
    while (!error) {
      Tcp::socket socket(io);
      listener->acceptor.accept(socket, error);
      if (!error) Add(std::move(socket), listener->is_operators);
    }
  }
}

void HttpServer::Impl::Add(Tcp::socket socket, bool is_operators) {
  const auto connection = std::make_shared<HttpConnection>(std::move(socket), is_operators, this);
  connection->Guard([&] { connection->Start(MakeRoom(connection->client())); });
  // A client that has just connected asks soon, if it wants to know whether the server is well.
  if (beyond.size() > kSpareConnections) beyond.begin()->second->Close();
}

// Takes a place for a connection. Idle ones are closed for it: one of the client itself, if it has
// its share, or the one of all that has been idle for longest, if there is no place left. Returns
// false if there is none to be closed.
bool HttpServer::Impl::MakeRoom(const std::string& client) {
  while (!places.Take(client, 1)) {
    const auto own = idle_of.find(client);
    if (own != idle_of.end()) {
      own->second.begin()->second->Close();
    } else if (places.free() == 0 && !idle.empty()) {
      idle.begin()->second->Close();
    } else {
      return false;
    }
  }
  return true;
}

// Returns whether any connection has a request that is not answered.
bool HttpServer::Impl::HasRequests() const {
  return connections.size() > idle.size() ||
         absl::c_any_of(idle, [](const auto& each) { return each.second->HasMore(); });
}

// Calls a function that must not end the server, whatever it throws.
void HttpServer::Impl::Guard(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& exception) {  // PrintError would need memory.
    std::fprintf(stderr, "nibu-serve: error: on the network's thread: %s\n", exception.what());
  }
}

void HttpServer::Impl::AwaitSignal() {
  signals.async_wait([this](const Error& error, int signal) {
    if (error) return;
    Guard([&] { on_signal(signal); });
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

absl::Status HttpServer::AddOperatorsAddress(const std::string& host, int port) {
  return impl_->Listen(host, port);
}

std::string HttpServer::url() const { return UrlOf(*impl_->listeners[0]); }

std::string HttpServer::operators_url() const {
  return impl_->listeners.size() > 1 ? UrlOf(*impl_->listeners[1]) : "";
}

bool HttpServer::is_loopback() const {
  return impl_->listeners[0]->acceptor.local_endpoint().address().is_loopback();
}

void HttpServer::Run() {
  while (!impl_->is_stopped) {
    // The handlers catch their exceptions. What is left are those of Asio itself, when memory is
    // lacking; the operation that throws one ends, and its connection with it.
    impl_->Guard([this] {
      for (const auto& listener : impl_->listeners) {
        if (!listener->is_accepting) impl_->Accept(listener.get());
      }
      impl_->io.run();
    });
    if (!impl_->io.stopped() || impl_->is_stopped) continue;
    // All are answered. What has come meanwhile is answered, too.
    impl_->Guard([this] { impl_->AcceptWaiting(); });
    if (!impl_->HasRequests()) return;
    impl_->io.restart();
  }
}

void HttpServer::Stop() {
  impl_->is_stopped = true;
  impl_->io.stop();
}

void HttpServer::Drain(std::chrono::steady_clock::time_point since) {
  impl_->is_draining = true;
  impl_->draining_since = since;
  const std::set<HttpConnection*> connections = impl_->connections;
  for (HttpConnection* connection : connections) connection->Drain();
  impl_->EndIfDrained();
}

void HttpServer::SetLimits(const HttpLimits& limits) { impl_->SetLimits(limits); }

void HttpServer::SetSecondsToWait(std::function<int()> seconds) {
  impl_->seconds_to_wait = std::move(seconds);
}

void HttpServer::Post(std::function<void()> task) {
  asio::post(impl_->io, [impl = impl_.get(), task = std::move(task)] { impl->Guard(task); });
}

void HttpServer::At(std::chrono::steady_clock::time_point time, std::function<void()> task) {
  const auto timer = std::make_shared<asio::steady_timer>(impl_->io, time);
  timer->async_wait([timer, impl = impl_.get(), task = std::move(task)](const Error& error) {
    if (!error) impl->Guard(task);
  });
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
