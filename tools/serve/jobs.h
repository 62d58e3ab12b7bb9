// Translates the texts of all requests, fairly, with a bounded queue.
#ifndef NIBU_TOOLS_SERVE_JOBS_H_
#define NIBU_TOOLS_SERVE_JOBS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/serve/model_store.h"
#include "tools/serve/result_cache.h"
#include "tools/serve/work_thread.h"

namespace nibu::internal {

// The limits of the queue: the number of requests that have been accepted and not yet answered, and
// of the characters of their texts.
struct JobLimits {
  size_t max_requests = 512;
  size_t max_characters = 2'000'000;
};

// A request: its texts, and the models and options for their translation.
struct JobRequest {
  std::vector<std::string> texts;
  size_t characters = 0;  // the sum over all texts
  Route route;
  bool is_html = false;
  int alternatives = 0;
  std::string client;  // Clients share the threads equally.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// Counts of jobs so far.
struct JobCounts {
  uint64_t accepted = 0;
  uint64_t refused = 0;  // because the queue was full
  uint64_t cancelled = 0;
  uint64_t characters = 0;  // the sum over jobs that were translated
  uint64_t source_tokens = 0;
  uint64_t target_tokens = 0;
  uint64_t cached_units = 0;  // units whose translations came from the cache
};

// Used by the network's thread, which it never blocks: texts are cut into units and tokenized on a
// thread of its own, and the translator's threads decode. Steps of a job:
//
// 1. Submit accepts the request and asks the ModelStore for a plan.
// 2. Cut (tokenizing thread) cuts its texts into units, and takes known translations from the
// cache.
// 3. SubmitAll (tokenizing thread) submits the other units, each with its tag as priority.
// 4. Take (network's thread) collects the results. The last one joins them and calls `done`.
//
// The order is that of fair queueing (A. Demers, S. Keshav and S. Shenker, "Analysis and simulation
// of a fair queueing algorithm", SIGCOMM 1989), with the virtual time of the self-clocked form (S.
// Golestani, INFOCOM 1994). Imagine that the characters of all waiting requests are worked off in
// turn, each client getting an equal share, and each request of a client an equal share of that.
// The virtual time at which a unit of a text would end is its tag,
//
//   tag = virtual time at its request's arrival
//         + (requests that its client has under way) * (characters of its request so far)
//
// where a unit counts as 256 characters at least, and units are decoded by their tags. So a short
// text passes a long one, no client can crowd out others, and nobody waits for ever, since later
// requests have later tags.
class Jobs {
 public:
  class Job;
  // Gets the translations of each text of the request, best first and without repeats.
  using Done = std::function<void(absl::StatusOr<std::vector<Translations>>)>;
  // Submits a line, or a unit of a document, as Translator::Submit does. Tests replace it.
  using SubmitUnit = std::function<absl::StatusOr<Ticket>(
      const std::string& line, const TextUnit* unit, std::shared_ptr<const Plan> plan,
      Request request, nibu::Done done)>;

  // All arguments must live until Stop or the destructor has returned.
  Jobs(nibu::Translator* translator, ModelStore* store, ResultCache* cache,
       std::function<void(std::function<void()>)> post);

  // Accepts a request, or returns null if the queue is full. An empty queue accepts any request.
  // `done` is called on the network's thread, after Submit, unless the job is cancelled.
  std::shared_ptr<Job> Submit(JobRequest request, Done done);
  // Ends a job whose result is not needed. Returns false if it has ended already.
  bool Cancel(const std::shared_ptr<Job>& job);
  // Ends the jobs whose deadlines have passed with DeadlineExceeded. To be called now and then.
  void EndLate(std::chrono::steady_clock::time_point now);

  void SetLimits(const JobLimits& limits) { limits_ = limits; }
  void SetSubmitUnit(SubmitUnit submit) { submit_ = std::move(submit); }
  // Cancels all jobs and ends the tokenizing thread.
  void Stop();

  size_t waiting() const { return jobs_.size(); }
  size_t waiting_characters() const { return characters_; }
  const JobCounts& counts() const { return counts_; }
  // Returns the seconds, 1 to 60, until all waiting texts will have been translated at the speed
  // measured so far.
  int SecondsToWait() const;

 private:
  struct Unit;

  // Called on the tokenizing thread: cuts a job's texts into units, one after the other, and then
  // submits the units.
  void Cut(const std::shared_ptr<Job>& job, size_t text);
  void CutLines(Job* job, size_t text);
  void CutDocument(Job* job, size_t text);
  void AddUnit(Job* job, Unit unit);
  void SubmitAll(const std::shared_ptr<Job>& job);
  void SubmitTo(const std::shared_ptr<Job>& job, size_t unit);
  // Called on the network's thread: takes a unit's result.
  void Take(const std::shared_ptr<Job>& job, size_t unit, const absl::StatusOr<Result>& result);
  void End(const std::shared_ptr<Job>& job, absl::Status status);
  void Remove(const std::shared_ptr<Job>& job);
  std::vector<Translations> Join(Job* job);

  nibu::Translator* const translator_;
  ModelStore* const store_;
  ResultCache* const cache_;
  const std::function<void(std::function<void()>)> post_;
  SubmitUnit submit_;
  JobLimits limits_;
  std::set<std::shared_ptr<Job>> jobs_;
  std::map<std::string, int64_t> under_way_;  // number of requests of each client
  size_t characters_ = 0;                     // the sum over all jobs
  int64_t virtual_time_ = 0;
  JobCounts counts_;
  // The speed: the characters that were translated while there were jobs, and the seconds. Both are
  // halved now and then, so that recent ones count more.
  double measured_characters_ = 0;
  double measured_seconds_ = 0;
  std::chrono::steady_clock::time_point measured_until_;
  void Measure(size_t characters);

  WorkThread tokenizing_;  // comes last, since it uses the other members
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_JOBS_H_
