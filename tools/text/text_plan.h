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
#include "tools/text/translation_check.h"

namespace nibu::internal {

class Translator;
struct PivotPlan;

// Says how lines are read, translated and written. A plan for two models in a row belongs to the
// first model's TextTranslator. Its sources are read as the first model reads them; targets, and
// the options of the search, are those of the second model. Immutable once it is made; threads
// share it.
struct TextPlan {
  TextOptions options;                  // with the frame; protects nothing if tokenized
  TextCoder coder;                      // without tokenizers if tokenized
  std::vector<std::string> names = {};  // stand for protected parts; none occurs in the glossary
  size_t limit = 0;                     // the most pieces that a LinePart has
  SearchPlans searches = {};            // for options.decoding
  Glossary glossary = {};
  // The result of TextCoder::WordParts, which constraints need; null without a glossary.
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;
  std::shared_ptr<const SentenceSplitter> splitter = nullptr;         // null: lines are not split
  std::shared_ptr<const SentenceSplitter> prefix_splitter = nullptr;  // for the target's language
  // Number words of both languages; null if the language is not known.
  std::shared_ptr<const NumberWords> source_numbers = nullptr;
  std::shared_ptr<const NumberWords> target_numbers = nullptr;
  Protector protector = nullptr;                     // null: protects nothing
  std::shared_ptr<const PivotPlan> pivot = nullptr;  // null: there is one model
};

// The rest of a plan for two models in a row.
struct PivotPlan {
  TextPlan first;     // for the first model
  Frame first_frame;  // the first model's
  TextPlan second;    // for the second model, which reads what the first one wrote; has a frame
  Translator* translator;  // the second model's, which outlives all requests
};

// A model, as far as a plan has to know it. Refers to what the caller owns.
struct PlannedModel {
  const TextCoder& coder;
  const LoadedModel& loaded;
  Translator* translator;
};

// Checks options against a model and works them out. Returns InvalidArgument with the option's
// name.
absl::StatusOr<TextPlan> MakeTextPlan(const TextOptions& options, const PlannedModel& model);

// Does the same for two models in a row. `first_options` and `options` are what the user asks for,
// over the defaults of the first and the second model. The first model searches only for its best
// translation. A model that has to be told its languages gets one from src_lang or tgt_lang; the
// language in between is the other model's, or English if both have a choice. Also returns
// InvalidArgument if the first model translates into another language than the second one reads.
absl::StatusOr<TextPlan> MakePivotPlan(const TextOptions& first_options,
                                       const PlannedModel& first_model, const TextOptions& options,
                                       const PlannedModel& model);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_PLAN_H_
