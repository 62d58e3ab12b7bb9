// Queues the parts of a line, collects their translations, and delivers the line's result.
#include "tools/text/translator/pending_line.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/numeric/int128.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/lines/line_reader.h"
#include "tools/text/lines/stand_ins.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {

namespace {

// Returns the status of a request that has ended, with the message that the queue leaves out to
// save memory.
absl::Status WithMessage(const absl::Status& status) try {
  if (!status.message().empty()) return status;
  if (absl::IsCancelled(status)) return absl::CancelledError("the request was cancelled");
  if (absl::IsDeadlineExceeded(status)) {
    return absl::DeadlineExceededError("the request's deadline has passed");
  }
  return status;
} catch (...) {  // There is no memory for the message.
  return status;
}

// Returns the priority of each part of a line: see nibu::Request::first_priority.
std::vector<int64_t> PrioritiesOf(const nibu::Request& request, absl::Span<const LinePart> parts) {
  const int64_t first = request.first_priority.value_or(request.priority);
  const absl::int128 change = absl::int128(request.priority) - first;
  size_t total = 0;
  for (const LinePart& part : parts) total += part.marked.text.size();
  std::vector<int64_t> priorities;
  size_t bytes = 0;  // up to the end of the part
  for (const LinePart& part : parts) {
    bytes += part.marked.text.size();
    priorities.push_back(first + static_cast<int64_t>(change * bytes / std::max<size_t>(total, 1)));
  }
  return priorities;
}

}  // namespace

thread_local int CallbackScope::depth_ = 0;

absl::Status PendingLine::Submit(const MarkedLine& line,
                                 std::chrono::nanoseconds queue_timeout) try {
  const std::shared_ptr<const Plan> plan = plan_;  // which goes when the last part ends
  const bool has_pivot = plan->pivot_engine != nullptr;
  ends_open_ = line.ends_open;
  if (has_pivot && request_.target.has_value()) {
    return Invalid("two models in a row cannot score a target; score it with the last one");
  }
  const auto start = Clock::now();
  NIBU_ASSIGN_OR_RETURN(line_,
                        ReadLine(*plan->lines, line, request_.target_prefix, request_.target));
  const std::vector<int64_t> priorities = PrioritiesOf(request_, line_.parts);
  std::vector<Request> requests;
  for (size_t i = 0; i < line_.parts.size(); ++i) {
    NIBU_ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(i, priorities[i]));
    if (has_pivot) requests.back() = MakeFirstRequest(std::move(requests.back()));
  }
  plan->engines->costs().tokenizer_seconds += SecondsSince(start);
  // A line of which nothing is translated is copied.
  if (requests.empty()) {
    if (!IsBlank(request_.target.value_or("")) && !line_.matches_target) {
      return Invalid("a target, and nothing that it could translate");
    }
    nibu::Result blank;
    blank.hypotheses.emplace_back().text = PlaceValues(line_.behind, line_.values);
    blank.hypotheses[0].warnings[Warning::kProtected] = line_.has_messages;
    Deliver(std::move(blank));
    return absl::OkStatus();
  }
  if (has_pivot) {
    if (request_.on_step != nullptr)
      return Invalid("two models in a row do not tell of their steps");
    NIBU_ASSIGN_OR_RETURN(use_, plan->engines->Hold());
  }
  plan->engines->Remember(weak_from_this());
  missing_ = requests.size();
  plan->engines->costs().sentences += requests.size();
  tickets_.reserve(requests.size());
  // If Submit fails, the parts that are queued already are cancelled. Since one part stays missing,
  // nothing is delivered.
  absl::Cleanup cancel = [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_cancelled_ = true;  // for parts that go on to the second model
    CancelParts(*plan);
  };
  const auto queueing = Clock::now();
  const auto rest = [&] {
    return std::max(queue_timeout, std::chrono::nanoseconds(0)) - (Clock::now() - queueing);
  };
  for (size_t i = 0; i < requests.size(); ++i) {
    if (has_pivot) {
      NIBU_RETURN_IF_ERROR(plan->pivot_engine->translator->AwaitRoom(rest()));
    }
    NIBU_ASSIGN_OR_RETURN(tickets_.emplace_back(),
                          plan->engine->translator->Submit(
                              std::move(requests[i]),
                              [self = shared_from_this(), i](uint64_t, Result result) {
                                if (result.ok() && !self->pivots_.empty()) {
                                  self->Continue(i, result->at(0));
                                } else {
                                  self->Take(i, std::move(result));
                                }
                              },
                              rest()));
  }
  std::move(cancel).Cancel();
  const std::lock_guard<std::mutex> lock(mutex_);
  is_submitted_ = true;
  if (is_cancelled_) CancelParts(*plan);
  return absl::OkStatus();
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<Request> PendingLine::MakeRequest(size_t part, int64_t priority) {
  const LinePlan& plan = *plan_->lines;
  LinePart& text = line_.parts[part];
  Request made;
  made.source = plan.coder.Ids(text.source.pieces);
  const bool has_marks = NeedsAlignment(text.marked) && !request_.target.has_value();
  made.plan = plan.searches[has_marks][part == line_.expanded];
  made.priority = priority;
  made.deadline = request_.deadline;
  made.key = (request_.key << 20) + part;  // samples of a line's sentences differ
  if (!text.prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(made.target_prefix, plan.coder.TargetIds(text.prefix));
    text.prefix_tokens = made.target_prefix.size();
  }
  // A part that is given ends with its prefix. The length may be 0: of a prefix of protected parts
  // alone, the model sees nothing.
  if (text.is_given && plan.decoding.prefix_bias_beta == 0) {
    made.max_length = static_cast<int>(text.prefix_tokens);
  }
  if (request_.target.has_value()) {
    NIBU_ASSIGN_OR_RETURN(made.target, plan.coder.TargetIds(text.target));
    made.target->push_back(plan.eos);
  } else if (!plan.glossary.empty()) {
    made.constraints = plan.glossary.Find(plan.coder.SourceText(text.source.own()));
    made.word_parts = plan.word_parts;
  }
  // Two models in a row refuse it. Their requests are kept in this object, and must not own it.
  if (request_.on_step != nullptr && plan_->pivot_engine == nullptr) {
    made.on_step = [self = shared_from_this(), part](const Step& step) {
      return self->Tell(part, step);
    };
  }
  return made;
}

bool PendingLine::Tell(size_t part, const Step& step) {
  const TextCoder& coder = plan_->lines->coder;
  nibu::Step told{.sentence = part,
                  .hypothesis = step.hypothesis,
                  .position = step.position,
                  .token = coder.Tokens({step.token})[0],
                  .id = step.token,
                  .log_prob = step.log_prob,
                  .is_last = step.is_last};
  Told* before = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    before = &told_[{part, step.hypothesis}];  // stays where it is
  }
  before->tokens.push_back(step.token);
  std::vector<std::string> tokens = coder.Tokens(before->tokens);
  if (told.token == coder.Tokens({plan_->lines->eos})[0]) tokens.pop_back();
  const std::string text = coder.Text(tokens, nullptr);
  // A character of several byte tokens is U+FFFD until the last of them has come.
  absl::string_view whole = text;
  while (!step.is_last && absl::ConsumeSuffix(&whole, "\uFFFD")) {
  }
  if (whole.size() > before->bytes) {
    told.text = std::string(whole.substr(before->bytes));
    before->bytes = whole.size();
  }
  const CallbackScope here;
  return request_.on_step(told);
}

absl::StatusOr<bool> PendingLine::TryAgain(size_t part, std::vector<Hypothesis> hypotheses) try {
  LinePart& text = line_.parts[part];
  if (!TryStandIns(*plan_->lines, line_, std::move(hypotheses), &text)) return false;
  if (SubmitAgain(part).ok()) return true;
  TakeBest(&text);
  return false;
} catch (...) {
  return StatusOfException();
}

absl::Status PendingLine::SubmitAgain(size_t part) try {
  NIBU_ASSIGN_OR_RETURN(Request request, MakeRequest(part, request_.priority));
  request.continues = true;
  return SubmitFollower(
      plan_->engine->translator.get(), std::move(request),
      [self = shared_from_this(), part](uint64_t, Result r) { self->Take(part, std::move(r)); });
} catch (...) {
  return StatusOfException();
}

absl::Status PendingLine::SubmitFollower(Translator* engine, Request request, Done done) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    followers_.reserve(followers_.size() + 1);  // Nothing throws after Submit.
  }
  NIBU_ASSIGN_OR_RETURN(const Ticket ticket, engine->Submit(std::move(request), std::move(done)));
  const std::lock_guard<std::mutex> lock(mutex_);
  followers_.push_back(ticket);
  if (is_cancelled_) engine->Cancel(ticket);
  return absl::OkStatus();
}

void PendingLine::Take(size_t part, Result result) {
  // With two models, and where the caller is told of each token, the first names stay.
  const bool may_try = line_.parts[part].trial != nullptr && pivots_.empty() &&
                       request_.on_step == nullptr && !plan_->lines->decoding.sampling.is_on() &&
                       !plan_->lines->decoding.return_alternatives;
  if (result.ok() && may_try) {
    const absl::StatusOr<bool> again = TryAgain(part, *std::move(result));
    if (again.ok() && *again) return;
    result = again.ok() ? Result(std::move(line_.parts[part].hypotheses)) : again.status();
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++plan_->engines->costs().translated_sentences;
    status_.Update(result.status());
    if (result.ok()) line_.parts[part].hypotheses = *std::move(result);
    if (--missing_ > 0) return;
  }
  const auto start = Clock::now();
  absl::StatusOr<nibu::Result> finished = Finish();
  plan_->engines->costs().text_seconds += SecondsSince(start);
  Deliver(std::move(finished));
}

void PendingLine::Deliver(absl::StatusOr<nibu::Result> result) noexcept {
  if (result.ok()) {
    result->source_language = std::move(language_);
    result->ends_open = ends_open_;
  }
  // The plan, and with it the model, lives for longer than what the caller's function has captured.
  std::shared_ptr<const Plan> plan;
  const std::shared_ptr<void> use = std::move(use_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    plan.swap(plan_);
  }
  const CallbackScope here;
  const nibu::Done done = std::exchange(done_, nullptr);
  try {
    done(request_.key, std::move(result));
  } catch (...) {  // see nibu::Done
  }
  request_.on_step = nullptr;
}

void PendingLine::Cancel(const Engines& by) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (plan_ == nullptr || plan_->engines.get() != &by) return;
  is_cancelled_ = true;
  if (is_submitted_) CancelParts(*plan_);
}

void PendingLine::CancelParts(const Plan& plan) const {
  for (const Ticket& part : tickets_) plan.engine->translator->Cancel(part);
  Engine* const next = plan.pivot_engine != nullptr ? plan.pivot_engine : plan.engine;
  for (const Ticket& part : followers_) next->translator->Cancel(part);
}

absl::StatusOr<nibu::Result> PendingLine::Finish() try {
  if (!status_.ok()) return WithMessage(status_);
  const LinePlan& plan = *plan_->lines;
  nibu::Result result;
  result.source_tokens = line_.source_tokens;
  result.too_long = line_.too_long;
  result.scored_whole = line_.scored_whole;
  result.source_labels = SourceLabels(plan, line_);
  size_t count = line_.parts[line_.expanded].hypotheses.size();
  // The result has as many hypotheses as each part has. A part that is given, or has no
  // alternatives of its own, repeats its only one.
  for (LinePart& part : line_.parts) {
    for (Hypothesis& each : part.hypotheses) {
      each.finished |= part.is_given && each.tokens.size() == part.prefix_tokens;
    }
    if (part.hypotheses.size() == 1 && (part.is_given || plan.decoding.return_alternatives)) {
      part.hypotheses.resize(count, Hypothesis(part.hypotheses[0]));
    }
    count = std::min(count, part.hypotheses.size());
  }
  const bool truncated = result.too_long && plan.options.long_input == LongInput::kTruncate;
  for (size_t n = 0; n < count; ++n) {
    result.hypotheses.push_back(Join(plan, line_, n));
    result.hypotheses.back().warnings[Warning::kTruncated] = truncated;
  }
  // Alternatives keep their order, and terms of a glossary come before scores.
  const bool has_order = plan.decoding.return_alternatives || !plan.glossary.empty();
  if (line_.parts.size() > 1 && !has_order) {
    absl::c_stable_sort(
        result.hypotheses,
        [](const nibu::Hypothesis& a, const nibu::Hypothesis& b) { return a.score > b.score; });
  }
  if (!result.hypotheses.empty()) {
    const nibu::Hypothesis& best = result.hypotheses[0];
    size_t ends = line_.is_scored ? line_.parts.size() : 0;
    if (plan.options.return_ends && !line_.is_scored) {
      ends = static_cast<size_t>(absl::c_count(best.tokens, plan.coder.Tokens({plan.eos})[0]));
    }
    result.target_tokens = static_cast<int>(best.tokens.size() - ends);
  }
  return result;
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
