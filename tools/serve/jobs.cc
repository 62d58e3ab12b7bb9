// Bounds the requests, hands their texts to the feed, and collects the translations.

#include "tools/serve/jobs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace nibu::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The speed that is assumed until it has been measured, in characters a second, and the seconds for
// which this assumption counts: a large model on a single core.
constexpr double kAssumedSpeed = 1000;
constexpr double kAssumedSeconds = 1;
constexpr double kMeasuredSeconds = 60;

// Keeps the first of equal translations, and none that is empty.
void RemoveRepeats(Translations* translations) {
  Translations unique;
  for (std::string& text : *translations) {
    const bool is_new = !text.empty() && !absl::c_linear_search(unique, text);
    if (unique.empty() || is_new) unique.push_back(std::move(text));
  }
  *translations = std::move(unique);
}

}  // namespace

class Jobs::Job {
 public:
  JobRequest request;
  Done done;
  int64_t arrival = 0;  // the virtual time when it arrived
  size_t waiting = 0;   // characters of its units that have not been translated
  NumberedPlan plan;
  // Returns the cache's key for a part of a text. It has all that the translation depends on.
  std::string KeyOf(const std::string& source) const {
    return absl::StrCat(plan.number, " ", source);
  }
  std::vector<std::shared_ptr<TextFeed::Text>> texts;
  std::vector<Translations> translations;  // those of the texts that have ended
  size_t missing = 0;                      // number of texts that have not ended
  std::atomic<uint64_t> cached{0};
  bool has_ended = false;
};

Jobs::Jobs(nibu::Translator* translator, ModelStore* store, ResultCache* cache,
           std::function<void(std::function<void()>)> post)
    : store_(store),
      cache_(cache),
      post_(std::move(post)),
      requests_(limits_.max_requests),
      characters_(limits_.max_characters),
      feed_(*TextFeed::Create(translator)) {}

void Jobs::SetLimits(const JobLimits& limits) {
  limits_ = limits;
  requests_.SetLimit(limits.max_requests);
  characters_.SetLimit(limits.max_characters);
}

// Holds the room that a request takes in the queue.
class Admission {
 public:
  Admission(Jobs* jobs, const std::string& client) : jobs_(jobs), client_(client) {}
  ~Admission() {
    jobs_->requests_.Release(client_, share > 0 ? 1 : 0);
    jobs_->characters_.Release(client_, characters_);
  }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Returns whether there was room.
  bool Take(size_t characters) {
    if (!jobs_->requests_.Take(client_, 1)) return false;
    share = static_cast<int64_t>(jobs_->requests_.HeldBy(client_));
    if (!jobs_->characters_.Take(client_, characters)) return false;
    characters_ = characters;
    return true;
  }

  int64_t share = 0;  // requests of its client when it came, itself included

 private:
  Jobs* const jobs_;
  const std::string client_;
  size_t characters_ = 0;
};

std::shared_ptr<const Admission> Jobs::Admit(const std::string& client, size_t characters) {
  auto admission = std::make_shared<Admission>(this, client);
  if (!admission->Take(std::min(characters, std::max<size_t>(limits_.max_characters / 2, 1)))) {
    ++counts_.refused;
    return nullptr;
  }
  ++counts_.accepted;
  return admission;
}

std::shared_ptr<Jobs::Job> Jobs::Submit(JobRequest request, Done done) {
  ABSL_ASSERT(request.admission != nullptr);
  Measure(0);
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  job->arrival = virtual_time_;
  jobs_.insert(job);
  // Whatever fails from here on is the caller's to report, and leaves nothing behind.
  absl::Cleanup remove = [&] { Remove(job); };
  job->waiting = job->request.characters;
  waiting_characters_ += job->waiting;
  if (job->request.deadline != SteadyClock::time_point::max()) {
    deadlines_.emplace(job->request.deadline, job);
  }
  store_->Prepare(job->request.route, job->request.choice,
                  [this, job](absl::StatusOr<NumberedPlan> plan) {
                    if (job->has_ended) return;
                    if (plan.ok()) {
                      job->plan = *std::move(plan);
                      Feed(job);
                    } else {
                      post_([this, job, status = plan.status()] { End(job, status); });
                    }
                  });
  std::move(remove).Cancel();
  return job;
}

// Hands the texts of a job to the feed, each with the tag that a text has whose units in front of
// it are lines.
void Jobs::Feed(const std::shared_ptr<Job>& job) {
  const bool is_document = job->request.choice.text == TextKind::kDocument;
  const int64_t share = job->request.admission->share;
  int64_t tag = job->arrival;
  job->missing = job->request.texts.size();
  job->translations.resize(job->missing);
  for (size_t i = 0; i < job->translations.size(); ++i) {
    std::string& text = job->request.texts[i];
    // The translation of a document's unit depends on the elements around it, so whole documents
    // are in the cache.
    const auto known = is_document ? Find(job.get(), text) : nullptr;
    if (known != nullptr) {
      post_([this, job, i, known] { EndText(job, i, *known); });
      continue;
    }
    FeedText fed;
    fed.plan = job->plan.plan;
    fed.tag = tag;
    fed.share = share;
    fed.deadline = job->request.deadline;
    if (!is_document) {
      fed.find = [this, job](const TextUnit& line) { return Find(job.get(), line.source()); };
    }
    fed.on_unit = [this, job](const FedUnit& unit) { TakeUnit(job, unit); };
    fed.done = [this, job, i](absl::StatusOr<Translations> translations) {
      post_([this, job, i, translations = std::move(translations)]() mutable {
        EndText(job, i, std::move(translations));
      });
    };
    tag += share * TextFeed::CostOf(text);
    // The key of a document in the cache is made of its text once more, in EndText.
    fed.text = is_document ? text : std::move(text);
    absl::StatusOr<std::shared_ptr<TextFeed::Text>> feeding = feed_->Submit(std::move(fed));
    if (!feeding.ok()) {
      return post_([this, job, status = feeding.status()] { End(job, status); });
    }
    job->texts.push_back(*std::move(feeding));
  }
}

std::shared_ptr<const Translations> Jobs::Find(Job* job, const std::string& source) {
  auto known = cache_->Find(job->KeyOf(source));
  if (known != nullptr) ++job->cached;
  return known;
}

void Jobs::TakeUnit(const std::shared_ptr<Job>& job, const FedUnit& unit) {
  if (job->request.choice.text != TextKind::kDocument)
    cache_->Add(job->KeyOf(unit.unit.source()), unit.translations);
  post_([this, job, tag = unit.tag, size = unit.unit.source().size(), from = unit.source_tokens,
         to = unit.target_tokens] {
    if (job->has_ended) return;
    // The virtual time is the tag of the last unit that was served (self-clocked).
    virtual_time_ = std::max(virtual_time_, tag);
    const size_t done = std::min(size, job->waiting);
    job->waiting -= done;
    waiting_characters_ -= done;
    Measure(done);
    counts_.source_tokens += static_cast<uint64_t>(from);
    counts_.target_tokens += static_cast<uint64_t>(to);
  });
}

void Jobs::EndText(const std::shared_ptr<Job>& job, size_t index,
                   absl::StatusOr<Translations> translations) {
  if (job->has_ended) return;
  if (!translations.ok()) return End(job, translations.status());
  RemoveRepeats(&*translations);
  job->translations[index] = *std::move(translations);
  if (job->request.choice.text == TextKind::kDocument) {
    cache_->Add(job->KeyOf(job->request.texts[index]),
                std::make_shared<const Translations>(job->translations[index]));
  }
  if (--job->missing == 0) End(job, absl::OkStatus());
}

void Jobs::End(const std::shared_ptr<Job>& job, absl::Status status) {
  if (job->has_ended) return;
  const Done done = std::move(job->done);
  if (!status.ok()) {
    Remove(job);
    return done(status);
  }
  counts_.characters += job->request.characters;
  counts_.cached_units += job->cached;
  std::vector<Translations> texts = std::move(job->translations);
  Remove(job);
  done(std::move(texts));
}

bool Jobs::Cancel(const std::shared_ptr<Job>& job) {
  if (job->has_ended) return false;
  ++counts_.cancelled;
  Remove(job);
  return true;
}

void Jobs::EndLate(SteadyClock::time_point now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const std::shared_ptr<Job> job = deadlines_.begin()->second;
    End(job, absl::DeadlineExceededError("the request's time has passed"));
  }
}

// Cancels the texts of a job that are still under way, and forgets the job.
void Jobs::Remove(const std::shared_ptr<Job>& job) {
  Measure(0);
  job->has_ended = true;
  job->done = nullptr;
  for (const auto& model : {job->request.route.first, job->request.route.second}) {
    if (model != nullptr) model->last_use = SteadyClock::now();
  }
  // The texts refer to the job, so that it must not keep them.
  for (const auto& text : std::exchange(job->texts, {})) feed_->Cancel(text);
  waiting_characters_ -= job->waiting;
  job->request.admission = nullptr;
  jobs_.erase(job);
  const auto [first, last] = deadlines_.equal_range(job->request.deadline);
  const auto own = std::find_if(first, last, [&](const auto& each) { return each.second == job; });
  if (own != last) deadlines_.erase(own);
  if (jobs_.empty()) virtual_time_ = 0;
}

void Jobs::Stop() {
  const std::set<std::shared_ptr<Job>> jobs = jobs_;
  for (const auto& job : jobs) Cancel(job);
  feed_ = nullptr;
}

void Jobs::Measure(size_t characters) {
  const SteadyClock::time_point now = SteadyClock::now();
  if (!jobs_.empty()) {
    measured_seconds_ += std::chrono::duration<double>(now - measured_until_).count();
  }
  measured_until_ = now;
  measured_characters_ += static_cast<double>(characters);
  if (measured_seconds_ > kMeasuredSeconds) {
    measured_seconds_ /= 2;
    measured_characters_ /= 2;
  }
}

int Jobs::SecondsToWait() const {
  const double seconds = static_cast<double>(waiting_characters_) *
                         (measured_seconds_ + kAssumedSeconds) /
                         (measured_characters_ + kAssumedSeconds * kAssumedSpeed);
  return static_cast<int>(std::clamp(std::ceil(seconds), 1.0, 60.0));
}

}  // namespace nibu::internal
