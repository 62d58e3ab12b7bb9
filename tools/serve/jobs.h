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

// The limits of the queue: requests that have been accepted and not yet answered, and the
// characters of their texts.
struct JobLimits {
  size_t max_requests = 512;
  size_t max_characters = 2'000'000;
};

// A request's texts, and how they are to be translated.
struct JobRequest {
  std::vector<std::string> texts;
  size_t characters = 0;  // of all texts
  Route route;
  bool is_html = false;
  int alternatives = 0;
  std::string client;  // Clients share the threads equally.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// What has happened to jobs so far.
struct JobCounts {
  uint64_t accepted = 0;
  uint64_t refused = 0;  // because the queue was full
  uint64_t cancelled = 0;
  uint64_t characters = 0;  // of jobs that were translated
  uint64_t source_tokens = 0;
  uint64_t target_tokens = 0;
  uint64_t cached_units = 0;  // that came from the cache
};

// Belongs to the network's thread, which it never holds up: texts are cut into units and tokenized
// on a thread of its own, and the translator's threads decode.
//
// Order: fair queueing (A. Demers, S. Keshav and S. Shenker, "Analysis and simulation of a fair
// queueing algorithm", SIGCOMM 1989), with the virtual time of the self-clocked form (S. Golestani,
// INFOCOM 1994). Imagine that the characters of all waiting requests are worked off in turn, each
// client getting an equal share, and each request of a client an equal share of that. The virtual
// time at which a unit of a text would end is its tag,
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
  // One result for each text of the request, best translation first, each once.
  using Done = std::function<void(absl::StatusOr<std::vector<Translations>>)>;
  // Translator::Submit of a line, or of a unit of a document. Tests put their own in its place.
  using SubmitUnit = std::function<absl::StatusOr<Ticket>(
      const std::string& line, const TextUnit* unit, std::shared_ptr<const Plan> plan,
      Request request, nibu::Done done)>;

  // All must outlive the jobs, or their Stop.
  Jobs(nibu::Translator* translator, ModelStore* store, ResultCache* cache,
       std::function<void(std::function<void()>)> post);

  // Accepts a request, or refuses it at once, where the queue is full: null. An empty queue accepts
  // any. `done` is called on the network's thread, after Submit, unless the job is cancelled.
  std::shared_ptr<Job> Submit(JobRequest request, Done done);
  // Ends a job whose result nobody wants. False: it has ended already.
  bool Cancel(const std::shared_ptr<Job>& job);
  // Ends the jobs whose deadlines have passed with DeadlineExceeded. Call it now and then.
  void EndLate(std::chrono::steady_clock::time_point now);

  void SetLimits(const JobLimits& limits) { limits_ = limits; }
  void SetSubmitUnit(SubmitUnit submit) { submit_ = std::move(submit); }
  // Cancels all and ends the thread.
  void Stop();

  size_t waiting() const { return jobs_.size(); }
  size_t waiting_characters() const { return characters_; }
  const JobCounts& counts() const { return counts_; }
  // The seconds until what is waiting now will have been translated, at the speed measured so far;
  // 1 to 60.
  int SecondsToWait() const;

 private:
  struct Unit;

  // On the tokenizing thread: cuts a job's texts into units, one after the other, and then submits
  // each.
  void Cut(const std::shared_ptr<Job>& job, size_t text);
  void CutLines(Job* job, size_t text);
  void CutDocument(Job* job, size_t text);
  void AddUnit(Job* job, Unit unit);
  void SubmitAll(const std::shared_ptr<Job>& job);
  void SubmitTo(const std::shared_ptr<Job>& job, size_t unit);
  // On the network's thread: takes a unit's result.
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
  std::map<std::string, int64_t> under_way_;  // requests of each client
  size_t characters_ = 0;                     // of all jobs
  int64_t virtual_time_ = 0;
  JobCounts counts_;
  // The speed: characters that were translated while there were jobs, and for how long; halved now
  // and then, so that what is recent counts more.
  double measured_characters_ = 0;
  double measured_seconds_ = 0;
  std::chrono::steady_clock::time_point measured_until_;
  void Measure(size_t characters);

  WorkThread tokenizing_;  // the last member: it uses the others
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_JOBS_H_
