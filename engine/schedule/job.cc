// Makes a job of a request: adds the frame to the source and describes the first pass.
#include "engine/schedule/job.h"

#include <algorithm>

namespace nibu::internal {
namespace {

// Returns the request of a job, which has a plan and a source.
Request Checked(Request request) {
  ABSL_ASSERT(request.plan != nullptr);
  ABSL_ASSERT(!request.source.empty());
  return request;
}

std::vector<int> WithFrame(const Frame& frame, const std::vector<int>& source) {
  std::vector<int> all;
  all.reserve(source.size() + static_cast<size_t>(frame.source_extra()));
  for (const std::vector<int>* part : {&frame.source_prefix, &source, &frame.source_suffix}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

// Returns the task of the first pass. `source_tokens`: their number, the frame included.
SearchTask TaskOf(const Request& request, size_t source_tokens) {
  SearchTask task{.plan = request.plan.get(),
                  .max_length = request.plan->MaxLength(source_tokens),
                  .word_parts = request.word_parts.get(),
                  .no_repeat_ngram_size = request.plan->options().no_repeat_ngram_size,
                  .key = request.key};
  task.max_length = std::min(task.max_length, request.max_length.value_or(task.max_length));
  if (request.target.has_value()) {
    task.target = &*request.target;
    task.has_rules = request.plan->options().score_as_search;
    return task;
  }
  task.prefix = request.target_prefix;
  if (!task.is_biased()) task.prefix = task.prefix.subspan(0, static_cast<size_t>(task.max_length));
  task.constraints = request.constraints;
  return task;
}

}  // namespace

Job::Job(Request asked, Done deliver)
    : request(Checked(std::move(asked))),
      source(WithFrame(plan().frame(), request.source)),
      passes(TaskOf(request, source.size())),
      rows(passes.task().width() * static_cast<size_t>(plan().options().branches())),
      steps(request.on_step),
      done(std::move(deliver)) {}

absl::Status Job::MustEnd(Clock::time_point now) const {
  if (is_cancelled.load(std::memory_order_relaxed)) {
    return absl::Status(absl::StatusCode::kCancelled, "");
  }
  if (now >= request.deadline) return absl::Status(absl::StatusCode::kDeadlineExceeded, "");
  return absl::OkStatus();
}

}  // namespace nibu::internal
