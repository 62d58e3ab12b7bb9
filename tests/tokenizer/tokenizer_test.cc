#include "tokenizer/tokenizer.h"

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tokenizer/language_token.h"
#include "tokenizer/long_input.h"
#include "tokenizer/sentencepiece_tokenizer.h"
#include "tokenizer/space_tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace nibu {
namespace {

using Pieces = std::vector<std::string>;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string ModelBytes() { return ReadFile(NIBU_SOURCE_DIR "/models/pretrained/en-de/source.spm"); }

const Tokenizer& Bundled() {
  static const std::unique_ptr<Tokenizer> tokenizer =
      *SentencePieceTokenizer::FromSerialized(ModelBytes());
  return *tokenizer;
}

TEST(SentencePieceTest, EncodesAndDecodes) {
  const auto pieces = Bundled().Encode("A man is riding a bicycle.");
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(absl::StrJoin(*pieces, " "), "▁A ▁man ▁is ▁riding ▁a ▁bicycle .");
  EXPECT_EQ(*Bundled().Decode(*pieces), "A man is riding a bicycle.");
  EXPECT_TRUE(Bundled().Encode("")->empty());
  EXPECT_TRUE(Bundled().Encode(" \t ")->empty());
  EXPECT_EQ(*Bundled().Decode({}), "");
}

TEST(SentencePieceTest, AnyBytesAreText) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 60, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const auto pieces = Bundled().Encode(text);
    ASSERT_TRUE(pieces.ok()) << pieces.status();
    EXPECT_TRUE(Bundled().Decode(*pieces).ok());
  }
  for (const std::string& text :
       {std::string("a\0b", 3), std::string("\xff\xfe\x80"), std::string("日本語のテキスト。"),
        std::string("e\u0301 👩‍👩‍👧 \u202e"), std::string(1 << 20, 'x')}) {
    const auto pieces = Bundled().Encode(text);
    ASSERT_TRUE(pieces.ok());
    EXPECT_FALSE(pieces->empty());
  }
}

TEST(SentencePieceTest, DamagedModelsAreRefused) {
  EXPECT_FALSE(SentencePieceTokenizer::FromSerialized("").ok());
  EXPECT_FALSE(SentencePieceTokenizer::FromSerialized("not a model").ok());
  const std::string bytes = ModelBytes();
  EXPECT_FALSE(SentencePieceTokenizer::FromSerialized(bytes.substr(0, bytes.size() / 2)).ok());
}

TEST(SpaceTokenizerTest, SplitsAtBlanks) {
  const SpaceTokenizer tokenizer;
  EXPECT_EQ(*tokenizer.Encode(" a  b\tc "), Pieces({"a", "b", "c"}));
  EXPECT_EQ(*tokenizer.Decode({"a", "b"}), "a b");
  EXPECT_TRUE(tokenizer.Encode("  ")->empty());
}

TEST(VocabularyTest, MapsBothWays) {
  const auto vocabulary = Vocabulary::Create({"</s>", "<unk>", "a", "b", "a"}, 1);
  ASSERT_TRUE(vocabulary.ok());
  EXPECT_EQ(vocabulary->size(), 5);
  EXPECT_EQ(vocabulary->Id("b"), 3);
  EXPECT_EQ(vocabulary->Id("a"), 2);  // the first of two
  EXPECT_EQ(vocabulary->Id("z"), 1);
  EXPECT_TRUE(vocabulary->Contains("a"));
  EXPECT_FALSE(vocabulary->Contains("z"));
  EXPECT_EQ(vocabulary->Token(4), "a");
  EXPECT_FALSE(Vocabulary::Create({}, 0).ok());
  EXPECT_FALSE(Vocabulary::Create({"a"}, 1).ok());
  EXPECT_FALSE(Vocabulary::Create({"a"}, -1).ok());
}

TEST(LanguageTokenTest, IsTakenWhenTheVocabularyHasIt) {
  const Vocabulary vocabulary = *Vocabulary::Create({"<unk>", ">>deu<<", ">>fra<<"}, 0);
  const auto take = [&](absl::string_view text) {
    const std::string token = TakeLanguageToken(vocabulary, &text);
    return token + "|" + std::string(text);
  };
  EXPECT_EQ(take(">>deu<< Hello."), ">>deu<<|Hello.");
  EXPECT_EQ(take(" >>fra<<Hello."), ">>fra<<|Hello.");
  EXPECT_EQ(take(">>deu<<"), ">>deu<<|");
  EXPECT_EQ(take(">>xyz<< Hello."), "|>>xyz<< Hello.");
  EXPECT_EQ(take("Hello >>deu<<"), "|Hello >>deu<<");
  EXPECT_EQ(take(">>deu Hello."), "|>>deu Hello.");
  EXPECT_EQ(take(""), "|");
}

std::string Parts(const Pieces& pieces, size_t limit) {
  std::vector<std::string> parts;
  size_t expected = 0;
  for (const auto& [begin, end] : SplitPieces(pieces, limit)) {
    EXPECT_EQ(begin, expected);  // nothing lost, nothing twice
    EXPECT_LT(begin, end);
    EXPECT_LE(end - begin, limit);
    expected = end;
    parts.push_back(absl::StrJoin(pieces.begin() + static_cast<long>(begin),
                                  pieces.begin() + static_cast<long>(end), ""));
  }
  EXPECT_EQ(expected, pieces.size());
  return absl::StrJoin(parts, "|");
}

TEST(SplitPiecesTest, PrefersSentencesThenClausesThenWords) {
  EXPECT_EQ(Parts({"▁a", "▁b"}, 2), "▁a▁b");
  EXPECT_EQ(Parts({}, 2), "");
  EXPECT_EQ(Parts({"▁a", "▁b", ".", "▁c", ",", "▁d", "▁e"}, 6), "▁a▁b.|▁c,▁d▁e");
  EXPECT_EQ(Parts({"▁a", "▁b", ",", "▁c", "▁d", "▁e"}, 5), "▁a▁b,|▁c▁d▁e");
  EXPECT_EQ(Parts({"▁a", "▁b", "c", "▁d", "e"}, 4), "▁a▁bc|▁de");
  EXPECT_EQ(Parts({"a", "b", "c", "d", "e"}, 2), "ab|cd|e");
  EXPECT_EQ(Parts({"▁他", "走", "了", "。", "她", "来", "了"}, 5), "▁他走了。|她来了");
  EXPECT_EQ(Parts({"▁\"", "a", ".", "\"", "▁b", "▁c"}, 5), "▁\"a.\"|▁b▁c");
  // "3.5" is no end of a sentence.
  EXPECT_EQ(Parts({"▁3", ".", "5", "▁b", "▁c"}, 4), "▁3.5▁b|▁c");
}

TEST(SplitPiecesTest, NeverLosesAPiece) {
  std::mt19937 random(2);
  const Pieces alphabet = {"▁a", "b", ".", ",", "▁", "。", "!", "\"", "▁c."};
  for (int round = 0; round < 500; ++round) {
    Pieces pieces(random() % 100);
    for (std::string& piece : pieces) piece = alphabet[random() % alphabet.size()];
    Parts(pieces, 1 + random() % 20);
  }
}

}  // namespace
}  // namespace nibu
