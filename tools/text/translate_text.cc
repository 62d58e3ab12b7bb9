// Translates whole texts: submits their units one by one, and delivers the translation with the
// last result.

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "nibu/text.h"
#include "nibu/translator.h"
#include "tools/text/auto_language.h"
#include "tools/text/plan.h"

namespace nibu {

namespace {

// The distance between the keys of a text's units. It is 2^64 divided by the golden ratio, which
// spreads the keys evenly, so that they rarely equal those of other texts.
constexpr uint64_t kUnitKeys = 0x9E3779B97F4A7C15;

// A text whose units are being translated. Thread-safe.
class TextJob {
 public:
  TextJob(uint64_t key, TextDone done) : key_(key), done_(std::move(done)) {}

  Translation translation;   // All but its text; complete when Submitted is called.
  std::vector<size_t> same;  // For each unit, the first unit with the same text.

  // Takes the result of a unit.
  void Take(size_t unit, absl::StatusOr<Result> result) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!result.ok() && (status_.ok() || unit < failed_)) {
      failed_ = unit;
      status_ = result.status();
    } else if (result.ok()) {
      translation.results[unit] = *std::move(result);
    }
    if (--missing_ == 0) End(&lock);
  }
  // Announces that more units are going to be submitted.
  void Expect(size_t units) {
    const std::lock_guard<std::mutex> lock(mutex_);
    missing_ += units;
  }
  // Says that all units have been submitted.
  void Submitted() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) End(&lock);
  }
  // Says that nothing is to be delivered.
  void Abandon() {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = nullptr;
  }

 private:
  void End(std::unique_lock<std::mutex>* lock) {
    const TextDone done = std::exchange(done_, nullptr);
    lock->unlock();
    if (done == nullptr) return;
    try {
      done(key_, Joined());
    } catch (...) {  // see TextDone
    }
  }

  // Returns the complete translation, or the error of the first unit that failed.
  absl::StatusOr<Translation> Joined() try {
    if (!status_.ok()) return status_;
    for (size_t i = 0; i < translation.units.size(); ++i) {
      const TextUnit& unit = translation.units[i];
      if (same[i] != i) translation.results[i] = translation.results[same[i]];
      const std::vector<Hypothesis>& found = translation.results[i].hypotheses;
      translation.text += unit.Write(found.empty() ? "" : found[0].text);
      if (unit.ends_line()) translation.text += '\n';
    }
    return std::move(translation);
  } catch (...) {
    return internal::StatusOfException();
  }

  const uint64_t key_;
  std::mutex mutex_;
  TextDone done_;
  absl::Status status_;  // the error of the first unit that failed
  size_t failed_ = 0;    // this unit
  size_t missing_ = 1;   // number of units without a result, plus 1 until Submitted is called
};

}  // namespace

absl::StatusOr<Ticket> Translator::SubmitText(absl::string_view text,
                                              std::shared_ptr<const Plan> plan, Request request,
                                              TextDone done,
                                              std::chrono::nanoseconds patience) try {
  NIBU_RETURN_IF_ERROR(CheckUsable(plan));
  const bool has_prefix = !request.target_prefix.empty();
  if (request.on_step != nullptr) {
    return internal::Invalid("a whole text does not tell of its steps; give its lines");
  }
  if (request.target.has_value() || (has_prefix && plan->text_options.text != TextKind::kLines)) {
    return internal::Invalid("a whole text has neither a target nor a prefix; give its lines");
  }
  const std::vector<std::string> prefixes = absl::StrSplit(request.target_prefix, '\n');
  const auto prefix_of = [&prefixes](size_t unit) {
    return unit < prefixes.size() ? prefixes[unit] : std::string();
  };
  NIBU_ASSIGN_OR_RETURN(done, internal::DetectLanguage(text, this, &plan, std::move(done)));
  const auto job = std::make_shared<TextJob>(request.key, std::move(done));
  Translation& translation = job->translation;
  TextReader reader(plan->text_options);
  reader.Add(text);
  reader.End();
  std::unordered_map<std::string, size_t> known;
  for (TextUnit unit; reader.Next(&unit);) {
    const size_t i = translation.units.size();
    const std::string key = absl::StrCat(unit.source(), "\n", prefix_of(i));
    job->same.push_back(plan->has_repeats ? known.try_emplace(key, i).first->second : i);
    translation.units.push_back(std::move(unit));
  }
  for (size_t i = translation.units.size(); i < prefixes.size(); ++i) {
    if (!prefixes[i].empty()) return internal::Invalid("the prefix has more lines than the text");
  }
  translation.ends_line = absl::EndsWith(text, "\n");
  translation.ends_open = reader.is_open();
  translation.results.resize(translation.units.size());
  auto state = std::make_shared<Ticket::State>(Ticket::State{plan, {}});
  absl::Cleanup cancel = [&] {
    job->Abandon();
    Ticket submitted;
    submitted.state_ = state;
    Cancel(submitted);
  };
  for (size_t i = 0; i < translation.units.size(); ++i) {
    if (job->same[i] != i || !translation.units[i].has_text()) continue;
    // Each unit has a key of its own, so that samples of equal units differ.
    Request of_unit = {request.priority, request.deadline, request.key + i * kUnitKeys,
                       prefix_of(i)};
    job->Expect(1);
    NIBU_ASSIGN_OR_RETURN(
        const Ticket ticket,
        Submit(
            translation.units[i], plan, std::move(of_unit),
            [job, i](uint64_t, absl::StatusOr<Result> result) { job->Take(i, std::move(result)); },
            patience));
    state->lines.push_back(ticket.state_->lines[0]);
  }
  std::move(cancel).Cancel();
  job->Submitted();
  Ticket ticket;
  ticket.state_ = std::move(state);
  return ticket;
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<Translation> Translator::TranslateText(absl::string_view text,
                                                      std::shared_ptr<const Plan> plan) try {
  const auto all = std::make_shared<internal::Gather<Translation>>(1);
  NIBU_RETURN_IF_ERROR(SubmitText(
                           text, std::move(plan), {},
                           [all](uint64_t, absl::StatusOr<Translation> translation) {
                             all->Add(0, std::move(translation));
                           },
                           kForever)
                           .status());
  NIBU_ASSIGN_OR_RETURN(std::vector<Translation> translations, all->Await());
  return std::move(translations[0]);
} catch (...) {
  return internal::StatusOfException();
}

}  // namespace nibu
