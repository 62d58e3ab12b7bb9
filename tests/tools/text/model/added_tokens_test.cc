// Tests of added tokens: how they are found in a text, read from a model's files, written, scored
// and decoded.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/writers/native_writer.h"
#include "nlohmann/json.hpp"
#include "tests/models/files.h"
#include "tests/paths.h"
#include "tests/tools/text/models.h"
#include "tools/text/model/text_tokenizer.h"

namespace nibu::internal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;
using testing::WriteFile;
using Json = nlohmann::json;

// Returns the vocabulary of the captions model, with the tokens added.
ModelVocabulary CaptionsWith(const std::vector<std::pair<std::string, AddedToken>>& added) {
  ModelVocabulary vocabulary = LoadModel(CaptionsModelPath(), ComputeType::kFloat32)->vocabulary;
  for (const auto& [token, rules] : added) {
    vocabulary.added_tokens.push_back(rules);
    vocabulary.added_tokens.back().token = static_cast<int>(vocabulary.source_tokens.size());
    vocabulary.source_tokens.push_back(token);
  }
  return vocabulary;
}

std::shared_ptr<const TextTokenizer> TokenizerOf(const ModelVocabulary& model) {
  const Vocabulary vocabulary = *Vocabulary::Create(model.source_tokens, 1);
  return *TextTokenizer::Create(model.source_sentencepiece, vocabulary, vocabulary, model);
}

// Returns the pieces of a text with blanks between them, after checking their spans.
std::string Pieces(const TextTokenizer& tokenizer, const std::string& text) {
  std::vector<TextSpan> spans;
  const auto pieces = tokenizer.Encode(text, &spans);
  EXPECT_EQ(pieces->size(), spans.size());
  size_t end = 0;
  for (const TextSpan& span : spans) {
    EXPECT_GE(span.begin, end) << text;
    EXPECT_LE(span.begin, span.end) << text;
    end = span.end;
  }
  EXPECT_LE(end, text.size());
  return absl::StrJoin(*pieces, " ");
}

TEST(AddedTokenTest, TextBetweenThemIsCutAlone) {
  const auto plain = TokenizerOf(CaptionsWith({}));
  const auto tokenizer =
      TokenizerOf(CaptionsWith({{"<term>", {}}, {"</term>", {}}, {"<term>s", {}}}));
  const std::string dog = Pieces(*plain, "dog");
  EXPECT_EQ(Pieces(*plain, "A dog"), Pieces(*tokenizer, "A dog"));
  EXPECT_EQ(Pieces(*tokenizer, "<term>dog</term>"), absl::StrCat("<term> ", dog, " </term>"));
  EXPECT_EQ(Pieces(*tokenizer, "<term> dog </term> dog"),
            absl::StrCat("<term> ", dog, " </term> ", dog));
  EXPECT_EQ(Pieces(*tokenizer, "dog<term>dog"), absl::StrCat(dog, " <term> ", dog));
  EXPECT_EQ(Pieces(*tokenizer, "<term>s <term>"), "<term>s <term>");  // The longest one counts.
  EXPECT_EQ(Pieces(*tokenizer, "<term><term>"), "<term> <term>");
  EXPECT_EQ(Pieces(*tokenizer, ""), "");
  EXPECT_EQ(Pieces(*tokenizer, "<term"), Pieces(*plain, "<term"));
  EXPECT_EQ(Pieces(*tokenizer, "\xff<term>\xff").find("<term>"), Pieces(*plain, "\xff").size() + 1);
}

TEST(AddedTokenTest, RulesOfTransformers) {
  AddedToken left;
  left.lstrip = true;
  AddedToken right;
  right.rstrip = true;
  AddedToken word;
  word.single_word = true;
  AddedToken exact;
  exact.normalized = false;
  const ModelVocabulary model =
      CaptionsWith({{"[L]", left}, {"[R]", right}, {"dog", word}, {"fi", {}}, {"ab", exact}});
  const auto tokenizer = TokenizerOf(model);
  std::vector<TextSpan> spans;
  ASSERT_TRUE(tokenizer->Encode("A  [L] a", &spans).ok());
  EXPECT_THAT(spans, Contains(TextSpan{1, 6}));
  ASSERT_TRUE(tokenizer->Encode("A  [R] a", &spans).ok());
  EXPECT_THAT(spans, Contains(TextSpan{3, 7}));
  for (const std::string text : {"a dog.", "dog", "(dog)"}) {
    EXPECT_THAT(*tokenizer->Encode(text), Contains("dog")) << text;
  }
  for (const std::string text : {"dogs", "_dog", "édog", "dog1"}) {
    EXPECT_THAT(*tokenizer->Encode(text), Not(Contains("dog"))) << text;
  }
  // "ﬁ" is one character, and the full-width letters are two; only `exact` does not know them.
  for (const std::string text : {"fi", "ﬁ", "ｆｉ", "é ﬁ"}) {
    EXPECT_THAT(*tokenizer->Encode(text), Contains("fi")) << text;
  }
  EXPECT_THAT(*tokenizer->Encode("ab"), Contains("ab"));
  EXPECT_THAT(*tokenizer->Encode("ａｂ"), Not(Contains("ab")));
  // Half of what a character becomes is no token: "㎏" is "kg".
  EXPECT_THAT(*TokenizerOf(CaptionsWith({{"k", {}}}))->Encode("㎏"), Not(Contains("k")));
}

TEST(AddedTokenTest, TextBehindThemMayContinueAWord) {
  ModelVocabulary model = CaptionsWith({{"{", {}}, {"}", {}}});
  const std::string word = Pieces(*TokenizerOf(model), "dog");
  EXPECT_EQ(Pieces(*TokenizerOf(model), "{dog}"), absl::StrCat("{ ", word, " }"));
  model.words_follow_added = false;
  const auto tokenizer = TokenizerOf(model);
  EXPECT_EQ(Pieces(*tokenizer, "dog"), word);
  EXPECT_EQ(Pieces(*tokenizer, "{ dog"), absl::StrCat("{ ", word));
  EXPECT_THAT((*tokenizer->Encode("{dog}"))[1], Not(HasSubstr("▁")));
}

TEST(AddedTokenTest, AreDecodedWithBlanks) {
  AddedToken special;
  special.special = true;
  const auto tokenizer = TokenizerOf(CaptionsWith({{"<t>", {}}, {"<s1>", special}}));
  std::vector<TextSpan> spans;
  const auto decode = [&](const std::vector<std::string>& pieces) {
    return *tokenizer->Decode(pieces, &spans);
  };
  EXPECT_EQ(decode({"▁A", "<t>", "▁dog", ".", "<t>", ",", "▁a"}), "A <t> dog. <t>, a");
  EXPECT_THAT(spans, ElementsAre(TextSpan{0, 1}, TextSpan{2, 5}, TextSpan{6, 9}, TextSpan{9, 10},
                                 TextSpan{11, 14}, TextSpan{14, 15}, TextSpan{15, 17}));
  EXPECT_EQ(decode({"<t>", "<t>"}), "<t> <t>");
  EXPECT_EQ(decode({"▁A", "<s1>", "▁dog"}), "A dog");
  EXPECT_EQ(decode({"<s1>"}), "");
  EXPECT_EQ(decode({}), "");
}

// A T5 model of 36 pieces and 5 ids behind them, of which 3 are sentinel tokens.
class AddedTokenFilesTest : public ::testing::Test {
 protected:
  AddedTokenFilesTest() {
    std::filesystem::copy(TestdataPath("t5"), folder_.path(),
                          std::filesystem::copy_options::recursive);
  }

  absl::StatusOr<ModelVocabulary> Read(std::vector<int>* suppressed) {
    auto opened = OpenModel(folder_.path());
    if (!opened.ok()) return opened.status();
    *suppressed = opened->config.suppressed;
    return std::move(opened->vocabulary);
  }

  const TempFolder folder_;
};

TEST_F(AddedTokenFilesTest, EachFileMayHaveThem) {
  const Json token = {{"content", "{"}, {"lstrip", true}, {"id", 39}};
  const std::vector<std::pair<std::string, Json>> files = {
      {"added_tokens.json", {{"{", 39}}},
      {"tokenizer.json", {{"added_tokens", {token}}}},
      {"tokenizer_config.json", {{"extra_ids", 3}, {"added_tokens_decoder", {{"39", token}}}}}};
  for (const auto& [name, json] : files) {
    WriteFile(folder_ / name, json.dump());
    std::vector<int> suppressed;
    const auto vocabulary = Read(&suppressed);
    ASSERT_TRUE(vocabulary.ok()) << name << ": " << vocabulary.status();
    EXPECT_EQ(vocabulary->source_tokens[39], "{") << name;
    EXPECT_EQ(vocabulary->target_tokens[39], "{") << name;
    EXPECT_THAT(suppressed, ElementsAre(0, 36, 37, 38, 40)) << name;
    ASSERT_EQ(vocabulary->added_tokens.size(), 1u) << name;
    EXPECT_EQ(vocabulary->added_tokens[0].token, 39);
    EXPECT_EQ(vocabulary->added_tokens[0].lstrip, name != "added_tokens.json");
    EXPECT_TRUE(vocabulary->added_tokens[0].normalized);
    if (name != "tokenizer_config.json") std::filesystem::remove(folder_ / name);
  }
}

TEST_F(AddedTokenFilesTest, TokensThatFrameATextAreNotFoundInIt) {
  WriteFile(folder_ / "special_tokens_map.json",
            Json{{"eos_token", "[end]"}, {"additional_special_tokens", {"<x>"}}}.dump());
  WriteFile(folder_ / "added_tokens.json",
            Json{{"</s>", 1}, {"[end]", 40}, {"<x>", 39}, {"other", 5}, {"far", 41}}.dump());
  std::vector<int> suppressed;
  const auto vocabulary = Read(&suppressed);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  ASSERT_EQ(vocabulary->added_tokens.size(), 1u);
  EXPECT_EQ(vocabulary->source_tokens[39], "<x>");
  EXPECT_TRUE(vocabulary->added_tokens[0].special);
  EXPECT_FALSE(vocabulary->added_tokens[0].normalized);
}

// A token that a configuration forbids stays forbidden when a file gives its id a name.
TEST_F(AddedTokenFilesTest, ForbiddenTokensStayForbidden) {
  WriteFile(folder_ / "added_tokens.json", Json{{"{", 39}, {"}", 40}}.dump());
  for (const Json& field : {Json{{"bad_words_ids", {{39}}}}, Json{{"suppress_tokens", {39}}}}) {
    WriteFile(folder_ / "generation_config.json", field.dump());
    std::vector<int> suppressed;
    ASSERT_TRUE(Read(&suppressed).ok());
    EXPECT_THAT(suppressed, ElementsAre(0, 36, 37, 38, 39)) << field;
  }
}

TEST_F(AddedTokenFilesTest, LanguagesMayBeAdded) {
  WriteFile(folder_ / "added_tokens.json", Json{{">>swg<<", 39}, {"<2bar>", 40}}.dump());
  std::vector<int> suppressed;
  const auto vocabulary = Read(&suppressed);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  ASSERT_EQ(vocabulary->language_tokens.size(), 2u);
  EXPECT_EQ(vocabulary->language_tokens[0].code, "bar");
  EXPECT_EQ(vocabulary->language_tokens[1].token, 39);
  // SentencePiece does not find the second form in a text, and the first is put in front of it.
  ASSERT_EQ(vocabulary->added_tokens.size(), 1u);
  EXPECT_EQ(vocabulary->added_tokens[0].token, 40);
}

TEST_F(AddedTokenFilesTest, NoPartOfThemIsProtected) {
  WriteFile(folder_ / "added_tokens.json", Json{{"<term_1>", 39}, {"@@x@@", 40}}.dump());
  const auto model = LoadNibu(folder_.path());
  ASSERT_NE(model, nullptr);
  const auto translator = NewTranslator();
  for (const std::string text : {"a <term_1> man", "a @@x@@ man", "@@x@@ a <term_1>"}) {
    Options options;
    options.max_decoding_length = 4;
    const auto all = TranslateWith(translator.get(), model, options, {text});
    options.protect = "none";
    const auto none = TranslateWith(translator.get(), model, options, {text});
    EXPECT_EQ(all[0].hypotheses[0].text, none[0].hypotheses[0].text) << text;
    EXPECT_EQ(all[0].source_tokens, none[0].source_tokens) << text;
  }
}

TEST_F(AddedTokenFilesTest, DamageIsNamed) {
  const auto error = [&](const std::string& name, const std::string& text) {
    WriteFile(folder_ / name, text);
    std::vector<int> unused;
    const std::string message(Read(&unused).status().message());
    std::filesystem::remove(folder_ / name);
    return message;
  };
  EXPECT_THAT(error("added_tokens.json", R"({"{": "x"})"),
              HasSubstr("added_tokens.json: \"{\" must be an integer"));
  EXPECT_THAT(error("tokenizer.json", R"({"added_tokens": 1})"),
              HasSubstr("tokenizer.json: \"added_tokens\" is not a list of tokens with their ids"));
  EXPECT_THAT(
      error("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "{"}}})"),
      HasSubstr("\"added_tokens_decoder\" is not a list of tokens"));
  EXPECT_THAT(error("tokenizer.json", "{"), HasSubstr("tokenizer.json"));
}

// The token is read, scored and generated like any other, and a converted model knows it, too.
TEST_F(AddedTokenFilesTest, AModelReadsScoresAndWritesThem) {
  WriteFile(folder_ / "added_tokens.json", Json{{"{", 39}, {"<t>", 40}}.dump());
  const std::string native = folder_ / "model.nibu";
  ASSERT_TRUE(WriteNative(*OpenModel(folder_.path()), {}, native).ok());
  for (const std::string& path : {folder_.path(), native}) {
    const auto model = LoadNibu(path);
    ASSERT_NE(model, nullptr);
    EXPECT_THAT(*model->Tokenize("a man {"), Contains("{"));
    EXPECT_THAT(*model->TokenizeTarget("<t> a"), Contains("<t>"));
    EXPECT_EQ(model->TargetIds({"{", "<t>"}), std::vector<int>({39, 40}));
    const auto translator = NewTranslator();
    // A protected part would not be seen by the model; "<t>" is one of its words.
    const auto results = translator->Score({"a <t> man"}, {"a { man"}, *translator->Prepare(model));
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT((*results)[0].hypotheses[0].tokens, Contains("{"));
    EXPECT_THAT((*results)[0].hypotheses[0].tokens, Not(Contains("<unk>")));
    EXPECT_EQ((*results)[0].hypotheses[0].text, "a { man");
    Options options;
    options.max_decoding_length = 4;
    const auto again = TranslateWith(translator.get(), model, options, {"a <t> man"});
    EXPECT_EQ(again[0].source_tokens, static_cast<int>(model->Tokenize("a <t> man")->size()));
  }
}

}  // namespace
}  // namespace nibu::internal
