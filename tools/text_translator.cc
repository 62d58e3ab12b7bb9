#include "tools/text_translator.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/status_macros.h"
#include "tokenizer/between_sentences.h"
#include "tokenizer/blank.h"
#include "tokenizer/language_token.h"
#include "tokenizer/long_input.h"
#include "tokenizer/sentencepiece_tokenizer.h"
#include "tokenizer/space_tokenizer.h"

namespace nibu {

// What stands in front of a line, and the rest.
struct TextTranslator::Line {
  std::string language;           // ">>xx<<", a token; or empty
  absl::string_view instruction;  // "<2xx> ", "translate English to German: ", text; or empty
  absl::string_view text;
};

// A line whose parts are being translated.
struct TextTranslator::Pending {
  TextResult result;
  std::vector<std::string> between;  // before each part, and behind the last one
  std::vector<std::vector<Hypothesis>> parts;
  std::atomic<size_t> missing;
  Done done;
};

namespace {

// `side`: "source" or "target".
absl::StatusOr<std::shared_ptr<const Tokenizer>> MakeTokenizer(absl::string_view side,
                                                               const std::string& sentencepiece,
                                                               const Vocabulary& vocabulary,
                                                               bool tokenized) {
  if (tokenized) return std::make_shared<const SpaceTokenizer>();
  if (sentencepiece.empty()) {
    return absl::InvalidArgumentError(
        "the model has no SentencePiece model; give it with --sentencepiece, or pieces separated "
        "by spaces with --tokenized");
  }
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer =
      SentencePieceTokenizer::FromSerialized(sentencepiece, vocabulary);
  if (!tokenizer.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("SentencePiece of the ", side, ": ", tokenizer.status().message()));
  }
  return std::shared_ptr<const Tokenizer>(*std::move(tokenizer));
}

// Length of "translate English to German: ", or 0.
size_t TranslateInstruction(absl::string_view line) {
  const size_t colon = line.find(": ");
  const absl::string_view front = line.substr(0, colon);
  const bool is_one = colon != line.npos && absl::StartsWith(front, "translate ") &&
                      absl::StrContains(front, " to ") && front.find_first_of(".!?") == front.npos;
  return is_one ? colon + 2 : 0;
}

// T5's vocabularies have it, and no other model's.
bool HasSentinels(const Vocabulary& vocabulary) { return vocabulary.Contains("<extra_id_0>"); }

}  // namespace

absl::StatusOr<std::unique_ptr<TextTranslator>> TextTranslator::Create(LoadedModel model,
                                                                       const TextOptions& options) {
  std::unique_ptr<TextTranslator> result(new TextTranslator());
  result->options_ = options;
  const ModelVocabulary& vocabulary = model.vocabulary;
  result->language_tokens_ = vocabulary.language_tokens;
  const int unk = model.model->config.unk;
  NIBU_ASSIGN_OR_RETURN(Vocabulary source, Vocabulary::Create(vocabulary.source_tokens, unk));
  result->source_vocabulary_ = std::make_shared<const Vocabulary>(std::move(source));
  // Most models have one vocabulary and one SentencePiece model for both sides.
  result->target_vocabulary_ = result->source_vocabulary_;
  if (vocabulary.target_tokens != vocabulary.source_tokens) {
    NIBU_ASSIGN_OR_RETURN(Vocabulary target, Vocabulary::Create(vocabulary.target_tokens,
                                                                model.model->config.unk_target));
    result->target_vocabulary_ = std::make_shared<const Vocabulary>(std::move(target));
  }
  NIBU_ASSIGN_OR_RETURN(result->source_tokenizer_,
                        MakeTokenizer("source", vocabulary.source_sentencepiece,
                                      *result->source_vocabulary_, options.tokenized));
  result->target_tokenizer_ = result->source_tokenizer_;
  if (vocabulary.target_sentencepiece != vocabulary.source_sentencepiece) {
    NIBU_ASSIGN_OR_RETURN(result->target_tokenizer_,
                          MakeTokenizer("target", vocabulary.target_sentencepiece,
                                        *result->target_vocabulary_, options.tokenized));
  }
  result->instructions_ = !vocabulary.language_tokens && HasSentinels(*result->source_vocabulary_);
  if (options.split_sentences && !options.tokenized) {
    std::string language = options.split_language;
    if (language.empty()) language = vocabulary.source_language;
    if (language.empty()) language = vocabulary.languages.default_source;
    NIBU_ASSIGN_OR_RETURN(result->splitter_, SentenceSplitter::Create(language));
  }
  TranslatorOptions translator = options.translator;
  translator.max_source_length = options.max_input_length;
  NIBU_ASSIGN_OR_RETURN(result->translator_,
                        Translator::Create(model.model, options.decoding, translator));
  return result;
}

TextTranslator::~TextTranslator() = default;

TextTranslator::Line TextTranslator::Understand(absl::string_view line) const {
  Line result{"", "", line};
  if (language_tokens_) {
    std::string token = TakeLanguageToken(*source_vocabulary_, &result.text);
    // "<2xx>" is a piece of text, which SentencePiece finds.
    if (absl::StartsWith(token, ">>")) {
      result.language = std::move(token);
    } else {
      result.instruction = line.substr(0, line.size() - result.text.size());
    }
  } else if (splitter_ != nullptr && instructions_) {
    result.instruction = line.substr(0, TranslateInstruction(line));
    result.text.remove_prefix(result.instruction.size());
  }
  return result;
}

std::vector<std::string> TextTranslator::Pieces(const Line& line, absl::string_view text) const {
  std::vector<std::string> pieces;
  if (!line.language.empty()) pieces.push_back(line.language);
  absl::StatusOr<std::vector<std::string>> encoded =
      source_tokenizer_->Encode(absl::StrCat(line.instruction, text));
  // SentencePiece takes any bytes; should it refuse some after all, the text counts as empty.
  if (encoded.ok()) std::move(encoded->begin(), encoded->end(), std::back_inserter(pieces));
  return pieces;
}

std::vector<int> TextTranslator::Ids(absl::Span<const std::string> pieces) const {
  std::vector<int> ids;
  ids.reserve(pieces.size());
  for (const std::string& piece : pieces) ids.push_back(source_vocabulary_->Id(piece));
  return ids;
}

std::vector<int> TextTranslator::Encode(absl::string_view line) const {
  const Line understood = Understand(line);
  if (IsBlank(understood.text)) return {};
  std::vector<int> ids = Ids(Pieces(understood, understood.text));
  ids.resize(std::min(ids.size(), static_cast<size_t>(max_input_length())));
  return ids;
}

bool TextTranslator::AddText(const std::vector<std::string>& pieces, Pending* pending,
                             std::vector<std::vector<int>>* sources) const {
  const auto limit = static_cast<size_t>(max_input_length());
  pending->result.source_tokens += static_cast<int>(pieces.size());
  if (pieces.size() <= limit) {
    sources->push_back(Ids(pieces));
    return true;
  }
  pending->result.too_long = true;
  if (options_.long_input == LongInput::kError) return false;
  if (options_.long_input == LongInput::kTruncate) {
    sources->push_back(Ids(absl::MakeConstSpan(pieces).subspan(0, limit)));
    return true;
  }
  // A language token stands in front of every part.
  size_t prefix = language_tokens_ ? LanguagePrefix(*source_vocabulary_, pieces) : 0;
  if (prefix >= limit) prefix = 0;
  const std::vector<std::string> text(pieces.begin() + static_cast<long>(prefix), pieces.end());
  for (const auto& [begin, end] : SplitPieces(text, limit - prefix)) {
    std::vector<int> ids = Ids(absl::MakeConstSpan(pieces).subspan(0, prefix));
    const std::vector<int> part = Ids(absl::MakeConstSpan(text).subspan(begin, end - begin));
    ids.insert(ids.end(), part.begin(), part.end());
    if (begin > 0) pending->between.push_back(" ");
    sources->push_back(std::move(ids));
  }
  return true;
}

void TextTranslator::Submit(absl::string_view line, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  const Line understood = Understand(line);
  const absl::string_view text = understood.text;
  std::vector<TextSpan> spans;
  // An instruction that is not known may be about the whole text.
  const bool whole = splitter_ == nullptr || (instructions_ && understood.instruction.empty());
  if (!whole) {
    spans = splitter_->Split(text);
  } else if (!IsBlank(text)) {
    spans = {{0, text.size()}};
  }
  std::vector<std::vector<int>> sources;
  bool is_refused = false;
  size_t end = 0;
  for (const TextSpan& span : spans) {
    pending->between.emplace_back(text.substr(end, span.begin - end));
    end = span.end;
    const std::vector<std::string> pieces =
        Pieces(understood, text.substr(span.begin, span.end - span.begin));
    if (pieces.empty()) {
      pending->between.pop_back();
    } else if (!AddText(pieces, pending.get(), &sources)) {
      is_refused = true;
    }
  }
  pending->between.emplace_back(text.substr(end));
  if (sources.empty() || is_refused) {
    if (!is_refused) pending->result.hypotheses.resize(1);
    pending->done(std::move(pending->result));
    return;
  }
  pending->parts.resize(sources.size());
  pending->missing = sources.size();
  for (size_t i = 0; i < sources.size(); ++i) {
    translator_->Submit(std::move(sources[i]), [this, pending, i](std::vector<Hypothesis> part) {
      pending->parts[i] = std::move(part);
      if (--pending->missing == 0) pending->done(Finish(*pending));
    });
  }
}

TextResult TextTranslator::Finish(const Pending& pending) const {
  TextResult result = pending.result;
  size_t count = static_cast<size_t>(options_.decoding.num_hypotheses);
  for (const auto& part : pending.parts) count = std::min(count, part.size());
  for (size_t n = 0; n < count; ++n) result.hypotheses.push_back(Join(pending, n));
  if (!result.hypotheses.empty()) {
    result.target_tokens = static_cast<int>(result.hypotheses[0].tokens.size());
  }
  return result;
}

TextHypothesis TextTranslator::Join(const Pending& pending, size_t n) const {
  TextHypothesis joined;
  size_t length = 0;
  bool is_first = true;
  for (size_t i = 0; i < pending.parts.size(); ++i) {
    const Hypothesis& part = pending.parts[i][n];
    std::vector<std::string> tokens;
    for (int id : part.tokens) tokens.push_back(target_vocabulary_->Token(id));
    const absl::StatusOr<std::string> text = target_tokenizer_->Decode(tokens);
    if (text.ok() && !text->empty()) {
      const absl::string_view between = pending.between[i];
      absl::StrAppend(&joined.text,
                      is_first ? between : BetweenTranslations(between, joined.text, *text), *text);
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
  joined.score = pending.parts.size() == 1
                     ? pending.parts[0][n].score
                     : joined.log_prob / std::pow(static_cast<float>(std::max<size_t>(length, 1)),
                                                  options_.decoding.length_penalty);
  return joined;
}

std::vector<TextResult> TextTranslator::Translate(const std::vector<std::string>& lines) {
  std::vector<TextResult> results(lines.size());
  std::mutex mutex;
  std::condition_variable changed;
  size_t waiting = lines.size();
  for (size_t i = 0; i < lines.size(); ++i) {
    Submit(lines[i], [&, i](TextResult result) {
      const std::lock_guard<std::mutex> lock(mutex);
      results[i] = std::move(result);
      if (--waiting == 0) changed.notify_one();
    });
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return waiting == 0; });
  return results;
}

}  // namespace nibu
