// Tests of the tokenizers: SentencePiece and its character maps, vocabularies, tokens of languages,
// and long input that is split into parts.
#include "tokenizer/subwords/tokenizer.h"

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tokenizer/subwords/charsmap.h"
#include "tokenizer/subwords/language_token.h"
#include "tokenizer/subwords/long_input.h"
#include "tokenizer/subwords/sentencepiece_model.h"
#include "tokenizer/subwords/vocabulary.h"

namespace nibu::internal {
namespace {

using Pieces = std::vector<std::string>;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string ModelBytes() { return ReadFile(CaptionsModelPath("source.spm")); }

// Returns the first `n` pieces of the captions model, or all of them.
Vocabulary PiecesOf(size_t n = SIZE_MAX) {
  SentencePieceModel model;
  std::string error;
  const std::string bytes = ModelBytes();
  EXPECT_TRUE(model.Load(bytes.data(), bytes.size(), &error)) << error;
  std::vector<std::string> pieces;
  for (int id = 0; id < model.size() && pieces.size() < n; ++id) pieces.push_back(model.Piece(id));
  return *Vocabulary::Create(pieces, 0);
}

absl::StatusOr<std::unique_ptr<SentencePieceTokenizer>> Load(absl::string_view bytes) {
  static const Vocabulary& vocabulary = *new Vocabulary(PiecesOf());
  return SentencePieceTokenizer::FromSerialized(bytes, vocabulary);
}

const SentencePieceTokenizer& Captions() {
  static const std::unique_ptr<SentencePieceTokenizer> tokenizer = *Load(ModelBytes());
  return *tokenizer;
}

TEST(SentencePieceTest, EncodesAndDecodes) {
  const auto pieces = Captions().Encode("A man is riding a bicycle.");
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(absl::StrJoin(*pieces, " "), "▁A ▁man ▁is ▁riding ▁a ▁bicycle .");
  EXPECT_EQ(*Captions().Decode(*pieces), "A man is riding a bicycle.");
  EXPECT_TRUE(Captions().Encode("")->empty());
  EXPECT_TRUE(Captions().Encode(" \t ")->empty());
  EXPECT_EQ(*Captions().Decode({}), "");
}

// Argos packages of OPUS-MT models have only the source's SentencePiece model, which does not have
// all target pieces.
TEST(SentencePieceTest, PiecesOfAnotherModel) {
  EXPECT_EQ(*Captions().Decode({"▁Ein", "▁qqqx", "zzz", "▁Mann", "."}), "Ein qqqxzzz Mann.");
  EXPECT_EQ(*Captions().Decode({"▁qqqx", "▁Mann"}), "qqqx Mann");
  EXPECT_EQ(*Captions().Decode({"▁漢字"}), "漢字");
}

TEST(SentencePieceTest, AnyBytesAreText) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 60, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const auto pieces = Captions().Encode(text);
    ASSERT_TRUE(pieces.ok()) << pieces.status();
    EXPECT_TRUE(Captions().Decode(*pieces).ok());
  }
  for (const std::string& text :
       {std::string("a\0b", 3), std::string("\xff\xfe\x80"), std::string("日本語のテキスト。"),
        std::string("e\u0301 👩‍👩‍👧 \u202e"), std::string(1 << 20, 'x')}) {
    const auto pieces = Captions().Encode(text);
    ASSERT_TRUE(pieces.ok());
    EXPECT_FALSE(pieces->empty());
  }
}

TEST(SentencePieceTest, SpansOfPieces) {
  std::string text = "A man \xff \u2603 is  riding a bicycle.";
  while (text.size() < 20000) text += " A man is riding a \u2603.";
  std::vector<TextSpan> spans;
  const std::vector<std::string> pieces = *Captions().Encode(text, &spans);
  EXPECT_EQ(pieces, *Captions().Encode(text));
  ASSERT_EQ(spans.size(), pieces.size());
  size_t end = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_GE(spans[i].begin, end);
    EXPECT_LE(spans[i].begin, spans[i].end);
    end = spans[i].end;
    if (spans[i].begin < 12) continue;  // Bytes that are not UTF-8 are normalized.
    const std::string word = absl::StrReplaceAll(pieces[i], {{"\u2581", ""}});
    EXPECT_NE(text.substr(spans[i].begin, end - spans[i].begin).find(word), std::string::npos)
        << pieces[i];
  }
  EXPECT_EQ(end, text.size());
  const std::string decoded = *Captions().Decode(pieces, &spans);
  EXPECT_EQ(decoded, *Captions().Decode(pieces));
  std::string joined;
  for (const TextSpan& span : spans) joined += decoded.substr(span.begin, span.end - span.begin);
  EXPECT_EQ(joined, decoded);
}

// Long text is passed to SentencePiece in parts.
TEST(SentencePieceTest, LongTextIsTheSumOfItsWords) {
  const std::vector<std::string> sentence = *Captions().Encode("A man is riding a bicycle.");
  std::string text;
  std::vector<std::string> expected;
  while (text.size() < 300000) {
    absl::StrAppend(&text, text.empty() ? "" : " ", "A man is riding a bicycle.");
    expected.insert(expected.end(), sentence.begin(), sentence.end());
  }
  EXPECT_EQ(*Captions().Encode(text), expected);
  // Text without blanks is cut between characters, and nothing is lost.
  std::string unspaced;
  while (unspaced.size() < 300000) unspaced += "\u00e4";
  const auto pieces = Captions().Encode(unspaced);
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(absl::StrReplaceAll(absl::StrJoin(*pieces, ""), {{"\u2581", ""}}), unspaced);
}

// In one part, this text would take a minute.
TEST(SentencePieceTest, AMillionUnknownCharacters) {
  const auto pieces = Captions().Encode(std::string(size_t{1} << 20, '\0'));
  ASSERT_TRUE(pieces.ok());
  EXPECT_LT(pieces->size(), 200u);
}

TEST(SentencePieceTest, DamagedModelsAreRefused) {
  EXPECT_FALSE(Load("").ok());
  EXPECT_FALSE(Load("not a model").ok());
  const std::string bytes = ModelBytes();
  EXPECT_FALSE(Load(bytes.substr(0, bytes.size() / 2)).ok());
}

TEST(SentencePieceTest, AnotherModelsVocabularyIsRefused) {
  const std::string bytes = ModelBytes();
  const size_t size = static_cast<size_t>(PiecesOf().size());
  EXPECT_TRUE(SentencePieceTokenizer::FromSerialized(bytes, PiecesOf(size * 3 / 4)).ok());
  const auto refused = SentencePieceTokenizer::FromSerialized(bytes, PiecesOf(size / 4));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("belongs to another model"), std::string::npos);
}

// SentencePiece would read beyond its memory with most of these.
TEST(SentencePieceTest, DamagedCharacterMapsAreRefused) {
  const std::string bytes = ModelBytes();
  ASSERT_TRUE(CharsmapsAreSound(bytes));
  const size_t map = bytes.size() - 200000;  // Most of the file's end is the map.
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i <= round % 20; ++i) {
      damaged[map + random() % 200000] = static_cast<char>(random());
    }
    const auto tokenizer = Load(damaged);
    if (!tokenizer.ok()) {
      ++refused;
      continue;
    }
    std::string text(400, '\0');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_TRUE((*tokenizer)->Encode(text).ok());
  }
  EXPECT_GT(refused, 100);
}

// The model has a map of one block of units, in which node 0 has the children 128 ^ byte.
TEST(CharsmapTest, ChecksEveryBound) {
  const auto model = [](std::vector<uint32_t> units, const std::string& replacements) {
    const auto length = [](size_t n) {
      std::string varint;
      for (; n >= 128; n >>= 7) varint += static_cast<char>(n | 128);
      return varint + static_cast<char>(n);
    };
    units.resize(256);
    std::string map("\0\4\0\0", 4);  // the number of bytes, 1024
    map.append(reinterpret_cast<const char*>(units.data()), 1024);
    map += replacements;
    const std::string field = "\x12" + length(map.size()) + map;
    return "\x1a" + length(field.size()) + field;
  };
  const std::string text("a\0b\0", 4);
  const auto node = [](uint32_t offset, bool value) { return offset << 10 | (value ? 256u : 0u); };
  EXPECT_TRUE(CharsmapsAreSound(model({node(128, false)}, text)));
  EXPECT_FALSE(CharsmapsAreSound(model({node(128, false)}, "")));        // no replacements
  EXPECT_FALSE(CharsmapsAreSound(model({node(256, false)}, text)));      // past the units
  EXPECT_FALSE(CharsmapsAreSound(model({node(1, false) | 512}, text)));  // 1 * 256
  EXPECT_FALSE(CharsmapsAreSound(model({node(256, false) | 1u << 31}, text)));
  EXPECT_TRUE(CharsmapsAreSound(model({0, 1u << 31 | 256u << 10}, text)));     // a value
  EXPECT_TRUE(CharsmapsAreSound(model({node(1, true), 1u << 31 | 3}, text)));  // the last byte
  EXPECT_FALSE(CharsmapsAreSound(model({node(1, true), 1u << 31 | 4}, text)));
  const std::string whole = model({node(128, false)}, text);
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(CharsmapsAreSound(whole.substr(0, size))) << size;
  }
  EXPECT_TRUE(CharsmapsAreSound(""));                                  // no map at all
  EXPECT_TRUE(CharsmapsAreSound(std::string("\x1a\x02\x12\x00", 4)));  // an empty one
}

TEST(SplitAtSpacesTest, WhiteSpaceOfAnyLength) {
  std::vector<TextSpan> spans;
  EXPECT_EQ(SplitAtSpaces(" a  bb\tc ", &spans), Pieces({"a", "bb", "c"}));
  EXPECT_EQ(spans[1].begin, 4);
  EXPECT_EQ(spans[1].end, 6);
  EXPECT_TRUE(SplitAtSpaces("  ").empty());
}

TEST(VocabularyTest, MapsBothWays) {
  const auto vocabulary = Vocabulary::Create({"</s>", "<unk>", "a", "b", "a"}, 1);
  ASSERT_TRUE(vocabulary.ok());
  EXPECT_EQ(vocabulary->size(), 5);
  EXPECT_EQ(vocabulary->Id("b"), 3);
  EXPECT_EQ(vocabulary->Id("a"), 2);  // It is the first of two.
  EXPECT_EQ(vocabulary->Id("z"), 1);
  EXPECT_TRUE(vocabulary->Contains("a"));
  EXPECT_FALSE(vocabulary->Contains("z"));
  EXPECT_EQ(vocabulary->Token(4), "a");
  EXPECT_FALSE(Vocabulary::Create({}, 0).ok());
  EXPECT_FALSE(Vocabulary::Create({"a"}, 1).ok());
  EXPECT_FALSE(Vocabulary::Create({"a"}, -1).ok());
}

TEST(LanguageTokenTest, IsTakenWhenTheVocabularyHasIt) {
  const Vocabulary vocabulary = *Vocabulary::Create({"<unk>", ">>deu<<", ">>fra<<", "<2de>"}, 0);
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
  EXPECT_EQ(take(" <2de> Hello."), "<2de>|Hello.");
  EXPECT_EQ(take("<2de>Hello."), "<2de>|Hello.");
  EXPECT_EQ(take("<2xy> Hello."), "|<2xy> Hello.");
  EXPECT_EQ(take("<2 de> Hello."), "|<2 de> Hello.");
  EXPECT_EQ(take("<2>"), "|<2>");
}

TEST(LanguageTokenTest, PiecesThatSayTheLanguage) {
  const Vocabulary vocabulary = *Vocabulary::Create({"<unk>", ">>deu<<", "<2de>", "▁"}, 0);
  const auto prefix = [&](const Pieces& pieces) { return LanguagePrefix(vocabulary, pieces); };
  EXPECT_EQ(prefix({}), 0u);
  EXPECT_EQ(prefix({"▁"}), 0u);
  EXPECT_EQ(prefix({">>deu<<", "▁a"}), 1u);
  EXPECT_EQ(prefix({"<2de>", "▁a"}), 1u);
  EXPECT_EQ(prefix({"▁", "<2de>", "▁a"}), 2u);
  EXPECT_EQ(prefix({"▁", "▁", "<2de>"}), 0u);
  EXPECT_EQ(prefix({"<2xy>", "▁a"}), 0u);
  EXPECT_EQ(prefix({"<2de>a"}), 0u);
}

std::string Parts(const Pieces& pieces, size_t limit) {
  std::vector<std::string> parts;
  size_t expected = 0;
  for (const auto& [begin, end] : SplitPieces(pieces, limit)) {
    EXPECT_EQ(begin, expected);  // Nothing is lost or comes twice.
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
  // "3.5" is not the end of a sentence.
  EXPECT_EQ(Parts({"▁3", ".", "5", "▁b", "▁c"}, 4), "▁3.5▁b|▁c");
}

// The end of a sentence is preferred, however early it is.
TEST(SplitPiecesTest, ASentenceEndIsBetterThanAnyClause) {
  EXPECT_EQ(Parts({"▁a", ".", "▁b", "▁c", ",", "▁d", "▁e", "▁f"}, 7), "▁a.|▁b▁c,▁d▁e▁f");
  EXPECT_EQ(Parts({"▁a", ",", "▁b", "▁c", "▁d", "▁e"}, 5), "▁a,|▁b▁c▁d▁e");
}

TEST(SplitPiecesTest, EastAsianText) {
  // After normalization, the marks are narrow and have no blank behind them.
  EXPECT_EQ(Parts({"▁你好", ",", "世界", "!", "再", "见"}, 5), "▁你好,世界!|再见");
  EXPECT_EQ(Parts({"▁你好", ",", "世", "界", "人"}, 4), "▁你好,|世界人");
  EXPECT_EQ(Parts({"▁今日", "、", "明日", "に", "も"}, 4), "▁今日、|明日にも");
  EXPECT_EQ(Parts({"▁ｶﾅ", "｡", "ｶ", "ﾅ"}, 3), "▁ｶﾅ｡|ｶﾅ");
  // "1,000" is one number, and emoji are not letters.
  EXPECT_EQ(Parts({"▁1", ",", "000", "▁b"}, 3), "▁1,000|▁b");
  EXPECT_EQ(Parts({"▁a", "▁b", ".", "👩"}, 3), "▁a|▁b.👩");
}

TEST(SplitPiecesTest, ClosingMarksStayWithTheirSentence) {
  EXPECT_EQ(Parts({"▁(\"", "a", ".", "\"", ")", "▁b", "▁c"}, 6), "▁(\"a.\")|▁b▁c");
  EXPECT_EQ(Parts({"▁「", "走", "了", "。", "」", "她", "来"}, 6), "▁「走了。」|她来");
  // The quote does not fit, so the whole sentence does not.
  EXPECT_EQ(Parts({"▁a", "。", "b", "▁c", "。", "」", "▁d"}, 5), "▁a。|b▁c。」▁d");
  EXPECT_EQ(Parts({"▁什么", "？", "！", "▁好"}, 3), "▁什么？！|▁好");
}

TEST(SplitPiecesTest, NeverLosesAPiece) {
  std::mt19937 random(2);
  const Pieces alphabet = {"▁a", "b", ".", ",", "▁", "。", "!", "\"", "▁c.", "」", "他", ")"};
  for (int round = 0; round < 500; ++round) {
    Pieces pieces(random() % 100);
    for (std::string& piece : pieces) piece = alphabet[random() % alphabet.size()];
    Parts(pieces, 1 + random() % 20);
  }
}

}  // namespace
}  // namespace nibu::internal
