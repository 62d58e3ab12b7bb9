#include "tools/text/text_translator.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/core/check_range.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "models/files/errors.h"
#include "tokenizer/characters.h"
#include "tools/text/line_reader.h"
#include "tools/text/resources.h"

namespace nibu {

struct TextTranslator::Plan : TextPlan {};

// A line whose parts are being translated. Once they are submitted, the translator's callbacks have
// it, which come one at a time.
struct TextTranslator::Pending {
  std::shared_ptr<const Plan> plan;
  uint64_t key;
  Done done;
  TextResult result;
  LineParts line;
  size_t missing = 0;
  absl::Status status;          // of the first part that failed
  std::vector<Ticket> tickets;  // Submit's and Cancel's
};

namespace {

void Deliver(TextTranslator::Pending* pending, absl::StatusOr<TextResult> result) noexcept {
  try {
    pending->done(pending->key, std::move(result));
  } catch (...) {  // see Done
  }
  pending->done = nullptr;  // with what it holds
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(
    TextModel model, const TranslatorOptions& options) try {
  LoadedModel& loaded = model.loaded;
  ModelVocabulary& vocabulary = loaded.vocabulary;
  NIBU_ASSIGN_OR_RETURN(TextCoder coder, TextCoder::Create(vocabulary, loaded.model->config));
  vocabulary.source_tokens = std::vector<std::string>();
  vocabulary.target_tokens = std::vector<std::string>();
  vocabulary.source_sentencepiece = std::string();
  vocabulary.target_sentencepiece = std::string();
  std::unique_ptr<TextTranslator> result(new TextTranslator(std::move(coder)));
  result->loaded_ = std::move(loaded);
  TranslatorOptions with_models = options;
  with_models.draft = std::move(model.draft);
  with_models.ensemble = std::move(model.ensemble);
  NIBU_ASSIGN_OR_RETURN(result->translator_,
                        Translator::Create(result->loaded_.model, with_models));
  return result;
} catch (...) {
  return StatusOfException();
}

TextTranslator::~TextTranslator() = default;

TextOptions TextTranslator::default_options() const {
  TextOptions options;
  options.decoding = DefaultDecoding(loaded_.defaults);
  options.decoding.shortlist = loaded_.shortlist;
  options.length_ratio = loaded_.defaults.length_ratio.value_or(options.length_ratio);
  return options;
}

absl::StatusOr<std::shared_ptr<const TextTranslator::Plan>> TextTranslator::Prepare(
    const TextOptions& options) const try {
  const ModelVocabulary& vocabulary = loaded_.vocabulary;
  const ModelConfig& config = loaded_.model->config;
  auto plan = std::make_shared<Plan>();
  plan->options = options;
  if (options.tokenized) plan->options.protect = kProtectNothing;
  if (!options.tokenized && !coder_.has_sentencepiece()) {
    return Invalid(
        "sentencepiece is needed, since the model has none; or give pieces separated by spaces, "
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
    NIBU_ASSIGN_OR_RETURN(plan->protector,
                          Protector::Create(options.protect, options.protect_pattern));
  }
  if (options.split_sentences && !options.tokenized) {
    std::string language;
    for (const std::string& named :
         {options.split_language, options.src_lang, vocabulary.source_language,
          vocabulary.languages.default_source}) {
      if (language.empty()) language = named;
    }
    NIBU_ASSIGN_OR_RETURN(plan->splitter, SentenceSplitter::Create(language));
  }
  return plan;
} catch (...) {
  return StatusOfException();
}

absl::Status TextTranslator::PrepareTokens(Plan* plan) const {
  const TextOptions& options = plan->options;
  DecodingOptions& decoding = plan->options.decoding;
  NIBU_RETURN_IF_ERROR(coder_.AddTargetIds("end_token", options.end_tokens, &decoding.end_tokens));
  for (const auto& sequence : options.suppress_sequences) {
    NIBU_RETURN_IF_ERROR(coder_.AddTargetIds("suppress_sequences", sequence,
                                             &decoding.suppress_sequences.emplace_back()));
  }
  decoding.return_attention |=
      options.alignment != AlignmentKind::kNone || options.replace_unknowns;
  for (const GlossaryEntry& entry : options.glossary) {
    NIBU_ASSIGN_OR_RETURN(const CodedText source, coder_.Code({}, entry.source, options.tokenized,
                                                              /*with_spans=*/false));
    NIBU_ASSIGN_OR_RETURN(std::vector<int> target,
                          coder_.TargetIds(entry.target, options.tokenized));
    if (source.own().empty() || target.empty()) {
      return Invalid("glossary: \"", entry.source, "\" to \"", entry.target,
                     "\" has a side without tokens");
    }
    if (absl::c_any_of(coder_.Tokens(target), [&](const auto& t) { return coder_.IsUnknown(t); })) {
      return Invalid("glossary: \"", entry.target,
                     "\" has characters that the model does not know");
    }
    plan->glossary.Add(coder_.SourceText(source.own(), options.tokenized), std::move(target));
  }
  if (options.glossary.empty()) return absl::OkStatus();
  if (!decoding.allow_constraints()) {
    return Invalid(
        "glossary needs a beam_size above 1, and neither samples, alternatives nor "
        "prefix_bias_beta");
  }
  plan->word_parts = std::make_shared<const std::vector<bool>>(coder_.WordParts());
  return absl::OkStatus();
}

int TextTranslator::max_input_length(const Plan& plan) const {
  return static_cast<int>(plan.limit);
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    absl::string_view line, const Request& request, Done done,
    std::chrono::nanoseconds patience) try {
  return Submit(MarkedLine{{{"", {std::string(line)}}}, "", /*is_marked=*/false}, request,
                std::move(done), patience);
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    const MarkedLine& line, const Request& request, Done done, std::chrono::nanoseconds patience) {
  if (request.plan == nullptr) return Invalid("plan is missing; see Prepare");
  std::shared_ptr<Pending> pending;
  absl::Status status;
  try {
    const auto start = Clock::now();
    pending = std::make_shared<Pending>();
    pending->plan = request.plan;
    pending->key = request.key;
    pending->done = std::move(done);
    pending->line.is_marked = line.is_marked;
    pending->line.is_scored = request.target.has_value();
    pending->line.is_whole = request.target.has_value() || !request.target_prefix.empty() ||
                             request.plan->options.decoding.return_alternatives;
    LineReader reader(coder_, *request.plan, request.target_prefix, &pending->line,
                      &pending->result);
    NIBU_RETURN_IF_ERROR(reader.Read(line));
    const size_t parts = pending->line.parts.size();
    std::vector<nibu::Request> requests;
    for (size_t i = 0; i < parts; ++i) {
      NIBU_ASSIGN_OR_RETURN(requests.emplace_back(), MakeRequest(request, *pending, i));
    }
    tokenizing_ += SecondsSince(start);
    if (parts == 0 && !IsBlank(request.target.value_or(""))) {
      return Invalid("a target, and nothing that it could translate");
    }
    if (parts == 0) {
      pending->result.hypotheses.resize(1);
      pending->result.hypotheses[0].text = std::move(pending->line.behind);
      Deliver(pending.get(), std::move(pending->result));
      return pending;
    }
    pending->missing = parts;
    pending->tickets.reserve(parts);
    for (size_t i = 0; i < parts && status.ok(); ++i) {
      absl::StatusOr<Ticket> ticket = translator_->Submit(
          std::move(requests[i]),
          [this, pending, i](uint64_t, Result result) {
            pending->status.Update(result.status());
            if (result.ok()) pending->line.parts[i].hypotheses = *std::move(result);
            if (--pending->missing > 0) return;
            const auto end = Clock::now();
            Deliver(pending.get(), Finish(pending.get()));
            finishing_ += SecondsSince(end);
          },
          patience);
      status = ticket.status();
      if (ticket.ok()) pending->tickets.push_back(*std::move(ticket));
    }
  } catch (...) {
    status = StatusOfException();
  }
  if (status.ok()) return pending;
  // Some part is missing for ever, so that nothing is delivered.
  if (pending != nullptr) Cancel(pending);
  return status;
}

absl::StatusOr<nibu::Request> TextTranslator::MakeRequest(const Request& request,
                                                          const Pending& pending,
                                                          size_t part) const {
  const TextOptions& options = request.plan->options;
  const LinePart& text = pending.line.parts[part];
  nibu::Request made;
  made.source = coder_.Ids(text.source.pieces);
  made.options = options.decoding;
  made.options.return_attention |= !text.marked.carried.empty();
  made.priority = request.priority;
  made.deadline = request.deadline;
  made.key = (request.key << 20) + part;  // samples of a line's sentences differ
  if (part == 0 && !request.target_prefix.empty()) {
    NIBU_ASSIGN_OR_RETURN(
        made.target_prefix,
        coder_.TargetIds(PrefixWithNames(text.marked, request.target_prefix), options.tokenized));
  }
  if (request.target.has_value()) {
    NIBU_ASSIGN_OR_RETURN(made.target, coder_.TargetIds(*request.target, options.tokenized));
    made.target->push_back(loaded_.model->config.eos);
  } else if (!request.plan->glossary.empty()) {
    made.constraints =
        request.plan->glossary.Find(coder_.SourceText(text.source.own(), options.tokenized));
    made.word_parts = request.plan->word_parts;
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
  TextResult result = std::move(pending->result);
  auto count = static_cast<size_t>(pending->plan->options.decoding.num_hypotheses);
  if (pending->line.is_scored) count = 1;
  for (const LinePart& part : pending->line.parts) {
    count = std::min(count, part.hypotheses.size());
  }
  const bool truncated =
      result.too_long && pending->plan->options.long_input == LongInput::kTruncate;
  for (size_t n = 0; n < count; ++n) {
    result.hypotheses.push_back(
        Join(coder_, loaded_.model->config, pending->plan->options, pending->line, n));
    result.hypotheses.back().warnings[Warning::kTruncated] = truncated;
  }
  if (!result.hypotheses.empty()) {
    result.target_tokens = static_cast<int>(result.hypotheses[0].tokens.size());
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

}  // namespace nibu
