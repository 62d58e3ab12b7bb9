// nibu-serve is a translation server with LibreTranslate's interface.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/status_macros.h"
#include "nibu/nibu.h"
#include "tools/cli/flags.h"
#include "tools/serve/addresses.h"
#include "tools/serve/http_server.h"
#include "tools/serve/serve_options.h"
#include "tools/serve/service.h"

namespace nibu::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The time between a change of the models in memory and a look for idle ones, and between such
// looks.
constexpr std::chrono::seconds kRelease(10);
// The number of files that the process opens beside connections: models, the log and others.
constexpr size_t kOtherFiles = 64 + kSpareConnections;
// The translator's queue needs no bound, since the server's own queue has one.
constexpr int kAnyQueueSize = 1 << 30;

struct Settings {
  ServeOptions serve;
  ModelOptions model;
  SpeedOptions speed;
  Options text;
};

ProgramInfo Program(Settings* settings) {
  return {"nibu-serve",
          "serve",
          "[flags]",
          "Answers translation requests over HTTP, as LibreTranslate does. Sentences of all\n"
          "requests are translated together. It prints its address once it listens.",
          {{ServeOptionRows(), &settings->serve},
           {ModelOptionRows(), &settings->model},
           {TextOptionRows(), &settings->text},
           {SpeedOptionRows(), &settings->speed}},
          /*takes_text=*/false,
          /*lists=*/"",
          /*commands=*/{},
          /*repeats=*/"model",
          /*has_environment=*/true};
}

// The settings that are read again at SIGHUP.
struct Configuration {
  // The arguments of Catalog::Read and, once it has been called, its result.
  std::vector<std::string> models;
  std::string folder;
  std::vector<std::string> pinned;
  std::shared_ptr<const Catalog> catalog;
  StoreOptions store;
  ServeOptions serve;
  HttpLimits http;
  size_t cache_bytes = 0;
  Keys keys;
  std::pair<std::string, int> metrics_address;  // Host and port; without a host there is none.
};

// Returns whether a character stands in paths as it is.
bool IsOfPath(unsigned char c) { return absl::ascii_isalnum(c) || absl::StrContains("/-._~", c); }

// Splits "HOST:PORT", in which an IPv6 address stands in brackets.
absl::StatusOr<std::pair<std::string, int>> HostAndPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return WrongUsage("--metrics_address: \"", address, "\" is not HOST:PORT");
  }
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return std::pair(std::string(host), port);
}

// Reads the configuration without its models.
absl::StatusOr<Configuration> ReadConfiguration(const Settings& settings) {
  const ServeOptions& serve = settings.serve;
  Configuration read;
  read.serve = serve;
  read.serve.url_prefix.clear();
  bool is_path = absl::c_all_of(serve.url_prefix, IsOfPath);
  for (const absl::string_view part : absl::StrSplit(serve.url_prefix, '/', absl::SkipEmpty())) {
    absl::StrAppend(&read.serve.url_prefix, "/", part);
    is_path = is_path && part != "." && part != "..";
  }
  if (!is_path) {
    return WrongUsage("--url_prefix: \"", serve.url_prefix, "\" is no path, such as /mt");
  }
  if (!serve.metrics_address.empty()) {
    NIBU_ASSIGN_OR_RETURN(read.metrics_address, HostAndPort(serve.metrics_address));
  }
  if (!serve.api_keys.empty()) {
    NIBU_ASSIGN_OR_RETURN(read.keys, ReadKeys(serve.api_keys));
  }
  if (serve.models.empty() || WasGiven("model")) read.models = FlagValues("model");
  read.folder = serve.models;
  read.pinned = serve.pin;
  if (serve.models.empty() && !serve.pin.empty()) {
    return WrongUsage("--pin names models in the folder of --models, which is missing");
  }
  for (const std::string& proxy : serve.trusted_proxies) {
    const std::optional<std::string> address = ParseAddress(proxy);
    if (!address.has_value()) {
      return WrongUsage("--trusted_proxies: \"", proxy, "\" is not an IP address");
    }
    read.http.trusted_proxies.push_back(*address);
  }
  read.store.model = settings.model;
  read.store.text = settings.text;
  read.store.max_models = static_cast<size_t>(serve.max_models);
  read.store.idle_time = std::chrono::minutes(serve.idle_minutes);
  read.http.max_body_bytes = static_cast<size_t>(serve.max_body_bytes);
  read.http.max_connections = static_cast<size_t>(serve.max_connections);
  read.http.timeout =
      std::chrono::milliseconds(static_cast<int64_t>(serve.connection_timeout * 1000));
  read.cache_bytes = static_cast<size_t>(serve.cache_megabytes) << 20;
  if (settings.text.sampling_topk != 1) read.cache_bytes = 0;  // Samples must not repeat.
  return read;
}

// Lets messages about the server have the form of the log.
void SetFormOfMessages(const ServeOptions& options) {
  const auto write_json = [](absl::string_view kind, absl::string_view message) {
    const std::string line = LogMessage(kind, message);
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
  SetMessageWriter(options.log_format == LogFormat::kJson ? +write_json : nullptr);
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    PrintWarning(warning.substr(0, warning.find(';')));  // without the advice behind the `;`
  }
}

void Apply(const Configuration& read, Service* service, HttpServer* server) {
  SetFormOfMessages(read.serve);
  ServeOptions serve = read.serve;
  serve.metrics_address = server->operators_url();  // which keeps its first value
  service->SetOptions(serve);
  service->cache().SetMaxBytes(read.cache_bytes);
  service->access().Set(read.keys, {read.serve.requests_per_minute, read.serve.characters_per_day},
                        read.http.trusted_proxies);
  service->store().Offer(read.catalog, read.store);
  server->SetLimits(read.http);
}

// Warns if the server is open to other machines without keys or limits.
void WarnIfOpen(const Configuration& read, const HttpServer& server) {
  const bool is_limited = read.serve.requests_per_minute > 0 || read.serve.characters_per_day > 0;
  if (server.is_loopback() || !read.keys.keys.empty() || is_limited) return;
  PrintWarning(
      "other machines can connect, without keys and without limits; see --api_keys, "
      "--requests_per_minute and --characters_per_day");
}

// Lets the process open as many files as it may, and lowers the limit of connections if these are
// not enough.
void RaiseFileLimit(HttpLimits* limits) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const size_t room = std::max(size_t{files.rlim_cur}, kOtherFiles + 1) - kOtherFiles;
  if (room >= limits->max_connections) return;
  PrintWarning(absl::StrCat("the system allows this process only ", files.rlim_cur,
                            " open files: at most ", room, " connections at a time"));
  limits->max_connections = room;
}

// Reads the configuration and the models again, one time after the other. If something is wrong
// with them, it prints an error and changes nothing. Requests under way go on with the models with
// which they have begun. Used by the network's thread.
class Reloader {
 public:
  Reloader(std::vector<std::string> arguments, Service* service, HttpServer* server)
      : arguments_(std::move(arguments)), service_(service), server_(server) {}

  void Reload() {
    // A signal during a reload asks for another one after it.
    is_wanted_again_ = is_reloading_;
    if (std::exchange(is_reloading_, true)) return;
    Settings settings;
    const auto parsed = ParseFlags(Program(&settings), arguments_);
    if (!parsed.ok()) return End(parsed.status());
    auto read = ReadConfiguration(settings);
    if (!read.ok()) return End(read.status());
    service_->store().ReadCatalog(
        read->models, read->folder, read->pinned,
        [this, configuration = *read](auto catalog, const auto& warnings) mutable {
          PrintWarnings(warnings);
          if (!catalog.ok()) return End(catalog.status());
          configuration.catalog = *std::move(catalog);
          Load(configuration);
        });
  }

 private:
  void Load(const Configuration& configuration) {
    service_->store().Preload(configuration.catalog, configuration.store,
                              [this, limited = configuration](const absl::Status& status) mutable {
                                if (status.ok()) {
                                  RaiseFileLimit(&limited.http);
                                  Apply(limited, service_, server_);
                                  WarnIfOpen(limited, *server_);
                                  ReadGlossaries();
                                }
                                End(status);
                              });
  }

  void ReadGlossaries() {
    if (!service_->glossaries().is_open()) return;
    service_->glossaries().ReadAgain([](const absl::Status& status) {
      if (status.ok()) return;
      PrintError(absl::StrCat("SIGHUP: ", status.message(), "; the glossaries stay as they were"));
    });
  }

  void End(const absl::Status& status) {
    is_reloading_ = false;
    if (status.ok()) {
      PrintNote("SIGHUP: models and configuration were read again");
    } else {
      PrintError(absl::StrCat("SIGHUP: ", status.message(), "; all stays as it was"));
    }
    if (std::exchange(is_wanted_again_, false)) Reload();
  }

  const std::vector<std::string> arguments_;
  Service* const service_;
  HttpServer* const server_;
  bool is_reloading_ = false;
  bool is_wanted_again_ = false;
};

// Calls a task at the time that a function gives. Nothing happens before that time, and nothing at
// all while the function returns the greatest time. Used by the network's thread.
class Alarm {
 public:
  using Time = SteadyClock::time_point;

  Alarm(HttpServer* server, std::function<Time()> next, std::function<void()> task)
      : server_(server), next_(std::move(next)), task_(std::move(task)) {}

  // To be called when the time may have become earlier.
  void Set() {
    const Time time = next_();
    if (time >= time_) return;
    time_ = time;
    server_->At(time, [this, time] {
      if (time != time_) return;  // An earlier time has been set since.
      time_ = Time::max();
      task_();
      Set();
    });
  }

 private:
  HttpServer* const server_;
  const std::function<Time()> next_;
  const std::function<void()> task_;
  Time time_ = Time::max();  // the time that is set
};

absl::Status Run(int argc, char** argv) {
  Settings settings;
  ParseCommandLineOrExit(Program(&settings), argc, argv);
  SetFormOfMessages(settings.serve);
  NIBU_ASSIGN_OR_RETURN(Configuration configuration, ReadConfiguration(settings));
  std::vector<std::string> warnings;
  NIBU_ASSIGN_OR_RETURN(
      configuration.catalog,
      Catalog::Read(configuration.models, configuration.folder, configuration.pinned,
                    /*before=*/nullptr, &warnings));
  PrintWarnings(warnings);
  RaiseFileLimit(&configuration.http);
  settings.speed.queue_size = kAnyQueueSize;
  NIBU_ASSIGN_OR_RETURN(auto translator, UsageError(nibu::Translator::Create(settings.speed)));
  std::unique_ptr<Service> service;
  std::unique_ptr<Alarm> deadlines;
  NIBU_ASSIGN_OR_RETURN(
      const auto server,
      HttpServer::Listen(settings.serve.host, settings.serve.port, configuration.http,
                         [&](HttpRequest request, HttpReply reply) {
                           auto cancel = service->Handle(std::move(request), std::move(reply));
                           deadlines->Set();
                           return cancel;
                         }));
  const auto& [metrics_host, metrics_port] = configuration.metrics_address;
  if (!metrics_host.empty()) {
    NIBU_RETURN_IF_ERROR(server->AddOperatorsAddress(metrics_host, metrics_port));
  }
  service = std::make_unique<Service>(
      translator.get(), [&](std::function<void()> task) { server->Post(std::move(task)); });
  service->SetMoreMetrics([&](MetricsText* text) {
    text->Add("nibu_connections", "gauge", "Connections that are open, idle ones included.",
              static_cast<double>(server->connections()));
    text->Add("nibu_refused_connections_total", "counter",
              "Connections that were refused because of their limit.",
              static_cast<double>(server->refused_connections()));
  });
  server->SetSecondsToWait([&] { return service->jobs().SecondsToWait(); });
  Apply(configuration, service.get(), server.get());
  WarnIfOpen(configuration, *server);
  if (!settings.serve.glossaries.empty()) {
    NIBU_RETURN_IF_ERROR(service->glossaries().Open(settings.serve.glossaries));
  }

  // The server listens while the models are being loaded; /ready says when they are there.
  absl::Status status;
  service->store().Preload(configuration.catalog, configuration.store,
                           [&](const absl::Status& loaded) {
                             if (loaded.ok()) return service->SetReady();
                             status = loaded;
                             server->Stop();
                           });
  deadlines = std::make_unique<Alarm>(
      server.get(), [&] { return service->jobs().next_deadline(); },
      [&] { service->jobs().EndLate(SteadyClock::now()); });
  // When models come or go, what they leave behind is released, and later on the idle ones are.
  bool has_changed = true;
  Alarm release(
      server.get(),
      [&] {
        const bool is_needed = has_changed || service->store().has_idle_time();
        return is_needed ? SteadyClock::now() + kRelease : SteadyClock::time_point::max();
      },
      [&] {
        has_changed =
            service->jobs().waiting() > 0;  // Requests keep models that have been replaced.
        service->store().ReleaseIdle();
      });
  service->store().SetOnChange([&] {
    has_changed = true;
    release.Set();
  });
  Reloader reloader({argv + 1, argv + argc}, service.get(), server.get());
  // The first signal to end lets requests under way finish, the second one does not.
  bool is_ending = false;
  server->OnSignal([&](int signal) {
    if (signal == SIGHUP) return reloader.Reload();
    if (std::exchange(is_ending, true)) return server->Stop();
    service->SetUnready();
    const SteadyClock::time_point now = SteadyClock::now();
    server->At(now + std::chrono::seconds(settings.serve.drain_seconds), [&, now] {
      service->Drain();
      server->Drain(now);
    });
  });
  std::signal(SIGPIPE, SIG_IGN);  // The reader of the log may be gone.
  std::printf("nibu-serve: %s\n", server->url().c_str());
  if (const std::string url = server->operators_url(); !url.empty()) {
    std::printf("nibu-serve: metrics: %s\n", url.c_str());
  }
  std::fflush(stdout);
  server->Run();
  // From now on a signal ends the program at once, even if a model is still being loaded.
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  service->Stop();
  translator.reset();  // Its threads post to the server.
  return status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
