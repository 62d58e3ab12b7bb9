// Tests the contracts of the headers in tokenizer/.
#include "tests/contracts.h"

#include <string>
#include <vector>

#include "tokenizer/sentences/number_words.h"
#include "tokenizer/sentences/sentence_rules.h"
#include "tokenizer/sentences/sentence_text.h"
#include "tokenizer/subwords/long_input.h"
#include "tokenizer/subwords/sentencepiece_model.h"
#include "tokenizer/subwords/vocabulary.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

using TokenizerContracts = ContractTest;

TEST_F(TokenizerContracts, NoCharacterStandsBehindTheText) {
  size_t i = 3;
  EXPECT_BROKEN(NextCharacter("abc", &i), "*i < text.size()");
}

TEST_F(TokenizerContracts, TokensHaveTheIdsOfTheVocabulary) {
  const Vocabulary vocabulary = *Vocabulary::Create({"<unk>", "a"}, 0);
  EXPECT_EQ(vocabulary.Token(1), "a");
  EXPECT_BROKEN(vocabulary.Token(2), "0 <= id && id < size()");
  EXPECT_BROKEN(vocabulary.Token(-1), "0 <= id && id < size()");
}

TEST_F(TokenizerContracts, PiecesHaveTheIdsOfTheModel) {
  const SentencePieceModel empty;
  EXPECT_BROKEN(empty.Piece(0), "0 <= id && id < size()");
  EXPECT_BROKEN(empty.Piece(-1), "0 <= id && id < size()");
}

TEST_F(TokenizerContracts, PartsHavePieces) {
  const std::vector<std::string> pieces = {"▁a", "▁b"};
  EXPECT_EQ(SplitPieces(pieces, 1).size(), 2u);
  EXPECT_BROKEN(SplitPieces(pieces, 0), "limit >= 1");
}

TEST_F(TokenizerContracts, StopsAreReadWhereTheyStand) {
  const SentenceRules rules("en");
  const SentenceText text(rules, "No. Yes");
  EXPECT_EQ(text.ReadStop(2).end, 3u);
  EXPECT_BROKEN(text.ReadStop(1), "IsStopAt(i)");
  EXPECT_BROKEN(text.ReadStop(7), "IsStopAt(i)");
}

TEST_F(TokenizerContracts, NothingIsBehindTheEndOfALine) {
  const SentenceRules rules("en");
  const SentenceText text(rules, "No");
  EXPECT_EQ(text.Behind(1), 2u);
  EXPECT_BROKEN(text.Behind(2), "*i < line_.size()");
}

TEST_F(TokenizerContracts, WordsAreLookedUpInLowerCase) {
  const SentenceRules rules("en");
  EXPECT_TRUE(rules.Has(SentenceRules::kNever, "dr"));
  EXPECT_BROKEN(rules.Has(SentenceRules::kNever, "Dr"), "absl::ascii_isupper");
  EXPECT_BROKEN(rules.EndsShort("Hauptstr"), "absl::ascii_isupper");
}

TEST_F(TokenizerContracts, NumbersAreSaidInKnownLanguages) {
  const NumberWords unknown("xx");
  EXPECT_BROKEN(unknown.Say("3", "drei"), "AreKnown()");
}

}  // namespace
}  // namespace nibu::internal
