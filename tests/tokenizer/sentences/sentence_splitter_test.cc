// Tests of the sentence splitter: cases of many languages, and lines that are joined to a text.
// Threads: the thread sanitizer runs this file.
#include "tokenizer/sentences/sentence_splitter.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/engine/memory_hooks.h"
#include "tests/paths.h"
#include "tests/tokenizer/sentences/sentence_cases.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {
namespace {

using Sentences = std::vector<std::string>;

const SentenceSplitter& Splitter(const std::string& language) {
  static auto& splitters = *new std::map<std::string, std::unique_ptr<SentenceSplitter>>();
  auto& splitter = splitters[language];
  if (splitter == nullptr) splitter = *SentenceSplitter::Create(language);
  return *splitter;
}

Sentences Split(const std::string& language, absl::string_view line) {
  Sentences sentences;
  for (const TextSpan& span : Splitter(language).Split(line)) {
    sentences.emplace_back(line.substr(span.begin, span.end - span.begin));
  }
  return sentences;
}

// Expects that spans are in order and not empty, that only white space lies outside of them, and
// that none is at their ends.
void ExpectNothingLost(absl::string_view line, const std::vector<TextSpan>& spans) {
  size_t end = 0;
  for (const TextSpan& span : spans) {
    ASSERT_LE(end, span.begin);
    ASSERT_LT(span.begin, span.end);
    ASSERT_LE(span.end, line.size());
    EXPECT_TRUE(IsBlank(line.substr(end, span.begin - end)));
    EXPECT_FALSE(IsBlank(line.substr(span.begin, 1)));
    EXPECT_FALSE(IsBlank(line.substr(span.end - 1, 1)));
    end = span.end;
  }
  EXPECT_TRUE(IsBlank(line.substr(end)));
}

TEST(SentenceSplitterTest, SentencesOfManyLanguages) {
  for (const auto& [language, lines] : AllSentenceCases()) {
    EXPECT_GE(lines.size(), 10u) << language;
    const bool blanks = language != absl::string_view("zh") && language != absl::string_view("ja");
    const absl::string_view blank = blanks ? " " : "";
    for (const char* line : lines) {
      const Sentences wanted = absl::StrSplit(line, '|');
      EXPECT_EQ(absl::StrJoin(Split(language, absl::StrJoin(wanted, blank)), "|"), line)
          << language;
    }
  }
}

// Older versions of Unicode do not call these marks ends of sentences.
TEST(SentenceSplitterTest, KhmerAndTibetan) {
  EXPECT_EQ(Split("km", "នាវាបានចេញទៅ។ យើងខកខានហើយ៕ ចប់។"),
            Sentences({"នាវាបានចេញទៅ។", "យើងខកខានហើយ៕", "ចប់។"}));
  EXPECT_EQ(Split("bo", "ང་ཁྱི་ལ་དགའ། ཁྱི་ནི་ཡག་པོ་རེད།། ང་འགྲོ།"),
            Sentences({"ང་ཁྱི་ལ་དགའ།", "ཁྱི་ནི་ཡག་པོ་རེད།།", "ང་འགྲོ།"}));
}

// Rules that do not depend on a language apply to all languages.
TEST(SentenceSplitterTest, LanguagesWithoutWordsOfTheirOwn) {
  for (const char* language : {"xx", "ceb_Latn", "ko", "no such language", "../../etc", "*", "#"}) {
    EXPECT_EQ(Split(language, "Aba no. Dr. Kabo 3.5 na. Sina? Oo! Yes."),
              (Sentences{"Aba no.", "Dr. Kabo 3.5 na.", "Sina?", "Oo!", "Yes."}))
        << language;
    EXPECT_EQ(Split(language, "네. 저는 학생입니다. 그래요?"),
              (Sentences{"네.", "저는 학생입니다.", "그래요?"}));
    EXPECT_EQ(Split(language, "یہ کیا ہے؟ یہ کتاب ہے۔ ہاں۔"),
              (Sentences{"یہ کیا ہے؟", "یہ کتاب ہے۔", "ہاں۔"}));
    EXPECT_EQ(Split(language, "ሰላም። እንዴት ነህ፧ ደህና።"), (Sentences{"ሰላም።", "እንዴት ነህ፧", "ደህና።"}));
  }
}

TEST(SentenceSplitterTest, CodesOfALanguage) {
  const std::string line = "Am 3. Mai kam sie. Am 4. Juni ging sie.";
  for (const char* code : {"de", "deu", "de-DE", "de_AT", "deu_Latn", "DE", "ger"}) {
    EXPECT_EQ(Split(code, line).size(), 2u) << code;
  }
  EXPECT_EQ(Split("en", line).size(), 4u);
  EXPECT_EQ(Split("", line), Split("en", line));
}

TEST(BetweenSentencesTest, BlanksWhereTheScriptWritesThem) {
  EXPECT_EQ(BetweenTranslations(" ", "Eins.", "Zwei."), " ");
  EXPECT_EQ(BetweenTranslations("", "Eins.", "Zwei."), " ");
  EXPECT_EQ(BetweenTranslations("", "一。", "二。"), "");
  EXPECT_EQ(BetweenTranslations(" ", "一。", "「二。"), "");
  EXPECT_EQ(BetweenTranslations(" ", "はい！", "Zwei."), " ");
  EXPECT_EQ(BetweenTranslations("", "네.", "그래요?"), " ");
  EXPECT_EQ(BetweenTranslations(" ", "둘이다", "그래요?"), " ");
  EXPECT_EQ(BetweenTranslations(" ", "Eins 🙂", "🙂 zwei"), " ");
  // Other white space is layout, which stays.
  for (const char* space : {"  ", "\t", "\u00a0", "\u3000"}) {
    EXPECT_EQ(BetweenTranslations(space, "一。", "二。"), space);
    EXPECT_EQ(BetweenTranslations(space, "Eins.", "Zwei."), space);
  }
  EXPECT_EQ(BetweenTranslations(" ", "\xff", "\xe3\x80"), " ");
  EXPECT_EQ(BetweenTranslations(" ", "", ""), " ");
}

TEST(SentenceSplitterTest, MissingBlanks) {
  EXPECT_EQ(Split("en", "This one ended.The next one began."),
            (Sentences{"This one ended.", "The next one began."}));
  for (const char* line :
       {"See index.Html and System.Windows.", "B.In", "v1.The", "a.b.c.The", "http://a.b?The=1"}) {
    EXPECT_EQ(Split("en", line), Sentences{line});
    EXPECT_EQ(Split("en", "One line.Second line.It is 25.She is 37!"),
              Sentences({"One line.", "Second line.", "It is 25.", "She is 37!"}));
    EXPECT_EQ(Split("en", "It is late!Go home!Now?Yes."),
              Sentences({"It is late!", "Go home!", "Now?", "Yes."}));
    for (const char* one :
         {"Use window.Open() now.", "It is my.Own_Name.", "See foo.Bar.Baz here."}) {
      EXPECT_EQ(Split("en", one), Sentences({one}));
    }
  }
  EXPECT_EQ(Split("hi", "यह है।वह है।"), (Sentences{"यह है।", "वह है।"}));
}

// Where no rule decides, ICU does.
TEST(SentenceSplitterTest, IcuDecidesBeforeSigns) {
  EXPECT_EQ(Split("en", "It ended. = it began"), Sentences{"It ended. = it began"});
  EXPECT_EQ(Split("en", "It ended. = It began"), (Sentences{"It ended.", "= It began"}));
}

TEST(SentenceSplitterTest, WhiteSpaceOfEveryKind) {
  EXPECT_EQ(Split("en", ""), Sentences{});
  EXPECT_EQ(Split("en", " \t\u00a0\u3000\u200b\ufeff\u2028"), Sentences{});
  EXPECT_EQ(Split("en", "\ufeff\u00a0One.\u00a0\u202fTwo.\u3000"), (Sentences{"One.", "Two."}));
  EXPECT_EQ(Split("en", "one\u2028two\r\nthree\u0085four\n\nfive"),
            (Sentences{"one", "two", "three", "four", "five"}));
  EXPECT_EQ(Split("zh", "好。\u3000好。"), (Sentences{"好。", "好。"}));
}

TEST(SentenceSplitterTest, MarksAlone) {
  for (const char* line : {".", "...", ". . .", "?!", "…", "( . )", "1.", "A.", "• ", ")", "\"",
                           "-", "Mr.", ". a", "[...]", "« »"}) {
    EXPECT_EQ(Split("en", line).size(), 1u) << line;
  }
}

TEST(SentenceSplitterTest, BytesThatAreNotText) {
  EXPECT_EQ(Split("en", "One\xff. Two\xc3. \x80Three"),
            (Sentences{"One\xff.", "Two\xc3.", "\x80Three"}));
  const std::string zeros("A\0b.\0 C is. \0", 12);
  ExpectNothingLost(zeros, Splitter("en").Split(zeros));
  const std::vector<std::string> pieces = {".",
                                           ". ",
                                           "!",
                                           "?",
                                           " ",
                                           "  ",
                                           "\n",
                                           "a",
                                           "A",
                                           "Mr",
                                           "I",
                                           "5",
                                           "1.",
                                           "(",
                                           ")",
                                           "\"",
                                           "'",
                                           "[1]",
                                           "…",
                                           "»",
                                           "«",
                                           "。",
                                           "」",
                                           "¿",
                                           "-",
                                           "– ",
                                           "• ",
                                           "b)",
                                           "é",
                                           "न",
                                           "؟",
                                           "\xff",
                                           "\xe2\x80",
                                           "\xc3",
                                           std::string(1, '\0'),
                                           "\u00a0",
                                           "\u3000",
                                           "\u200b",
                                           "\xf0\x9f\x98\x80",
                                           "z.B.",
                                           "The"};
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string line;
    for (size_t n = random() % 30; n > 0; --n) {
      line += random() % 4 == 0 ? std::string(1, static_cast<char>(random()))
                                : pieces[random() % pieces.size()];
    }
    const std::string language = AllSentenceCases()[random() % AllSentenceCases().size()].language;
    ExpectNothingLost(line, Splitter(language).Split(line));
    if (HasFailure()) FAIL() << absl::CHexEscape(line);
  }
}

TEST(SentenceSplitterTest, SentencesAreSentences) {
  for (const auto& [language, lines] : AllSentenceCases()) {
    for (const char* line : lines) {
      const Sentences sentences = absl::StrSplit(line, '|');
      for (const std::string& sentence : sentences) {
        EXPECT_EQ(Split(language, sentence), Sentences{sentence}) << language;
      }
    }
  }
}

TEST(SentenceSplitterTest, LongLinesOfOneKind) {
  for (const char* unit : {"a", "a ", ".", "(. ", "A. ", "\"", ". - ", ".[1", "1. ", "。", "\xff",
                           "One. Two. ", ". —.. ", "( [ ", "é"}) {
    std::string line;
    while (line.size() < 200000) line += unit;
    const auto spans = Splitter("en").Split(line);
    EXPECT_GE(spans.size(), 1u) << unit;
    EXPECT_EQ(spans.back().end, line.find_last_not_of(' ') + 1) << unit;
  }
}

TEST(SentenceSplitterTest, ThreadsShareASplitter) {
  const SentenceSplitter* const splitter = &Splitter("de");
  const std::string line = "Am 3. Mai kam er. Karl ging. „Wohin?“ Nach Bonn.";
  const std::vector<TextSpan> wanted = splitter->Split(line);
  EXPECT_EQ(wanted.size(), 4u);
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) same[t] += splitter->Split(line) == wanted ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(4, 300));
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    line = std::string(absl::StripAsciiWhitespace(line));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// Joins lines by fives, and expects that the splitter finds the joins. Only lines with the mark of
// a sentence's end count, since nobody could find the end of a headline.
void ExpectJoinsFound(const std::string& path, const std::string& language) {
  const std::vector<std::string> lines = ReadLines(path);
  if (lines.empty()) GTEST_SKIP() << path << " is not here";
  int joins = 0;
  int found = 0;
  size_t split = 0;
  for (size_t i = 0; i < lines.size(); i += 5) {
    std::string text;
    std::vector<size_t> ends;
    for (size_t j = i; j < std::min(i + 5, lines.size()); ++j) {
      split += Split(language, lines[j]).size() > 1 ? 1 : 0;
      absl::StrAppend(&text, text.empty() ? "" : " ", lines[j]);
      if (absl::StrContains(".!?\"'", lines[j].substr(lines[j].size() - 1)) &&
          lines[j].find_last_of(".!?") + 2 >= lines[j].size()) {
        ends.push_back(text.size());
      }
    }
    const std::vector<TextSpan> spans = Splitter(language).Split(text);
    ExpectNothingLost(text, spans);
    for (const size_t end : ends) {
      ++joins;
      found += std::any_of(spans.begin(), spans.end(),
                           [end](const TextSpan& span) { return span.end == end; });
    }
  }
  EXPECT_GE(joins, 100);
  EXPECT_GE(found, 0.99 * joins) << path;
  EXPECT_LE(static_cast<double>(split), 0.005 * static_cast<double>(lines.size())) << path;
}

TEST(SentenceSplitterTest, FindsTheJoinsOfLines) {
  ExpectJoinsFound(TestdataPath("multi30k.en"), "en");
}

TEST(SentenceSplitterTest, FindsTheJoinsOfSharedLines) {
  const std::string data = SharedPath("data/");
  ExpectJoinsFound(data + "multi30k.val.en", "en");
  ExpectJoinsFound(data + "multi30k.val.de", "de");
  ExpectJoinsFound(data + "multi30k.test_2016_flickr.en", "en");
  ExpectJoinsFound(data + "multi30k.test_2016_flickr.de", "de");
  ExpectJoinsFound(data + "newstest2014.en", "en");
}

// The n-th allocation fails, for every n.
TEST(SentenceSplitterTest, IsCreatedOrNotWhateverTheMemory) {
  for (int64_t n = 1;; ++n) {
    FailAllocation(n);
    const auto splitter = SentenceSplitter::Create("de");
    const bool has_failed = StopFailing();
    if (splitter.ok()) {
      EXPECT_EQ((*splitter)->Split("Ja. Nein.").size(), 2u);
    } else {
      EXPECT_EQ(splitter.status().code(), absl::StatusCode::kResourceExhausted);
    }
    if (!has_failed) break;
  }
}

}  // namespace
}  // namespace nibu::internal
