// Converts text to a model's pieces and token ids, and back.
#ifndef NIBU_TOOLS_TEXT_MODEL_TEXT_CODER_H_
#define NIBU_TOOLS_TEXT_MODEL_TEXT_CODER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/model/config.h"
#include "models/assembly/opened_model.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/model/text_tokenizer.h"

namespace nibu::internal {

struct EncodedText {
  std::vector<std::string> pieces;
  std::vector<TextSpan> spans;  // the bytes of the text that each piece comes from
  size_t front = 0;             // number of language tokens, which are the first pieces

  // Returns the pieces without language tokens.
  absl::Span<const std::string> own() const { return absl::MakeSpan(pieces).subspan(front); }
};

// Returns the ids of pieces; those that the vocabulary lacks have that of the unknown token.
std::vector<int> IdsOf(const Vocabulary& vocabulary, absl::Span<const std::string> pieces);

// A model's vocabularies and tokenizers. Without tokenizers, text is pieces separated by spaces.
// Immutable; threads may share it.
class TextCoder {
 public:
  // Takes the tokens and SentencePiece models out of `model`, since those of a large vocabulary
  // need much memory. Returns InvalidArgument if one of them makes no sense.
  static absl::StatusOr<TextCoder> Create(ModelVocabulary* model, const ModelConfig& config);
  // Returns the same coder without tokenizers.
  TextCoder Tokenized() const;
  // Returns the same coder, which puts the language token with this id, ">>xx<<" or "<2xx>", in
  // front of each line that has no language token itself; -1: it puts none there.
  TextCoder WithTarget(int token) const;
  // Returns a coder for two models in a row: with the sources of this model, and the targets of the
  // model that translates what this one writes.
  TextCoder Then(const TextCoder& next) const;

  bool has_sentencepiece() const { return source_tokenizer_ != nullptr; }
  const Vocabulary& source_vocabulary() const { return *source_vocabulary_; }
  const Vocabulary& target_vocabulary() const { return *target_vocabulary_; }

  // A line, taken apart: what its front says about the translation, and the text to translate.
  struct Line {
    std::string language;           // the token ">>xx<<", or empty
    absl::string_view instruction;  // text: "<2xx> ", "translate English to German: ", or empty;
                                    // a view of the coder where the line itself has none
    absl::string_view text;         // the rest of the line
    bool is_one = false;  // T5: an unknown instruction may concern the whole text; do not split it
  };
  // Takes a line apart; the result has views of it. `split`: the line will be split into sentences.
  Line ParseLine(absl::string_view line, bool split) const;

  // Returns the pieces of a text of the line, with the line's language token or instruction in
  // front. The spans of its pieces are empty.
  absl::StatusOr<EncodedText> Encode(const Line& line, absl::string_view text) const;
  std::vector<int> Ids(absl::Span<const std::string> pieces) const;
  // Returns the source text of pieces, as the tokenizer has normalized it.
  std::string SourceText(absl::Span<const std::string> pieces) const;

  // Returns the spans of a text's added tokens, which the model reads as they are, in order.
  std::vector<TextSpan> AddedTokens(absl::string_view text) const {
    return has_sentencepiece() ? source_tokenizer_->AddedTokens(text) : std::vector<TextSpan>();
  }
  // Returns InvalidArgument with the languages that the model has if a line begins with a language
  // token, ">>xx<<" or "<2xx>", that it lacks. `text`: Line::text.
  absl::Status CheckLanguageToken(absl::string_view text) const;
  bool HasUnknown(absl::Span<const std::string> pieces) const;
  // Returns the spans of words with characters that the source vocabulary lacks. Brackets without
  // blanks between them count as a part of the word. REQUIRES: a tokenizer.
  absl::StatusOr<std::vector<TextSpan>> Unknowns(absl::string_view text) const;
  // Returns the names that may stand for protected parts: names that the source tokenizer knows, as
  // one piece if there is any.
  const std::vector<std::string>& names() const { return names_; }

  // Return the pieces, or their ids, of a text in the target language.
  absl::StatusOr<std::vector<std::string>> TargetPieces(absl::string_view text) const;
  absl::StatusOr<std::vector<int>> TargetIds(absl::string_view text) const;
  // Appends the ids of tokens. Returns InvalidArgument about `option` if the target vocabulary has
  // no such token.
  absl::Status AddTargetIds(absl::string_view option, absl::Span<const std::string> tokens,
                            std::vector<int>* ids) const;
  bool IsUnknown(const std::string& token) const {
    return token == target_vocabulary_->Token(target_vocabulary_->unk());
  }

  // Returns for each target id whether its token continues the word in front of it. The result is
  // empty if the vocabulary does not say where words begin.
  std::vector<bool> WordParts() const;

  // Returns the tokens of target ids.
  std::vector<std::string> Tokens(absl::Span<const int> ids) const;
  // Returns the text of target tokens. `spans`, if not null, gets the bytes of it that each token
  // stands for.
  std::string Text(absl::Span<const std::string> tokens, std::vector<TextSpan>* spans) const;

 private:
  std::shared_ptr<const std::vector<std::string>> language_tokens_;  // null: there are none
  // True if SentencePiece finds language tokens in a text, as that of MADLAD-400 does. Such a token
  // is encoded with the text, since the model was trained on what SentencePiece makes of both.
  bool tokens_are_text_ = false;
  std::string target_token_;   // see WithTarget; with a blank behind it if tokens are text
  bool instructions_ = false;  // T5: an instruction in front of the text names the task
  std::shared_ptr<const Vocabulary> source_vocabulary_;
  std::shared_ptr<const Vocabulary> target_vocabulary_;
  std::shared_ptr<const TextTokenizer> source_tokenizer_;  // null: text is pieces
  std::shared_ptr<const TextTokenizer> target_tokenizer_;
  std::vector<std::string> names_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_TEXT_CODER_H_
