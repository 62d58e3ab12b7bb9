#include "tools/text/text_translator.h"
#include "engine/core/option_error.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "engine/core/check_range.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/line_reader.h"
#include "tools/text/resources.h"

namespace nibu::internal {

// A line whose parts are being translated. Once they are submitted, the translator's callbacks have
// it, which come one at a time.
struct TextTranslator::Pending {
  Request request;
  Done done;
  LineParts line = {};
  size_t missing = 0;
  absl::Status status = {};          // of the first part that failed
  std::vector<Ticket> tickets = {};  // Submit's and Cancel's
};

namespace {

void Deliver(TextTranslator::Pending* pending, absl::StatusOr<TextResult> result) noexcept {
  try {
    pending->done(pending->request.key, std::move(result));
  } catch (...) {  // see Done
  }
  pending->done = nullptr;  // with what it holds
}

// The ids that options say as tokens, and what else is worked out once.
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
  for (const GlossaryEntry& entry : options.glossary) {
    NIBU_ASSIGN_OR_RETURN(const CodedText source, coder.Code({}, entry.source));
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
  if (!decoding.allow_constraints()) {
    return InvalidOption("glossary",
                         " needs a beam_size above 1, and neither samples, alternatives nor "
                         "prefix_bias_beta");
  }
  plan->word_parts = std::make_shared<const std::vector<bool>>(coder.WordParts());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(
    TextModel model, TranslatorOptions options) try {
  NIBU_ASSIGN_OR_RETURN(TextCoder coder,
                        TextCoder::Create(model.loaded.vocabulary, model.loaded.model->config));
  model.loaded.vocabulary.ForgetTokens();
  return Create(std::move(model), std::move(coder), std::move(options));
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(
    TextModel model, TextCoder coder, TranslatorOptions options) try {
  std::unique_ptr<TextTranslator> result(new TextTranslator(std::move(coder)));
  result->loaded_ = std::move(model.loaded);
  options.draft = std::move(model.draft);
  options.ensemble = std::move(model.ensemble);
  NIBU_ASSIGN_OR_RETURN(result->translator_, Translator::Create(result->loaded_.model, options));
  return result;
} catch (...) {
  return StatusOfException();
}

TextTranslator::~TextTranslator() = default;

TextOptions TextTranslator::default_options() const {
  TextOptions options;
  options.decoding = MakeDecodingOptions({}, loaded_.defaults);
  options.decoding.shortlist = loaded_.shortlist;
  return options;
}

absl::StatusOr<std::shared_ptr<const TextTranslator::Plan>> TextTranslator::Prepare(
    const TextOptions& options) const try {
  const ModelVocabulary& vocabulary = loaded_.vocabulary;
  const ModelConfig& config = loaded_.model->config;
  auto plan = std::make_shared<Plan>(Plan{options, coder_});
  if (!options.length_ratio.has_value()) {
    plan->options.length_ratio = loaded_.defaults.length_ratio.value_or(1);
  }
  if (options.tokenized) {
    plan->options.protect.reset();
    plan->coder = coder_.Tokenized();
  } else if (!coder_.has_sentencepiece()) {
    return InvalidOption(
        "sentencepiece",
        " is needed, since the model has none; or give pieces separated by spaces, "
        "with tokenized");
  }
  NIBU_RETURN_IF_ERROR(CheckRange("max_input_length", options.max_input_length, 1));
  NIBU_ASSIGN_OR_RETURN(plan->options.decoding.frame,
                        ChooseLanguages(vocabulary, config, options.src_lang, options.tgt_lang));
  NIBU_RETURN_IF_ERROR(PrepareTokens(plan.get()));
  NIBU_RETURN_IF_ERROR(plan->options.decoding.ValidateFor(config));
  plan->limit = static_cast<size_t>(
      std::min(options.max_input_length, translator_->max_source_length(plan->options.decoding)));
  if (!options.tokenized) {
    NIBU_ASSIGN_OR_RETURN(plan->protector, MakeProtector(options.protect, options.protect_pattern));
  }
  if (!options.split_language.empty() && !IsLanguageCode(options.split_language)) {
    return InvalidOption("split_language", " must be a code such as en, de-DE or zho_Hans, not \"",
                         options.split_language, "\"");
  }
  if (options.tokenized) return plan;
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
  if (!source.empty()) plan->source_numbers = std::make_shared<const NumberWords>(source);
  if (!target.empty()) plan->target_numbers = std::make_shared<const NumberWords>(target);
  if (options.split_sentences) {
    NIBU_ASSIGN_OR_RETURN(plan->splitter, SentenceSplitter::Create(source));
    NIBU_ASSIGN_OR_RETURN(plan->prefix_splitter, SentenceSplitter::Create(target));
  }
  return plan;
} catch (...) {
  return StatusOfException();
}

int TextTranslator::max_input_length(const Plan& plan) const {
  return static_cast<int>(plan.limit);
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    absl::string_view line, const Request& request, Done done,
    std::chrono::nanoseconds patience) try {
  return Submit(PlainLine(line), request, std::move(done), patience);
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    const MarkedLine& line, const Request& request, Done done,
    std::chrono::nanoseconds patience) try {
  if (request.plan == nullptr) return Invalid("plan is missing; see Prepare");
  const auto start = Clock::now();
  const auto pending = std::make_shared<Pending>(Pending{request, std::move(done)});
  NIBU_ASSIGN_OR_RETURN(pending->line, ReadLine(request, line));
  const size_t parts = pending->line.parts.size();
  std::vector<nibu::internal::Request> requests;
  for (size_t i = 0; i < parts; ++i) {
    NIBU_ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(pending.get(), i));
  }
  tokenizing_ += SecondsSince(start);
  if (parts == 0) {
    if (!IsBlank(request.target.value_or("")) && !pending->line.matches_target) {
      return Invalid("a target, and nothing that it could translate");
    }
    TextResult blank;
    blank.hypotheses.emplace_back().text = std::move(pending->line.behind);
    Deliver(pending.get(), std::move(blank));
    return pending;
  }
  pending->missing = parts;
  sentences_ += parts;
  pending->tickets.reserve(parts);
  // If some part is missing for ever, nothing is delivered.
  absl::Cleanup cancel = [&] { Cancel(pending); };
  const auto queueing = Clock::now();
  for (size_t i = 0; i < parts; ++i) {
    NIBU_ASSIGN_OR_RETURN(
        pending->tickets.emplace_back(),
        translator_->Submit(
            std::move(requests[i]),
            [this, pending, i](uint64_t, Result result) {
              ++translated_sentences_;
              pending->status.Update(result.status());
              if (result.ok()) pending->line.parts[i].hypotheses = *std::move(result);
              if (--pending->missing > 0) return;
              const auto end = Clock::now();
              Deliver(pending.get(), Finish(pending.get()));
              finishing_ += SecondsSince(end);
            },
            std::max(patience, std::chrono::nanoseconds(0)) - (Clock::now() - queueing)));
  }
  std::move(cancel).Cancel();
  return pending;
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<nibu::internal::Request> TextTranslator::MakeRequest(Pending* pending,
                                                                    size_t part) const {
  const Request& request = pending->request;
  const Plan& plan = *request.plan;
  LinePart& text = pending->line.parts[part];
  nibu::internal::Request made;
  made.source = plan.coder.Ids(text.source.pieces);
  made.options = plan.options.decoding;
  made.options.return_attention |=
      !text.marked.carried.empty() && !request.target.has_value();  // says where they go
  made.priority = request.priority;
  made.deadline = request.deadline;
  made.key = (request.key << 20) + part;  // samples of a line's sentences differ
  if (part != pending->line.expanded && made.options.return_alternatives) {
    made.options.return_alternatives = false;
    made.options.num_hypotheses = 1;
  }
  if (!text.prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(made.target_prefix, plan.coder.TargetIds(text.prefix));
    text.prefix_tokens = made.target_prefix.size();
  }
  if (text.is_given && made.options.prefix_bias_beta == 0) {
    int& most = made.options.max_decoding_length;
    most = std::min(most, static_cast<int>(text.prefix_tokens));
    made.options.min_decoding_length = std::min(made.options.min_decoding_length, most);
  }
  if (request.target.has_value()) {
    NIBU_ASSIGN_OR_RETURN(made.target, plan.coder.TargetIds(text.target));
    made.target->push_back(loaded_.model->config.eos);
  } else if (!plan.glossary.empty()) {
    made.constraints = plan.glossary.Find(plan.coder.SourceText(text.source.own()));
    made.word_parts = plan.word_parts;
  }
  return made;
}

void TextTranslator::Cancel(const TextTicket& ticket) {
  const std::shared_ptr<Pending> pending = ticket.lock();
  if (pending == nullptr) return;
  for (const Ticket& part : pending->tickets) translator_->Cancel(part);
}

absl::StatusOr<TextResult> TextTranslator::Finish(Pending* pending) const try {
  if (!pending->status.ok()) return pending->status;
  const Plan& plan = *pending->request.plan;
  TextResult result = {
      {}, pending->line.source_tokens, 0, pending->line.too_long, pending->line.scored_whole};
  size_t count = pending->line.parts[pending->line.expanded].hypotheses.size();
  for (LinePart& part : pending->line.parts) {
    for (Hypothesis& each : part.hypotheses) {
      each.finished |= part.is_given && each.tokens.size() == part.prefix_tokens;
    }
    if (part.hypotheses.size() == 1 &&
        (part.is_given || plan.options.decoding.return_alternatives)) {
      part.hypotheses.resize(count, Hypothesis(part.hypotheses[0]));
    }
    count = std::min(count, part.hypotheses.size());
  }
  const bool truncated = result.too_long && plan.options.long_input == LongInput::kTruncate;
  for (size_t n = 0; n < count; ++n) {
    result.hypotheses.push_back(
        Join(plan.coder, loaded_.model->config, plan.options, pending->line, n));
    result.hypotheses.back().warnings[Warning::kTruncated] = truncated;
  }
  // Alternatives keep their order, and terms of a glossary come before scores.
  const bool has_order = plan.options.decoding.return_alternatives || !plan.glossary.empty();
  if (pending->line.parts.size() > 1 && !has_order) {
    absl::c_stable_sort(result.hypotheses, [](const TextHypothesis& a, const TextHypothesis& b) {
      return a.score > b.score;
    });
  }
  if (!result.hypotheses.empty()) {
    const size_t ends = pending->line.is_scored ? pending->line.parts.size() : 0;
    result.target_tokens = static_cast<int>(result.hypotheses[0].tokens.size() - ends);
  }
  return result;
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::vector<TextResult>> TextTranslator::Translate(
    const std::vector<std::string>& lines, const TextOptions& options) try {
  NIBU_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, Prepare(options));
  const auto all = std::make_shared<Gather<TextResult>>(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto ticket = Submit(
        lines[i], {.plan = plan, .key = i},
        [all](uint64_t key, absl::StatusOr<TextResult> result) {
          all->Add(key, std::move(result));
        },
        kForever);
    if (!ticket.ok()) all->Add(i, ticket.status());
  }
  return all->Await();
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
