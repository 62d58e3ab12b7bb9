// Tests of the bundled model, which programs use without --model: it translates as its card and the
// README say, knows the characters of everyday German, states its licence, and its alignments are
// good enough for tags and glossaries.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/programs.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

std::string WithBundledModel(const std::string& flags, const std::string& input) {
  const Outcome outcome =
      Shell(absl::StrCat(Program("nibu-translate"), " --compute_type=float32 ", flags), input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

struct Example {
  std::string english;
  std::string german;
};

// Returns the rows of the card's table with the header "| English | German |".
std::vector<Example> ExamplesOfTheCard() {
  std::vector<Example> examples;
  bool inside = false;
  for (const std::string& line : Lines(ReadFile(SourcePath("models/pretrained/en-de/README.md")))) {
    if (line == "| English | German |") {
      inside = true;
    } else if (inside && !absl::StartsWith(line, "| ")) {
      inside = line == "|---|---|";
    } else if (inside) {
      const std::vector<std::string> cells = absl::StrSplit(line, " | ");
      EXPECT_EQ(cells.size(), 2u) << line;
      if (cells.size() == 2) {
        examples.push_back({cells[0].substr(2), cells[1].substr(0, cells[1].size() - 2)});
      }
    }
  }
  return examples;
}

// A line, its translation, and the reason why its parts stand there.
TEST(BundledModelTest, PlainTextsComeOutWhole) {
  const std::vector<Example> examples = {
      // Parts at the edges are no words of the sentence.
      {"@anna I am tired.", "@anna Ich bin müde."},
      {"@anna is tired.", "@anna ist müde."},
      {"I am tired @anna", "Ich bin müde @anna"},
      {"I want to talk to @anna", "Ich möchte mit @anna reden"},
      {"{name} I am tired. #work", "{name} Ich bin müde. #work"},
      // Numbers stand for numbers.
      {"%d files were deleted.", "%d Dateien wurden gelöscht."},
      {"{0} files were deleted by %s.", "{0} Dateien wurden von %s gelöscht."},
      {"Version 1.2.3 is here.", "Version 1.2.3 ist hier."},
      // Marks enclose the translation of what they enclosed, and escapes stay.
      {"The **old** house.", "Das **alte** Haus."},
      {"Read [the book](https://example.com/b) now.",
       "Lies [das Buch](https://example.com/b) jetzt!"},
      {"{\\an8}Where are you?\\N<i>I am tired.</i>", "{\\an8}Wo sind Sie?\\N<i>Ich bin müde.</i>"},
      {"He said \\\"yes\\\".", "Er sagte \\\"Ja\\\"."},
      {"100%% of the users like it.", "100%% der Benutzer mögen es."},
      {"The dog   The cat\tThe dog", "Der Hund   Die Katze\tDer Hund"},
      // Capitals.
      {"NO SMOKING", "KEIN RAUCHEN"},
      {"This is a VERY big dog.", "Das ist ein SEHR großer Hund."},
      {"I live in the USA.", "Ich lebe in den USA."},
      {"BMX", "BMX"},
  };
  std::string input;
  for (const Example& example : examples) absl::StrAppend(&input, example.english, "\n");
  const std::vector<std::string> output = Lines(WithBundledModel("", input));
  ASSERT_EQ(output.size(), examples.size());
  for (size_t i = 0; i < examples.size(); ++i) EXPECT_EQ(output[i], examples[i].german);
}

TEST(BundledModelTest, TranslatesAsItsCardSays) {
  const std::vector<Example> examples = ExamplesOfTheCard();
  ASSERT_GE(examples.size(), 30u);
  std::string input;
  for (const Example& example : examples) absl::StrAppend(&input, example.english, "\n");
  const std::vector<std::string> output = Lines(WithBundledModel("", input));
  ASSERT_EQ(output.size(), examples.size());
  for (size_t i = 0; i < examples.size(); ++i) EXPECT_EQ(output[i], examples[i].german);
}

TEST(BundledModelTest, TranslatesTheExampleOfTheReadme) {
  const std::string readme = ReadFile(SourcePath("README.md"));
  const std::string command = "    $ tools/quickstart.sh ";
  const size_t begin = readme.find(command);
  ASSERT_NE(begin, readme.npos);
  const std::vector<std::string> lines =
      absl::StrSplit(readme.substr(begin + command.size()), absl::MaxSplits('\n', 2));
  EXPECT_EQ(absl::StrCat("    ", WithBundledModel(lines[0], "")), lines[1] + "\n");
  // The default type, too, which is int8 on most CPUs.
  EXPECT_EQ(
      absl::StrCat("    ", Shell(absl::StrCat(Program("nibu-translate"), " ", lines[0]), "").out),
      lines[1] + "\n");
}

// A character that is no piece of the vocabulary becomes the unknown token, unless it is protected.
TEST(BundledModelTest, KnowsTheCharactersOfEverydayGerman) {
  const std::string vocabulary = ReadFile(SourcePath("models/pretrained/en-de/vocab.json"));
  for (const char* character : {"Ä", "Ö", "Ü", "ä", "ö", "ü", "ß", "é", "’", "“", "”",
                                "„", "$", "€", "£", "&", "°", "§", "%", "–", "—"}) {
    EXPECT_THAT(vocabulary, HasSubstr(absl::StrCat("\"", character, "\":")));
  }
  EXPECT_EQ(WithBundledModel("--protect=none",
                             "Open the door.\nAustria is a country.\nThe oil price is rising.\n"
                             "I don’t know.\nHe said: “I’m tired.”\nIt costs $5.\nIt costs 5 €.\n"
                             "We met in a café.\n"),
            "Öffne die Tür!\nÖsterreich ist ein Land.\nDer Ölpreis steigt.\n"
            "Ich weiß es nicht.\nEr sagte: „Ich bin müde“.\nEs kostet 5 Dollar.\nEs kostet 5 €.\n"
            "Wir trafen uns in einem Café.\n");
}

// Other characters are copied, also if the vocabulary's normalization makes several of one.
TEST(BundledModelTest, CopiesCharactersThatItDoesNotKnow) {
  EXPECT_EQ(WithBundledModel("", "½ onion\nA dog ¾\nIt is 12½ m long. 😀\n"),
            "½ Zwiebeln\nEin Hund ¾\nEs ist 12½ m lang. 😀\n");
  EXPECT_EQ(WithBundledModel("--markup=html", "<b>½</b> of it\n"), "<b>½</b> davon\n");
}

TEST(BundledModelTest, StatesItsLicence) {
  const Outcome outcome = Shell(absl::StrCat(Program("nibu-inspect"), " --notensors"), "");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("license         research-and-private-use\n"));
}

TEST(BundledModelTest, TagsStayAroundTheirWords) {
  EXPECT_THAT(WithBundledModel("--markup=html", "I need a new <b>car</b>.\n"),
              HasSubstr("<b>Auto</b>"));
  EXPECT_THAT(WithBundledModel("--markup=html", "The <i>train</i> to <b>Berlin</b> is late.\n"),
              AllOf(HasSubstr("<i>Zug</i>"), HasSubstr("<b>Berlin</b>")));
  EXPECT_THAT(
      WithBundledModel("--markup=html", "Click <a href='/'>here</a> to read the <b>news</b>.\n"),
      AllOf(HasSubstr("<a href='/'>hier</a>"), HasSubstr("<b>Nachrichten</b>")));
}

TEST(BundledModelTest, FollowsAGlossary) {
  const std::string glossary =
      TestFile("terms.tsv", "car\tFahrzeug\ninvoice\tFaktura\nproject\tVorhaben\n");
  EXPECT_EQ(WithBundledModel(absl::StrCat("--glossary='", glossary, "'"),
                             "I need a new car.\nWho pays for the car?\nThe invoice is wrong.\n"
                             "The project is over.\n"),
            "Ich brauche ein neues Fahrzeug.\nWer bezahlt für das Fahrzeug?\n"
            "Die Faktura ist falsch.\nDas Vorhaben ist vorbei.\n");
}

}  // namespace
}  // namespace nibu::internal
