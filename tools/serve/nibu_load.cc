// nibu-load measures a translation server that has LibreTranslate's interface, with many clients.

#include <algorithm>
#include <boost/asio.hpp>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"
#include "tools/serve/load_connections.h"
#include "tools/serve/load_options.h"
#include "tools/serve/load_report.h"
#include "tools/serve/open_files.h"

namespace nibu::internal {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using load::Connection;
using load::HeldConnection;
using load::Request;
using load::Response;
using load::Server;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kAnswerLimit(600'000);
constexpr milliseconds kHealthLimit(10'000);
constexpr milliseconds kHealthPeriod(100);

ProgramInfo Program(LoadOptions* options) {
  return {
      "nibu-load",
      "load",
      "[flags]",
      "Sends texts to a running translation server, and prints one JSON object: how many\n"
      "requests were answered with each status, were abandoned, or failed with their\n"
      "connection; the seconds that all took; requests and characters translated per second;\n"
      "latencies in seconds of translations, of refusals (429 and 503) and of /health; and how\n"
      "many of the idle and slow connections the server has closed.",
      {{LoadOptionRows(), options}}};
}

absl::StatusOr<Server> FindServer(asio::io_context* context, const std::string& url) {
  absl::string_view rest = url;
  if (!absl::ConsumePrefix(&rest, "http://")) return WrongUsage("--url must begin with http://");
  Server server;
  const size_t slash = std::min(rest.find('/'), rest.size());
  server.authority = std::string(rest.substr(0, slash));
  server.path = std::string(absl::StripSuffix(rest.substr(slash), "/"));
  std::string host = server.authority;
  std::string port = "80";
  // An IPv6 address stands in brackets and contains colons.
  const size_t colon = host.rfind(':');
  if (colon != std::string::npos && host.find(']', colon) == std::string::npos) {
    port = host.substr(colon + 1);
    host.resize(colon);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  int number = 0;
  if (host.empty() || !absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return WrongUsage("--url must be http://HOST:PORT");
  }
  error_code error;
  server.endpoints = tcp::resolver(*context).resolve(host, port, error);
  if (error) return absl::UnavailableError(absl::StrCat(url, ": ", error.message()));
  return server;
}

// The clients, which send all requests and count their answers.
class Load {
 public:
  Load(asio::io_context* context, const LoadOptions& options, const Server& server,
       const LoadRequests& requests)
      : context_(context),
        options_(options),
        server_(server),
        requests_(requests),
        due_timer_(*context),
        health_timer_(*context),
        health_connection_(context, &server) {
    for (int i = 0; i < options.idle + options.slow; ++i) {
      held_.push_back(std::make_unique<HeldConnection>(context, &server, i >= options.idle,
                                                       &counts_.held_connections_closed));
    }
    for (int i = 0; i < options.clients; ++i) {
      clients_.push_back(std::make_unique<Connection>(context, &server));
    }
    counts_.requests = requests.size();
    translations_.resize(requests.size());
  }

  // Returns when the last request is done.
  void Run() {
    start_ = SteadyClock::now();
    for (const auto& connection : held_) connection->Open();
    if (options_.health) AskHealth();
    for (const auto& client : clients_) Begin(client.get());
    if (options_.rate > 0) MakeDue();
    context_->run();
  }

  const LoadCounts& counts() const { return counts_; }
  // Returns Unavailable if no request was answered because of the connection, else OK.
  absl::Status Unreached() const {
    if (first_error_.empty() || counts_.abandoned > 0 || !counts_.answered.empty()) {
      return absl::OkStatus();
    }
    return absl::UnavailableError(absl::StrCat(options_.url, ": ", first_error_));
  }
  // Returns FailedPrecondition about the first answer that breaks the interface's rules, else OK.
  absl::Status Malformed() const {
    return malformed_.empty() ? absl::OkStatus() : absl::FailedPreconditionError(malformed_);
  }
  // Returns the lines of --out.
  std::string Translations() const {
    std::string lines;
    for (size_t index = 0; index < requests_.size(); ++index) {
      std::vector<std::string> texts = translations_[index];
      texts.resize(requests_.Texts(index).size());
      for (const std::string& text : texts) absl::StrAppend(&lines, text, "\n");
    }
    return lines;
  }

 private:
  struct Job {
    size_t index;  // index of the request
    SteadyClock::time_point due;
    milliseconds limit;
    bool is_abandoned;
  };

  Job NextJob(SteadyClock::time_point due) {
    // Both numbers are drawn for every request, in the order of requests, so that the same requests
    // are abandoned in every run.
    const bool is_abandoned = std::uniform_real_distribution<>(0, 100)(random_) < options_.abandon;
    const milliseconds patience(std::uniform_int_distribution<>(1, 10)(random_));
    return {due_++, due, is_abandoned ? patience : kAnswerLimit, is_abandoned};
  }

  // With --rate: queues the requests that are due by now, and waits for the next one.
  void MakeDue() {
    const std::chrono::duration<double> interval(1.0 / options_.rate);
    while (due_ < requests_.size()) {
      const auto due = start_ + std::chrono::duration_cast<SteadyClock::duration>(due_ * interval);
      if (due > SteadyClock::now()) {
        due_timer_.expires_at(due);
        return due_timer_.async_wait([this](error_code) { MakeDue(); });
      }
      waiting_.push_back(NextJob(due));
      if (free_.empty()) continue;
      Connection* const client = free_.back();
      free_.pop_back();
      Begin(client);
    }
  }

  // Gives a client its next request, or keeps the client for a later one.
  void Begin(Connection* client) {
    if (options_.rate == 0 && due_ < requests_.size()) {
      waiting_.push_back(NextJob(SteadyClock::now()));
    }
    if (waiting_.empty()) return free_.push_back(client);
    const Job job = waiting_.front();
    waiting_.pop_front();
    Request request(http::verb::post, server_.path + "/translate", 11);
    request.set(http::field::content_type, "application/json");
    request.body() = requests_.Body(job.index);
    client->Send(std::move(request), job.limit,
                 [this, client, job](error_code error, const Response& response) {
                   Count(job, error, response);
                   if (++done_ < requests_.size()) return Begin(client);
                   counts_.seconds = SecondsSince(start_);
                   context_->stop();
                 });
  }

  void Count(const Job& job, error_code error, const Response& response) {
    if (error == beast::error::timeout && job.is_abandoned) {
      ++counts_.abandoned;
      return;
    }
    if (error) {
      if (counts_.connection_errors++ == 0) first_error_ = error.message();
      return;
    }
    const unsigned status = response.result_int();
    ++counts_.answered[status];
    // Counted from when the request was due, so that waiting for a free client is a part of it.
    const SteadyClock::duration latency = SteadyClock::now() - job.due;
    if (status == 200) counts_.translated.Add(latency);
    if (status == 429 || status == 503) counts_.refused.Add(latency);
    std::vector<std::string>* const translations = &translations_[job.index];
    const std::string wrong =
        requests_.ReadAnswer(job.index, status, response.body(), translations);
    if (!translations->empty()) counts_.characters += requests_.CountCharacters(job.index);
    if (options_.out.empty()) translations->clear();
    if (wrong.empty() || !malformed_.empty()) return;
    malformed_ =
        absl::StrCat("the answer to request ", job.index + 1, ", of status ", status, ", ", wrong);
  }

  void AskHealth() {
    const SteadyClock::time_point begin = SteadyClock::now();
    health_connection_.Send(Request(http::verb::get, server_.path + "/health", 11), kHealthLimit,
                            [this, begin](error_code error, const Response& response) {
                              if (!error && response.result() == http::status::ok) {
                                counts_.health.Add(SteadyClock::now() - begin);
                              } else {
                                ++counts_.health_failures;
                              }
                              health_timer_.expires_at(begin + kHealthPeriod);
                              health_timer_.async_wait([this](error_code) { AskHealth(); });
                            });
  }

  static double SecondsSince(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
  }

  asio::io_context* const context_;
  const LoadOptions& options_;
  const Server& server_;
  const LoadRequests& requests_;
  std::mt19937 random_{1};
  std::vector<std::unique_ptr<HeldConnection>> held_;
  std::vector<std::unique_ptr<Connection>> clients_;
  std::vector<Connection*> free_;
  std::deque<Job> waiting_;  // requests that are due
  asio::steady_timer due_timer_;
  asio::steady_timer health_timer_;
  Connection health_connection_;

  size_t due_ = 0;   // number of requests that have become due
  size_t done_ = 0;  // number of requests that are done
  SteadyClock::time_point start_;
  LoadCounts counts_;
  std::string first_error_;                             // the first error of a connection
  std::string malformed_;                               // the message about a malformed answer
  std::vector<std::vector<std::string>> translations_;  // by request, for --out
};

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& src) {
  NIBU_ASSIGN_OR_RETURN(InputLines input, OpenLines({}, src, ""));
  std::vector<std::string> lines;
  for (std::string line;;) {
    NIBU_ASSIGN_OR_RETURN(const bool more, input.Next(&line));
    if (!more) break;
    lines.push_back(line);
  }
  if (lines.empty()) return Invalid("--src has no lines");
  return lines;
}

absl::Status Run(int argc, char** argv) {
  static SignalWatcher& signals = *new SignalWatcher();
  LoadOptions options;
  ParseCommandLineOrExit(Program(&options), argc, argv);
  NIBU_RETURN_IF_ERROR(
      Refuse({{options.out == "-", "--out needs a file; standard output gets the report"}}));
  RaiseOpenFiles();
  asio::io_context context(/*concurrency_hint=*/1);
  NIBU_ASSIGN_OR_RETURN(const Server server, FindServer(&context, options.url));
  NIBU_ASSIGN_OR_RETURN(const std::vector<std::string> lines, ReadLines(options.src));
  const LoadRequests requests(options, lines);
  Load load(&context, options, server, requests);
  if (options.out.empty()) {
    load.Run();
    NIBU_RETURN_IF_ERROR(load.Unreached());
  } else {
    OutputFile out(options.out);
    NIBU_RETURN_IF_ERROR(out.Open());
    OutputGuard guard(&out, &signals);
    load.Run();
    absl::Status status = load.Unreached();
    if (status.ok()) {
      status = WriteAll(out.fd(), load.Translations());
      if (!status.ok()) status = out.Failed(status.message());
    }
    NIBU_RETURN_IF_ERROR(guard.End(std::move(status)));
  }
  if (std::printf("%s\n", load.counts().Json(options).c_str()) < 0 || std::fflush(stdout) != 0) {
    return absl::UnavailableError("cannot write standard output; is the disk full?");
  }
  return load.Malformed();
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
