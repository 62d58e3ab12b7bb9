#include "tools/text/text_translator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/check_range.h"
#include "engine/core/exception_status.h"
#include "engine/core/gather.h"
#include "engine/core/status_macros.h"
#include "tokenizer/between_sentences.h"
#include "tokenizer/blank.h"

namespace nibu {

struct TextTranslator::Plan {
  TextOptions options;                               // with the frame
  std::shared_ptr<const SentenceSplitter> splitter;  // null: lines are translated whole
  int max_input_length;
};

// A line whose parts are being translated. Once they are submitted, the translator's callbacks have
// it, which come one at a time.
struct TextTranslator::Pending {
  std::shared_ptr<const Plan> plan;
  uint64_t key;
  Done done;
  TextResult result;
  std::vector<std::string> between;  // before each part, and behind the last one
  std::vector<std::vector<Hypothesis>> parts;
  size_t missing = 0;
  absl::Status status;          // of the first part that failed
  std::vector<Ticket> tickets;  // Submit's and Cancel's
};

namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Deliver(TextTranslator::Pending* pending, absl::StatusOr<TextResult> result) noexcept {
  try {
    pending->done(pending->key, std::move(result));
  } catch (...) {  // see Done
  }
  pending->done = nullptr;  // with what it holds
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(
    TextModel model, const TranslatorOptions& options) {
  try {
    LoadedModel& loaded = model.loaded;
    NIBU_ASSIGN_OR_RETURN(TextCoder coder,
                          TextCoder::Create(loaded.vocabulary, loaded.model->config));
    std::unique_ptr<TextTranslator> result(new TextTranslator(std::move(coder)));
    result->config_ = loaded.model->config;
    result->vocabulary_.language_tokens = loaded.vocabulary.language_tokens;
    result->vocabulary_.source_language = std::move(loaded.vocabulary.source_language);
    result->vocabulary_.languages = std::move(loaded.vocabulary.languages);
    result->defaults_ = loaded.defaults;
    result->shortlist_ = loaded.shortlist;
    TranslatorOptions with_draft = options;
    with_draft.draft = std::move(model.draft);
    NIBU_ASSIGN_OR_RETURN(result->translator_, Translator::Create(loaded.model, with_draft));
    return result;
  } catch (...) {
    return StatusOfException();
  }
}

TextTranslator::~TextTranslator() = default;

TextOptions TextTranslator::default_options() const {
  TextOptions options;
  options.decoding = DefaultDecoding(defaults_);
  options.decoding.shortlist = shortlist_;
  return options;
}

absl::StatusOr<std::shared_ptr<const TextTranslator::Plan>> TextTranslator::Prepare(
    const TextOptions& options) const {
  try {
    auto plan = std::make_shared<Plan>(Plan{options, nullptr, 0});
    if (!options.tokenized && !coder_.has_sentencepiece()) {
      return absl::InvalidArgumentError(
          "sentencepiece is needed, since the model has none; or give pieces separated by spaces, "
          "with tokenized");
    }
    NIBU_RETURN_IF_ERROR(CheckRange("max_input_length", options.max_input_length, 1));
    NIBU_ASSIGN_OR_RETURN(
        plan->options.decoding.frame,
        ChooseLanguages(vocabulary_, config_, options.src_lang, options.tgt_lang));
    NIBU_RETURN_IF_ERROR(plan->options.decoding.ValidateFor(config_));
    plan->max_input_length =
        std::min(options.max_input_length, translator_->max_source_length(plan->options.decoding));
    if (options.split_sentences && !options.tokenized) {
      std::string language;
      for (const std::string& named :
           {options.split_language, options.src_lang, vocabulary_.source_language,
            vocabulary_.languages.default_source}) {
        if (language.empty()) language = named;
      }
      NIBU_ASSIGN_OR_RETURN(plan->splitter, SentenceSplitter::Create(language));
    }
    return plan;
  } catch (...) {
    return StatusOfException();
  }
}

int TextTranslator::max_input_length(const Plan& plan) const { return plan.max_input_length; }

absl::Status TextTranslator::AddText(const std::vector<std::string>& pieces, Pending* pending,
                                     std::vector<std::vector<int>>* sources) const {
  const Plan& plan = *pending->plan;
  const auto limit = static_cast<size_t>(plan.max_input_length);
  pending->result.source_tokens += static_cast<int>(pieces.size());
  if (pieces.size() <= limit) {
    sources->push_back(coder_.Ids(pieces));
    return absl::OkStatus();
  }
  pending->result.too_long = true;
  switch (plan.options.long_input) {
    case LongInput::kError:
      return absl::OutOfRangeError(absl::StrCat("a sentence of ", pieces.size(),
                                                " tokens is longer than max_input_length, ",
                                                plan.max_input_length));
    case LongInput::kTruncate:
      sources->push_back(coder_.Ids(absl::MakeConstSpan(pieces).subspan(0, limit)));
      break;
    case LongInput::kSplit: {
      std::vector<std::vector<int>> parts = coder_.Cut(pieces, limit);
      pending->between.insert(pending->between.end(), parts.size() - 1, " ");
      std::move(parts.begin(), parts.end(), std::back_inserter(*sources));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<int>>> TextTranslator::Read(absl::string_view line,
                                                                   Pending* pending) const {
  const Plan& plan = *pending->plan;
  const TextCoder::Line understood = coder_.Understand(line, plan.splitter != nullptr);
  const absl::string_view text = understood.text;
  std::vector<TextSpan> spans;
  if (plan.splitter != nullptr && !understood.is_one) {
    spans = plan.splitter->Split(text);
  } else if (!IsBlank(text)) {
    spans = {{0, text.size()}};
  }
  std::vector<std::vector<int>> sources;
  size_t end = 0;
  for (const TextSpan& span : spans) {
    const std::vector<std::string> pieces = coder_.Pieces(
        understood, text.substr(span.begin, span.end - span.begin), plan.options.tokenized);
    if (!pieces.empty()) {
      pending->between.emplace_back(text.substr(end, span.begin - end));
      NIBU_RETURN_IF_ERROR(AddText(pieces, pending, &sources));
    }
    end = span.end;
  }
  pending->between.emplace_back(text.substr(end));
  return sources;
}

absl::StatusOr<TextTranslator::TextTicket> TextTranslator::Submit(
    absl::string_view line, const Request& request, Done done, std::chrono::nanoseconds patience) {
  if (request.plan == nullptr) return absl::InvalidArgumentError("plan is missing; see Prepare");
  std::shared_ptr<Pending> pending;
  absl::Status status;
  try {
    pending = std::make_shared<Pending>();
    pending->plan = request.plan;
    pending->key = request.key;
    pending->done = std::move(done);
    const auto start = std::chrono::steady_clock::now();
    NIBU_ASSIGN_OR_RETURN(std::vector<std::vector<int>> sources, Read(line, pending.get()));
    tokenizing_ += SecondsSince(start);
    if (sources.empty()) {
      pending->result.hypotheses.resize(1);
      Deliver(pending.get(), std::move(pending->result));
      return pending;
    }
    pending->missing = sources.size();
    pending->parts.resize(sources.size());
    pending->tickets.reserve(sources.size());
    for (size_t i = 0; i < sources.size() && status.ok(); ++i) {
      absl::StatusOr<Ticket> ticket = translator_->Submit(
          {std::move(sources[i]), request.plan->options.decoding, request.priority,
           request.deadline, /*key=*/i},
          [this, pending](uint64_t part, Result result) {
            pending->status.Update(result.status());
            if (result.ok()) pending->parts[part] = *std::move(result);
            if (--pending->missing > 0) return;
            const auto end = std::chrono::steady_clock::now();
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

void TextTranslator::Cancel(const TextTicket& ticket) {
  const std::shared_ptr<Pending> pending = ticket.lock();
  if (pending == nullptr) return;
  for (const Ticket& part : pending->tickets) translator_->Cancel(part);
}

absl::StatusOr<TextResult> TextTranslator::Finish(Pending* pending) const {
  if (!pending->status.ok()) return pending->status;
  try {
    TextResult result = std::move(pending->result);
    auto count = static_cast<size_t>(pending->plan->options.decoding.num_hypotheses);
    for (const auto& part : pending->parts) count = std::min(count, part.size());
    for (size_t n = 0; n < count; ++n) result.hypotheses.push_back(Join(*pending, n));
    if (!result.hypotheses.empty()) {
      result.target_tokens = static_cast<int>(result.hypotheses[0].tokens.size());
    }
    return result;
  } catch (...) {
    return StatusOfException();
  }
}

TextHypothesis TextTranslator::Join(const Pending& pending, size_t n) const {
  const TextOptions& options = pending.plan->options;
  TextHypothesis joined;
  size_t length = 0;
  bool is_first = true;
  for (size_t i = 0; i < pending.parts.size(); ++i) {
    const Hypothesis& part = pending.parts[i][n];
    std::vector<std::string> tokens = coder_.Tokens(part.tokens);
    const std::string text = coder_.Text(tokens, options.tokenized);
    if (!text.empty()) {
      const absl::string_view between = pending.between[i];
      absl::StrAppend(&joined.text,
                      is_first ? between : BetweenTranslations(between, joined.text, text), text);
      is_first = false;
    }
    // The score of the EOS, where there is one, has no token.
    joined.token_scores.insert(joined.token_scores.end(), part.token_scores.begin(),
                               part.token_scores.begin() + static_cast<long>(tokens.size()));
    std::move(tokens.begin(), tokens.end(), std::back_inserter(joined.tokens));
    joined.log_prob += part.log_prob;
    joined.finished = joined.finished && part.finished;
    length += part.token_scores.size();
  }
  if (!is_first) joined.text += pending.between.back();
  absl::StrReplaceAll({{"\n", " "}, {"\r", " "}}, &joined.text);
  joined.score = HypothesisScore(joined.log_prob, length, options.decoding.length_penalty);
  return joined;
}

absl::StatusOr<std::vector<TextResult>> TextTranslator::Translate(
    const std::vector<std::string>& lines, const TextOptions& options) {
  NIBU_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, Prepare(options));
  try {
    const auto all = std::make_shared<Gather<TextResult>>(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const auto ticket = Submit(
          lines[i], {.plan = plan, .key = i},
          [all](uint64_t key, absl::StatusOr<TextResult> result) {
            all->Add(key, std::move(result));
          },
          std::chrono::nanoseconds::max());
      if (!ticket.ok()) all->Add(i, ticket.status());
    }
    return all->Await();
  } catch (...) {
    return StatusOfException();
  }
}

}  // namespace nibu
