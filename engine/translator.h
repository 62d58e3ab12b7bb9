// Token ids in, hypotheses out: schedules requests over worker threads.
#ifndef NIBU_ENGINE_TRANSLATOR_H_
#define NIBU_ENGINE_TRANSLATOR_H_

#include <chrono>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/core/profile.h"
#include "engine/model/weights.h"
#include "engine/request.h"
#include "engine/schedule/activity.h"
#include "engine/translator_options.h"

namespace nibu::internal {

// Thread-safe. No exception comes out of it, but of what is for benchmarks; destroy it on no thread
// of its own, such as in a Done. A request that fails leaves the others, and the translator, as
// they are. A forked child can destroy its parent's translator, and nothing else: see Submit. When
// the main thread ends the process, translators that it has created and that still exist cancel the
// requests that wait, finish the others, and take no more.
class Translator {
 public:
  // InvalidArgument: options or a configuration that make no sense. ResourceExhausted: not so much
  // memory, or so many threads. FailedPrecondition: options.cores belong to a parent process.
  static absl::StatusOr<std::unique_ptr<Translator>> Create(std::shared_ptr<const Model> model,
                                                            const TranslatorOptions& options);
  // Finishes everything that was submitted.
  ~Translator();

  // Checks decoding options and works them out for Request::plan. InvalidArgument whose message
  // begins with the option's name. The plan belongs to this translator: others refuse it.
  absl::StatusOr<std::shared_ptr<const SearchPlan>> Plan(const DecodingOptions& options) const;

  // Queues a request. OK: `done` is called exactly once, from a thread of the translator's that
  // decodes nothing, and may Submit in turn. Otherwise never: InvalidArgument: ids, lengths or
  // options that make no sense, or another translator's plan; ResourceExhausted: no memory, or the
  // queue has been full for `patience` (which must be 0 where `done` submits); FailedPrecondition:
  // the translator has ended (its destructor has begun while a `done` submits), or is that of a
  // parent process. Requests with different options share the decoder's steps. Waiting ones are
  // taken by priority, then longest first within windows of arrival, so that workers end together.
  absl::StatusOr<Ticket> Submit(Request request, Done done,
                                std::chrono::nanoseconds patience = std::chrono::nanoseconds(0));

  // Waits until the queue has room for a request, which others may take first. Returns the errors
  // of Submit. Callers of Request::continues wait here before the request that it continues; then
  // no more of them are under way than the queues of both translators have room for.
  absl::Status AwaitRoom(std::chrono::nanoseconds patience);

  // Ends a request with Cancelled, before its next step at the latest. Does nothing once it has
  // ended.
  void Cancel(const Ticket& ticket);

  // Submits all and waits for all; results in order. An empty sentence gives one empty hypothesis.
  // An error: the first one's. Not within a Done, which it would wait for.
  absl::StatusOr<std::vector<std::vector<Hypothesis>>> Translate(
      const std::vector<std::vector<int>>& sources, const DecodingOptions& options);

  // Longest source that may be submitted with these options, its frame not counted.
  int max_source_length(const DecodingOptions& options = {}) const;
  const Model& model() const;
  Activity activity() const;

  // For benchmarks: what happened between the two calls. Call both when nothing is in flight.
  struct Measurement {
    Profile profile;                // summed over the workers
    std::vector<double> latencies;  // seconds from leaving the queue to the end, one a sentence
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
