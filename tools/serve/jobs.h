// Translates the texts of all requests, fairly, with a bounded queue.
#ifndef NIBU_TOOLS_SERVE_JOBS_H_
#define NIBU_TOOLS_SERVE_JOBS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"
#include "tools/serve/model_store.h"
#include "tools/serve/result_cache.h"
#include "tools/serve/share.h"

namespace nibu::internal {

// The limits of the queue: the number of requests that have been accepted and not yet answered, and
// of the characters of their texts.
struct JobLimits {
  size_t max_requests = 512;
  size_t max_characters = 2'000'000;
};

class Admission;

// A request, or the part of one that has a route of its own: its texts, and the models and options
// for their translation.
struct JobRequest {
  std::vector<std::string> texts;
  size_t characters = 0;  // the sum over all texts
  Route route;
  PlanChoice choice;
  std::shared_ptr<const Admission> admission;  // from Jobs::Admit
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// Counts of jobs so far.
struct JobCounts {
  uint64_t accepted = 0;  // requests; the numbers behind those that were refused count jobs
  uint64_t refused = 0;   // because the queue was full
  uint64_t cancelled = 0;
  uint64_t characters = 0;  // the sum over jobs that were translated
  uint64_t source_tokens = 0;
  uint64_t target_tokens = 0;
  uint64_t cached_units = 0;  // units whose translations came from the cache
};

// Used by the network's thread, which it never blocks: a TextFeed cuts and tokenizes texts on a
// thread of its own, and the translator's threads decode. Steps of a job:
//
// 1. Submit accepts the request and asks the ModelStore for a plan.
// 2. Feed hands each text to the TextFeed, which asks the cache for each unit (Find) and submits
//    those that it does not have.
// 3. TakeUnit (a thread of the translator) puts the translations of a line into the cache.
// 4. EndText (network's thread) takes the translations of a text. The last one calls `done`.
//
// The order is that of fair queueing (A. Demers, S. Keshav and S. Shenker, "Analysis and simulation
// of a fair queueing algorithm", SIGCOMM 1989), with the virtual time of the self-clocked form (S.
// Golestani, INFOCOM 1994). Imagine that the characters of all waiting requests are worked off in
// turn, each client getting an equal share, and each request of a client an equal share of that.
// The virtual time at which a unit of a text would end is its tag, which TextFeed computes from the
// virtual time at its request's arrival and the requests that its client has under way (the share):
// nibu/text_feed.h has the formula. So a short text passes a long one, no client can crowd out
// others, and nobody waits for ever, since later requests have later tags.
class Jobs {
 public:
  class Job;
  // Gets the translations of each text of the request, best first and without repeats.
  using Done = std::function<void(absl::StatusOr<std::vector<Translations>>)>;
  // All arguments must live until Stop or the destructor has returned.
  Jobs(nibu::Translator* translator, ModelStore* store, ResultCache* cache,
       std::function<void(std::function<void()>)> post);

  // Takes room in the queue for a request of so many characters, until nobody holds the result.
  // Returns null if the queue is full, or the client has its share of it (see ClientShares); an
  // empty client is one that is not known, as behind a proxy, and has no share. A request counts
  // as half of JobLimits::max_characters at most, so that an empty queue takes any. The result must
  // not outlive this object.
  std::shared_ptr<const Admission> Admit(const std::string& client, size_t characters);
  // Translates the texts of a request that has been admitted. `done` is called on the network's
  // thread, after Submit, unless the job is cancelled.
  std::shared_ptr<Job> Submit(JobRequest request, Done done);
  // Ends a job whose result is not needed. Returns false if it has ended already.
  bool Cancel(const std::shared_ptr<Job>& job);
  // Ends the jobs whose deadlines have passed with DeadlineExceeded. To be called at
  // next_deadline().
  void EndLate(std::chrono::steady_clock::time_point now);
  // Returns the earliest deadline of all jobs, or the greatest time if none has a deadline.
  std::chrono::steady_clock::time_point next_deadline() const {
    return deadlines_.empty() ? std::chrono::steady_clock::time_point::max()
                              : deadlines_.begin()->first;
  }

  void SetLimits(const JobLimits& limits);
  // Cancels all jobs and ends the feed.
  void Stop();
  // Tests hold its units back.
  TextFeed& feed() { return *feed_; }

  size_t waiting() const { return jobs_.size(); }
  size_t waiting_characters() const { return waiting_characters_; }
  const JobCounts& counts() const { return counts_; }
  // Returns the seconds, 1 to 60, until all waiting texts will have been translated at the speed
  // measured so far.
  int SecondsToWait() const;

 private:
  friend class Admission;
  void Feed(const std::shared_ptr<Job>& job);
  // Returns the translations of a line or document that the cache has, or null. Called on any
  // thread.
  std::shared_ptr<const Translations> Find(Job* job, const std::string& source);
  // Called on the translator's threads.
  void TakeUnit(const std::shared_ptr<Job>& job, const FedUnit& unit);
  // The following are called on the network's thread.
  void EndText(const std::shared_ptr<Job>& job, size_t text,
               absl::StatusOr<Translations> translations);
  void End(const std::shared_ptr<Job>& job, absl::Status status);
  void Remove(const std::shared_ptr<Job>& job);

  ModelStore* const store_;
  ResultCache* const cache_;
  const std::function<void(std::function<void()>)> post_;
  JobLimits limits_;
  ClientShares requests_;    // the requests of each client
  ClientShares characters_;  // and their characters

  std::set<std::shared_ptr<Job>> jobs_;
  size_t waiting_characters_ = 0;  // those of all jobs that have not been translated
  // Those with a deadline, by their deadlines.
  std::multimap<std::chrono::steady_clock::time_point, std::shared_ptr<Job>> deadlines_;
  int64_t virtual_time_ = 0;
  JobCounts counts_;
  // The speed: the characters that were translated while there were jobs, and the seconds. Both are
  // halved now and then, so that recent ones count more.
  double measured_characters_ = 0;
  double measured_seconds_ = 0;
  std::chrono::steady_clock::time_point measured_until_;
  void Measure(size_t characters);

  std::unique_ptr<TextFeed> feed_;  // comes last, since its thread uses the other members
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_JOBS_H_
