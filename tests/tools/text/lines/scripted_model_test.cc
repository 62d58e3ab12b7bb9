// Tests of what no model decides, in languages of other scripts than the models at hand: kept
// parts, tags and capitals in Japanese (no blanks), Arabic and Turkish (capitals of its own).
//
// The model is a script: it translates word by word, from a list, in the order of the source or in
// the opposite one, and tells which word each of its words comes from.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/paths.h"
#include "tests/tools/text/models.h"
#include "tools/text/lines/line_reader.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {
namespace {

struct Script {
  std::string language;
  std::string between;  // what stands between two words
  bool is_reversed;     // the words come in the opposite order, up to the mark at the end
  std::map<std::string, std::string> words;  // any other is copied
};

const Script& Japanese() {
  static const Script& script = *new Script{"ja",
                                            "",
                                            true,
                                            {{".", "。"},
                                             {"Hello", "こんにちは"},
                                             {"dog", "犬は"},
                                             {"The", ""},
                                             {"is", "です"},
                                             {"big", "大きい"},
                                             {"No", "禁"},
                                             {"smoking", "煙"},
                                             {"files", "ファイル"}}};
  return script;
}

const Script& Arabic() {
  static const Script& script = *new Script{"ar",
                                            " ",
                                            false,
                                            {{"Hello", "مرحبا"},
                                             {"The", ""},
                                             {"dog", "الكلب"},
                                             {"is", ""},
                                             {"big", "كبير"},
                                             {"No", "ممنوع"},
                                             {"smoking", "التدخين"},
                                             {"files", "ملفات"}}};
  return script;
}

const Script& Turkish() {
  static const Script& script = *new Script{"tr",
                                            " ",
                                            true,
                                            {{"Hello", "Merhaba"},
                                             {"The", ""},
                                             {"dog", "köpek"},
                                             {"is", ""},
                                             {"big", "iri"},
                                             {"No", "içilmez"},
                                             {"smoking", "sigara"},
                                             {"files", "dosyalar"}}};
  return script;
}

// Returns the words of a text and its marks, each with its bytes.
std::vector<TextSpan> WordsOfText(const std::string& text) {
  std::vector<TextSpan> words;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ') continue;
    const bool is_mark = absl::ascii_ispunct(static_cast<unsigned char>(text[at]));
    const bool joins = !words.empty() && words.back().end == at && !is_mark &&
                       !absl::ascii_ispunct(static_cast<unsigned char>(text[at - 1]));
    if (!joins) words.push_back({at, at});
    words.back().end = at + 1;
  }
  return words;
}

class ScriptedModelTest : public testing::Test {
 protected:
  // Returns the translation of a line.
  static std::string Translated(const Script& script, const std::string& line) {
    static std::map<std::string, std::shared_ptr<const Plan>>& plans =
        *new std::map<std::string, std::shared_ptr<const Plan>>;
    static nibu::Translator& translator = *NewTranslator(1).release();
    std::shared_ptr<const Plan>& plan = plans[script.language];
    if (plan == nullptr) {
      LoadedModel loaded = *LoadModel(CaptionsModelPath(), ComputeType::kFloat32);
      loaded.vocabulary.source_language = "en";
      loaded.vocabulary.target_language = script.language;
      plan = *translator.Prepare(*ModelOf(std::move(loaded)), Options());
    }
    const auto parts = ReadLine(*plan->lines, PlainLine(line));
    EXPECT_TRUE(parts.ok()) << parts.status();
    std::string translation;
    for (const LinePart& part : parts->parts) {
      absl::StrAppend(&translation, part.untouched, part.before);
      std::vector<TextSpan> words = WordsOfText(part.marked.text);
      const bool has_end =
          !words.empty() &&
          absl::ascii_ispunct(static_cast<unsigned char>(part.marked.text[words.back().begin]));
      if (script.is_reversed) std::reverse(words.begin(), words.end() - (has_end ? 1 : 0));
      std::string target;
      std::vector<AlignedToken> tokens;
      for (const TextSpan& word : words) {
        const std::string source = part.marked.text.substr(word.begin, word.end - word.begin);
        const auto found = script.words.find(source);
        const std::string written = found != script.words.end() ? found->second : source;
        if (written.empty()) continue;
        const bool is_end = has_end && word == words.back();
        if (!target.empty() && !is_end) target += script.between;
        tokens.push_back({{target.size(), target.size() + written.size()}, word});
        target += written;
      }
      translation += PlaceAnnotations(part.marked, target, tokens);
    }
    return translation + parts->behind;
  }
};

TEST_F(ScriptedModelTest, Japanese) {
  const auto translated = [](const std::string& line) { return Translated(Japanese(), line); };
  EXPECT_EQ(translated("The dog is big."), "大きいです犬は。");
  EXPECT_EQ(translated("@anna The dog is big."), "@anna 大きいです犬は。");
  EXPECT_EQ(translated("The dog is **big**."), "**大きい**です犬は。");
  EXPECT_EQ(translated("%d files."), "ファイル%d。");
  EXPECT_EQ(translated("Hello {name}."), "{name}こんにちは。");
  EXPECT_EQ(translated("Hello.<br />The dog is big."), "こんにちは。<br />大きいです犬は。");
  EXPECT_EQ(translated("NO SMOKING"), "煙禁");
}

TEST_F(ScriptedModelTest, Arabic) {
  const auto translated = [](const std::string& line) { return Translated(Arabic(), line); };
  EXPECT_EQ(translated("The dog is big. https://a.b/c"), "الكلب كبير. https://a.b/c");
  EXPECT_EQ(translated("Hello {name}."), "مرحبا {name}.");
  EXPECT_EQ(translated("%d files."), "%d ملفات.");
  EXPECT_EQ(translated("The <b>dog</b> is big."), "<b>الكلب</b> كبير.");
  EXPECT_EQ(translated("NO SMOKING."), "ممنوع التدخين.");
  // A dash between tags is no sign of a speaker, with which a text would begin.
  EXPECT_EQ(translated("The <b>dog</b> — big."), "<b>الكلب</b> — كبير.");
}

TEST_F(ScriptedModelTest, Turkish) {
  const auto translated = [](const std::string& line) { return Translated(Turkish(), line); };
  EXPECT_EQ(translated("NO SMOKING."), "SİGARA İÇİLMEZ.");
  EXPECT_EQ(translated("The dog is BIG."), "İRİ köpek.");
  EXPECT_EQ(translated(":smile: Hello {name}."), ":smile: {name} Merhaba.");
  EXPECT_EQ(translated("The `dog` is big."), "iri `dog`.");
}

// Each kept part comes out once, whatever the script does with the words.
TEST_F(ScriptedModelTest, RandomLines) {
  const std::vector<std::string> words = {"The", "dog", "is", "big", "Hello", "files", "so", "DOG"};
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string line;
    std::vector<std::string> parts;
    for (int i = 0; i < 2; ++i) {
      for (size_t n = 1 + random() % 5; n > 0; --n) {
        absl::StrAppend(&line, words[random() % words.size()], " ");
      }
      const std::vector<std::string> kinds = {
          absl::StrCat("%", i + 1, "$s"),  absl::StrCat("{name", i, "}"),
          absl::StrCat("`code", i, "`"),   absl::StrCat("@user", i),
          absl::StrCat("--flag", i, "x"),  absl::StrCat("https://x.y/", i),
          absl::StrCat("1.2.3.", i),       absl::StrCat("<b id=\"", i, "\">dog</b>"),
          absl::StrCat(":smile_", i, ":"), absl::StrCat("##N", i, "##")};
      const std::string part = kinds[random() % kinds.size()];
      parts.push_back(part.substr(0, part.find('>')));
      absl::StrAppend(&line, part, random() % 3 == 0 ? ". " : " ");
    }
    for (const Script* script : {&Japanese(), &Arabic(), &Turkish()}) {
      const std::string out = Translated(*script, line);
      for (const std::string& part : parts) {
        const size_t at = out.find(part);
        EXPECT_TRUE(at != out.npos && out.find(part, at + 1) == out.npos)
            << script->language << ": " << line << " -> " << out;
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace nibu::internal
