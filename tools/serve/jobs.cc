// Cuts the texts of requests into units, submits them in the order of their tags, and joins the
// translations.

#include "tools/serve/jobs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The fewest characters that a unit counts as. Short units cost about the same, so their tags
// should not differ as their lengths do.
constexpr int64_t kLeastUnitCost = 256;
// Units whose tags fall into the same span of so many characters have the same priority, so that
// the decoder can batch sentences of similar length.
constexpr int64_t kTagSpan = 1024;
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

// A part of a text, and its translations once they are there.
struct Jobs::Unit {
  size_t text;                // The index of its text.
  std::string line;           // The line, if the text is plain.
  TextUnit unit = {};         // The unit, if the text is a document.
  std::string line_end = {};  // The line ends and blank lines up to the next unit.
  bool has_text = true;       // False if it is copied.
  int64_t tag = 0;
  std::string key = {};  // Its key in the cache; empty: it is not cached.
  std::shared_ptr<const Translations> translations = nullptr;
};

class Jobs::Job {
 public:
  JobRequest request;
  Done done;
  int64_t arrival = 0;  // the virtual time when it arrived
  int64_t share = 1;    // requests of its client then, itself included
  NumberedPlan plan;
  // Returns the cache's key for a part of a text. It has all that the translation depends on.
  std::string KeyOf(const std::string& source) const {
    return absl::StrCat(plan.number, " ", source);
  }
  std::atomic<bool> has_ended{false};  // set by the network's thread

  // Made by the tokenizing thread, and used only by the network's thread afterwards.
  std::vector<Unit> units;
  std::vector<std::shared_ptr<const Translations>> known;  // translations of whole texts, or null
  size_t missing = 0;                                      // number of units without translations
  uint64_t cached = 0;

  std::vector<Ticket> tickets;  // used by the tokenizing thread
};

Jobs::Jobs(nibu::Translator* translator, ModelStore* store, ResultCache* cache,
           std::function<void(std::function<void()>)> post)
    : translator_(translator),
      store_(store),
      cache_(cache),
      post_(std::move(post)),
      submit_([translator](const std::string& line, const TextUnit* unit,
                           std::shared_ptr<const Plan> plan, Request request, nibu::Done done) {
        if (unit == nullptr) {
          return translator->Submit(line, std::move(plan), std::move(request), std::move(done),
                                    kForever);
        }
        return translator->Submit(*unit, std::move(plan), std::move(request), std::move(done),
                                  kForever);
      }) {}

std::shared_ptr<Jobs::Job> Jobs::Submit(JobRequest request, Done done) {
  const bool has_room = jobs_.size() < limits_.max_requests &&
                        characters_ + request.characters <= limits_.max_characters;
  if (!has_room && !jobs_.empty()) {
    ++counts_.refused;
    return nullptr;
  }
  Measure(0);
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  job->arrival = virtual_time_;
  job->share = ++under_way_[job->request.client];
  jobs_.insert(job);
  characters_ += job->request.characters;
  ++counts_.accepted;
  store_->Prepare(job->request.route, job->request.is_html, job->request.alternatives,
                  [this, job](absl::StatusOr<NumberedPlan> plan) {
                    if (job->has_ended) return;
                    if (!plan.ok()) {
                      post_([this, job, status = plan.status()] { End(job, status); });
                      return;
                    }
                    job->plan = *std::move(plan);
                    tokenizing_.Post(job->arrival, [this, job] { Cut(job, 0); });
                  });
  return job;
}

// Each text is a task of its own, so that other jobs' tasks can run between them.
void Jobs::Cut(const std::shared_ptr<Job>& job, size_t text) {
  if (job->has_ended) return;
  job->known.resize(job->request.texts.size());
  job->request.is_html ? CutDocument(job.get(), text) : CutLines(job.get(), text);
  if (text + 1 == job->request.texts.size()) return SubmitAll(job);
  const int64_t tag = job->units.empty() ? job->arrival : job->units.back().tag;
  tokenizing_.Post(tag, [this, job, text] { Cut(job, text + 1); });
}

// Makes a unit of each line. Its line end is kept behind it.
void Jobs::CutLines(Job* job, size_t text) {
  absl::string_view rest = job->request.texts[text];
  while (!rest.empty()) {
    const size_t feed = rest.find('\n');
    const size_t size = feed == absl::string_view::npos ? rest.size() : feed + 1;
    absl::string_view line = rest.substr(0, feed);
    if (absl::EndsWith(line, "\r") && feed != absl::string_view::npos) line.remove_suffix(1);
    Unit unit = {text, std::string(line)};
    unit.line_end = std::string(rest.substr(line.size(), size - line.size()));
    unit.has_text = !absl::StripAsciiWhitespace(line).empty();
    AddUnit(job, std::move(unit));
    rest.remove_prefix(size);
  }
}

void Jobs::CutDocument(Job* job, size_t text) {
  const std::string& whole = job->request.texts[text];
  // The translation of a unit depends on the elements around it, so whole documents are cached.
  job->known[text] = cache_->Find(job->KeyOf(whole));
  if (job->known[text] != nullptr) {
    ++job->cached;
    return;
  }
  nibu::Options options;
  options.text = TextKind::kDocument;
  options.markup = Markup::kHtml;
  nibu::TextReader reader(options);
  reader.Add(whole);
  reader.End();
  for (TextUnit read; !job->has_ended && reader.Next(&read);) {
    Unit unit = {text, ""};
    unit.has_text = read.has_text();
    if (!unit.has_text) unit.line = read.Write("");
    unit.unit = std::move(read);
    AddUnit(job, std::move(unit));
  }
}

// Adds a unit to those of a job. If it has no text, it is added to the text behind the unit before
// it.
void Jobs::AddUnit(Job* job, Unit unit) {
  static const auto& blank = *new std::shared_ptr<const Translations>(new Translations(1));
  const bool is_first = job->units.empty() || job->units.back().text != unit.text;
  if (!unit.has_text && !is_first) {
    absl::StrAppend(&job->units.back().line_end, unit.line, unit.line_end);
    return;
  }
  const int64_t before = job->units.empty() ? job->arrival : job->units.back().tag;
  unit.tag = before;
  if (!unit.has_text) {
    unit.translations = blank;
  } else {
    const size_t size = job->request.is_html ? unit.unit.source().size() : unit.line.size();
    // The cost of a unit is its size, multiplied by the requests among which its client shares.
    unit.tag += job->share * std::max(kLeastUnitCost, static_cast<int64_t>(size));
    if (!job->request.is_html) {
      unit.key = job->KeyOf(unit.line);
      unit.translations = cache_->Find(unit.key);
      if (unit.translations != nullptr) ++job->cached;
    }
  }
  job->units.push_back(std::move(unit));
}

void Jobs::SubmitAll(const std::shared_ptr<Job>& job) {
  std::vector<size_t> missing;
  for (size_t i = 0; i < job->units.size(); ++i) {
    if (job->units[i].translations == nullptr) missing.push_back(i);
  }
  job->missing = missing.size();
  if (missing.empty()) {
    post_([this, job] { End(job, absl::OkStatus()); });
    return;
  }
  // Each unit is a task with its tag as order, so that units of all jobs are tokenized by their
  // tags.
  for (const size_t i : missing) {
    tokenizing_.Post(job->units[i].tag, [this, job, i] { SubmitTo(job, i); });
  }
}

void Jobs::SubmitTo(const std::shared_ptr<Job>& job, size_t index) {
  if (job->has_ended) return;
  const Unit& unit = job->units[index];
  Request request;
  request.priority = -(unit.tag / kTagSpan);
  request.deadline = job->request.deadline;
  const auto take = [this, job, index](absl::StatusOr<Result> result) {
    post_([this, job, index, result = std::move(result)] { Take(job, index, result); });
  };
  const absl::StatusOr<Ticket> ticket = submit_(
      unit.line, job->request.is_html ? &unit.unit : nullptr, job->plan.plan, std::move(request),
      [take](uint64_t, absl::StatusOr<Result> result) { take(std::move(result)); });
  if (ticket.ok()) {
    job->tickets.push_back(*ticket);
  } else {
    take(ticket.status());
  }
}

void Jobs::Take(const std::shared_ptr<Job>& job, size_t index,
                const absl::StatusOr<Result>& result) {
  if (job->has_ended) return;
  if (!result.ok()) return End(job, result.status());
  Unit& unit = job->units[index];
  // The virtual time is the tag of the last unit that was served (self-clocked).
  virtual_time_ = std::max(virtual_time_, unit.tag);
  counts_.source_tokens += static_cast<uint64_t>(result->source_tokens);
  counts_.target_tokens += static_cast<uint64_t>(result->target_tokens);
  Translations translations;
  for (const Hypothesis& hypothesis : result->hypotheses) translations.push_back(hypothesis.text);
  unit.translations = std::make_shared<const Translations>(std::move(translations));
  if (!unit.key.empty()) cache_->Add(unit.key, unit.translations);
  if (--job->missing == 0) End(job, absl::OkStatus());
}

// Returns the translations of each text. The n-th one joins the n-th ones of its units. A unit with
// fewer translations repeats its last one.
std::vector<Translations> Jobs::Join(Job* job) {
  // A text has as many translations as the unit with most of them.
  std::vector<Translations> texts(job->request.texts.size());
  for (const Unit& unit : job->units) {
    Translations& text = texts[unit.text];
    text.resize(std::max(text.size(), unit.translations->size()));
  }
  for (Translations& text : texts) text.resize(std::max<size_t>(text.size(), 1));
  for (const Unit& unit : job->units) {
    Translations& text = texts[unit.text];
    for (size_t n = 0; n < text.size(); ++n) {
      const Translations& own = *unit.translations;
      const std::string best = own.empty() ? "" : own[std::min(n, own.size() - 1)];
      absl::StrAppend(&text[n],
                      !unit.has_text         ? unit.line
                      : job->request.is_html ? unit.unit.Write(best)
                                             : best,
                      unit.line_end);
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (job->known[i] != nullptr) {
      texts[i] = *job->known[i];
      continue;
    }
    RemoveRepeats(&texts[i]);
    if (job->request.is_html) {
      cache_->Add(job->KeyOf(job->request.texts[i]),
                  std::make_shared<const Translations>(texts[i]));
    }
  }
  return texts;
}

void Jobs::End(const std::shared_ptr<Job>& job, absl::Status status) {
  if (job->has_ended) return;
  const Done done = std::move(job->done);
  if (!status.ok()) {
    Remove(job);
    return done(status);
  }
  Measure(job->request.characters);
  counts_.characters += job->request.characters;
  counts_.cached_units += job->cached;
  std::vector<Translations> texts = Join(job.get());
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
  const std::set<std::shared_ptr<Job>> jobs = jobs_;
  for (const auto& job : jobs) {
    if (now < job->request.deadline) continue;
    End(job, absl::DeadlineExceededError("the request's time has passed"));
  }
}

// Cancels the units of a job that are still under way, and forgets the job.
void Jobs::Remove(const std::shared_ptr<Job>& job) {
  Measure(0);
  job->has_ended = true;
  job->done = nullptr;
  for (const auto& model : {job->request.route.first, job->request.route.second}) {
    if (model != nullptr) model->last_use = SteadyClock::now();
  }
  // The tokenizing thread owns the tickets. It cancels them before all other tasks.
  tokenizing_.Post(std::numeric_limits<int64_t>::min(), [this, job] {
    for (const Ticket& ticket : job->tickets) translator_->Cancel(ticket);
    job->tickets.clear();
  });
  characters_ -= job->request.characters;
  const auto client = under_way_.find(job->request.client);
  if (--client->second == 0) under_way_.erase(client);
  jobs_.erase(job);
  if (jobs_.empty()) virtual_time_ = 0;
}

void Jobs::Stop() {
  const std::set<std::shared_ptr<Job>> jobs = jobs_;
  for (const auto& job : jobs) Cancel(job);
  tokenizing_.Finish();  // The tasks that are left cancel the submitted units.
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
  if (measured_characters_ == 0) return 1;
  const double seconds =
      static_cast<double>(characters_) * measured_seconds_ / measured_characters_;
  return static_cast<int>(std::clamp(std::ceil(seconds), 1.0, 60.0));
}

}  // namespace nibu::internal
