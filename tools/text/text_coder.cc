#include "tools/text/text_coder.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "tokenizer/language_token.h"
#include "tokenizer/long_input.h"
#include "tokenizer/sentencepiece_tokenizer.h"

namespace nibu {
namespace {

// `side`: "source" or "target". Null: the model has none.
absl::StatusOr<std::shared_ptr<const Tokenizer>> MakeTokenizer(absl::string_view side,
                                                               const std::string& sentencepiece,
                                                               const Vocabulary& vocabulary) {
  if (sentencepiece.empty()) return nullptr;
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

absl::StatusOr<TextCoder> TextCoder::Create(const ModelVocabulary& vocabulary,
                                            const ModelConfig& config) {
  TextCoder coder;
  coder.language_tokens_ = vocabulary.language_tokens;
  NIBU_ASSIGN_OR_RETURN(Vocabulary source,
                        Vocabulary::Create(vocabulary.source_tokens, config.unk));
  coder.source_vocabulary_ = std::make_shared<const Vocabulary>(std::move(source));
  // Most models have one vocabulary and one SentencePiece model for both sides.
  coder.target_vocabulary_ = coder.source_vocabulary_;
  if (vocabulary.target_tokens != vocabulary.source_tokens) {
    NIBU_ASSIGN_OR_RETURN(Vocabulary target,
                          Vocabulary::Create(vocabulary.target_tokens, config.unk_target));
    coder.target_vocabulary_ = std::make_shared<const Vocabulary>(std::move(target));
  }
  NIBU_ASSIGN_OR_RETURN(
      coder.source_tokenizer_,
      MakeTokenizer("source", vocabulary.source_sentencepiece, *coder.source_vocabulary_));
  coder.target_tokenizer_ = coder.source_tokenizer_;
  if (vocabulary.target_sentencepiece != vocabulary.source_sentencepiece) {
    NIBU_ASSIGN_OR_RETURN(
        coder.target_tokenizer_,
        MakeTokenizer("target", vocabulary.target_sentencepiece, *coder.target_vocabulary_));
  }
  coder.instructions_ = !vocabulary.language_tokens && HasSentinels(*coder.source_vocabulary_);
  return coder;
}

TextCoder::Line TextCoder::Understand(absl::string_view line, bool split) const {
  Line result{"", "", line};
  if (language_tokens_) {
    std::string token = TakeLanguageToken(*source_vocabulary_, &result.text);
    // "<2xx>" is a piece of text, which SentencePiece finds.
    if (absl::StartsWith(token, ">>")) {
      result.language = std::move(token);
    } else {
      result.instruction = line.substr(0, line.size() - result.text.size());
    }
  } else if (split && instructions_) {
    result.instruction = line.substr(0, TranslateInstruction(line));
    result.text.remove_prefix(result.instruction.size());
    result.is_one = result.instruction.empty();
  }
  return result;
}

std::vector<std::string> TextCoder::Pieces(const Line& line, absl::string_view text,
                                           bool tokenized) const {
  std::vector<std::string> pieces;
  if (!line.language.empty()) pieces.push_back(line.language);
  const Tokenizer& tokenizer = tokenized ? space_tokenizer_ : *source_tokenizer_;
  absl::StatusOr<std::vector<std::string>> encoded =
      tokenizer.Encode(absl::StrCat(line.instruction, text));
  // SentencePiece takes any bytes; should it refuse some after all, the text counts as empty.
  if (encoded.ok()) std::move(encoded->begin(), encoded->end(), std::back_inserter(pieces));
  return pieces;
}

std::vector<std::vector<int>> TextCoder::Cut(const std::vector<std::string>& pieces,
                                             size_t limit) const {
  size_t prefix = language_tokens_ ? LanguagePrefix(*source_vocabulary_, pieces) : 0;
  if (prefix >= limit) prefix = 0;
  const auto text = absl::MakeConstSpan(pieces).subspan(prefix);
  std::vector<std::vector<int>> parts;
  for (const auto& [begin, end] : SplitPieces(text, limit - prefix)) {
    parts.push_back(Ids(absl::MakeConstSpan(pieces).subspan(0, prefix)));
    const std::vector<int> part = Ids(text.subspan(begin, end - begin));
    parts.back().insert(parts.back().end(), part.begin(), part.end());
  }
  return parts;
}

std::vector<int> TextCoder::Ids(absl::Span<const std::string> pieces) const {
  std::vector<int> ids;
  ids.reserve(pieces.size());
  for (const std::string& piece : pieces) ids.push_back(source_vocabulary_->Id(piece));
  return ids;
}

std::vector<std::string> TextCoder::Tokens(absl::Span<const int> ids) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const int id : ids) tokens.push_back(target_vocabulary_->Token(id));
  return tokens;
}

std::string TextCoder::Text(absl::Span<const std::string> tokens, bool tokenized) const {
  const Tokenizer& tokenizer = tokenized ? space_tokenizer_ : *target_tokenizer_;
  return tokenizer.Decode(tokens).value_or("");
}

}  // namespace nibu
