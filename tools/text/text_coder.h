// Lines to a model's token ids, and back.
#ifndef NIBU_TOOLS_TEXT_TEXT_CODER_H_
#define NIBU_TOOLS_TEXT_TEXT_CODER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/model/config.h"
#include "models/assembly/opened_model.h"
#include "tokenizer/subwords/tokenizer.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

struct CodedText {
  std::vector<std::string> pieces;
  std::vector<TextSpan> spans;  // what of the text each piece comes from
  size_t front = 0;             // language tokens, the first of the pieces

  // The pieces without language tokens.
  absl::Span<const std::string> own() const { return absl::MakeSpan(pieces).subspan(front); }
};

// A model's vocabularies and tokenizers; without these, text is pieces separated by single spaces.
// Immutable; threads may share it.
class TextCoder {
 public:
  // InvalidArgument: vocabularies or SentencePiece models that make no sense.
  static absl::StatusOr<TextCoder> Create(const ModelVocabulary& vocabulary,
                                          const ModelConfig& config);
  // The same without tokenizers.
  TextCoder Tokenized() const;
  // The sources of this model, and the targets of one that translates what this one writes.
  TextCoder Then(const TextCoder& next) const;

  bool has_sentencepiece() const { return source_tokenizer_ != nullptr; }
  const Vocabulary& source_vocabulary() const { return *source_vocabulary_; }
  const Vocabulary& target_vocabulary() const { return *target_vocabulary_; }

  // What stands in front of a line, and the rest.
  struct Line {
    std::string language;           // ">>xx<<", a token; or empty
    absl::string_view instruction;  // "<2xx> ", "translate English to German: ", text; or empty
    absl::string_view text;
    bool is_one = false;  // T5: an instruction that is not known may be about the whole text
  };
  // The parts of a line, views of it. `split`: its sentences will be looked for.
  Line Understand(absl::string_view line, bool split) const;

  // Pieces of a text of the line, what is said in front of all of them included; its spans are
  // empty.
  absl::StatusOr<CodedText> Code(const Line& line, absl::string_view text) const;
  std::vector<int> Ids(absl::Span<const std::string> pieces) const;
  // Of pieces of the source, as the tokenizer normalizes it.
  std::string SourceText(absl::Span<const std::string> pieces) const;

  bool HasUnknown(absl::Span<const std::string> pieces) const;
  // Characters of a text that the source vocabulary lacks, with the words they are in, and brackets
  // with what is in them, unless there are blanks. REQUIRES: a tokenizer.
  absl::StatusOr<std::vector<TextSpan>> Unknowns(absl::string_view text) const;
  // Names that the source tokenizer knows, best as one piece.
  const std::vector<std::string>& names() const { return names_; }

  // The pieces, or their ids, of a text of the target.
  absl::StatusOr<std::vector<std::string>> TargetPieces(absl::string_view text) const;
  absl::StatusOr<std::vector<int>> TargetIds(absl::string_view text) const;
  // InvalidArgument with the option: the target has no such token.
  absl::Status AddTargetIds(absl::string_view option, absl::Span<const std::string> tokens,
                            std::vector<int>* ids) const;
  bool IsUnknown(const std::string& token) const {
    return token == target_vocabulary_->Token(target_vocabulary_->unk());
  }

  // By target id, whether a token goes on with the word in front of it. None do where the
  // vocabulary does not say where words begin.
  std::vector<bool> WordParts() const;

  // Of target ids: their tokens, and the text these make.
  std::vector<std::string> Tokens(absl::Span<const int> ids) const;
  // `spans`: null, or what of the text each of them stands for, as in CodedText.
  std::string Text(absl::Span<const std::string> tokens, std::vector<TextSpan>* spans) const;

 private:
  bool language_tokens_ = false;
  bool instructions_ = false;  // T5: the text says what to do
  std::shared_ptr<const Vocabulary> source_vocabulary_;
  std::shared_ptr<const Vocabulary> target_vocabulary_;
  std::shared_ptr<const SentencePieceTokenizer> source_tokenizer_;  // null: none
  std::shared_ptr<const SentencePieceTokenizer> target_tokenizer_;
  std::vector<std::string> names_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TEXT_CODER_H_
