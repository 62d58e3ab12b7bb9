// The contents of nibu::Plan and nibu::Ticket.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_PLAN_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_PLAN_H_

#include <memory>
#include <utility>
#include <vector>

#include "nibu/translator.h"
#include "tools/text/lines/line_plan.h"
#include "tools/text/translator/engines.h"
#include "tools/text/translator/languages.h"

namespace nibu {

class Plan {
 public:
  Plan(std::shared_ptr<internal::Engines> of, std::shared_ptr<const Model> with)
      : engines(std::move(of)), model(std::move(with)) {}
  ~Plan() {
    for (internal::Engine* const each : {engine, pivot_engine}) {
      if (each != nullptr) engines->ReleasePlan(each);
    }
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const std::shared_ptr<internal::Engines> engines;
  const std::shared_ptr<const Model> model;  // The model that the engine has.
  internal::Engine* engine = nullptr;
  internal::Engine* pivot_engine = nullptr;  // The engine of the second of two models in a row.
  std::shared_ptr<const internal::LinePlan> lines = nullptr;
  // Null unless src_lang is "auto". Then `lines` have one of the languages, and each text gets a
  // plan with its own.
  std::unique_ptr<const internal::Languages> languages = nullptr;
};

struct Ticket::State {
  std::vector<std::weak_ptr<internal::PendingLine>> lines;  // one, or one for each unit of a text
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_PLAN_H_
