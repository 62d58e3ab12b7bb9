#include "engine/schedule/job_queue.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "engine/search/logit_rules.h"

namespace nibu::internal {
namespace {

constexpr auto kNever = Job::Clock::time_point::max();

}  // namespace

// Without messages, which take memory.
absl::Status Job::MustEnd(Clock::time_point now) const {
  if (is_cancelled.load(std::memory_order_relaxed)) {
    return absl::Status(absl::StatusCode::kCancelled, "");
  }
  if (now >= deadline) return absl::Status(absl::StatusCode::kDeadlineExceeded, "");
  return absl::OkStatus();
}

void Job::Begin() {
  const bool is_scored = target.has_value();
  search.prefix = is_scored ? std::vector<int>() : target_prefix;
  if (!search.is_biased()) {
    search.prefix.resize(std::min(search.prefix.size(), static_cast<size_t>(search.max_length)));
  }
  search.constraints = is_scored ? absl::Span<const Constraint>() : constraints;
  start.resize(frame);
  if (is_scored) start.insert(start.end(), target->begin(), target->end() - 1);
  start.insert(start.end(), search.prefix.begin(),
               search.prefix.begin() + static_cast<long>(search.forced()));
  forced = frame - 1 + search.forced();
  has_rules = HasRules(options) || options.sampling.is_on() || options.return_alternatives ||
              is_scored || !constraints.empty() || (search.is_biased() && !search.prefix.empty());
}

void Job::JudgePrefix(std::vector<float>* scores) const {
  const float beta = options.prefix_bias_beta;
  const size_t most = std::min(target_prefix.size(), scores->size());
  bool follows = true;
  for (size_t i = 0; i < most && follows; ++i) {
    float& score = (*scores)[i];
    follows = (*target)[i] == target_prefix[i];
    if (!search.is_biased()) {
      score = 0;
    } else if (score > -std::numeric_limits<float>::infinity()) {
      score = follows ? std::log((1 - beta) * std::exp(score) + beta) : score + std::log1p(-beta);
    }
  }
}

bool Job::DropsConstraints(Met met) {
  const size_t all = constraints.size();
  for (size_t c = all; c-- > 0;) {
    if (!IsMet(met, c)) constraints.erase(constraints.begin() + static_cast<long>(c));
  }
  return constraints.size() < all;
}

bool Job::GoesOn(std::vector<Hypothesis> found) {
  constexpr int kNgram = 3;
  // What waits for a phrase in vain runs on beyond its end.
  if (!search.constraints.empty() && !found.empty() && DropsConstraints(found[0].met)) {
    return true;
  }
  const bool loops = !found.empty() && found[0].repetition;
  if (!second.empty()) {  // which has been scored without the rule
    second[0].token_scores = std::move(found[0].token_scores);
    JudgePrefix(&second[0].token_scores);
    second[0].log_prob = 0;
    for (const float score : second[0].token_scores) second[0].log_prob += score;
    second[0].score = HypothesisScore(options, second[0].log_prob, second[0].token_scores.size()) +
                      second[0].coverage;
    // The others of the second search have no scores without the rule.
    const auto quality = [](const Hypothesis& h) {
      return std::pair(std::popcount(h.met), h.score);
    };
    if (quality(second[0]) > quality(first[0])) {
      first[0] = std::move(second[0]);
    }
    result = std::move(first);
  } else if (!first.empty() && !found.empty() && !found[0].token_scores.empty()) {
    std::vector<int> tokens = found[0].tokens;
    if (found[0].finished) tokens.push_back(found[0].end_token);
    target = std::move(tokens);  // nothing throws from here on
    second = std::move(found);
    options.no_repeat_ngram_size = 0;
    return true;
  } else if (!first.empty()) {
    result = std::move(first);
  } else if (loops && options.on_repetition == OnRepetition::kRetry &&
             options.no_repeat_ngram_size == 0 && !target.has_value()) {
    first = std::move(found);
    options.no_repeat_ngram_size = kNgram;
    return true;
  } else {
    result = std::move(found);
  }
  return false;
}

absl::Status JobQueue::AwaitRoom(std::chrono::nanoseconds patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  return AwaitRoom(&lock, patience);
}

absl::Status JobQueue::AwaitRoom(std::unique_lock<std::mutex>* lock,
                                 std::chrono::nanoseconds patience) {
  const auto may_go_on = [this] { return closed_ || undelivered_ < capacity_; };
  if (patience > std::chrono::hours(24 * 365)) {  // a later time might not exist
    room_.wait(*lock, may_go_on);
  } else {
    room_.wait_for(*lock, patience, may_go_on);
  }
  if (closed_) return absl::FailedPreconditionError("the translator has ended");
  if (undelivered_ < capacity_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the queue is full: it has room for ", capacity_, " sentences; try again"));
}

absl::Status JobQueue::Push(std::shared_ptr<Job> job, std::chrono::nanoseconds patience) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!job->continues) NIBU_RETURN_IF_ERROR(AwaitRoom(&lock, patience));
    if (closed_) return absl::FailedPreconditionError("the translator has ended");
    job->order = {~job->priority, arrivals_ / kWindow, -static_cast<int64_t>(job->source.size()),
                  arrivals_};
    job->arrival = Clock::now();
    const Clock::time_point deadline = job->deadline;
    jobs_.emplace(job->order, std::move(job));
    ++arrivals_;
    ++undelivered_;
    if (deadline < earliest_deadline_) {
      earliest_deadline_ = deadline;
      ended_.notify_one();
    }
  }
  arrived_.notify_all();
  return absl::OkStatus();
}

void JobQueue::Cancel(const std::shared_ptr<Job>& job) {
  job->is_cancelled = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto waiting = jobs_.find(job->order);
  if (waiting != jobs_.end()) End(waiting, job->MustEnd(Clock::time_point::min()));
}

void JobQueue::CancelWaiting() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto waiting = jobs_.begin(); waiting != jobs_.end();) {
    waiting = End(waiting, absl::CancelledError());
  }
}

JobQueue::Jobs::iterator JobQueue::End(Jobs::iterator waiting, absl::Status status) {
  waiting->second->result = std::move(status);
  finished_.Append(std::move(waiting->second));
  ended_.notify_one();
  if (jobs_.size() == 1) idle_.notify_all();
  return jobs_.erase(waiting);
}

void JobQueue::EndLate(Clock::time_point now) {
  if (now < earliest_deadline_) return;
  earliest_deadline_ = kNever;
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const absl::Status status = it->second->MustEnd(now);
    if (status.ok()) earliest_deadline_ = std::min(earliest_deadline_, it->second->deadline);
    it = status.ok() ? std::next(it) : End(it, status);
  }
}

bool JobQueue::Alone() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return jobs_.empty() && waiting_ + 1 == workers_;
}

void JobQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  arrived_.notify_all();
  room_.notify_all();
}

void JobQueue::AwaitIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [this] { return jobs_.empty() && waiting_ == workers_; });
}

JobList JobQueue::Take(Room room, bool wait, bool preferred) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (wait) {
    ++waiting_;
    if (preferred) preferred_waits_ = true;
    idle_.notify_all();
    arrived_.wait(
        lock, [&] { return closed_ || jobs_.size() > (preferred_waits_ && !preferred ? 1 : 0); });
    if (preferred) preferred_waits_ = false;
    --waiting_;
  }
  const size_t share = (jobs_.size() + workers_ - 1) / workers_;
  JobList jobs;
  const Clock::time_point now = Clock::now();
  for (size_t n = std::min(room.sentences, share); n > 0; --n) {
    const auto next = jobs_.begin();
    const size_t size = next->second->source.size();
    const size_t rows = next->second->rows;
    const bool fits = size <= room.source_tokens && rows <= room.rows;
    if (!fits && !(wait && jobs.empty())) break;
    room.source_tokens -= std::min(room.source_tokens, size);
    room.rows -= std::min(room.rows, rows);
    ++begun_;
    waited_seconds_ += std::chrono::duration<double>(now - next->second->arrival).count();
    jobs.Append(std::move(next->second));
    jobs_.erase(next);
  }
  return jobs;
}

Activity JobQueue::activity() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {jobs_.size(), begun_, waited_seconds_, steps_, step_sentences_};
}

void JobQueue::Finish(std::shared_ptr<Job> job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_.Append(std::move(job));
  ended_.notify_one();
}

std::shared_ptr<Job> JobQueue::TakeFinished() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (finished_.empty()) {
    if (finished_closed_) return nullptr;
    if (earliest_deadline_ == kNever) {
      ended_.wait(lock);
    } else {
      ended_.wait_until(lock, earliest_deadline_);
      EndLate(Clock::now());
    }
  }
  return finished_.TakeFront();
}

void JobQueue::CloseFinished() {
  const std::lock_guard<std::mutex> lock(mutex_);
  finished_closed_ = true;
  ended_.notify_one();
}

void JobQueue::Delivered() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --undelivered_;
  }
  room_.notify_all();  // of one alone, memory might run out
}

}  // namespace nibu::internal
