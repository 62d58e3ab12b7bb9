// Checks options against a model, or two models in a row, and works them out.
#include "tools/text/text_plan.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "engine/core/check_range.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "engine/plan.h"
#include "engine/translator.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/text_model.h"

namespace nibu::internal {
namespace {

// Works out the ids of the tokens that options name.
absl::Status PrepareTokens(TextPlan* plan) {
  const TextOptions& options = plan->options;
  const TextCoder& coder = plan->coder;
  DecodingOptions& decoding = plan->options.decoding;
  NIBU_RETURN_IF_ERROR(coder.AddTargetIds("end_token", options.end_tokens, &decoding.end_tokens));
  for (const auto& sequence : options.suppress_sequences) {
    NIBU_RETURN_IF_ERROR(coder.AddTargetIds("suppress_sequences", sequence,
                                            &decoding.suppress_sequences.emplace_back()));
  }
  decoding.return_attention |=
      options.alignment != AlignmentKind::kNone || options.replace_unknowns;
  return absl::OkStatus();
}

// Works out the glossary, and the names for protected parts, which must not occur in it.
absl::Status PrepareGlossary(TextPlan* plan) {
  const TextOptions& options = plan->options;
  const TextCoder& coder = plan->coder;
  for (const GlossaryEntry& entry : options.glossary) {
    NIBU_ASSIGN_OR_RETURN(const EncodedText source, coder.Encode({}, entry.source));
    NIBU_ASSIGN_OR_RETURN(std::vector<int> target, coder.TargetIds(entry.target));
    if (source.own().empty() || target.empty()) {
      return InvalidOption("glossary", ": \"", entry.source, "\" to \"", entry.target,
                           "\" has a side without tokens");
    }
    if (absl::c_any_of(coder.Tokens(target), [&](const auto& t) { return coder.IsUnknown(t); })) {
      return InvalidOption("glossary", ": \"", entry.target,
                           "\" has characters that the model does not know");
    }
    plan->glossary.Add(coder.SourceText(source.own()), std::move(target));
  }
  plan->names = coder.names();
  std::erase_if(plan->names, [&](const std::string& name) {
    return absl::c_any_of(options.glossary, [&](const GlossaryEntry& entry) {
      return absl::StrContains(entry.source, name) || absl::StrContains(entry.target, name);
    });
  });
  if (options.glossary.empty()) return absl::OkStatus();
  if (!options.decoding.allow_constraints()) {
    return InvalidOption("glossary",
                         " needs a beam_size above 1, and neither samples, alternatives nor "
                         "prefix_bias_beta");
  }
  plan->word_parts = std::make_shared<const std::vector<bool>>(coder.WordParts());
  return absl::OkStatus();
}

// Returns the code of the language between two models, as one of them spells it.
std::string PivotLanguage(const ModelVocabulary& first, const ModelVocabulary& second) {
  const bool first_chooses = !first.languages.languages.empty();
  const bool second_chooses = !second.languages.languages.empty();
  if (first_chooses && second_chooses) return "en";
  return first_chooses ? second.source_language : first.target_language;
}

}  // namespace

absl::StatusOr<TextPlan> MakeTextPlan(const TextOptions& options, const PlannedModel& model) {
  const ModelVocabulary& vocabulary = model.loaded.vocabulary;
  const ModelConfig& config = model.loaded.model->config;
  TextPlan plan = {options, model.coder};
  if (!options.length_ratio.has_value()) {
    plan.options.length_ratio = model.loaded.defaults.length_ratio.value_or(1);
  }
  if (options.tokenized) {
    plan.options.protect.reset();
    plan.coder = model.coder.Tokenized();
  } else if (!model.coder.has_sentencepiece()) {
    return InvalidOption(
        "sentencepiece",
        " is needed, since the model has none; or give pieces separated by spaces, "
        "with tokenized");
  }
  NIBU_RETURN_IF_ERROR(CheckRange("max_input_length", options.max_input_length, 1));
  NIBU_ASSIGN_OR_RETURN(plan.options.decoding.frame,
                        ChooseLanguages(vocabulary, config, options.src_lang, options.tgt_lang));
  NIBU_RETURN_IF_ERROR(PrepareTokens(&plan));
  NIBU_RETURN_IF_ERROR(PrepareGlossary(&plan));
  NIBU_ASSIGN_OR_RETURN(plan.searches, SearchPlans::Make(*model.translator, plan.options.decoding));
  plan.limit = static_cast<size_t>(std::min(
      options.max_input_length, model.translator->max_source_length(plan.options.decoding)));
  if (!options.tokenized) {
    NIBU_ASSIGN_OR_RETURN(plan.protector, MakeProtector(options.protect, options.protect_pattern));
  }
  if (!options.split_language.empty() && !IsLanguageCode(options.split_language)) {
    return InvalidOption("split_language", " must be a code such as en, de-DE or zho_Hans, not \"",
                         options.split_language, "\"");
  }
  if (options.tokenized) return plan;
  // Returns the first language that has a code.
  const auto first = [](std::initializer_list<std::string> languages) {
    const auto* const named =
        absl::c_find_if(languages, [](const std::string& language) { return !language.empty(); });
    return named != languages.end() ? *named : "";
  };
  const ModelLanguages& known = vocabulary.languages;
  const std::string source = first(
      {options.split_language, options.src_lang, vocabulary.source_language, known.default_source});
  const std::string target =
      first({options.tgt_lang, vocabulary.target_language, known.default_target});
  if (!source.empty()) plan.source_numbers = std::make_shared<const NumberWords>(source);
  if (!target.empty()) plan.target_numbers = std::make_shared<const NumberWords>(target);
  if (options.split_sentences) {
    NIBU_ASSIGN_OR_RETURN(plan.splitter, SentenceSplitter::Create(source));
    NIBU_ASSIGN_OR_RETURN(plan.prefix_splitter, SentenceSplitter::Create(target));
  }
  return plan;
}

absl::StatusOr<TextPlan> MakePivotPlan(const TextOptions& first_options,
                                       const PlannedModel& first_model, const TextOptions& options,
                                       const PlannedModel& model) {
  const ModelVocabulary& from = first_model.loaded.vocabulary;
  const ModelVocabulary& to = model.loaded.vocabulary;
  const std::string language = PivotLanguage(from, to);
  if (from.languages.languages.empty() && to.languages.languages.empty() && !language.empty() &&
      !to.source_language.empty() && SameLanguage(language, {to.source_language}).empty()) {
    return InvalidOption("pivot", ": the first model translates into ", language,
                         ", and this one from ", to.source_language);
  }
  TextOptions asked = first_options;
  asked.tgt_lang = from.languages.languages.empty() ? "" : language;
  asked.tokenized = false;
  asked.decoding.num_hypotheses = 1;
  asked.decoding.return_alternatives = false;
  asked.decoding.sampling = {};
  asked.decoding.prefix_bias_beta = 0;
  asked.decoding.min_decoding_length = 1;
  asked.end_tokens.clear();
  asked.suppress_sequences.clear();
  asked.replace_unknowns = false;
  asked.alignment = AlignmentKind::kNone;
  asked.glossary.clear();
  NIBU_ASSIGN_OR_RETURN(TextPlan first, MakeTextPlan(asked, first_model));
  asked = options;
  asked.src_lang = to.languages.languages.empty() ? "" : language;
  asked.split_language.clear();
  asked.tokenized = false;
  asked.glossary.clear();
  // The second model takes as many tokens as its position tables have at least for these options.
  // Tables may be longer because of other plans, and results must not depend on these.
  asked.max_input_length =
      std::max({TranslatorOptions().max_source_length, options.max_input_length,
                first_options.decoding.max_decoding_length});
  NIBU_ASSIGN_OR_RETURN(TextPlan second, MakeTextPlan(asked, model));
  // The searches have this frame already. Code that reads the options needs it there, since it may
  // know only the first model.
  second.options.decoding.frame = FrameFor(second.options.decoding, model.loaded.model->config);

  TextPlan plan = first;
  plan.options = options;
  plan.options.decoding = second.options.decoding;
  plan.searches = second.searches;
  plan.options.length_ratio = *first.options.length_ratio * *second.options.length_ratio;
  plan.coder = first.coder.Then(second.coder);
  plan.prefix_splitter = second.prefix_splitter;
  plan.target_numbers = second.target_numbers;
  if (options.tokenized) {
    plan.coder = plan.coder.Tokenized();
    plan.options.protect.reset();
    plan.protector = nullptr;
    plan.splitter = plan.prefix_splitter = nullptr;
    plan.source_numbers = plan.target_numbers = nullptr;
  }
  NIBU_RETURN_IF_ERROR(PrepareGlossary(&plan));
  const Frame frame = FrameFor(first.options.decoding, first_model.loaded.model->config);
  plan.pivot = std::make_shared<const PivotPlan>(
      PivotPlan{std::move(first), frame, std::move(second), model.translator});
  return plan;
}

}  // namespace nibu::internal
