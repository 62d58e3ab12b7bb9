// Options for texts, checked against a model, or against two models in a row, and worked out.
#ifndef NIBU_TOOLS_TEXT_LINES_LINE_PLAN_H_
#define NIBU_TOOLS_TEXT_LINES_LINE_PLAN_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/request.h"
#include "engine/search/decoding_options.h"
#include "nibu/options.h"
#include "tokenizer/sentences/number_words.h"
#include "tokenizer/sentences/sentence_splitter.h"
#include "tools/text/lines/glossary.h"
#include "tools/text/marked/protect.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/model/text_coder.h"
#include "tools/text/options/engine_options.h"

namespace nibu::internal {

class Translator;
struct PivotPlan;

// Says how lines are read, translated and written. A plan for two models in a row reads its sources
// as the first model does; targets, and the options of the search, are those of the second model.
// It keeps a model's vocabulary alive, but not its weights. Immutable once it is made; threads
// share it.
struct LinePlan {
  Options options;           // as the user gave them
  DecodingOptions decoding;  // over the model's defaults, with the frame and the ids of tokens
  Frame frame = {};          // the tokens around a sentence, if the options leave them to the model
  int eos = 0;               // the end token of a target that is scored
  ProtectedKinds protect = {};          // none if tokenized
  float length_ratio = 1;               // see ModelDefaults
  TextCoder coder;                      // without tokenizers if tokenized
  std::vector<std::string> names = {};  // stand for protected parts; none occurs in the glossary
  size_t limit = 0;                     // the most pieces that a LinePart has
  // The search for a sentence: [whether Hypothesis::attention is needed, whatever the options say]
  // [whether the sentence is the one of its line that has alternatives, if the options ask for
  // some; of the others, only the best hypothesis is needed]. Forms that are equal share a plan.
  std::array<std::array<std::shared_ptr<const SearchPlan>, 2>, 2> searches = {};
  Glossary glossary = {};
  // The result of TextCoder::WordParts, which constraints need; null without a glossary.
  std::shared_ptr<const std::vector<bool>> word_parts = nullptr;
  std::shared_ptr<const SentenceSplitter> splitter = nullptr;         // null: lines are not split
  std::shared_ptr<const SentenceSplitter> prefix_splitter = nullptr;  // for the target's language
  std::string source_language = {};                                   // empty: not known
  std::string target_language = {};
  // Number words of both languages; null if the language is not known.
  std::shared_ptr<const NumberWords> source_numbers = nullptr;
  std::shared_ptr<const NumberWords> target_numbers = nullptr;
  Protector protector = nullptr;                     // null: protects nothing
  std::shared_ptr<const PivotPlan> pivot = nullptr;  // null: there is one model
};

// The rest of a plan for two models in a row.
struct PivotPlan {
  LinePlan first;   // for the first model
  LinePlan second;  // for the second model, which reads what the first one wrote
};

// Checks options against a model whose engine is `engine`, and works them out. Returns
// InvalidArgument with the option's name.
absl::StatusOr<LinePlan> MakeLinePlan(const Options& options, const ModelParts& model,
                                      const Translator& engine);

// Does the same for two models in a row. The first model searches only for its best translation. A
// model that has to be told its languages gets one from src_lang or tgt_lang; the language in
// between is the other model's, or English if both have a choice. Also returns InvalidArgument if
// the first model translates into another language than the second one reads.
absl::StatusOr<LinePlan> MakePivotPlan(const Options& options, const ModelParts& first_model,
                                       const Translator& first_engine, const ModelParts& model,
                                       const Translator& engine);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_LINE_PLAN_H_
