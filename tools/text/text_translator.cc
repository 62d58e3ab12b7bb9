// Queues the parts of lines, collects their translations, and delivers each line's result.
#include "tools/text/text_translator.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/line_reader.h"
#include "tools/text/pending_line.h"
#include "tools/text/resources.h"

namespace nibu::internal {

namespace {

void Deliver(TextTranslator::Pending* pending, absl::StatusOr<TextResult> result) noexcept {
  try {
    pending->done(pending->request.key, std::move(result));
  } catch (...) {  // see Done
  }
  pending->done = nullptr;  // frees what it has captured
}

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

}  // namespace

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(
    TextModel model, TranslatorOptions options) try {
  NIBU_ASSIGN_OR_RETURN(TextCoder coder,
                        TextCoder::Create(model.loaded.vocabulary, model.loaded.model->config));
  model.loaded.vocabulary.ForgetTokens();
  return Create(std::move(model), std::move(coder), std::move(options));
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(
    TextModel model, TextCoder coder, TranslatorOptions options) try {
  std::unique_ptr<TextTranslator> result(new TextTranslator(std::move(coder)));
  result->loaded_ = std::move(model.loaded);
  options.draft = std::move(model.draft);
  options.ensemble = std::move(model.ensemble);
  NIBU_ASSIGN_OR_RETURN(result->translator_, Translator::Create(result->loaded_.model, options));
  return result;
} catch (...) {
  return StatusOfException();
}

TextTranslator::~TextTranslator() = default;

TextOptions TextTranslator::default_options() const {
  TextOptions options;
  options.decoding = MakeDecodingOptions({}, loaded_.defaults);
  options.decoding.shortlist = loaded_.shortlist;
  return options;
}

PlannedModel TextTranslator::Planned() const { return {coder_, loaded_, translator_.get()}; }

absl::StatusOr<std::shared_ptr<const TextTranslator::Plan>> TextTranslator::Prepare(
    const TextOptions& options) const try {
  NIBU_ASSIGN_OR_RETURN(Plan plan, MakeTextPlan(options, Planned()));
  return std::make_shared<const Plan>(std::move(plan));
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::shared_ptr<const TextTranslator::Plan>> TextTranslator::PreparePivot(
    const TextOptions& first_options, const TextTranslator& second,
    const TextOptions& options) const try {
  NIBU_ASSIGN_OR_RETURN(Plan plan,
                        MakePivotPlan(first_options, Planned(), options, second.Planned()));
  return std::make_shared<const Plan>(std::move(plan));
} catch (...) {
  return StatusOfException();
}

int TextTranslator::max_input_length(const Plan& plan) const {
  return static_cast<int>(plan.limit);
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    absl::string_view line, const Request& request, Done done,
    std::chrono::nanoseconds patience) try {
  return Submit(PlainLine(line), request, std::move(done), patience);
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    const MarkedLine& line, const Request& request, Done done,
    std::chrono::nanoseconds patience) try {
  if (request.plan == nullptr) return Invalid("plan is missing; see Prepare");
  const PivotPlan* const pivot = request.plan->pivot.get();
  if (pivot != nullptr && request.target.has_value()) {
    return Invalid("two models in a row cannot score a target; score it with the last one");
  }
  const auto start = Clock::now();
  const auto pending = std::make_shared<Pending>();
  pending->request = request;
  pending->done = std::move(done);
  NIBU_ASSIGN_OR_RETURN(pending->line, ReadLine(request, line));
  const size_t parts = pending->line.parts.size();
  std::vector<nibu::internal::Request> requests;
  for (size_t i = 0; i < parts; ++i) {
    NIBU_ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(pending.get(), i));
    if (pivot == nullptr) continue;
    // The request is kept for the second model. The first one gets the same source, with options of
    // its own.
    nibu::internal::Request& next = pending->pivots.emplace_back().next;
    next = std::exchange(requests[i], {});
    requests[i] = {.source = std::move(next.source),
                   .plan = pivot->first.searches.For(next.plan->options().return_attention,
                                                     /*has_alternatives=*/true),
                   .priority = next.priority,
                   .deadline = next.deadline,
                   .key = next.key};
    next.continues = true;
  }
  tokenizing_ += SecondsSince(start);
  // A line of which nothing is translated is copied.
  if (parts == 0) {
    if (!IsBlank(request.target.value_or("")) && !pending->line.matches_target) {
      return Invalid("a target, and nothing that it could translate");
    }
    TextResult blank;
    blank.hypotheses.emplace_back().text = std::move(pending->line.behind);
    Deliver(pending.get(), std::move(blank));
    return pending;
  }
  if (pivot != nullptr && request.on_step != nullptr) {
    return Invalid("two models in a row do not tell of their steps");
  }
  Remember(pending);
  pending->missing = parts;
  sentences_ += parts;
  pending->tickets.reserve(parts);
  // If Submit fails, the parts that are queued already are cancelled. Since one part stays missing,
  // nothing is delivered.
  absl::Cleanup cancel = [&] { CancelParts(*pending); };
  const auto queueing = Clock::now();
  const auto rest = [&] {
    return std::max(patience, std::chrono::nanoseconds(0)) - (Clock::now() - queueing);
  };
  for (size_t i = 0; i < parts; ++i) {
    if (pivot != nullptr) NIBU_RETURN_IF_ERROR(pivot->translator->AwaitRoom(rest()));
    NIBU_ASSIGN_OR_RETURN(pending->tickets.emplace_back(),
                          translator_->Submit(
                              std::move(requests[i]),
                              [this, pending, i](uint64_t, Result result) {
                                if (result.ok() && !pending->pivots.empty()) {
                                  Continue(pending, i, result->at(0));
                                } else {
                                  Take(pending, i, std::move(result));
                                }
                              },
                              rest()));
  }
  std::move(cancel).Cancel();
  const std::lock_guard<std::mutex> lock(pending->mutex);
  pending->is_submitted = true;
  if (pending->is_cancelled) CancelParts(*pending);
  return pending;
} catch (...) {
  return StatusOfException();
}

void TextTranslator::Take(const std::shared_ptr<Pending>& pending, size_t part, Result result) {
  {
    const std::lock_guard<std::mutex> lock(pending->mutex);
    ++translated_sentences_;
    pending->status.Update(result.status());
    if (result.ok()) pending->line.parts[part].hypotheses = *std::move(result);
    if (--pending->missing > 0) return;
  }
  const auto start = Clock::now();
  absl::StatusOr<TextResult> finished = Finish(pending.get());
  finishing_ += SecondsSince(start);
  // This translator may be destroyed as soon as its last text is delivered: with two models in a
  // row, the second one's thread is here.
  Deliver(pending.get(), std::move(finished));
}

absl::StatusOr<nibu::internal::Request> TextTranslator::MakeRequest(Pending* pending,
                                                                    size_t part) const {
  const Request& request = pending->request;
  const Plan& plan = *request.plan;
  LinePart& text = pending->line.parts[part];
  nibu::internal::Request made;
  made.source = plan.coder.Ids(text.source.pieces);
  const bool has_marks = !text.marked.annotations.empty() && !request.target.has_value();
  made.plan = plan.searches.For(/*needs_attention=*/has_marks, part == pending->line.expanded);
  made.priority = request.priority;
  made.deadline = request.deadline;
  made.key = (request.key << 20) + part;  // samples of a line's sentences differ
  if (!text.prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(made.target_prefix, plan.coder.TargetIds(text.prefix));
    text.prefix_tokens = made.target_prefix.size();
  }
  // A part that is given ends with its prefix. The length may be 0: of a prefix of protected parts
  // alone, the model sees nothing.
  if (text.is_given && plan.options.decoding.prefix_bias_beta == 0) {
    made.max_length = static_cast<int>(text.prefix_tokens);
  }
  if (request.target.has_value()) {
    NIBU_ASSIGN_OR_RETURN(made.target, plan.coder.TargetIds(text.target));
    made.target->push_back(loaded_.model->config.eos);
  } else if (!plan.glossary.empty()) {
    made.constraints = plan.glossary.Find(plan.coder.SourceText(text.source.own()));
    made.word_parts = plan.word_parts;
  }
  if (request.on_step != nullptr) {
    made.on_step = [pending, part](const nibu::internal::Step& step) {
      const std::string token = pending->request.plan->coder.Tokens({step.token})[0];
      return pending->request.on_step(nibu::Step{part, step.hypothesis, step.position, token,
                                                 step.token, step.log_prob, step.is_last});
    };
  }
  return made;
}

void TextTranslator::Remember(const TextTicket& ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= most_known_) {
    std::erase_if(known_, [](const TextTicket& each) { return each.expired(); });
    most_known_ = std::max<size_t>(64, 2 * known_.size());
  }
  known_.push_back(ticket);
}

void TextTranslator::CancelAll() {
  std::vector<TextTicket> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    all.swap(known_);
  }
  for (const TextTicket& each : all) Cancel(each);
}

void TextTranslator::Cancel(const TextTicket& ticket) {
  const std::shared_ptr<Pending> pending = ticket.lock();
  if (pending == nullptr) return;
  const std::lock_guard<std::mutex> lock(pending->mutex);
  pending->is_cancelled = true;
  if (pending->is_submitted) CancelParts(*pending);
}

void TextTranslator::CancelParts(const Pending& pending) {
  for (const Ticket& part : pending.tickets) translator_->Cancel(part);
  for (const Ticket& part : pending.followers) {
    pending.request.plan->pivot->translator->Cancel(part);
  }
}

absl::StatusOr<TextResult> TextTranslator::Finish(Pending* pending) const try {
  if (!pending->status.ok()) return WithMessage(pending->status);
  const Plan& plan = *pending->request.plan;
  TextResult result = {
      {}, pending->line.source_tokens, 0, pending->line.too_long, pending->line.scored_whole};
  size_t count = pending->line.parts[pending->line.expanded].hypotheses.size();
  // The result has as many hypotheses as each part has. A part that is given, or has no
  // alternatives of its own, repeats its only one.
  for (LinePart& part : pending->line.parts) {
    for (Hypothesis& each : part.hypotheses) {
      each.finished |= part.is_given && each.tokens.size() == part.prefix_tokens;
    }
    if (part.hypotheses.size() == 1 &&
        (part.is_given || plan.options.decoding.return_alternatives)) {
      part.hypotheses.resize(count, Hypothesis(part.hypotheses[0]));
    }
    count = std::min(count, part.hypotheses.size());
  }
  const bool truncated = result.too_long && plan.options.long_input == LongInput::kTruncate;
  for (size_t n = 0; n < count; ++n) {
    result.hypotheses.push_back(
        Join(plan.coder, loaded_.model->config, plan.options, pending->line, n));
    result.hypotheses.back().warnings[Warning::kTruncated] = truncated;
  }
  // Alternatives keep their order, and terms of a glossary come before scores.
  const bool has_order = plan.options.decoding.return_alternatives || !plan.glossary.empty();
  if (pending->line.parts.size() > 1 && !has_order) {
    absl::c_stable_sort(result.hypotheses, [](const TextHypothesis& a, const TextHypothesis& b) {
      return a.score > b.score;
    });
  }
  if (!result.hypotheses.empty()) {
    const size_t ends = pending->line.is_scored ? pending->line.parts.size() : 0;
    result.target_tokens = static_cast<int>(result.hypotheses[0].tokens.size() - ends);
  }
  return result;
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::vector<TextResult>> TextTranslator::Translate(
    const std::vector<std::string>& lines, const TextOptions& options) try {
  NIBU_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, Prepare(options));
  const auto all = std::make_shared<Gather<TextResult>>(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto ticket = Submit(
        lines[i], {.plan = plan, .key = i},
        [all](uint64_t key, absl::StatusOr<TextResult> result) {
          all->Add(key, std::move(result));
        },
        kForever);
    if (!ticket.ok()) all->Add(i, ticket.status());
  }
  return all->Await();
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
