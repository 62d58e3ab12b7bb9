// Finds the endpoint for a request, checks that its client may ask, and writes the log.

#include "tools/serve/service.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <new>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "tools/cli/flags.h"
#include "tools/serve/answers.h"

namespace nibu::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

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

// Returns the time at which a request ends. The seconds that it gives itself may only shorten those
// of the server; 0 stands for none.
SteadyClock::time_point Deadline(double own, double most) {
  const double seconds = own > 0 && most > 0 ? std::min(own, most) : std::max(own, most);
  if (seconds <= 0 || seconds >= 1e6) return SteadyClock::time_point::max();
  return SteadyClock::now() + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
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

// A path, the checks that apply to it, and what answers it.
struct Service::Endpoint {
  const char* path;
  bool is_post;  // Its method is POST; otherwise it has GET and HEAD.
  bool is_free;  // Neither keys nor limits apply to it.
  // Answers at once; null: Translate does, later.
  HttpAnswer (*answer)(const Service& service, const Parameters& parameters);
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

// A translation on its way: a job for each language that its texts are in.
struct Service::Batch {
  std::shared_ptr<Exchange> exchange;
  TranslateRequest request;
  std::vector<Translations> translations;  // of each text
  std::vector<std::shared_ptr<Jobs::Job>> jobs;
  size_t missing = 0;  // jobs that have not ended
};

const Service::Endpoint* Service::Find(const std::string& path) {
  static constexpr Endpoint kEndpoints[] = {
      {"/translate", true, false, nullptr},
      {"/detect", true, false,
       [](const Service& service, const Parameters& parameters) {
         return DetectAnswer(parameters, service.store_.catalog(), service.options_);
       }},
      {"/languages", false, true,
       [](const Service& service, const auto&) {
         return LanguagesAnswer(service.store_.catalog());
       }},
      {"/frontend/settings", false, true,
       [](const Service& service, const auto&) {
         return SettingsAnswer(service.store_.catalog(), service.options_,
                               service.access_.needs_key());
       }},
      {"/spec", false, true, [](const auto&, const auto&) { return SpecAnswer(); }},
      {"/health", false, true,
       [](const auto&, const auto&) {
         return JsonAnswer({{"status", "ok"}});
       }},
      {"/ready", false, true, [](const Service& service, const auto&) { return service.Ready(); }},
      {"/metrics", false, true,
       [](const Service& service, const auto&) { return service.Metrics(); }},
      {"/suggest", true, true,
       [](const auto&, const auto&) {
         return ErrorAnswer(403, "Suggestions are disabled on this server.");
       }},
      {"/translate_file", true, true,
       [](const auto&, const auto&) {
         return ErrorAnswer(403, "Files translation are disabled on this server.");
       }},
  };
  // A base address that ends in a slash is common: "http://127.0.0.1:5000//translate".
  std::string plain;
  for (const absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    absl::StrAppend(&plain, "/", part);
  }
  for (const Endpoint& endpoint : kEndpoints) {
    if (plain == endpoint.path) return &endpoint;
  }
  return nullptr;
}

Service::Service(nibu::Translator* translator, std::function<void(std::function<void()>)> post)
    : translator_(translator),
      cache_(0),
      store_(translator, post),
      jobs_(translator, &store_, &cache_, post) {}

void Service::SetOptions(const ServeOptions& options) {
  options_ = options;
  jobs_.SetLimits({.max_requests = static_cast<size_t>(options.max_queue),
                   .max_characters = static_cast<size_t>(options.max_queue_characters)});
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
    const auto api_key = parameters.ok() ? ApiKeyOf(*parameters) : parameters.status();
    if (!api_key.ok()) {
      End(exchange.get(), ErrorAnswer(400, std::string(api_key.status().message())));
      return nullptr;
    }
    const std::string key = KeyOf(request, *api_key);
    // A trusted proxy that names no client may stand for many.
    const bool is_many = !access_.has_keys() && access_.IsProxy(exchange->address);
    client = is_many ? "" : access_.ClientOf(request, key);
    if (auto refusal = access_.Refuse(request, key, SteadyClock::now())) {
      End(exchange.get(), *std::move(refusal));
      return nullptr;
    }
  }
  if (endpoint.answer == nullptr) return Translate(*parameters, client, exchange);
  End(exchange.get(), endpoint.answer(*this, *parameters));
  return nullptr;
}

// Hands a request to the queue. Returns the function that cancels it if its client goes away.
HttpCancel Service::Translate(const Parameters& parameters, const std::string& client,
                              const std::shared_ptr<Exchange>& exchange) {
  const auto end = [&](HttpAnswer answer) {
    End(exchange.get(), std::move(answer));
    return nullptr;
  };
  if (is_draining_) return end(Busy("the server is about to end"));
  auto read = ReadTranslateRequest(parameters, store_.catalog(), options_);
  if (!read.ok()) return end(ErrorAnswer(400, std::string(read.status().message())));
  const auto batch = std::make_shared<Batch>();
  batch->exchange = exchange;
  batch->request = *std::move(read);
  const TranslateRequest& request = batch->request;
  const size_t characters = absl::c_accumulate(request.characters, size_t{0});
  exchange->facts =
      absl::StrCat(" ", request.groups.size() == 1 ? request.groups[0].source : "auto", ">",
                   request.target, " texts=", request.texts.size(), " characters=", characters);
  JobRequest all;
  all.is_html = request.is_html;
  all.alternatives = request.is_html ? 0 : request.alternatives;
  all.deadline = Deadline(request.timeout, options_.request_timeout);
  batch->translations.resize(request.texts.size());
  for (const TextGroup& group : request.groups) {
    if (group.route.has_value()) {
      ++batch->missing;
      continue;
    }
    // Without a route, the texts themselves are the answer.
    for (const size_t text : group.texts) batch->translations[text] = {request.texts[text]};
  }
  if (batch->missing == 0) return end(TranslateAnswer(request, batch->translations));
  if (auto refusal = access_.RefuseCharacters(client, characters, SteadyClock::now())) {
    return end(*std::move(refusal));
  }
  all.admission = jobs_.Admit(client, characters);
  if (all.admission == nullptr) return end(Busy("the server has too much to do; try again"));
  for (const TextGroup& group : request.groups) {
    if (group.route.has_value()) SubmitGroup(group, all, batch);
  }
  return [this, batch] {
    if (!Cancel(batch.get())) return;
    HttpAnswer gone;
    gone.status = 499;  // nginx uses this number for clients that went away.
    End(batch->exchange.get(), std::move(gone));
  };
}

void Service::SubmitGroup(const TextGroup& group, const JobRequest& all,
                          const std::shared_ptr<Batch>& batch) {
  JobRequest job = all;
  job.route = *group.route;
  for (const size_t text : group.texts) {
    job.characters += batch->request.characters[text];
    job.texts.push_back(std::move(batch->request.texts[text]));
  }
  batch->jobs.push_back(jobs_.Submit(
      std::move(job), [this, &group, batch](absl::StatusOr<std::vector<Translations>> texts) {
        TakeGroup(group, std::move(texts), batch);
      }));
}

// The last job to end, or the first to fail, ends the exchange.
void Service::TakeGroup(const TextGroup& group,
                        absl::StatusOr<std::vector<Translations>> translations,
                        const std::shared_ptr<Batch>& batch) {
  if (!translations.ok()) {
    Cancel(batch.get());
    return End(batch->exchange.get(), FailedAnswer(translations.status()));
  }
  for (size_t i = 0; i < group.texts.size(); ++i) {
    batch->translations[group.texts[i]] = std::move((*translations)[i]);
  }
  counts_.AddTexts(group.source, batch->request.target, group.texts.size());
  if (--batch->missing > 0) return;
  HttpAnswer answer;
  try {
    answer = TranslateAnswer(batch->request, batch->translations);
  } catch (const std::bad_alloc&) {  // The translations are there, but their JSON has no room.
    batch->translations.clear();
    answer = Busy("there is not enough memory for the answer");
  }
  End(batch->exchange.get(), std::move(answer));
}

// Returns whether any of the jobs had not ended.
bool Service::Cancel(Batch* batch) {
  bool is_cancelled = false;
  for (const auto& job : std::exchange(batch->jobs, {})) is_cancelled |= jobs_.Cancel(job);
  return is_cancelled;
}

HttpAnswer Service::FailedAnswer(const absl::Status& status) const {
  const int number = StatusOf(status);
  std::string message(status.message());
  if (number == 500) {  // The message may contain paths, which clients must not see.
    PrintError(message);
    message = "the translation failed; the server's log says why";
  }
  return number == 503 ? Busy(message) : ErrorAnswer(number, message);
}

HttpAnswer Service::Busy(const std::string& message) const {
  return ErrorAnswer(503, message, jobs_.SecondsToWait());
}

HttpAnswer Service::Ready() const {
  if (is_ending_) return Busy("the server is about to end");
  if (!is_ready_) return Busy("models are being loaded");
  return JsonAnswer({{"status", "ready"}});
}

// Counts and logs a request, and sends its answer.
void Service::End(Exchange* exchange, HttpAnswer answer) {
  const double seconds =
      std::chrono::duration<double>(SteadyClock::now() - exchange->start).count();
  counts_.Add(exchange->path.empty() ? "other" : exchange->path, answer.status, seconds);
  if (options_.log_requests) {
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
