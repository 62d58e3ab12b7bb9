// The contents of nibu::Plan and nibu::Ticket.
#ifndef NIBU_TOOLS_TEXT_PLAN_H_
#define NIBU_TOOLS_TEXT_PLAN_H_

#include <memory>
#include <utility>
#include <vector>

#include "nibu/translator.h"
#include "tools/text/auto_language.h"
#include "tools/text/engines.h"
#include "tools/text/text_translator.h"

namespace nibu {

class Plan {
 public:
  Plan(std::shared_ptr<internal::Engines> of, std::shared_ptr<const Model> with,
       const Options& options)
      : engines(std::move(of)),
        model(std::move(with)),
        text_options(options),
        has_repeats(options.markup == Markup::kNone && options.sampling_topk == 1) {}
  ~Plan() {
    for (internal::Engine* const each : {engine, pivot_engine}) {
      if (each != nullptr) engines->ReleasePlan(each);
    }
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const std::shared_ptr<internal::Engines> engines;
  const std::shared_ptr<const Model> model;  // The model that the engine has.
  const Options text_options;                // As the user gave them; TextReader needs some.
  const bool has_repeats;                    // Units with the same text have the same translation.
  internal::Engine* engine = nullptr;
  internal::Engine* pivot_engine = nullptr;  // The engine of the second of two models in a row.
  std::shared_ptr<const internal::TextTranslator::Plan> text = nullptr;
  int max_input_length = 0;
  std::shared_ptr<internal::AutoLanguage> languages = nullptr;  // null: src_lang is not "auto"
};

struct Ticket::State {
  std::weak_ptr<const Plan> plan;
  std::vector<internal::TextTranslator::TextTicket> lines;  // one, or one for each unit of a text
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_PLAN_H_
