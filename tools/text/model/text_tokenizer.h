// Cuts text into a model's pieces: its added tokens first, and with SentencePiece what is between
// them, as Hugging Face's tokenizers do.
#ifndef NIBU_TOOLS_TEXT_MODEL_TEXT_TOKENIZER_H_
#define NIBU_TOOLS_TEXT_MODEL_TEXT_TOKENIZER_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "models/assembly/opened_model.h"
#include "tokenizer/subwords/tokenizer.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/text_span.h"

namespace nibu::internal {

// Immutable; threads may share it.
class TextTokenizer {
 public:
  // `sentencepiece`: the serialized model of a side, of which `vocabulary` has the tokens; `model`
  // has the added tokens, whose names the vocabulary of the source has. Errors are those of
  // SentencePieceTokenizer.
  static absl::StatusOr<std::shared_ptr<const TextTokenizer>> Create(
      absl::string_view sentencepiece, const Vocabulary& vocabulary, const Vocabulary& source,
      const ModelVocabulary& model);

  // As SentencePieceTokenizer's. A text of several parts is decoded part by part, with a blank in
  // front of each added token, and in front of a piece behind one if it begins a word. Pieces alone
  // do not tell whether the source had these blanks. Special tokens are left out.
  absl::StatusOr<std::vector<std::string>> Encode(absl::string_view text,
                                                  std::vector<TextSpan>* spans = nullptr) const;
  absl::StatusOr<std::string> Decode(absl::Span<const std::string> pieces,
                                     std::vector<TextSpan>* spans = nullptr) const;

  // Returns the spans of a text's added tokens, with the white space that they take, in order.
  std::vector<TextSpan> AddedTokens(absl::string_view text) const;

 private:
  // A name to search a text for.
  struct Name {
    std::string text;   // in the form NFKC if the token is `normalized`
    std::string token;  // as the vocabulary has it
    AddedToken rules;
  };
  // The names by their first byte, the longest first.
  using Names = std::map<char, std::vector<Name>>;
  // An added token in a text.
  struct Match {
    TextSpan span;  // with the white space that it takes
    std::string token;
  };

  static std::vector<Match> FindNames(const Names& names, absl::string_view text);
  std::vector<Match> FindNormalized(absl::string_view text) const;
  std::vector<Match> Find(absl::string_view text) const;

  std::unique_ptr<const SentencePieceTokenizer> sentencepiece_;
  // The same model, for a text that does not begin a word; null if text behind an added token does.
  std::unique_ptr<const SentencePieceTokenizer> continued_;
  std::unordered_map<std::string, AddedToken> added_;  // by name
  Names exact_;       // those of tokens that are not `normalized`; they are searched first
  Names normalized_;  // those of the others
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MODEL_TEXT_TOKENIZER_H_
