// Answers /align: which words of a line and of its translation belong together.

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/libre_translate.h"
#include "tools/serve/service_call.h"

namespace nibu::internal {
namespace {

// A line on its way to its alignment.
struct Aligning {
  std::shared_ptr<const Admission> admission;
  std::optional<Ticket> ticket;
  bool has_ended = false;
};

HttpAnswer AlignmentAnswer(const nibu::Result& result) {
  nlohmann::json pairs = nlohmann::json::array();
  if (!result.hypotheses.empty()) pairs = result.hypotheses[0].alignment;
  return JsonAnswer({{"alignment", pairs}});
}

}  // namespace

// The translation is scored, which takes one pass through the decoder, and its attention tells the
// words. Two models in a row cannot score: they have no alignment here.
HttpCancel Service::Align(const Call& call) {
  const std::shared_ptr<Exchange> exchange = call.exchange;
  const auto end = [&](HttpAnswer answer) {
    End(exchange.get(), std::move(answer));
    return nullptr;
  };
  if (is_draining_) return end(Busy("the server is about to end"));
  auto read = ReadLibreTranslate(call.http, call.parameters,
                                 {store_.catalog(), options_, glossaries_, &files_});
  if (!read.ok()) return end(RefusedAnswer(read.status(), exchange->errors));
  const nlohmann::json* const given = call.parameters.Find("translation");
  std::string translation = given != nullptr && given->is_string() ? given->get<std::string>() : "";
  const auto has_lines = [](const std::string& text) { return text.find('\n') != text.npos; };
  if (read->texts.size() != 1 || has_lines(read->texts[0]) || has_lines(translation)) {
    return end(ErrorAnswer(400, "Invalid request: q and translation must be one line each"));
  }
  if (options_.max_characters > 0 &&
      translation.size() > 4 * static_cast<size_t>(options_.max_characters)) {
    return end(ErrorAnswer(400, "Invalid request: the translation is too long"));
  }
  const std::optional<Route>& route = read->groups.at(0).route;
  if (!route.has_value() || route->second != nullptr || translation.empty()) {
    return end(AlignmentAnswer({}));
  }
  exchange->log.source = read->groups[0].source;
  exchange->log.target = read->target;
  exchange->log.texts = 1;
  exchange->log.characters = read->characters[0];
  const auto state = std::make_shared<Aligning>();
  state->admission = jobs_.Admit(call.client, read->characters[0]);
  if (state->admission == nullptr) return end(Busy("the server has too much to do; try again"));
  if (auto refusal = access_.RefuseCharacters(call.client, read->characters[0],
                                              std::chrono::steady_clock::now())) {
    return end(*std::move(refusal));
  }
  const auto finish = [this, exchange, state](HttpAnswer answer) {
    if (std::exchange(state->has_ended, true)) return;
    state->admission = nullptr;
    End(exchange.get(), std::move(answer));
  };
  PlanChoice choice;
  choice.aligns_words = true;
  store_.Prepare(
      *route, choice,
      [this, state, finish, line = read->texts[0],
       translation = std::move(translation)](const absl::StatusOr<NumberedPlan>& plan) mutable {
        if (state->has_ended) return;
        if (!plan.ok()) return finish(FailedAnswer(plan.status()));
        const auto ticket = translator_->Submit(
            line, plan->plan, {.target = std::move(translation)},
            [this, finish](uint64_t, const absl::StatusOr<nibu::Result>& result) {
              post_([this, finish, result] {
                finish(result.ok() ? AlignmentAnswer(*result) : FailedAnswer(result.status()));
              });
            },
            kForever);
        if (!ticket.ok()) return finish(FailedAnswer(ticket.status()));
        state->ticket = *ticket;
      });
  return [this, finish, state] {
    if (state->ticket.has_value()) translator_->Cancel(*state->ticket);
    HttpAnswer gone;
    gone.status = 499;
    finish(std::move(gone));
  };
}

}  // namespace nibu::internal
