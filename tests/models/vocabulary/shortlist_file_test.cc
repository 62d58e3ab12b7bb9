// Tests of the readers of lexical shortlists: binary, text and vmap files, compressed and damaged.
#include "models/vocabulary/shortlist_file.h"

#include <algorithm>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/vocabulary/vocabulary_file.h"
#include "tests/models/archives.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;

ModelVocabulary Vocabulary() {
  ModelVocabulary vocabulary;
  vocabulary.source_tokens = {"</s>", "<unk>", "x", "y"};
  vocabulary.target_tokens = {"</s>", "<unk>", "p", "q", "r"};
  return vocabulary;
}

absl::StatusOr<std::shared_ptr<const Shortlist>> Read(const std::string& bytes,
                                                      const LexicalLimits& limits = {}) {
  return ReadShortlist(*FileBytes::InMemory("lex", bytes), Vocabulary(), limits);
}

std::string Error(const std::string& bytes) {
  const auto shortlist = Read(bytes);
  EXPECT_FALSE(shortlist.ok());
  return std::string(shortlist.status().message());
}

std::string Binary(const std::vector<uint64_t>& offsets, const std::vector<uint32_t>& ids,
                   uint64_t first = 2) {
  std::string rest = Bytes(first) + Bytes<uint64_t>(50) + Bytes<uint64_t>(offsets.size()) +
                     Bytes<uint64_t>(ids.size());
  for (const uint64_t offset : offsets) rest += Bytes(offset);
  for (const uint32_t id : ids) rest += Bytes(id);
  uint64_t h = 0;
  for (size_t i = 0; i + 8 <= rest.size(); i += 8) {
    uint64_t w = 0;
    std::memcpy(&w, rest.data() + i, 8);
    h ^= w + 0x9e3779b9 + (h << 6) + (h >> 2);
  }
  return Bytes<uint64_t>(0xF11A48D5013417F5) + Bytes(h) + rest;
}

TEST(ShortlistFile, ReadsMariansBinaryForm) {
  const auto shortlist = Read(Binary({0, 0, 1, 3, 3}, {4, 2, 3}));
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_EQ((*shortlist)->first, 2);
  EXPECT_THAT((*shortlist)->offsets, ElementsAre(0, 0, 1, 3, 3));
  EXPECT_THAT((*shortlist)->ids, ElementsAre(4, 2, 3));
  EXPECT_FALSE((*shortlist)->copy_source);
}

TEST(ShortlistFile, CompressedBinary) {
  const std::string plain = Binary({0, 0, 0, 1, 3}, {3, 2, 4});
  const auto shortlist = Read(Gzip(plain));
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_THAT((*shortlist)->ids, (*Read(plain))->ids);
  EXPECT_THAT(Error(Gzip(plain).substr(0, 40)), HasSubstr("damaged or not whole"));
  EXPECT_THAT(Error(Gzip(plain.substr(0, plain.size() - 1))), HasSubstr("not a whole shortlist"));
}

// Marian separates the fields of its text form by any blanks. Only a vmap.txt has other lines.
TEST(ShortlistFile, TextFormWithTabs) {
  const auto plain = Read("q x 0.5\nr x 0.25\np y 1\n", {1, 2, 0});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_THAT((*plain)->ids, ElementsAre(3, 4, 2));
  for (const char* text :
       {"q\tx\t0.5\nr\tx\t0.25\np\ty\t1\n", "q x\t0.5\nr\tx 0.25\n\np  y 1e0\n"}) {
    for (const std::string& bytes : {std::string(text), Gzip(text)}) {
      const auto shortlist = Read(bytes, {1, 2, 0});
      ASSERT_TRUE(shortlist.ok()) << shortlist.status();
      EXPECT_EQ((*shortlist)->first, 1);
      EXPECT_EQ((*shortlist)->ids, (*plain)->ids);
      EXPECT_EQ((*shortlist)->offsets, (*plain)->offsets);
    }
  }
  for (const char* text : {"x y\tp\n", "x y\t1\nx\tp q r\n", "x\tp q\n"}) {
    const auto vmap = Read(text);
    ASSERT_TRUE(vmap.ok()) << vmap.status();
    EXPECT_FALSE((*vmap)->phrases.empty()) << text;
  }
}

TEST(ShortlistFile, DamagedBinary) {
  const std::string whole = Binary({0, 0, 1, 3, 3}, {4, 2, 3});
  for (size_t n = 8; n < whole.size(); ++n) {
    EXPECT_THAT(Error(whole.substr(0, n)), HasSubstr("lex: not a whole shortlist")) << n;
  }
  EXPECT_THAT(Error(Binary({0, 2, 1, 3, 3}, {4, 2, 3})), HasSubstr("not in order"));
  EXPECT_THAT(Error(Binary({0, 0, 1, 3, 4}, {4, 2, 3})), HasSubstr("not in order"));
  EXPECT_THAT(Error(Binary({0, 0, 1, 3}, {4, 2, 3})),
              HasSubstr("of another model: it is for 3 source tokens, the model has 4; give"));
  EXPECT_THAT(Error(Binary({0, 0, 1, 3, 3}, {5, 2, 3})), HasSubstr("the id 5"));
  EXPECT_THAT(Error(Binary({0, 0, 1, 3, 3}, {4, 2, 3}, 6)), HasSubstr("the model has"));
}

const char kText[] = "q x 0.3\np x 0.5\nr x 0.1\nq y 0.9\nNULL y 0.5\nr NULL 0.5\nelse where 0.1\n";

TEST(ShortlistFile, ReadsMariansTextForm) {
  auto shortlist = Read(kText);
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_EQ((*shortlist)->first, 5);  // The default of 100 is cut to the vocabulary.
  EXPECT_THAT((*shortlist)->offsets, ElementsAre(0, 0, 0, 3, 4));
  EXPECT_THAT((*shortlist)->ids, ElementsAre(2, 3, 4, 3));
  shortlist = Read(kText, {1, 2, 0.4f});
  EXPECT_EQ((*shortlist)->first, 1);
  EXPECT_THAT((*shortlist)->ids, ElementsAre(2, 3));
  shortlist = Read(kText, {1, 2, 0.0f});
  EXPECT_THAT((*shortlist)->ids, ElementsAre(2, 3, 3));
  EXPECT_THAT(Error("q x 0.3\nq x\n"), HasSubstr("lex: line 2 is not"));
  EXPECT_THAT(Error("q x 1.5\n"), HasSubstr("line 1"));
  EXPECT_THAT(Error("q x nan\n"), HasSubstr("line 1"));
  EXPECT_THAT(Error("a b 0.3\n"), HasSubstr("none of its tokens"));
  EXPECT_THAT(Error(""), HasSubstr("none of its tokens"));
}

TEST(ShortlistFile, CompressedText) {
  const auto shortlist = Read(Gzip(kText));
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_THAT((*shortlist)->ids, ElementsAre(2, 3, 4, 3));
  const std::string compressed = Gzip(kText);
  EXPECT_THAT(Error(compressed.substr(0, compressed.size() / 2)), HasSubstr("inflated"));
  // One line of 100 MB is refused while it inflates.
  EXPECT_THAT(Error(Gzip(std::string(100'000'000, 'x'))), HasSubstr("too long"));
}

TEST(ShortlistFile, ReadsCTranslate2sVmap) {
  const auto shortlist = Read("\tr\nx\tp q\nx y\tq other\nelse\tp\n");
  ASSERT_TRUE(shortlist.ok()) << shortlist.status();
  EXPECT_THAT((*shortlist)->always, ElementsAre(4));
  EXPECT_EQ((*shortlist)->longest_phrase, 2);
  EXPECT_THAT((*shortlist)->phrases.at({2}), ElementsAre(2, 3));
  EXPECT_THAT((*shortlist)->phrases.at({2, 3}), ElementsAre(3));
  EXPECT_THAT(Error("x\tp\ny q\n"), HasSubstr("line 2 is not \"source<TAB>targets\""));
}

TEST(ShortlistFile, SharedVocabulariesCopyTheSource) {
  ModelVocabulary vocabulary = Vocabulary();
  vocabulary.source_tokens = vocabulary.target_tokens;
  EXPECT_TRUE(
      (*ReadShortlist(*FileBytes::InMemory("lex", "q p 0.1\n"), vocabulary, {}))->copy_source);
}

TEST(ShortlistFile, RealFilesOfBothFormsAgree) {
  const std::string models = SharedPath("models/");
  if (!std::filesystem::exists(models)) GTEST_SKIP() << models << " is not there";
  const std::string pieces = testing::ReadFile(models + "en-de-ssru-marian/vocab.spm");
  ModelVocabulary vocabulary;
  vocabulary.source_tokens = vocabulary.target_tokens = *ReadSentencePieces(pieces, "vocab.spm");
  const auto binary = ReadShortlist(
      **FileBytes::Open(models + "en-de-ssru-marian-int8/lex.50.50.bin"), vocabulary, {});
  ASSERT_TRUE(binary.ok()) << binary.status();
  const auto text = ReadShortlist(**FileBytes::Open(models + "en-de-ssru-marian/lex.s2t.gz"),
                                  vocabulary, {50, 50, 0});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ((*binary)->first, 50);
  EXPECT_EQ((*text)->first, 50);
  // Both have the same candidates for a sentence, except for ties at the ends of lists.
  const std::vector<int> source = {10, 200, 3000, 7000, 5};
  const std::vector<int> a = (*binary)->Candidates(source, 8000, {0});
  const std::vector<int> b = (*text)->Candidates(source, 8000, {0});
  std::vector<int> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  EXPECT_GE(common.size() + 10, std::max(a.size(), b.size()));
  EXPECT_GT(a.size(), 100u);
}

}  // namespace
}  // namespace nibu::internal
