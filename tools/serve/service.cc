// Finds the endpoint for a request, checks that its client may ask, and writes the log.

#include "tools/serve/service.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/cli/flags.h"
#include "tools/serve/answers.h"
#include "tools/serve/libre_translate.h"
#include "tools/serve/other_clients.h"
#include "tools/serve/service_call.h"

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

// Returns the answer to a key that is missing or wrong, as the interface has it.
HttpAnswer InFormOfKeys(HttpAnswer refusal, ErrorForm form) {
  const bool is_own = form == ErrorForm::kLibreTranslate || form == ErrorForm::kPage;
  if (refusal.status == 429 || is_own) return refusal;
  return form == ErrorForm::kDeepL ? ErrorAnswer(403, "Authorization failure, check the auth_key")
                                   : ErrorAnswer(401, "Invalid access token");
}

}  // namespace

// A translation on its way: a job for each language that its texts are in.
struct Service::Batch {
  std::shared_ptr<Exchange> exchange;
  TranslateRequest request;
  std::vector<Translations> translations;  // of each text
  std::vector<std::shared_ptr<Jobs::Job>> jobs;
  size_t missing = 0;  // jobs that have not ended
};

Service::Service(nibu::Translator* translator, std::function<void(std::function<void()>)> post)
    : translator_(translator),
      post_(post),
      cache_(0),
      store_(translator, post),
      jobs_(translator, &store_, &cache_, post),
      glossaries_(post) {}

void Service::SetOptions(const ServeOptions& options) {
  options_ = options;
  jobs_.SetLimits({.max_requests = static_cast<size_t>(options.max_queue),
                   .max_characters = static_cast<size_t>(options.max_queue_characters)});
}

void Service::Stop() {
  jobs_.Stop();
  store_.Stop();
  glossaries_.Stop();
}

// Answers requests that have no endpoint or not its method; hands the others to Answer.
HttpCancel Service::Handle(HttpRequest request, HttpReply reply) {
  std::string rest;
  const Endpoint* const endpoint = FindServed(request, &rest);
  const bool is_http = request.kind == HttpRequest::Kind::kHttp;
  const auto exchange = std::make_shared<Exchange>();
  exchange->reply = std::move(reply);
  exchange->log.id = RequestId(request.request_id);
  exchange->log.path = endpoint != nullptr ? std::string(endpoint->path) : "";
  exchange->log.method = is_http ? request.method.substr(0, 16) : "WEBSOCKET";
  exchange->log.address = access_.AddressOf(request);
  exchange->errors = ErrorFormOf(endpoint != nullptr ? endpoint->path : request.path);
  if (endpoint == nullptr || (!is_http && endpoint->path != "/translate")) {
    End(exchange.get(), ErrorAnswer(404, "there is nothing here; see /spec"));
    return nullptr;
  }
  if (!is_http) return Answer(*endpoint, request, std::move(rest), exchange);
  const bool is_page = endpoint->path == "/" && !options_.url_prefix.empty();
  if (is_page && !absl::EndsWith(request.path, "/")) {
    // The links of the page are relative to a path that ends in a slash.
    HttpAnswer moved = ErrorAnswer(308, "the path ends in a slash");
    moved.location =
        absl::StrCat(options_.url_prefix, "/", request.query.empty() ? "" : "?", request.query);
    End(exchange.get(), std::move(moved));
    return nullptr;
  }
  std::vector<std::string> methods = absl::StrSplit(endpoint->methods, ", ");
  const bool is_allowed = absl::c_linear_search(methods, request.method);
  methods.emplace_back("OPTIONS");
  absl::c_sort(methods);
  HttpAnswer answer;
  answer.content_type = "text/plain";
  if (request.method != "OPTIONS") {
    if (is_allowed) return Answer(*endpoint, request, std::move(rest), exchange);
    answer =
        ErrorAnswer(405, absl::StrCat("the method is not allowed here; it is ", endpoint->methods));
  }
  answer.allow = absl::StrJoin(methods, ", ");
  End(exchange.get(), std::move(answer));
  return nullptr;
}

// Checks that the client may ask, and answers at once, except for translations and glossaries.
HttpCancel Service::Answer(const Endpoint& endpoint, const HttpRequest& request, std::string rest,
                           const std::shared_ptr<Exchange>& exchange) {
  absl::StatusOr<Parameters> parameters = Parameters();
  std::string client;
  if (endpoint.path == "/metrics" && !options_.metrics_token.empty()) {
    if (auto refusal = access_.RefuseToken(request, options_.metrics_token, SteadyClock::now())) {
      End(exchange.get(), *std::move(refusal));
      return nullptr;
    }
  }
  if (!endpoint.is_free) {
    const bool is_post = request.method == "POST";
    if (request.kind == HttpRequest::Kind::kHttp && (is_post || !request.body.empty())) {
      parameters = ReadParameters(request);
    } else {  // There is only a query, whatever the content type says.
      HttpRequest query;
      query.query = request.query;
      parameters = ReadParameters(query);
    }
    const auto api_key = parameters.ok() ? ApiKeyOf(*parameters) : parameters.status();
    if (!api_key.ok()) {
      End(exchange.get(), ErrorAnswer(400, std::string(api_key.status().message())));
      return nullptr;
    }
    if (endpoint.read == ReadTranslate) exchange->errors = ErrorFormOf(*parameters);
    const std::string key = KeyOf(request, *api_key);
    // A trusted proxy that names no client may stand for many.
    const bool is_many = !access_.has_keys() && access_.IsProxy(exchange->log.address);
    client = is_many ? "" : access_.ClientOf(request, key);
    if (auto refusal = access_.Refuse(request, key, SteadyClock::now())) {
      End(exchange.get(), InFormOfKeys(*std::move(refusal), exchange->errors));
      return nullptr;
    }
  }
  const Call call = {request, std::move(rest), *parameters, client, exchange};
  if (request.kind == HttpRequest::Kind::kMessage) return Translate(ReadMarian, call);
  if (request.kind == HttpRequest::Kind::kUpgrade) {
    HttpAnswer accepted;
    accepted.status = 101;
    End(exchange.get(), std::move(accepted));
    return nullptr;
  }
  if (endpoint.read != nullptr) return Translate(endpoint.read, call);
  if (endpoint.later != nullptr) return (this->*endpoint.later)(call);
  End(exchange.get(), endpoint.answer(*this, call));
  return nullptr;
}

// Hands a request to the queue. Returns the function that cancels it if its client goes away.
HttpCancel Service::Translate(ReadRequest read_request, const Call& call) {
  const std::shared_ptr<Exchange>& exchange = call.exchange;
  const auto end = [&](HttpAnswer answer) {
    End(exchange.get(), std::move(answer));
    return nullptr;
  };
  if (is_draining_) return end(Busy("the server is about to end"));
  auto read =
      read_request(call.http, call.parameters, {store_.catalog(), options_, glossaries_, &files_});
  if (!read.ok()) return end(RefusedAnswer(read.status(), exchange->errors));
  const auto batch = std::make_shared<Batch>();
  batch->exchange = exchange;
  batch->request = *std::move(read);
  const TranslateRequest& request = batch->request;
  const size_t characters = absl::c_accumulate(request.characters, size_t{0});
  exchange->log.source = request.groups.size() == 1 ? request.groups[0].source : "auto";
  exchange->log.target = request.target;
  exchange->log.texts = request.texts.size();
  exchange->log.characters = characters;
  JobRequest all;
  all.choice = request.choice;
  if (request.choice.text == TextKind::kDocument) all.choice.alternatives = 0;
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
  if (batch->missing == 0) return end(request.write(request, batch->translations));
  all.admission = jobs_.Admit(call.client, characters);
  if (all.admission == nullptr) return end(Busy("the server has too much to do; try again"));
  // A request that the queue refuses must cost nothing, so that this comes after it.
  if (auto refusal = access_.RefuseCharacters(call.client, characters, SteadyClock::now())) {
    if (exchange->errors == ErrorForm::kDeepL) refusal->status = 456;  // "Quota exceeded"
    return end(*std::move(refusal));
  }
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
    answer = batch->request.write(batch->request, batch->translations);
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
  LogEntry& entry = exchange->log;
  entry.status = answer.status;
  entry.seconds = std::chrono::duration<double>(SteadyClock::now() - exchange->start).count();
  counts_.Add(entry.path.empty() ? "other" : entry.path, entry.status, entry.seconds);
  if (options_.log_requests) log_.Write(LogLine(entry, options_.log_format));
  answer.request_id = entry.id;
  const HttpReply reply = std::exchange(exchange->reply, nullptr);
  if (reply != nullptr) reply(WithErrorForm(std::move(answer), exchange->errors));
}

}  // namespace nibu::internal
