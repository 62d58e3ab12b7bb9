// Tests of byte pair encoding: against the plain algorithm, and on files and texts of any bytes.
#include "tokenizer/subwords/merges.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tokenizer/subwords/tokenizer.h"
#include "tokenizer/subwords/vocabulary.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Pieces = std::vector<std::string>;

// A vocabulary with the piece "x", so that merges that make it are taken.
const Vocabulary& AnyVocabulary() {
  static const Vocabulary& vocabulary = *new Vocabulary(*Vocabulary::Create({"<unk>", "x"}, 0));
  return vocabulary;
}

// Reads merges, behind one that makes "x".
absl::StatusOr<std::unique_ptr<SentencePieceTokenizer>> Read(const std::string& version,
                                                             const std::string& merges) {
  const std::string known = "x </w>\n";
  std::string text = version;
  // A tenth of the pieces must be known.
  for (size_t i = 0; i <= merges.size() / 30; ++i) text += known;
  return SentencePieceTokenizer::FromSerialized(text + merges, AnyVocabulary());
}

// The algorithm as its paper has it: the earliest merge of all pairs, everywhere, again and again.
Pieces Plain(const std::vector<std::pair<std::string, std::string>>& merges,
             std::vector<std::string> word, bool end_is_symbol) {
  if (word.size() == 1) return word;
  if (end_is_symbol) {
    word.emplace_back("</w>");
  } else {
    word.back() += "</w>";
  }
  for (bool found = true; found;) {
    found = false;
    for (const auto& [left, right] : merges) {
      std::vector<std::string> merged;
      for (size_t i = 0; i < word.size(); ++i) {
        if (i + 1 < word.size() && word[i] == left && word[i + 1] == right) {
          merged.push_back(left + right);
          ++i;
          found = true;
        } else {
          merged.push_back(word[i]);
        }
      }
      word = merged;
      if (found) break;
    }
  }
  word.back().resize(word.back().size() - 4);
  if (word.back().empty()) word.pop_back();
  for (size_t i = 0; i + 1 < word.size(); ++i) word[i] += "@@";
  return word;
}

TEST(SubwordMerges, EncodesAsThePlainAlgorithm) {
  std::mt19937 random(7);
  const std::vector<std::string> letters = {"a", "b", "c", "é", "語"};
  for (int round = 0; round < 300; ++round) {
    const bool end_is_symbol = round % 2 == 1;
    // Each merge joins symbols that earlier ones have made, or not (hostile files do not).
    std::vector<std::string> symbols = letters;
    if (end_is_symbol) symbols.emplace_back("</w>");
    if (!end_is_symbol) {
      for (const std::string& letter : letters) symbols.push_back(letter + "</w>");
    }
    std::vector<std::pair<std::string, std::string>> merges;
    std::string text;
    while (merges.size() < 25) {
      const std::string left = symbols[random() % symbols.size()];
      const std::string right = symbols[random() % symbols.size()];
      if (absl::EndsWith(left, "</w>")) continue;
      symbols.push_back(left + right);
      merges.emplace_back(left, right);
      absl::StrAppend(&text, left, " ", right, "\n");
    }
    if (round % 3 == 0) {
      std::shuffle(merges.begin(), merges.end(), random);
      text.clear();
      for (const auto& [left, right] : merges) absl::StrAppend(&text, left, " ", right, "\n");
    }
    const auto tokenizer = Read(end_is_symbol ? "" : "#version: 0.2\n", text);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    for (int line = 0; line < 20; ++line) {
      Pieces expected;
      std::string input;
      for (size_t words = 1 + random() % 3; words > 0; --words) {
        std::vector<std::string> word;
        for (size_t n = 1 + random() % 12; n > 0; --n) word.push_back(letters[random() % 5]);
        absl::StrAppend(&input, input.empty() ? "" : " ", absl::StrJoin(word, ""));
        for (std::string& piece : Plain(merges, word, end_is_symbol)) {
          expected.push_back(std::move(piece));
        }
      }
      std::vector<TextSpan> spans;
      const auto pieces = (*tokenizer)->Encode(input, &spans);
      ASSERT_EQ(*pieces, expected) << text << input;
      ASSERT_EQ(spans.size(), expected.size());
      std::vector<TextSpan> decoded;
      EXPECT_EQ(*(*tokenizer)->Decode(*pieces, &decoded), input);
      for (size_t i = 0; i < spans.size(); ++i) {
        EXPECT_EQ(decoded[i].begin, spans[i].begin);
        EXPECT_EQ(decoded[i].end, spans[i].end);
        const std::string part = input.substr(spans[i].begin, spans[i].end - spans[i].begin);
        EXPECT_EQ((*pieces)[i], part + (absl::EndsWith(expected[i], "@@") ? "@@" : ""));
      }
    }
  }
}

TEST(SubwordMerges, FormsOfFiles) {
  const auto encode = [](const std::string& file, const std::string& text) {
    const auto tokenizer = SentencePieceTokenizer::FromSerialized(file, AnyVocabulary());
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
    return tokenizer.ok() ? absl::StrJoin(*(*tokenizer)->Encode(text), " ") : "";
  };
  // The end of a word is a part of its last symbol, or in files of version 0.1 a symbol of its own.
  EXPECT_EQ(encode("#version: 0.2\nx </w>\na b\n", "ab xab"), "a@@ b x@@ a@@ b");
  EXPECT_EQ(encode("#version: 0.2\r\nx </w>\r\na b</w>\r\n", "ab xab"), "ab x@@ ab");
  EXPECT_EQ(encode("x </w>\na b\n", "ab xab"), "ab x@@ ab");
  EXPECT_EQ(encode("#version: 0.1\nx </w>\na b", "ab xab"), "ab x@@ ab");
  // fastBPE has counts. Of a pair that comes twice, the first counts.
  EXPECT_EQ(encode("x </w> 9\na b 5\nb c</w> 4\n", "abc bc"), "ab@@ c bc");
  EXPECT_EQ(encode("x </w>\nb c\na b\nb c\n", "abc"), "a@@ bc");
  // A word of one character is not split, and blanks of any kind separate words.
  EXPECT_EQ(encode("#version: 0.2\nx </w>\n", " a \t b\n "), "a b");
  EXPECT_EQ(encode("#version: 0.2\nx </w>\n", ""), "");
}

TEST(SubwordMerges, Decodes) {
  const auto tokenizer = Read("#version: 0.2\n", "");
  EXPECT_EQ(*(*tokenizer)->Decode({"a@@", "b", "c", "d@@", "@@", "e"}), "ab c de");
  // A translation that ends too early may end within a word.
  EXPECT_EQ(*(*tokenizer)->Decode({"a", "b@@"}), "a b");
  EXPECT_EQ(*(*tokenizer)->Decode({}), "");
}

TEST(SubwordMergesDamage, WrongFilesAreNamed) {
  const auto error = [](const std::string& file) {
    return std::string(
        SentencePieceTokenizer::FromSerialized(file, AnyVocabulary()).status().message());
  };
  EXPECT_THAT(error("#version: 0.2\nx </w>\na b c\n"), HasSubstr("line 3 of the merges"));
  EXPECT_THAT(error("#version: 0.2\nx </w>\n\na b\n"), HasSubstr("line 3 of the merges"));
  EXPECT_THAT(error("#version: 0.2"), "");
  EXPECT_THAT(error("#version: 3.0\na b\n"), HasSubstr("version \"3.0\", expected 0.1 or 0.2"));
  EXPECT_THAT(error("a b\n"), HasSubstr("knows hardly any of the pieces"));
  EXPECT_THAT(error("pieces"), HasSubstr("no SentencePiece model"));
  EXPECT_THAT(error(""), HasSubstr("not a whole SentencePiece model"));
}

TEST(SubwordMergesDamage, AnyBytesAreText) {
  std::mt19937 random(3);
  const auto tokenizer = Read("#version: 0.2\n", "a a\naa a\n\xff \xfe\n< /\n< /w></w>\n");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text)
      c = random() % 3 == 0 ? "a</w> "[random() % 6] : static_cast<char>(random());
    const auto pieces = (*tokenizer)->Encode(text);
    ASSERT_TRUE(pieces.ok());
    const Pieces words = absl::StrSplit(text, absl::ByAnyChar(" \t\r\n\v\f"), absl::SkipEmpty());
    if (absl::StrContains(text, "@@")) continue;
    EXPECT_EQ(*(*tokenizer)->Decode(*pieces), absl::StrJoin(words, " "));
  }
  // A word of a megabyte does not take the square of its length.
  const auto pieces = (*tokenizer)->Encode(std::string(1 << 20, 'a'));
  EXPECT_EQ(pieces->size(), size_t{1} << 19);
}

}  // namespace
}  // namespace nibu::internal
