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
#include "tokenizer/space_tokenizer.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace nibu {

// A model's vocabularies and tokenizers. Immutable; threads may share it.
class TextCoder {
 public:
  // InvalidArgument: vocabularies or SentencePiece models that make no sense. A model without
  // SentencePiece still takes `tokenized` text.
  static absl::StatusOr<TextCoder> Create(const ModelVocabulary& vocabulary,
                                          const ModelConfig& config);

  bool has_sentencepiece() const { return source_tokenizer_ != nullptr; }

  // What stands in front of a line, and the rest.
  struct Line {
    std::string language;           // ">>xx<<", a token; or empty
    absl::string_view instruction;  // "<2xx> ", "translate English to German: ", text; or empty
    absl::string_view text;
    bool is_one = false;  // T5: an instruction that is not known may be about the whole text
  };
  // The parts of a line, views of it. `split`: its sentences will be looked for.
  Line Understand(absl::string_view line, bool split) const;

  // Pieces of a text of the line, what is said in front of all of them included.
  std::vector<std::string> Pieces(const Line& line, absl::string_view text, bool tokenized) const;
  // The same cut into parts of at most `limit` ids each, at sentence or clause ends where possible;
  // what is said in front comes first in every part.
  std::vector<std::vector<int>> Cut(const std::vector<std::string>& pieces, size_t limit) const;
  std::vector<int> Ids(absl::Span<const std::string> pieces) const;

  // Of target ids: their tokens, and the text these make.
  std::vector<std::string> Tokens(absl::Span<const int> ids) const;
  std::string Text(absl::Span<const std::string> tokens, bool tokenized) const;

 private:
  bool language_tokens_ = false;
  bool instructions_ = false;  // T5: the text says what to do
  std::shared_ptr<const Vocabulary> source_vocabulary_;
  std::shared_ptr<const Vocabulary> target_vocabulary_;
  std::shared_ptr<const Tokenizer> source_tokenizer_;  // null: none
  std::shared_ptr<const Tokenizer> target_tokenizer_;
  SpaceTokenizer space_tokenizer_;
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_TEXT_CODER_H_
