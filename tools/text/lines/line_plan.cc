// Checks options against a model, or two models in a row, and works them out.
#include "tools/text/lines/line_plan.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "engine/core/check_range.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "engine/plan.h"
#include "engine/translator.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/lines/choose_languages.h"

namespace nibu::internal {
namespace {

// Works out the ids of the tokens that options name.
absl::Status PrepareTokens(LinePlan* plan) {
  const Options& options = plan->options;
  const TextCoder& coder = plan->coder;
  DecodingOptions& decoding = plan->decoding;
  NIBU_RETURN_IF_ERROR(coder.AddTargetIds("end_token", options.end_token, &decoding.end_tokens));
  for (const std::string& sequence : options.suppress_sequences) {
    // An empty sequence is refused by the engine.
    const std::vector<std::string> tokens = absl::StrSplit(sequence, ' ', absl::SkipEmpty());
    NIBU_RETURN_IF_ERROR(coder.AddTargetIds("suppress_sequences", tokens,
                                            &decoding.suppress_sequences.emplace_back()));
  }
  decoding.return_attention |=
      options.alignment != AlignmentKind::kNone || options.replace_unknowns;
  return absl::OkStatus();
}

// Works out the glossary, and the names for protected parts, which must not occur in it.
absl::Status PrepareGlossary(LinePlan* plan) {
  const Options& options = plan->options;
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
  if (!plan->decoding.allow_constraints()) {
    return InvalidOption("glossary",
                         " needs a beam_size above 1, and neither samples, alternatives nor "
                         "prefix_bias_beta");
  }
  plan->word_parts = std::make_shared<const std::vector<bool>>(coder.WordParts());
  return absl::OkStatus();
}

// Works out the searches for the sentences of a text.
absl::Status PrepareSearches(const Translator& engine, LinePlan* plan) {
  for (const bool needs_attention : {false, true}) {
    for (const bool has_alternatives : {true, false}) {
      DecodingOptions options = plan->decoding;
      options.return_attention |= needs_attention;
      if (!has_alternatives && options.return_alternatives) {
        options.return_alternatives = false;
        options.num_hypotheses = 1;
      }
      // Of the forms made before, one differs in attention alone, and one in alternatives alone.
      auto& [alone, expanded] = plan->searches[needs_attention];
      std::shared_ptr<const SearchPlan>& search = has_alternatives ? expanded : alone;
      if (needs_attention && plan->decoding.return_attention) {
        search = plan->searches[false][has_alternatives];
      } else if (!has_alternatives && !plan->decoding.return_alternatives) {
        search = expanded;
      } else {
        NIBU_ASSIGN_OR_RETURN(search, engine.Plan(options));
      }
    }
  }
  return absl::OkStatus();
}

// Returns true if a model has to be told its target language.
bool ChoosesTarget(const ModelVocabulary& model) {
  return !model.languages.languages.empty() ||
         (!model.language_tokens.empty() && !IsOneLanguage(model.target_language));
}

// Returns the code of the language between two models, as one of them spells it.
std::string PivotLanguage(const ModelVocabulary& first, const ModelVocabulary& second) {
  const bool first_chooses = ChoosesTarget(first);
  const bool second_chooses = !second.languages.languages.empty();
  if (first_chooses && second_chooses) return "en";
  return first_chooses ? second.source_language : first.target_language;
}

}  // namespace

absl::StatusOr<LinePlan> MakeLinePlan(const Options& options, const ModelParts& model,
                                      const Translator& engine) {
  const ModelVocabulary& vocabulary = model.loaded.vocabulary;
  const ModelConfig& config = model.loaded.model->config;
  LinePlan plan = {.options = options,
                   .decoding = MakeDecodingOptions(options, model.loaded.defaults),
                   .coder = model.coder};
  NIBU_RETURN_IF_ERROR(plan.decoding.Validate());
  plan.decoding.shortlist = model.loaded.shortlist;
  plan.eos = config.eos;
  plan.length_ratio = model.loaded.defaults.length_ratio.value_or(1);
  NIBU_ASSIGN_OR_RETURN(plan.protect, ParseProtect(options.protect));
  if (options.tokenized) {
    plan.protect.reset();
    plan.coder = model.coder.Tokenized();
  } else if (!model.coder.has_sentencepiece()) {
    return InvalidOption(
        "sentencepiece",
        " is needed, since the model has none; or give pieces separated by spaces, "
        "with tokenized");
  }
  NIBU_RETURN_IF_ERROR(CheckRange("max_input_length", options.max_input_length, 1));
  NIBU_ASSIGN_OR_RETURN(ChosenLanguages chosen,
                        ChooseLanguages(vocabulary, config, options.src_lang, options.tgt_lang));
  plan.decoding.frame = std::move(chosen.frame);
  AddForcedToken(model.loaded.defaults, config, &plan.decoding.frame);
  plan.coder = plan.coder.WithTarget(chosen.target_token);
  plan.frame = FrameFor(plan.decoding, config);
  NIBU_RETURN_IF_ERROR(PrepareTokens(&plan));
  NIBU_RETURN_IF_ERROR(PrepareGlossary(&plan));
  NIBU_RETURN_IF_ERROR(PrepareSearches(engine, &plan));
  plan.limit = static_cast<size_t>(
      std::min(options.max_input_length, engine.max_source_length(plan.decoding)));
  if (!options.tokenized) {
    NIBU_ASSIGN_OR_RETURN(plan.protector, MakeProtector(plan.protect, options.protect_pattern));
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
  plan.source_language = source;
  plan.target_language = target;
  if (!source.empty()) plan.source_numbers = std::make_shared<const NumberWords>(source);
  if (!target.empty()) plan.target_numbers = std::make_shared<const NumberWords>(target);
  if (options.split_sentences) {
    NIBU_ASSIGN_OR_RETURN(plan.splitter, SentenceSplitter::Create(source));
    NIBU_ASSIGN_OR_RETURN(plan.prefix_splitter, SentenceSplitter::Create(target));
  }
  return plan;
}

absl::StatusOr<LinePlan> MakePivotPlan(const Options& options, const ModelParts& first_model,
                                       const Translator& first_engine, const ModelParts& model,
                                       const Translator& engine) {
  const ModelVocabulary& from = first_model.loaded.vocabulary;
  const ModelVocabulary& to = model.loaded.vocabulary;
  const std::string language = PivotLanguage(from, to);
  if (!ChoosesTarget(from) && to.languages.languages.empty() && !language.empty() &&
      !to.source_language.empty() && SameLanguage(language, {to.source_language}).empty()) {
    return InvalidOption("pivot", ": the first model translates into ", language,
                         ", and this one from ", to.source_language);
  }
  Options asked = options;
  asked.tgt_lang = ChoosesTarget(from) ? language : "";
  asked.tokenized = false;
  asked.num_hypotheses = 1;
  asked.return_alternatives = false;
  // The first model does not sample. Its beam is as wide as the one that samples.
  asked.beam_size = MakeDecodingOptions(options, first_model.loaded.defaults).beam_size;
  asked.sampling_topk = 1;
  asked.sampling_topp = 1;
  asked.sampling_temperature = 1;
  asked.seed = 0;
  asked.prefix_bias_beta = 0;
  asked.min_decoding_length.reset();
  asked.end_token.clear();
  asked.suppress_sequences.clear();
  asked.replace_unknowns = false;
  asked.alignment = AlignmentKind::kNone;
  asked.glossary.clear();
  asked.return_ends = false;
  NIBU_ASSIGN_OR_RETURN(LinePlan first, MakeLinePlan(asked, first_model, first_engine));
  asked = options;
  asked.src_lang = to.languages.languages.empty() ? "" : language;
  asked.split_language.clear();
  asked.tokenized = false;
  asked.glossary.clear();
  // The second model takes as many tokens as its position tables have at least for these options.
  // Tables may be longer because of other plans, and results must not depend on these.
  asked.max_input_length = std::max({TranslatorOptions().max_source_length,
                                     options.max_input_length, first.decoding.max_decoding_length});
  NIBU_ASSIGN_OR_RETURN(LinePlan second, MakeLinePlan(asked, model, engine));

  LinePlan plan = first;
  plan.options = options;
  plan.options.return_ends = false;
  plan.decoding = second.decoding;
  plan.frame = second.frame;
  plan.eos = second.eos;
  plan.searches = second.searches;
  plan.length_ratio = first.length_ratio * second.length_ratio;
  plan.coder = first.coder.Then(second.coder);
  plan.prefix_splitter = second.prefix_splitter;
  plan.target_language = second.target_language;
  plan.target_numbers = second.target_numbers;
  if (options.tokenized) {
    plan.coder = plan.coder.Tokenized();
    plan.protect.reset();
    plan.protector = nullptr;
    plan.splitter = plan.prefix_splitter = nullptr;
    plan.source_numbers = plan.target_numbers = nullptr;
  }
  NIBU_RETURN_IF_ERROR(PrepareGlossary(&plan));
  plan.pivot = std::make_shared<const PivotPlan>(PivotPlan{std::move(first), std::move(second)});
  return plan;
}

}  // namespace nibu::internal
