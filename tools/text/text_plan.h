// Options for texts, checked against a model, or against two models in a row.
#ifndef NIBU_TOOLS_TEXT_TEXT_PLAN_H_
#define NIBU_TOOLS_TEXT_TEXT_PLAN_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/search/decoding_options.h"
#include "models/load_model.h"
#include "tokenizer/sentences/sentence_splitter.h"
#include "tools/text/glossary.h"
#include "tools/text/protect.h"
#include "tools/text/search_plans.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_options.h"
#include "tools/text/watch.h"

namespace nibu::internal {

class Translator;
struct PivotPlan;

// How lines are read, translated and written. With two models in a row, it is a plan of the first
// model's TextTranslator: source texts are those of the first model; targets, and the options of
// the search, those of the second.
struct TextPlan {
  TextOptions options;                  // with the frame; nothing to be protected if tokenized
  TextCoder coder;                      // without tokenizers then
  std::vector<std::string> names = {};  // for protected parts; none is a part of a term
  size_t limit = 0;                     // pieces of a part
  SearchPlans searches = {};            // of options.decoding
  Glossary glossary = {};
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;  // of a request with constraints
  std::shared_ptr<const SentenceSplitter> splitter = nullptr;     // null: lines are whole
  std::shared_ptr<const SentenceSplitter> prefix_splitter = nullptr;  // of the target's language
  // How both languages say numbers; null: not known.
  std::shared_ptr<const NumberWords> source_numbers = nullptr;
  std::shared_ptr<const NumberWords> target_numbers = nullptr;
  Protector protector = nullptr;                     // null: nothing is looked for
  std::shared_ptr<const PivotPlan> pivot = nullptr;  // null: one model
};

// The rest of what a plan for two models in a row knows.
struct PivotPlan {
  TextPlan first;          // how the first model translates
  Frame first_frame;       // its frame
  TextPlan second;         // how the second model translates what the first one wrote; has a frame
  Translator* translator;  // the second model's, which outlives all requests
};

// A model, as far as a plan has to know it.
struct PlannedModel {
  const TextCoder& coder;
  const LoadedModel& loaded;
  Translator* translator;
};

// Checks options for a model and works them out. InvalidArgument with the option's name.
absl::StatusOr<TextPlan> MakeTextPlan(const TextOptions& options, const PlannedModel& model);

// The same for two models in a row. `first_options` and `options` have what is asked for over the
// defaults of the first and the second model. The first model searches for its best translation
// alone. A model that has to be told its languages gets one of the text's and the one in between:
// that of the other model, or English where both have a choice. InvalidArgument, too: the first
// model translates into another language than the second one translates from.
absl::StatusOr<TextPlan> MakePivotPlan(const TextOptions& first_options,
                                       const PlannedModel& first_model, const TextOptions& options,
                                       const PlannedModel& model);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_PLAN_H_
