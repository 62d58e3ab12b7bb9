// Finds the endpoint for a request, checks that its client may ask, and writes the log.

#include "tools/serve/service.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/flags.h"
#include "tools/serve/answers.h"

namespace nibu::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

enum class What : uint8_t {
  kTranslate,
  kDetect,
  kLanguages,
  kSettings,
  kSpec,
  kHealth,
  kReady,
  kMetrics,
  kSuggest,
  kFiles,
};

// Returns the HTTP status for a translation that failed.
int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kFailedPrecondition:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

// Returns the time as in RFC 3339, "2026-01-31T12:00:00Z".
std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

// A path, the action that it stands for, and the checks that apply to it.
struct Service::Endpoint {
  const char* path;
  What what;
  bool is_post;  // Its method is POST; otherwise it has GET and HEAD.
  bool is_free;  // Neither keys nor limits apply to it.
};

// A request on its way to its answer.
struct Service::Exchange {
  HttpReply reply;
  std::string path;  // the path of its endpoint; empty: there is none
  std::string method;
  std::string address;
  SteadyClock::time_point start = SteadyClock::now();
  std::string facts;  // the request's languages and sizes for the log, without texts
};

const Service::Endpoint* Service::Find(const std::string& path) {
  static constexpr Endpoint kEndpoints[] = {
      {"/translate", What::kTranslate, true, false},
      {"/detect", What::kDetect, true, false},
      {"/languages", What::kLanguages, false, true},
      {"/frontend/settings", What::kSettings, false, true},
      {"/spec", What::kSpec, false, true},
      {"/health", What::kHealth, false, true},
      {"/ready", What::kReady, false, true},
      {"/metrics", What::kMetrics, false, true},
      {"/suggest", What::kSuggest, true, true},
      {"/translate_file", What::kFiles, true, true},
  };
  for (const Endpoint& endpoint : kEndpoints) {
    if (path == endpoint.path) return &endpoint;
  }
  return nullptr;
}

Service::Service(nibu::Translator* translator, std::function<void(std::function<void()>)> post)
    : translator_(translator),
      cache_(0),
      store_(translator, post),
      jobs_(translator, &store_, &cache_, post) {}

void Service::SetOptions(const ServiceOptions& options) {
  options_ = options;
  jobs_.SetLimits(options.jobs);
}

void Service::Stop() {
  jobs_.Stop();
  store_.Stop();
}

// Answers requests that have no endpoint or not its method; hands the others to Answer.
HttpCancel Service::Handle(HttpRequest request, HttpReply reply) {
  const Endpoint* const endpoint = Find(request.path);
  const auto exchange = std::make_shared<Exchange>();
  exchange->reply = std::move(reply);
  exchange->path = endpoint != nullptr ? endpoint->path : "";
  exchange->method = request.method.substr(0, 16);
  exchange->address = access_.AddressOf(request);
  if (endpoint == nullptr) {
    End(exchange.get(), ErrorAnswer(404, "there is nothing here; see /spec"));
    return nullptr;
  }
  const std::string methods = endpoint->is_post ? "OPTIONS, POST" : "GET, HEAD, OPTIONS";
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  const bool is_post = request.method == "POST";
  if (request.method == "OPTIONS") {
    HttpAnswer answer;
    answer.allow = methods;
    answer.content_type = "text/plain";
    End(exchange.get(), std::move(answer));
    return nullptr;
  }
  if (endpoint->is_post ? !is_post : !is_get) {
    HttpAnswer answer = ErrorAnswer(405, absl::StrCat("the method is not allowed here; it is ",
                                                      endpoint->is_post ? "POST" : "GET"));
    answer.allow = methods;
    End(exchange.get(), std::move(answer));
    return nullptr;
  }
  return Answer(*endpoint, request, exchange);
}

// Checks that the client may ask, and answers at once, except for translations.
HttpCancel Service::Answer(const Endpoint& endpoint, const HttpRequest& request,
                           const std::shared_ptr<Exchange>& exchange) {
  absl::StatusOr<Parameters> parameters = Parameters();
  std::string client;
  if (!endpoint.is_free) {
    parameters = ReadParameters(request);
    if (!parameters.ok()) {
      End(exchange.get(), ErrorAnswer(400, std::string(parameters.status().message())));
      return nullptr;
    }
    const std::string key = KeyOf(request, ApiKeyOf(*parameters));
    client = access_.ClientOf(request, key);
    if (auto refusal = access_.Refuse(client, key, SteadyClock::now())) {
      End(exchange.get(), *std::move(refusal));
      return nullptr;
    }
  }
  const auto answer = [&]() -> HttpAnswer {
    switch (endpoint.what) {
      case What::kDetect:
        return DetectAnswer(*parameters, store_.catalog(), options_.request);
      case What::kLanguages:
        return LanguagesAnswer(store_.catalog());
      case What::kSettings:
        return SettingsAnswer(store_.catalog(), options_.request, access_.has_keys());
      case What::kSpec:
        return SpecAnswer();
      case What::kHealth:
        return JsonAnswer({{"status", "ok"}});
      case What::kReady:
        return Ready();
      case What::kMetrics:
        return Metrics();
      case What::kSuggest:
        return ErrorAnswer(403, "Suggestions are disabled on this server.");
      case What::kFiles:
        return ErrorAnswer(403, "Files translation are disabled on this server.");
      case What::kTranslate:
        break;
    }
    return {};
  };
  if (endpoint.what == What::kTranslate) return Translate(*parameters, std::move(client), exchange);
  End(exchange.get(), answer());
  return nullptr;
}

// Hands a request to the queue. Returns the function that cancels it if its client goes away.
HttpCancel Service::Translate(const Parameters& parameters, std::string client,
                              const std::shared_ptr<Exchange>& exchange) {
  const auto end = [&](HttpAnswer answer) {
    End(exchange.get(), std::move(answer));
    return nullptr;
  };
  if (is_draining_) return end(Busy("the server is about to end"));
  auto read = ReadTranslateRequest(parameters, store_.catalog(), options_.request);
  if (!read.ok()) return end(ErrorAnswer(400, std::string(read.status().message())));
  const auto request = std::make_shared<TranslateRequest>(*std::move(read));
  exchange->facts =
      absl::StrCat(" ", request->source.empty() ? "-" : request->source, ">", request->target,
                   " texts=", request->texts.size(), " characters=", request->characters);
  // Without a route, the texts themselves are the answer.
  if (!request->route.has_value()) {
    std::vector<Translations> same;
    for (const std::string& text : request->texts) same.push_back({text});
    return end(TranslateAnswer(*request, same));
  }
  JobRequest job;
  job.texts = std::move(request->texts);
  job.characters = request->characters;
  job.route = *request->route;
  job.is_html = request->is_html;
  job.alternatives = request->is_html ? 0 : request->alternatives;
  job.client = std::move(client);
  const double timeout = request->timeout > 0 ? request->timeout : options_.request_timeout;
  if (timeout > 0 && timeout < 1e6) {
    job.deadline =
        SteadyClock::now() + std::chrono::microseconds(static_cast<int64_t>(timeout * 1e6));
  }
  const auto accepted = jobs_.Submit(
      std::move(job), [this, exchange, request](absl::StatusOr<std::vector<Translations>> texts) {
        if (texts.ok()) return End(exchange.get(), TranslateAnswer(*request, *texts));
        const int status = StatusOf(texts.status());
        std::string message(texts.status().message());
        if (status == 500) {  // The message may contain paths, which clients must not see.
          PrintError(message);
          message = "the translation failed; the server's log says why";
        }
        HttpAnswer answer = ErrorAnswer(status, message);
        if (status == 503) answer.retry_after = jobs_.SecondsToWait();
        End(exchange.get(), std::move(answer));
      });
  if (accepted == nullptr) return end(Busy("the server has too much to do; try again"));
  return [this, accepted, exchange] {
    if (!jobs_.Cancel(accepted)) return;
    HttpAnswer gone;
    gone.status = 499;  // nginx uses this number for clients that went away.
    End(exchange.get(), std::move(gone));
  };
}

HttpAnswer Service::Busy(const std::string& message) const {
  HttpAnswer answer = ErrorAnswer(503, message);
  answer.retry_after = jobs_.SecondsToWait();
  return answer;
}

HttpAnswer Service::Ready() const {
  if (is_draining_) return Busy("the server is about to end");
  if (!is_ready_) return Busy("models are being loaded");
  return JsonAnswer({{"status", "ready"}});
}

HttpAnswer Service::Metrics() const {
  MetricsText text;
  counts_.AppendTo(&text);
  const JobCounts& jobs = jobs_.counts();
  const Activity activity = translator_->activity();
  const auto add = [&](const char* name, const char* type, const char* help, auto value) {
    text.Add(name, type, help, static_cast<double>(value));
  };
  add("nibu_queue_requests", "gauge", "Translations under way.", jobs_.waiting());
  add("nibu_queue_characters", "gauge", "Their characters.", jobs_.waiting_characters());
  add("nibu_accepted_total", "counter", "Translations that were accepted.", jobs.accepted);
  add("nibu_refused_total", "counter", "Translations refused for a full queue.", jobs.refused);
  add("nibu_cancelled_total", "counter", "Translations whose clients went away.", jobs.cancelled);
  add("nibu_characters_total", "counter", "Characters that were translated.", jobs.characters);
  add("nibu_source_tokens_total", "counter", "Tokens that models read.", jobs.source_tokens);
  add("nibu_target_tokens_total", "counter", "Tokens that models wrote.", jobs.target_tokens);
  add("nibu_cached_texts_total", "counter", "Lines and documents that the cache had.",
      jobs.cached_units);
  add("nibu_cache_bytes", "gauge", "Memory of the cache.", cache_.bytes());
  add("nibu_sentences_waiting", "gauge", "Sentences that no thread has begun.", activity.waiting);
  add("nibu_sentences_total", "counter", "Sentences that were begun.", activity.begun);
  add("nibu_sentence_wait_seconds_total", "counter", "Time for which these waited in the queue.",
      activity.waited_seconds);
  add("nibu_decoder_steps_total", "counter", "Steps of the decoder.", activity.steps);
  add("nibu_decoder_step_sentences_total", "counter",
      "Sentences in them; divided by the steps, sentences decoded together.",
      activity.step_sentences);
  add("nibu_models_loaded", "gauge", "Models in memory.", store_.loaded());
  add("nibu_unlogged_total", "counter", "Lines that the log had no room for.", unlogged_);
  if (more_metrics_ != nullptr) more_metrics_(&text);
  add("process_resident_memory_bytes", "gauge", "Memory in use.", MemoryInUse());
  add("process_cpu_seconds_total", "counter", "Time of the CPU.", CpuSeconds());
  HttpAnswer answer;
  answer.body = text.text();
  answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return answer;
}

// Counts and logs a request, and sends its answer.
void Service::End(Exchange* exchange, HttpAnswer answer) {
  const double seconds =
      std::chrono::duration<double>(SteadyClock::now() - exchange->start).count();
  counts_.Add(exchange->path.empty() ? "other" : exchange->path, answer.status, seconds);
  if (options_.logs_requests) {
    const std::string line = absl::StrFormat(
        "%s %s %s %s %d %.3fs%s\n", Now(), exchange->address, exchange->method,
        exchange->path.empty() ? "-" : exchange->path, answer.status, seconds, exchange->facts);
    // A slow reader of the log must not block the network's thread.
    pollfd log = {STDERR_FILENO, POLLOUT, 0};
    if (poll(&log, 1, 0) == 1 && (log.revents & POLLOUT) != 0) {
      std::fwrite(line.data(), 1, line.size(), stderr);
    } else {
      ++unlogged_;
    }
  }
  const HttpReply reply = std::exchange(exchange->reply, nullptr);
  if (reply != nullptr) reply(std::move(answer));
}

}  // namespace nibu::internal
