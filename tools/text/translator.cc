// Implements nibu::Translator with an internal::TextTranslator, called an engine, for each model.
//
// An engine is made at the first Prepare for its model. It has SpeedOptions::threads workers, which
// decode while they hold one of as many cores, which all engines share (CoreBudget). A plan for two
// models in a row has two engines. Plans count themselves in and out of their engine, and each
// request holds its plan until its Done has been called. So an engine without plans has no
// requests, and it can be destroyed once its model is gone, or once an engine with longer position
// tables has replaced it. That happens in Prepare, Submit, ReleaseUnloaded and the destructor,
// never where the last plan ends: this may be on a thread of the engine's own, which its destructor
// would wait for.

#include "nibu/translator.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "engine/schedule/core_budget.h"
#include "tools/text/auto_language.h"
#include "tools/text/engines.h"
#include "tools/text/model_parts.h"
#include "tools/text/option_table.h"
#include "tools/text/plan.h"
#include "tools/text/resources.h"
#include "tools/text/text_reader.h"
#include "tools/text/text_translator.h"

namespace nibu {
namespace {

using Parts = std::shared_ptr<const internal::ModelParts>;
using internal::Engine;
using internal::Engines;
using internal::TextTranslator;
using internal::TranslatorOptions;

// Returns the length of the position tables for sequences of `wanted` tokens. Each new length costs
// an engine, with threads and memory, and requests may ask for any. So lengths above the default
// are rounded up to a power of two. Plans keep their own limits.
int TableLength(int wanted, int by_default) {
  constexpr int kLargest = 1 << 30;  // the largest power of two that is an int
  if (wanted <= by_default) return by_default;
  if (wanted > kLargest) return wanted;
  return static_cast<int>(std::bit_ceil(static_cast<uint32_t>(wanted)));
}

// Returns the options for a model, whose defaults replace options without a value.
absl::StatusOr<internal::TextOptions> TextOptionsFor(const internal::ModelParts& parts,
                                                     const Options& options) {
  const internal::LoadedModel& loaded = parts.model.loaded;
  NIBU_ASSIGN_OR_RETURN(internal::TextOptions text,
                        internal::MakeTextOptions(options, loaded.defaults));
  text.decoding.shortlist = loaded.shortlist;
  return text;
}

// Hands a result to its caller, and keeps the plan for longer than the caller's function.
struct Delivery {
  std::shared_ptr<const Plan> plan;
  Done done;
  std::shared_ptr<void> use;  // see Engines::Hold

  void operator()(uint64_t key, absl::StatusOr<Result> result) {
    const Done last = std::exchange(done, nullptr);
    last(key, std::move(result));
  }
};

}  // namespace

Ticket::Ticket() = default;
Ticket::~Ticket() = default;
Ticket::Ticket(const Ticket&) = default;
Ticket::Ticket(Ticket&&) noexcept = default;
Ticket& Ticket::operator=(const Ticket&) = default;
Ticket& Ticket::operator=(Ticket&&) noexcept = default;

class Translator::Impl {
 public:
  explicit Impl(const TranslatorOptions& speed) : options(speed) {}
  ~Impl() { engines->Close(); }

  // Returns an engine of a model for sources and targets of at least these lengths, and counts one
  // more plan of it.
  absl::StatusOr<Engine*> EngineFor(const Parts& parts, int source_length, int target_length) {
    const std::lock_guard<std::mutex> lock(making_);
    TranslatorOptions wanted = options;
    wanted.max_source_length = TableLength(source_length, wanted.max_source_length);
    wanted.max_decoding_length = TableLength(target_length, wanted.max_decoding_length);
    if (Engine* const found = engines->Find(parts, &wanted); found != nullptr) return found;
    wanted.ensemble_weights = parts->ensemble_weights;
    auto engine = std::make_unique<Engine>(Engine{parts, wanted, nullptr});
    NIBU_ASSIGN_OR_RETURN(engine->text, TextTranslator::Create(parts->model, parts->coder, wanted));
    return engines->Add(std::move(engine));
  }

  // Calls `use`, a function that returns a StatusOr. The destructor waits until it has returned.
  template <typename F>
  auto Use(F use) -> decltype(use()) {
    if (engines->is_forked()) {
      return absl::FailedPreconditionError(
          "the translator is that of a parent process; make one of the child's own");
    }
    if (!engines->Enter()) return absl::FailedPreconditionError("the translator has ended");
    const absl::Cleanup leave = [&] { engines->Leave(); };
    engines->ReleaseUnloaded();
    return use();
  }

  absl::Status Check(const std::shared_ptr<const Plan>& plan) const {
    if (plan == nullptr) return internal::Invalid("a plan is missing; see Prepare");
    if (plan->engines == engines) return absl::OkStatus();
    return absl::FailedPreconditionError("the plan is another translator's");
  }

  // `pivot`: null, or the second of two models in a row.
  absl::StatusOr<std::shared_ptr<const Plan>> Prepare(const std::shared_ptr<const Model>& model,
                                                      const Parts& parts, const Parts& pivot,
                                                      const Options& wanted) {
    auto plan = std::make_shared<Plan>(engines, model, wanted);
    Options known = wanted;  // with a language in place of "auto"
    NIBU_ASSIGN_OR_RETURN(plan->languages, internal::AutoLanguage::Create(model->info(), &known));
    NIBU_ASSIGN_OR_RETURN(const internal::TextOptions text, TextOptionsFor(*parts, known));
    const int longest = text.decoding.max_decoding_length;
    NIBU_ASSIGN_OR_RETURN(plan->engine, EngineFor(parts, text.max_input_length, longest));
    const TextTranslator& translator = *plan->engine->text;
    if (pivot == nullptr) {
      NIBU_ASSIGN_OR_RETURN(plan->text, translator.Prepare(text));
    } else {
      NIBU_ASSIGN_OR_RETURN(const internal::TextOptions second, TextOptionsFor(*pivot, known));
      NIBU_ASSIGN_OR_RETURN(plan->pivot_engine,
                            EngineFor(pivot, std::max(second.max_input_length, longest),
                                      second.decoding.max_decoding_length));
      NIBU_ASSIGN_OR_RETURN(plan->text,
                            translator.PreparePivot(text, *plan->pivot_engine->text, second));
    }
    plan->max_input_length = translator.max_input_length(*plan->text);
    return plan;
  }

  // Submits a line to its plan's engine. The plan has been checked.
  absl::StatusOr<std::shared_ptr<const Ticket::State>> Submit(
      const internal::MarkedLine& line, const std::shared_ptr<const Plan>& plan, Request request,
      Done done, std::chrono::nanoseconds patience) {
    const TextTranslator::Request made = {plan->text,
                                          request.priority,
                                          request.deadline,
                                          request.key,
                                          std::move(request.target_prefix),
                                          std::move(request.target),
                                          std::move(request.on_step)};
    // The ticket comes first, so that nothing fails once the line is queued.
    auto state = std::make_shared<Ticket::State>(Ticket::State{plan, {{}}});
    Delivery delivery = {plan, std::move(done), nullptr};
    NIBU_ASSIGN_OR_RETURN(state->lines[0], Use([&]() -> absl::StatusOr<TextTranslator::TextTicket> {
                            if (plan->pivot_engine != nullptr) {
                              NIBU_ASSIGN_OR_RETURN(delivery.use, engines->Hold());
                            }
                            return plan->engine->text->Submit(line, made, std::move(delivery),
                                                              patience);
                          }));
    return state;
  }

  const TranslatorOptions options;
  const std::shared_ptr<Engines> engines = std::make_shared<Engines>();

 private:
  std::mutex making_;  // so that one engine is made at a time
};

absl::StatusOr<std::unique_ptr<Translator>> Translator::Create(const SpeedOptions& options) try {
  NIBU_RETURN_IF_ERROR(internal::CheckValues(internal::SpeedOptionRows(), options));
  TranslatorOptions speed = internal::MakeTranslatorOptions(options);
  speed.cores = std::make_shared<internal::CoreBudget>(speed.threads);
  NIBU_RETURN_IF_ERROR(speed.Validate());
  return std::unique_ptr<Translator>(new Translator(std::make_unique<Impl>(speed)));
} catch (...) {
  return internal::StatusOfException();
}

Translator::Translator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Translator::~Translator() = default;

absl::StatusOr<std::shared_ptr<const Plan>> Translator::Prepare(std::shared_ptr<const Model> model,
                                                                const Options& options) try {
  if (model == nullptr) return internal::Invalid("a model is missing; see Model::Load");
  return impl_->Use([&] { return impl_->Prepare(model, model->parts_, model->pivot_, options); });
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<Ticket> Translator::Submit(absl::string_view line, std::shared_ptr<const Plan> plan,
                                          Request request, Done done,
                                          std::chrono::nanoseconds patience) try {
  NIBU_RETURN_IF_ERROR(impl_->Check(plan));
  if (absl::StrContains(line, '\n')) {
    return internal::Invalid("a line has a line feed in it; give its lines one by one");
  }
  NIBU_ASSIGN_OR_RETURN(done, internal::DetectLanguage(line, this, &plan, std::move(done)));
  const Markup markup = plan->text_options.markup;
  const internal::MarkedLine marked = markup == Markup::kNone
                                          ? internal::PlainLine(line)
                                          : internal::MarkupReader(markup).Read(line);
  Ticket ticket;
  NIBU_ASSIGN_OR_RETURN(ticket.state_,
                        impl_->Submit(marked, plan, std::move(request), std::move(done), patience));
  return ticket;
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<Ticket> Translator::Submit(const TextUnit& unit, std::shared_ptr<const Plan> plan,
                                          Request request, Done done,
                                          std::chrono::nanoseconds patience) try {
  NIBU_RETURN_IF_ERROR(impl_->Check(plan));
  NIBU_ASSIGN_OR_RETURN(done,
                        internal::DetectLanguage(unit.source(), this, &plan, std::move(done)));
  Ticket ticket;
  NIBU_ASSIGN_OR_RETURN(ticket.state_, impl_->Submit(unit.parts_->marked, plan, std::move(request),
                                                     std::move(done), patience));
  return ticket;
} catch (...) {
  return internal::StatusOfException();
}

void Translator::Cancel(const Ticket& ticket) {
  if (ticket.state_ == nullptr) return;
  const std::shared_ptr<const Plan> plan = ticket.state_->plan.lock();
  if (plan == nullptr || plan->engines != impl_->engines || impl_->engines->is_forked()) return;
  if (!impl_->engines->Enter()) return;
  const absl::Cleanup leave = [&] { impl_->engines->Leave(); };
  for (const TextTranslator::TextTicket& line : ticket.state_->lines) {
    plan->engine->text->Cancel(line);
  }
}

void Translator::CancelAll() {
  if (impl_->engines->is_forked() || !impl_->engines->Enter()) return;
  const absl::Cleanup leave = [&] { impl_->engines->Leave(); };
  impl_->engines->CancelAll();
}

absl::StatusOr<std::vector<Result>> Translator::Translate(const std::vector<std::string>& lines,
                                                          std::shared_ptr<const Plan> plan) try {
  return SubmitAll(lines, nullptr, plan);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::vector<Result>> Translator::Score(const std::vector<std::string>& lines,
                                                      const std::vector<std::string>& targets,
                                                      std::shared_ptr<const Plan> plan) try {
  if (lines.size() != targets.size()) {
    return internal::Invalid("there are ", lines.size(), " lines and ", targets.size(),
                             " targets; give one for each");
  }
  return SubmitAll(lines, &targets, plan);
} catch (...) {
  return internal::StatusOfException();
}

// `targets`: the translations to be scored, or null if the lines are to be translated.
absl::StatusOr<std::vector<Result>> Translator::SubmitAll(const std::vector<std::string>& lines,
                                                          const std::vector<std::string>* targets,
                                                          const std::shared_ptr<const Plan>& plan) {
  NIBU_RETURN_IF_ERROR(CheckUsable(plan));
  const auto all = std::make_shared<internal::Gather<Result>>(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    Request request;
    request.key = i;
    if (targets != nullptr) request.target = (*targets)[i];
    const auto ticket = Submit(
        lines[i], plan, std::move(request),
        [all](uint64_t key, absl::StatusOr<Result> result) { all->Add(key, std::move(result)); },
        kForever);
    if (!ticket.ok()) all->Add(i, ticket.status());
    if (!all->has_failed()) continue;
    // The other lines are not begun.
    while (++i < lines.size()) all->Add(i, absl::CancelledError("the request was cancelled"));
  }
  return all->Await();
}

absl::Status Translator::CheckUsable(const std::shared_ptr<const Plan>& plan) {
  NIBU_RETURN_IF_ERROR(impl_->Check(plan));
  return impl_->Use([] { return absl::OkStatus(); });
}

void Translator::ReleaseUnloaded() {
  try {
    impl_->Use([] { return absl::OkStatus(); }).IgnoreError();
  } catch (...) {  // There is no memory for the list of engines to free. A later call frees them.
  }
}

int Translator::max_input_length(const Plan& plan) const { return plan.max_input_length; }

int Translator::threads() const { return impl_->options.threads; }
uint64_t Translator::sentences() const { return impl_->engines->sentences(); }
uint64_t Translator::translated_sentences() const { return impl_->engines->translated_sentences(); }

Activity Translator::activity() const {
  const internal::Activity all = impl_->engines->activity();
  return {all.waiting, all.begun, all.waited_seconds, all.steps, all.step_sentences};
}

}  // namespace nibu
