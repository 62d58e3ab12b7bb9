// Implements nibu::Translator: chooses the plan of a text, and submits its lines (PendingLine) to
// the engine of its model (Engines).

#include "nibu/translator.h"

#include <cstdint>
#include <future>
#include <unordered_map>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "engine/schedule/core_budget.h"
#include "tools/text/marked/markup.h"
#include "tools/text/marked/text_reader.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/option_table.h"
#include "tools/text/translator/engines.h"
#include "tools/text/translator/languages.h"
#include "tools/text/translator/pending_line.h"
#include "tools/text/translator/plan.h"

namespace nibu {

using internal::Engines;
using internal::TranslatorOptions;

namespace {

absl::Status WouldWait() {
  return absl::FailedPreconditionError(
      "a callback would wait for itself; submit the texts, or wait on another thread");
}

// Refuses a plan, perhaps null, that a translator with these engines cannot use.
absl::Status CheckPlan(const Plan* plan, const std::shared_ptr<Engines>& engines) {
  if (plan == nullptr) return internal::Invalid("a plan is missing; see Prepare");
  if (plan->engines == engines) return absl::OkStatus();
  return absl::FailedPreconditionError("the plan is another translator's");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Translator>> Translator::Open(
    const std::string& model, const Options& options, const ModelOptions& model_options,
    const SpeedOptions& speed_options) try {
  NIBU_ASSIGN_OR_RETURN(auto made, Create(speed_options));
  NIBU_ASSIGN_OR_RETURN(auto loaded, Model::Load(model, model_options));
  NIBU_ASSIGN_OR_RETURN(made->plan_, made->Prepare(std::move(loaded), options));
  return made;
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::unique_ptr<Translator>> Translator::Create(const SpeedOptions& options) try {
  NIBU_RETURN_IF_ERROR(internal::CheckValues(internal::SpeedOptionRows(), options));
  TranslatorOptions speed = internal::MakeTranslatorOptions(options);
  speed.cores = std::make_shared<internal::CoreBudget>(speed.threads);
  NIBU_RETURN_IF_ERROR(speed.Validate());
  return std::unique_ptr<Translator>(new Translator(std::make_shared<Engines>(std::move(speed))));
} catch (...) {
  return internal::StatusOfException();
}

Translator::Translator(std::shared_ptr<Engines> engines) : engines_(std::move(engines)) {}
Translator::~Translator() { engines_->Close(); }

absl::StatusOr<std::shared_ptr<const Plan>> Translator::Prepare(std::shared_ptr<const Model> model,
                                                                const Options& options) try {
  if (model == nullptr) return internal::Invalid("a model is missing; see Model::Load");
  NIBU_ASSIGN_OR_RETURN(const auto use, engines_->Use());
  auto plan = std::make_shared<Plan>(engines_, model);
  Options known = options;  // with a language in place of "auto"
  NIBU_ASSIGN_OR_RETURN(plan->languages, internal::Languages::Create(model->info(), &known));
  NIBU_RETURN_IF_ERROR(internal::CheckOptions(known));
  const auto decoding_with = [&](const internal::ModelParts& parts) {
    return internal::MakeDecodingOptions(known, parts.loaded.defaults);
  };
  const internal::DecodingOptions decoding = decoding_with(*model->parts_);
  NIBU_RETURN_IF_ERROR(decoding.Validate());
  const int longest = decoding.max_decoding_length;
  NIBU_ASSIGN_OR_RETURN(plan->engine,
                        engines_->For(model->parts_, known.max_input_length, longest));
  const internal::ModelParts* const second = model->pivot_.get();
  if (second != nullptr) {
    NIBU_ASSIGN_OR_RETURN(plan->pivot_engine,
                          engines_->For(model->pivot_, std::max(known.max_input_length, longest),
                                        decoding_with(*second).max_decoding_length));
  }
  NIBU_ASSIGN_OR_RETURN(plan->lines, engines_->Prepare(plan->engine, *model->parts_,
                                                       plan->pivot_engine, second, known));
  return plan;
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::shared_ptr<const Plan>> Translator::PlanFor(absl::string_view text,
                                                                std::shared_ptr<const Plan> plan,
                                                                std::string* language) {
  if (plan == nullptr) plan = plan_;
  NIBU_RETURN_IF_ERROR(CheckPlan(plan.get(), engines_));
  if (plan->languages == nullptr) return plan;
  NIBU_ASSIGN_OR_RETURN(*language, plan->languages->LanguageOf(text, *plan->lines));
  Options options = plan->lines->options;
  options.src_lang = plan->languages->OptionFor(*language);
  return Prepare(plan->model, options);
}

absl::StatusOr<Ticket> Translator::Submit(absl::string_view text, std::shared_ptr<const Plan> plan,
                                          Request request, Done done,
                                          std::chrono::nanoseconds queue_timeout) try {
  std::string language;
  NIBU_ASSIGN_OR_RETURN(plan, PlanFor(text, std::move(plan), &language));
  const Options& options = plan->lines->options;
  if (options.text != TextKind::kLines || absl::StrContains(text, '\n') ||
      (absl::StrContains(request.target_prefix, '\n') && !request.target.has_value())) {
    return SubmitWhole(text, std::move(plan), std::move(request), std::move(language),
                       std::move(done), queue_timeout);
  }
  internal::MarkedLine line;
  if (options.markup == Markup::kNone) {
    line = internal::PlainLine(text);
  } else {
    internal::MarkupReader reader(options.markup);
    line = reader.Read(text);
    line.ends_open = reader.is_open();
  }
  return SubmitLine(line, std::move(plan), std::move(request), std::move(language), std::move(done),
                    queue_timeout);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<Ticket> Translator::Submit(const TextUnit& unit, std::shared_ptr<const Plan> plan,
                                          Request request, Done done,
                                          std::chrono::nanoseconds queue_timeout) try {
  std::string language;
  NIBU_ASSIGN_OR_RETURN(plan, PlanFor(unit.source(), std::move(plan), &language));
  return SubmitLine(unit.parts_->marked, std::move(plan), std::move(request), std::move(language),
                    std::move(done), queue_timeout);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<Ticket> Translator::SubmitLine(const internal::MarkedLine& line,
                                              std::shared_ptr<const Plan> plan, Request request,
                                              std::string language, Done done,
                                              std::chrono::nanoseconds queue_timeout) {
  // The ticket comes first, so that nothing fails once the line is queued.
  if (InCallback()) queue_timeout = std::chrono::nanoseconds(0);
  auto state = std::make_shared<Ticket::State>(Ticket::State{{{}}});
  const auto pending = std::make_shared<internal::PendingLine>(
      std::move(plan), std::move(request), std::move(language), std::move(done));
  state->lines[0] = pending;
  NIBU_ASSIGN_OR_RETURN(const auto use, engines_->Use());
  NIBU_RETURN_IF_ERROR(pending->Submit(line, queue_timeout));
  Ticket ticket;
  ticket.state_ = std::move(state);
  return ticket;
}

std::future<absl::StatusOr<Result>> Translator::SubmitFuture(absl::string_view text,
                                                             std::shared_ptr<const Plan> plan,
                                                             Request request) {
  const auto promise = std::make_shared<std::promise<absl::StatusOr<Result>>>();
  if (InCallback()) {
    promise->set_value(WouldWait());
    return promise->get_future();
  }
  const auto ticket = Submit(
      text, std::move(plan), std::move(request),
      [promise](uint64_t, absl::StatusOr<Result> result) { promise->set_value(std::move(result)); },
      kForever);
  if (!ticket.ok()) promise->set_value(ticket.status());
  return promise->get_future();
}

bool Translator::InCallback() { return internal::CallbackScope::is_here(); }

void Translator::Cancel(const Ticket& ticket) {
  if (ticket.state_ != nullptr) CancelLines(ticket.state_->lines);
}

void Translator::CancelAll() { CancelLines(engines_->TakeRequests()); }

void Translator::CancelLines(const std::vector<std::weak_ptr<internal::PendingLine>>& lines) {
  if (engines_->is_forked() || !engines_->Enter()) return;
  const absl::Cleanup leave = [&] { engines_->Leave(); };
  for (const auto& each : lines) {
    if (const auto line = each.lock(); line != nullptr) line->Cancel(*engines_);
  }
}

absl::StatusOr<std::string> Translator::Translate(absl::string_view text) try {
  NIBU_ASSIGN_OR_RETURN(std::vector<Result> results,
                        Translate({std::string(text)}, /*plan=*/nullptr));
  return std::move(results[0].hypotheses[0].text);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::vector<Result>> Translator::Translate(const std::vector<std::string>& texts,
                                                          std::shared_ptr<const Plan> plan,
                                                          const Request& request) try {
  return SubmitAll(texts, nullptr, plan, request);
} catch (...) {
  return internal::StatusOfException();
}

absl::StatusOr<std::vector<Result>> Translator::Score(const std::vector<std::string>& lines,
                                                      const std::vector<std::string>& targets,
                                                      std::shared_ptr<const Plan> plan,
                                                      const Request& request) try {
  if (lines.size() != targets.size()) {
    return internal::Invalid("there are ", lines.size(), " lines and ", targets.size(),
                             " targets; give one for each");
  }
  return SubmitAll(lines, &targets, plan, request);
} catch (...) {
  return internal::StatusOfException();
}

// `targets`: the translations to be scored, or null if the texts are to be translated.
absl::StatusOr<std::vector<Result>> Translator::SubmitAll(const std::vector<std::string>& texts,
                                                          const std::vector<std::string>* targets,
                                                          const std::shared_ptr<const Plan>& plan,
                                                          const Request& request) {
  if (InCallback()) return WouldWait();
  // Also without texts, a plan is refused that cannot be used.
  const Plan* const used = plan == nullptr ? plan_.get() : plan.get();
  NIBU_RETURN_IF_ERROR(CheckPlan(used, engines_));
  NIBU_RETURN_IF_ERROR(engines_->Use().status());
  const bool has_repeats = used->lines->options.sampling_topk == 1;
  std::unordered_map<std::string, size_t> known;
  std::vector<size_t> same(texts.size());  // for each text, the first one that is equal
  const auto all = std::make_shared<internal::Gather<Result>>(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    same[i] = i;
    if (has_repeats) {
      const std::string key = targets == nullptr
                                  ? texts[i]
                                  : absl::StrCat(texts[i].size(), " ", texts[i], (*targets)[i]);
      same[i] = known.try_emplace(key, i).first->second;
    }
    if (same[i] != i) {
      all->Add(i, Result());
      continue;
    }
    Request of_text = request;
    of_text.key += i;
    if (targets != nullptr) of_text.target = (*targets)[i];
    const auto ticket = Submit(
        texts[i], plan, std::move(of_text),
        [all, i](uint64_t, absl::StatusOr<Result> result) { all->Add(i, std::move(result)); },
        kForever);
    if (!ticket.ok()) all->Add(i, ticket.status());
    if (!all->has_failed()) continue;
    // The other texts are not begun.
    while (++i < texts.size()) all->Add(i, absl::CancelledError("the request was cancelled"));
  }
  NIBU_ASSIGN_OR_RETURN(std::vector<Result> results, all->Await());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (same[i] != i) results[i] = results[same[i]];
  }
  return results;
}

void Translator::ReleaseUnloaded() {
  try {
    engines_->Use().IgnoreError();
  } catch (...) {  // There is no memory for the list of engines to free. A later call frees them.
  }
}

int Translator::max_input_length(const Plan& plan) const {
  return static_cast<int>(plan.lines->limit);
}

int Translator::threads() const { return engines_->threads(); }
uint64_t Translator::sentences() const { return engines_->costs().sentences; }
uint64_t Translator::translated_sentences() const { return engines_->costs().translated_sentences; }

Activity Translator::activity() const { return engines_->activity(); }

}  // namespace nibu
