// Tests of protected parts and tags, which must come through the captions model's translations.
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/programs.h"
#include "tests/tools/text/models.h"
#include "tools/text/translator/pending_line.h"

namespace nibu::internal {
namespace {

std::unique_ptr<nibu::Translator> CaptionsTranslator(int threads) {
  SpeedOptions options;
  options.threads = threads;
  options.batch_size = threads * 16;
  return *nibu::Translator::Create(options);
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

struct Line {
  std::string text;
  std::vector<std::string> parts;
};

// Returns a random line. None of its parts is equal to another or a part of another.
Line RandomLine(std::mt19937* random, size_t words) {
  static const std::vector<std::string> known = absl::StrSplit(
      "a man is reading on the bench . Tom and Maria see dogs in Paris , \xff two ! why ( not )",
      ' ');
  Line line;
  bool may_touch = false;
  for (size_t i = 0; i < words; ++i) {
    const auto id = static_cast<unsigned>(1000 + line.parts.size());
    std::string part;
    bool touches = false;
    switch ((*random)() % 16) {
      case 0:
        part = absl::StrCat("https://x.y/(", id, ")?a=b");
        break;
      case 1:
        part = absl::StrCat("m", id, "@x.org");
        break;
      case 2:
        part = absl::StrCat("/usr/bin/", id);
        break;
      case 3:
        part = absl::StrCat("Ł", id, "ź");  // unknown to the model
        break;
      case 4:
        part = absl::StrCat("{", id, "}");
        touches = true;
        break;
      case 5:
        part = absl::StrCat("%(p", id, ")s");
        touches = true;
        break;
      case 6:
        part = absl::StrCat("\xf0\x9f\x98\x80", id % 2 == 0 ? "\u200d" : "", "\xf0\x9f",
                            std::string(1, static_cast<char>(0x90 + line.parts.size() / 64 % 8)),
                            std::string(1, static_cast<char>(0x80 + line.parts.size() % 64)));
        touches = true;
        break;
      default:
        break;
    }
    const bool blank = !(touches && may_touch) || (*random)() % 2 == 0;
    absl::StrAppend(&line.text, line.text.empty() || !blank ? "" : " ",
                    part.empty() ? known[(*random)() % known.size()] : part);
    if (!part.empty()) line.parts.push_back(part);
    may_touch = touches;
  }
  return line;
}

TEST(AnnotationsTest, EveryPartComesOutOnce) {
  std::mt19937 random(3);
  std::vector<Line> lines;
  for (const size_t words : {1, 1, 2, 3, 3, 5, 5, 8, 8, 13, 13, 21, 21, 34, 34, 55, 55, 400}) {
    for (int i = 0; i < 3; ++i) lines.push_back(RandomLine(&random, words));
  }
  std::vector<std::string> texts;
  for (const Line& line : lines) texts.push_back(line.text);
  const auto model = LoadNibu(CaptionsModelPath());
  const auto one = CaptionsTranslator(1);
  const auto two = CaptionsTranslator(2);
  for (const int beam_size : {1, 3}) {
    for (const int max_input_length : {7, 512}) {
      Options options;
      options.beam_size = options.num_hypotheses = beam_size;
      options.max_decoding_length = 40;
      options.max_input_length = max_input_length;
      const auto results = TranslateWith(one.get(), model, options, texts);
      const auto again = TranslateWith(two.get(), model, options, texts);
      for (size_t i = 0; i < lines.size(); ++i) {
        ASSERT_EQ(results[i].hypotheses.size(), again[i].hypotheses.size());
        for (size_t n = 0; n < results[i].hypotheses.size(); ++n) {
          const std::string& text = results[i].hypotheses[n].text;
          EXPECT_EQ(text, again[i].hypotheses[n].text);
          for (const std::string& part : lines[i].parts) {
            EXPECT_EQ(Count(text, part), 1u) << part << "\n" << lines[i].text << "\n" << text;
          }
        }
      }
    }
  }
}

TEST(AnnotationsTest, PartsStandWhereANameWould) {
  const std::string text =
      "A man is reading https://x.y/a_(b) on a bench.\n"
      "{name} likes ${x}, and a@b.co.\n"
      "Good morning \xf0\x9f\x98\x80! How are you? \xf0\x9f\x98\x80\n"
      "https://x.y\n"
      "The name of the dog is \xc5\x81\xc3\xb3\x64\xc5\xba.\n"
      "\xe6\xbc\xa2\xe5\xad\x97\n";
  EXPECT_EQ(Translate("", text).out,
            "Ein Mann liest https://x.y/a_(b) auf einer Bank.\n"
            "{name} mag ${x}, und a@b.co.\n"
            "Guten Morgen \xf0\x9f\x98\x80! Wie geht es dir? \xf0\x9f\x98\x80\n"
            "https://x.y\n"
            "Der Hund heißt \xc5\x81\xc3\xb3\x64\xc5\xba.\n"
            "\xe6\xbc\xa2\xe5\xad\x97\n");
}

// Lines of two sentences, with a part of some kind in each: none is lost, doubled, or moved into
// the other sentence.
TEST(AnnotationsTest, EveryKindStaysInItsSentence) {
  // N is a number.
  const std::vector<std::string> kinds = {"https://x.y/N",
                                          "mN@x.org",
                                          "@mN",
                                          "#mN",
                                          "/usr/bin/N",
                                          "{nN}",
                                          "{0}",
                                          "%d",
                                          "%1$s",
                                          "%'d",
                                          "${ nN }",
                                          "{% nN %}",
                                          "<%= nN %>",
                                          "[% nN %]",
                                          "$(nN)",
                                          "##XN##",
                                          "%XN%",
                                          "__XN__",
                                          "{nN, plural, one {# a} other {# b}}",
                                          "{{ nN }}",
                                          "`a nN`",
                                          "``a nN``",
                                          "--nN",
                                          "n_N()",
                                          "Ctrl+FN",
                                          "[00:0N:02.000]",
                                          ":nN:",
                                          ":-D",
                                          "<3",
                                          "1.2.N",
                                          "10.0.0.N",
                                          "\\u26N0",
                                          "<nN>",
                                          "{\\nN}"};
  std::mt19937 random(9);
  const auto sentence = [&](const std::string& part) {
    const std::vector<std::string> words = {"A man", "sees", "two dogs", "on the street"};
    std::string text;
    const size_t place = random() % (words.size() + 1);
    for (size_t i = 0; i <= words.size(); ++i) {
      if (i == place) absl::StrAppend(&text, text.empty() ? "" : " ", part);
      if (i < words.size()) absl::StrAppend(&text, text.empty() ? "" : " ", words[i]);
    }
    return text + ".";
  };
  std::vector<std::array<std::string, 2>> parts;
  std::vector<std::string> texts;
  for (size_t i = 0; i < 700; ++i) {
    const auto part = [&](size_t kind, const char* digit) {
      return absl::StrReplaceAll(kinds[kind % kinds.size()], {{"N", digit}});
    };
    parts.push_back({part(i, "1"), part(i / kinds.size() + random() % 35, "2")});
    if (parts.back()[0] == parts.back()[1]) parts.back()[1] = "https://x.y/2";
    texts.push_back(absl::StrCat(sentence(parts.back()[0]), " ", sentence(parts.back()[1])));
  }
  Options options;
  options.beam_size = 1;
  const auto translator = CaptionsTranslator(2);
  const auto results =
      TranslateWith(translator.get(), LoadNibu(CaptionsModelPath()), options, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = results[i].hypotheses[0].text;
    EXPECT_EQ(Count(text, parts[i][0]), Count(texts[i], parts[i][0])) << texts[i] << "\n" << text;
    EXPECT_EQ(Count(text, parts[i][1]), Count(texts[i], parts[i][1])) << texts[i] << "\n" << text;
    EXPECT_LT(text.find(parts[i][0]), text.find(parts[i][1])) << texts[i] << "\n" << text;
  }
}

// Expects that a part of each line comes out once and unchanged, whatever becomes of the rest.
void ExpectKept(const std::string& flags, const std::vector<std::array<std::string, 3>>& lines) {
  std::string input;
  for (const auto& [front, part, behind] : lines)
    absl::StrAppend(&input, front, part, behind, "\n");
  const Outcome outcome = Translate(flags, input);
  const std::vector<std::string> out = Lines(outcome.out);
  ASSERT_EQ(out.size(), lines.size()) << outcome.err;
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(Count(out[i], lines[i][1]), 1u) << out[i];
}

TEST(AnnotationsTest, UnknownCharactersTouchOtherParts) {
  ExpectKept("", {{"The dog with ", "日本😀", " runs in the park."},
                  {"", "{0}日本", " runs."},
                  {"", "%s한국", " runs."},
                  {"", "한국http://a.org/x", ""},
                  {"Hello", "→😀", " dog"}});
  ExpectKept("--protect_pattern='[0-9]+'", {{"", "Ж12", " runs."}});
  ExpectKept("--markup=html", {{"A man in ", "東<b>京</b>", " runs."},
                               {"", "東<wbr>京", ""},
                               {"", "한국<img>日本", ""},
                               {"A <b>dog</b> runs, ", "П<i>рив</i>ет", "."}});
}

TEST(AnnotationsTest, UnknownBrackets) {
  ExpectKept("", {{"In ", "[2012]", " a man runs."},
                  {"A boy runs.", "[1]", ""},
                  {"A dog ", "<b>", "sleeps</b> on the bench."},
                  {"A dog ", "[[1]]", " runs."}});
  ExpectKept("--markup=xml", {{"A dog ", "&lt;b&gt;", "sleeps&lt;/b&gt; on the bench."}});
}

TEST(AnnotationsTest, PartsWithTags) {
  ExpectKept("--markup=html", {{"A man reads ", "http://example.org/<wbr>path/to", " now."},
                               {"Mail ", "foo<b>@</b>bar.com", " now."},
                               {"A dog reads ", "http://www.<em>example</em>.com/path", " today."},
                               {"A <i>dog</i> runs, ", "{na<b>me</b>}", "."},
                               {"A man eats ", "<a href=x>😀</a>", " an apple."},
                               {"A ", "<a href=x>%s</a>", " man eats an apple?"},
                               {"A dog reads ", "<b><i>/usr/bin</i></b>", " today."},
                               {"<b>Web</b>", "<a>https://a.b/c</a>", ""},
                               {"<label>Path</label>", "<tt>/usr/bin/x</tt>", ""}});
  EXPECT_EQ(Translate("--markup=html", "A <b>dog reads http://exa</b>mple.org today.\n").out,
            "Ein <b>Hund liest</b> heute http://example.org.\n");
}

TEST(AnnotationsTest, PartsAreNotGluedToOtherText) {
  const std::string text = "Mail:me@x.org\nPhone:{0}\nTwo men. 😀 %s\nA girl runs. 😀 %s\n";
  const std::vector<std::string> parts = {"me@x.org", "{0}", "%s", "%s"};
  const std::vector<std::string> out = Lines(Translate("--beam_size=1", text).out);
  ASSERT_EQ(out.size(), parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t at = out[i].find(parts[i]);
    ASSERT_NE(at, std::string::npos) << out[i];
    EXPECT_TRUE(at == 0 || absl::StrContains(" :", out[i][at - 1])) << out[i];
  }
}

// The output may have other words where a part's name would stand.
TEST(AnnotationsTest, WordsStayWhole) {
  const std::string text =
      "A brown dog eats an apple. {0} René\n%s %s Three Noé men walks down the street!\n*BÄ ！\n";
  for (const char* beam : {"--beam_size=1", "--beam_size=4"}) {
    const std::string out = Translate(absl::StrCat("--output_format=jsonl ", beam), text).out;
    // U+FFFD would be half of a character.
    EXPECT_EQ(Count(out, "\uFFFD"), 0u) << out;
  }
}

TEST(AnnotationsTest, WhatIsNoTagBecomesNone) {
  const std::string out =
      Translate("--markup=html", "<p>The boy runs in the A < B park!</p><p>Is 1 <2?</p>\n").out;
  EXPECT_EQ(Count(out, "<"), 4u + Count(out, "< ") + Count(out, "<2")) << out;
}

TEST(AnnotationsTest, ReferencesStayInProtectedParts) {
  ExpectKept("--markup=html", {{"Write to ", "&#102;&#111;&#111;@bar.com", " about the dog food."},
                               {"A dog at A&amp;B reads ", "http://a.org/?x=1&y=2", " now."},
                               {"A &lt;dog&gt; reads A&B, ", "http://a.org/?x=1&amp;y=2", "."},
                               {"", "1 & 2 &amp; 3 &#60; &#52;", ""}});
  EXPECT_EQ(Translate("--markup=html", "A&#32;&#100;og runs.\n").out, "Ein Hund rennt.\n");
}

TEST(AnnotationsTest, PlainTextIsAsItWas) {
  const std::string captions = Captions(100);
  EXPECT_EQ(Translate("--beam_size=1 --output_format=jsonl", captions).out,
            Translate("--beam_size=1 --output_format=jsonl --protect=none", captions).out);
}

TEST(AnnotationsTest, AlongWithOtherOptions) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const std::string line = "A man is reading {book} on a bench.\n";
  // A long part is a single piece.
  EXPECT_EQ(Translate("--max_input_length=12 --long_input=error",
                      absl::StrCat("A man is reading www.x.org/", std::string(5000, 'a'), ".\n"))
                .out,
            absl::StrCat("Ein Mann liest www.x.org/", std::string(5000, 'a'), ".\n"));
  const std::string prefix = TestFile("carried_prefix", "Auf einer Bank liest {book}\n");
  EXPECT_EQ(Count(Translate(absl::StrCat("--target_prefix=", prefix), line).out, "{book}"), 1u);
  // The last segment has the prefix. The one in front of it is translated freely.
  const std::string ein = TestFile("carried_segments", "Ein\n");
  EXPECT_EQ(Translate(absl::StrCat("--split_sentences=false --markup=html --target_prefix=", ein),
                      "<p>A dog runs.</p><p>A man sleeps.</p>\n")
                .out,
            "<p>Ein Hund rennt.</p><p>Ein Mann schläft.</p>\n");
  for (const char* flags :
       {"--num_hypotheses=3 --output_format=nbest", "--replace_unknowns", "--alignment=soft",
        "--return_alternatives --num_hypotheses=2 --output_format=nbest", "--sampling_topk=5",
        "--on_repetition=retry --coverage_penalty=0.2", "--tgt_lang= --split_sentences=false"}) {
    const Outcome outcome = Translate(flags, line);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string& out : Lines(outcome.out)) EXPECT_EQ(Count(out, "{book}"), 1u) << out;
  }
  // The tokens are those that the model has generated.
  const auto hypothesis = Hypotheses("--alignment=hard", "A man is reading {book}.")[0];
  EXPECT_EQ(hypothesis["text"], "Ein Mann liest {book}.");
  EXPECT_EQ(hypothesis["alignment"].size(), TokensOf(hypothesis).size());
}

TEST(AnnotationsTest, MessagesOfIcuAreWarnedOf) {
  const std::string message = "{n, plural, one {# file} other {# files}}";
  for (const std::string& line : {message, "A dog sees " + message + "."}) {
    const Outcome outcome = Translate("--warnings", line + "\n");
    EXPECT_EQ(Count(outcome.out, message), 1u) << outcome.out;
    EXPECT_EQ(Count(outcome.err, "protected"), 1u) << outcome.err;
  }
  EXPECT_EQ(Translate("--warnings", "A dog sees {n, number}.\n").err, "");
}

TEST(AnnotationsTest, FlagsChooseWhatIsProtected) {
  EXPECT_EQ(Translate("--protect=urls --protect_pattern='X\\d+'", "X12\n").out, "X12\n");
  EXPECT_NE(Translate("--protect=urls", "{x}\n").out, "{x}\n");
  ExpectUsageError(Translate("--protect=url", "a\n"),
                   "--protect must be all, none or any of urls, ");
  ExpectUsageError(Translate("--protect=urls,all", "a\n"), "not \"urls,all\"");
  ExpectUsageError(Translate("--protect_pattern='(a'", "a\n"), "--protect_pattern: missing )");
  ExpectUsageError(Translate("--tokenized --protect=all", "a\n"), "--protect ");
  EXPECT_EQ(Translate("--tokenized", "a\n").status, 0);
}

TEST(AnnotationsTest, WhatStandsBetweenSentencesStays) {
  const auto translate = [](const std::string& line) {
    return Translate("--beam_size=1 --markup=html", line + "\n").out;
  };
  for (const std::string between :
       {" <img> ", "<img> ", " <b></b>\t", "<i> </i>", "&nbsp; ", " &nbsp;<img>&#9;<!-- a --> "}) {
    EXPECT_EQ(translate(absl::StrCat("<i><u>Two</u> dogs sleep.", between, "Good morning!</i>")),
              absl::StrCat("<i><u>Zwei</u> Hunde schlafen.", between, "Guten Morgen!</i>\n"));
  }
  EXPECT_EQ(translate("<b>Good <i>morning!</i> <u></u> </b><i> Two dogs sleep. </i>"),
            "<b>Guten <i>Morgen!</i> <u></u> </b><i> Zwei Hunde schlafen. </i>\n");
}

nibu::Result TranslateMarked(const std::shared_ptr<const Plan>& plan, const MarkedLine& line) {
  nibu::Result result;
  std::atomic<bool> done = false;
  const auto pending = std::make_shared<PendingLine>(
      plan, nibu::Request(), "", [&](uint64_t, absl::StatusOr<nibu::Result> made) {
        EXPECT_TRUE(made.ok()) << made.status();
        if (made.ok()) result = *std::move(made);
        done = true;
        done.notify_all();
      });
  const absl::Status status = pending->Submit(line, kForever);
  EXPECT_TRUE(status.ok()) << status;
  done.wait(false);
  return result;
}

TEST(AnnotationsTest, MarkedLines) {
  const auto translator = CaptionsTranslator(1);
  const auto plan = translator->Prepare(LoadNibu(CaptionsModelPath()));
  ASSERT_TRUE(plan.ok()) << plan.status();
  // A tag crosses the end of a sentence, another one encloses nothing, and a part is not text.
  const std::string text = "A man is reading. Two dogs are running \xef\xbf\xbc";
  const auto at = [&](const char* word) { return text.find(word); };
  const std::map<std::string, std::string, std::less<>> entities = {{"u", "U"}};
  const MarkedLine line = {
      {{"<p>",
        {text,
         {{{at("reading"), at("dogs") + 4}, "<b>", "</b>", false},
          {{at("are"), at("are")}, "<br>", "", false},
          {{at("\xef\xbf\xbc"), text.size()}, "<img alt='u'>", "", true}},
         Markup::kHtml,
         entities}},
       {"</p>\n<p>", {" \xf0\x9f\x98\x80 "}},
       {"</p><p>", {"Good morning!", {{{0, 13}, "<i>", "</i>", false}}, Markup::kHtml, entities}}},
      "</p><!-- u -->"};
  const nibu::Result result = TranslateMarked(*plan, line);
  ASSERT_FALSE(result.hypotheses.empty());
  EXPECT_EQ(
      result.hypotheses[0].text,
      "<p>Ein Mann <b>liest. Zwei HUnde</b> <br>rennen <img alt='u'>.</p>\n<p> \xf0\x9f\x98\x80 "
      "</p><p><i>GUten Morgen!</i></p><!-- u -->");
  // This line has nothing to translate.
  EXPECT_EQ(TranslateMarked(*plan, {{{"<a>", {" "}}}, "</a>"}).hypotheses[0].text, "<a> </a>");
}

}  // namespace
}  // namespace nibu::internal
