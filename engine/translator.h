// The engine's interface: takes sentences as token ids, shares them out to worker threads, and
// returns hypotheses.
#ifndef NIBU_ENGINE_TRANSLATOR_H_
#define NIBU_ENGINE_TRANSLATOR_H_

#include <chrono>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/core/profile.h"
#include "engine/model/weights.h"
#include "engine/request.h"
#include "engine/translator_options.h"
#include "nibu/engine.h"

namespace nibu::internal {

// Thread-safe. Its functions throw nothing, except for those for benchmarks. It must not be
// destroyed on one of its own threads, such as in a Done. A request that fails leaves the others,
// and the translator, as they are. A forked child can destroy its parent's translator, but not use
// it: see Submit. When the main thread ends the process, translators that it has created and that
// still exist cancel the requests that wait, finish the others, and take no more.
class Translator {
 public:
  // Starts the threads. InvalidArgument: options or a configuration that make no sense.
  // ResourceExhausted: there is not so much memory, or not so many threads. FailedPrecondition:
  // options.cores belong to a parent process.
  static absl::StatusOr<std::unique_ptr<Translator>> Create(std::shared_ptr<const Model> model,
                                                            const TranslatorOptions& options);
  // Finishes everything that was submitted.
  ~Translator();

  // Checks decoding options and works them out for Request::plan. InvalidArgument: its message
  // begins with the option's name. The plan belongs to this translator: others refuse it.
  absl::StatusOr<std::shared_ptr<const SearchPlan>> Plan(const DecodingOptions& options) const;

  // Queues a request. If it returns OK, `done` is called exactly once, on a thread of the
  // translator that decodes nothing, and may call Submit in turn. After an error, `done` is never
  // called:
  //   InvalidArgument: ids, lengths or options make no sense, or the plan is another translator's.
  //   ResourceExhausted: no memory, or the queue has been full for `patience` (which must be 0
  //     where a `done` submits).
  //   FailedPrecondition: the translator has ended (its destructor has begun while a `done`
  //     submits), or is that of a parent process.
  // Requests with different options share the decoder's steps. JobQueue describes the order in
  // which requests are taken.
  absl::StatusOr<Ticket> Submit(Request request, Done done,
                                std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Waits until the queue has room for a request, although other callers may take that room first.
  // Returns the errors of Submit. It is for requests with Request::continues: a caller waits here
  // before it submits the request that they will continue. Then no more of them are under way than
  // the queues of both translators have room for.
  absl::Status AwaitRoom(std::chrono::nanoseconds patience);

  // Ends a request with Cancelled, before its next step at the latest. Does nothing once it has
  // ended.
  void Cancel(const Ticket& ticket);

  // Submits all sentences, waits for them and returns their results in order, or the error of the
  // first that failed. An empty sentence gives one empty hypothesis. Not to be called within a
  // Done, since it would wait for that Done to return.
  absl::StatusOr<std::vector<std::vector<Hypothesis>>> Translate(
      const std::vector<std::vector<int>>& sources, const DecodingOptions& options);

  // Returns the longest source that may be submitted with these options, its frame not counted.
  int max_source_length(const DecodingOptions& options = {}) const;
  const Model& model() const;
  Activity activity() const;

  // For benchmarks: measures what happens between the two calls. Call both when nothing is in
  // flight. They may throw.
  struct Measurement {
    Profile profile;                // summed over the workers
    std::vector<double> latencies;  // of each sentence, seconds from leaving the queue to the end
  };
  void StartMeasuring();
  Measurement FinishMeasuring();

 private:
  class Impl;
  explicit Translator(std::unique_ptr<Impl> impl);
  absl::StatusOr<std::shared_ptr<Job>> MakeJob(Request request, Done done) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_TRANSLATOR_H_
