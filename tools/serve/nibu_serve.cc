// nibu-serve: a translation server with LibreTranslate's interface.

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "nibu/nibu.h"
#include "tools/cli/flags.h"
#include "tools/serve/http_server.h"
#include "tools/serve/serve_options.h"
#include "tools/serve/service.h"

namespace nibu::internal {
namespace {

// How often idle models are looked for.
constexpr std::chrono::seconds kRelease(10);
// The translator's queue need not be bounded: the server's is.
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
          /*repeats=*/"model"};
}

// All that is read again at SIGHUP.
struct Configuration {
  std::shared_ptr<const Catalog> catalog;
  StoreOptions store;
  ServiceOptions service;
  HttpLimits http;
  size_t cache_bytes = 0;
  std::set<std::string> keys;
  int requests_per_minute = 0;
  std::vector<std::string> trusted_proxies;
};

absl::StatusOr<Configuration> ReadConfiguration(const Settings& settings,
                                                std::vector<std::string> models) {
  const ServeOptions& serve = settings.serve;
  Configuration read;
  if (!serve.api_keys.empty()) {
    NIBU_ASSIGN_OR_RETURN(read.keys, ReadKeys(serve.api_keys));
  }
  if (!serve.models.empty() && !WasGiven("model")) models.clear();
  std::vector<std::string> warnings;
  NIBU_ASSIGN_OR_RETURN(read.catalog, Catalog::Read(models, serve.models, serve.pin, &warnings));
  for (const std::string& warning : warnings) {
    PrintWarning(warning.substr(0, warning.find(';')));  // without what else a model might be
  }
  read.store.model = settings.model;
  read.store.text = settings.text;
  read.store.max_models = static_cast<size_t>(serve.max_models);
  read.store.idle_time = std::chrono::minutes(serve.idle_minutes);
  read.service.request.max_texts = static_cast<size_t>(serve.max_texts);
  read.service.request.max_characters = static_cast<size_t>(serve.max_characters);
  read.service.request.max_alternatives = serve.max_alternatives;
  read.service.jobs.max_requests = static_cast<size_t>(serve.max_queue);
  read.service.jobs.max_characters = static_cast<size_t>(serve.max_queue_characters);
  read.service.request_timeout = serve.request_timeout;
  read.service.logs_requests = serve.log_requests;
  read.http.max_body_bytes = static_cast<size_t>(serve.max_body_bytes);
  read.http.max_connections = static_cast<size_t>(serve.max_connections);
  read.http.timeout =
      std::chrono::milliseconds(static_cast<int64_t>(serve.connection_timeout * 1000));
  read.cache_bytes = static_cast<size_t>(serve.cache_megabytes) << 20;
  if (settings.text.sampling_topk != 1) read.cache_bytes = 0;  // Samples differ.
  read.requests_per_minute = serve.requests_per_minute;
  read.trusted_proxies = serve.trusted_proxies;
  return read;
}

void Apply(const Configuration& read, Service* service, HttpServer* server) {
  service->SetOptions(read.service);
  service->cache().SetMaxBytes(read.cache_bytes);
  service->access().Set(read.keys, read.requests_per_minute, read.trusted_proxies);
  service->store().Offer(read.catalog, read.store);
  server->SetLimits(read.http);
}

// Reads the configuration and the models again. What is wrong with them is said, and all stays as
// it is; requests under way go on with the models that they have begun with.
void Reload(const std::vector<std::string>& arguments, Service* service, HttpServer* server) {
  auto settings = std::make_shared<Settings>();
  const auto failed = [](const absl::Status& status) {
    PrintError(absl::StrCat("SIGHUP: ", status.message(), "; all stays as it was"));
  };
  const auto parsed = ParseFlags(Program(settings.get()), arguments);
  if (!parsed.ok()) return failed(parsed.status());
  auto read = ReadConfiguration(*settings, FlagValues("model"));
  if (!read.ok()) return failed(read.status());
  const auto configuration = std::make_shared<const Configuration>(*std::move(read));
  service->store().LoadPinned(configuration->catalog, configuration->store,
                              [=](const absl::Status& status) {
                                if (!status.ok()) return failed(status);
                                Apply(*configuration, service, server);
                                PrintNote("SIGHUP: models and configuration were read again");
                              });
}

absl::Status Run(int argc, char** argv) {
  Settings settings;
  ParseCommandLineOrExit(Program(&settings), argc, argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  NIBU_ASSIGN_OR_RETURN(const Configuration configuration,
                        ReadConfiguration(settings, FlagValues("model")));
  settings.speed.queue_size = kAnyQueueSize;
  NIBU_ASSIGN_OR_RETURN(auto translator, UsageError(nibu::Translator::Create(settings.speed)));
  std::unique_ptr<Service> service;
  NIBU_ASSIGN_OR_RETURN(
      const auto server,
      HttpServer::Listen(settings.serve.host, settings.serve.port, configuration.http,
                         [&](HttpRequest request, HttpReply reply) {
                           return service->Handle(std::move(request), std::move(reply));
                         }));
  service = std::make_unique<Service>(
      translator.get(), [&](std::function<void()> task) { server->Post(std::move(task)); });
  service->SetMoreMetrics([&](MetricsText* text) {
    text->Add("nibu_connections", "gauge", "Open connections.",
              static_cast<double>(server->connections()));
    text->Add("nibu_refused_connections_total", "counter", "Connections beyond the limit.",
              static_cast<double>(server->refused_connections()));
  });
  Apply(configuration, service.get(), server.get());
  if (!server->is_loopback() && configuration.keys.empty() &&
      configuration.requests_per_minute == 0) {
    PrintWarning(
        "other machines can connect, without keys and without limits; see --api_keys and "
        "--requests_per_minute");
  }

  absl::Status status;
  service->store().LoadPinned(configuration.catalog, configuration.store,
                              [&](const absl::Status& loaded) {
                                if (loaded.ok()) return service->SetReady();
                                status = loaded;
                                server->Stop();
                              });
  server->Every(kRelease, [&] { service->store().ReleaseIdle(); });
  bool is_ending = false;
  server->OnSignal([&](int signal) {
    if (signal == SIGHUP) return Reload(arguments, service.get(), server.get());
    if (std::exchange(is_ending, true)) return server->Stop();
    service->Drain();
    server->Drain();
  });
  std::signal(SIGPIPE, SIG_IGN);  // The log may have lost its reader.
  std::printf("nibu-serve: %s\n", server->url().c_str());
  std::fflush(stdout);
  server->Run();
  service->Stop();
  translator.reset();  // Its threads post to the server.
  return status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
