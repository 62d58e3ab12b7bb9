// Tests of --text=document: whole documents, as a user has them translated.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/tools/shell.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

Outcome Translate(const std::string& flags, const std::string& input) {
  return Shell(absl::StrCat(CaptionsProgram("nibu-translate"), " --compute_type=float32 ", flags),
               input);
}

constexpr char kPage[] =
    "<!DOCTYPE html>\r\n<title>A dog\r\n and a cat</title>\n"
    "<script>\n  write(\"<p>A man is sleeping.</p>\");\n</script>\n"
    "  <p>A man is riding\n     a <b class=\"x\"\n   id='y'>red bicycle</b>.</p>\n"
    "<pre>\n  A man   is\n  sleeping.\n</pre><!-- A\n<p>dog. -->\n";
constexpr char kTranslated[] =
    "<!DOCTYPE html>\r\n<title>Ein Hund und eine Katze.</title>\n"
    "<script>\n  write(\"<p>A man is sleeping.</p>\");\n</script>\n"
    "  <p>Ein Mann fährt ein <b class=\"x\"\n   id='y'>rotes Fahrrad</b>.</p>\n"
    "<pre>\n  A man   is\n  sleeping.\n</pre><!-- A\n<p>dog. -->\n";

TEST(DocumentsTest, BlocksAreTranslatedWhateverLinesTheyAreOn) {
  const Outcome page = Translate("--text=document --markup=html", kPage);
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_EQ(page.err, "");
  EXPECT_EQ(page.out, kTranslated);
  const Outcome xml = Translate("--text=document --markup=xml",
                                "<doc>\n<t>A man is\n\triding a bicycle.</t>\n"
                                "<t>A dog runs.</t></doc>");
  EXPECT_EQ(xml.out, "<doc>\n<t>Ein Mann fährt Fahrrad.</t>\n<t>Ein Hund rennt.</t></doc>");
}

// A note changes neither the output nor the exit status.
TEST(DocumentsTest, NotesNameWhatReadsAFile) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/documents_test_", getpid());
  std::filesystem::create_directory(folder);
  const std::string plain = folder + "/page";
  std::ofstream(plain) << "A dog runs.\n";
  const Outcome text = Translate(absl::StrCat("'", plain, "'"), "");
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.err, HasSubstr(plain + "\" is translated as a text; --src reads a file"));
  EXPECT_EQ(Translate("'A dog runs.'", "").err, "");
  EXPECT_EQ(Translate(absl::StrCat("'", folder, "'"), "").err, "");
  const Outcome known = Translate(absl::StrCat("--src='", plain, "'"), "");
  EXPECT_EQ(known.err, "");
  for (const auto& [name, recipe] :
       {std::pair("a.po", "catalogue.sh"), std::pair("a.resx", "catalogue.sh"),
        std::pair("a.SRT", "subtitles.sh"), std::pair("a.vtt", "subtitles.sh"),
        std::pair("a.ass", "subtitles.sh"), std::pair("a.ssa", "subtitles.sh"),
        std::pair("a.md", "document.sh"), std::pair("a.docx", "document.sh"),
        std::pair("a.eml", "mail.sh")}) {
    const std::string path = absl::StrCat(folder, "/", name);
    std::filesystem::copy_file(plain, path);
    const Outcome lines = Translate(absl::StrCat("--src='", path, "'"), "");
    EXPECT_EQ(lines.status, 0);
    EXPECT_EQ(lines.out, known.out);
    EXPECT_THAT(lines.err, HasSubstr(absl::StrCat("tools/recipes/", recipe)));
    EXPECT_TRUE(std::filesystem::exists(SourcePath(absl::StrCat("tools/recipes/", recipe))));
    EXPECT_EQ(Translate(absl::StrCat("--text=lines --src='", path, "'"), "").err, "");
  }
  std::filesystem::remove_all(folder);
}

TEST(DocumentsTest, TextsThatBeginWithAHyphenComeAfterTwo) {
  const Outcome refused = Translate("'- Buy apples'", "");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("\"- Buy apples\" is no flag; give -- before a TEXT"));
  EXPECT_EQ(Translate("-- '- Buy apples'", "").status, 0);
}

TEST(DocumentsTest, FilesAreDocumentsByTheirNames) {
  const std::string path = absl::StrCat(testing::TempDir(), "/documents_test_", getpid(), ".html");
  std::ofstream(path, std::ios::binary) << kPage;
  const Outcome page = Translate(absl::StrCat("--src='", path, "'"), "");
  EXPECT_EQ(page.out, kTranslated);
  EXPECT_THAT(page.err, HasSubstr("is read as a document, --text=document --markup=html"));
  EXPECT_EQ(Translate(absl::StrCat("--text=document --src='", path, "'"), "").out, kTranslated);
  const Outcome other = Translate(absl::StrCat("--text=lines --src='", path, "'"), "");
  EXPECT_EQ(other.err, "");
  EXPECT_NE(other.out, kTranslated);
  const Outcome lines = Translate(absl::StrCat("--src='", path, "' --markup=html"), "");
  EXPECT_EQ(lines.err, "");
  EXPECT_THAT(lines.out, HasSubstr("Ein Mann fährt"));
  EXPECT_NE(lines.out, kTranslated);
  unlink(path.c_str());
}

TEST(DocumentsTest, JsonHasTheTexts) {
  const Outcome page = Translate("--text=document --markup=html --output_format=jsonl", kPage);
  const std::vector<std::string> lines = Lines(page.out);
  ASSERT_EQ(lines.size(), 2u) << page.out;
  EXPECT_EQ(nlohmann::json::parse(lines[0])["source"], "A dog and a cat");
  EXPECT_EQ(nlohmann::json::parse(lines[0])["hypotheses"][0]["text"], "Ein Hund und eine Katze.");
}

TEST(DocumentsTest, WarningsNameTheLine) {
  const Outcome page = Translate("--text=document --markup=html --warnings --max_decoding_length=3",
                                 "<p>A dog.</p>\n\n<p>A man\nis riding a bicycle.</p>\n");
  EXPECT_THAT(page.err, HasSubstr("warning: line 3: "));
}

TEST(DocumentsTest, WarningsGoOnBehindALongPartWithoutText) {
  const Outcome page = Translate(
      "--text=document --markup=html --warnings --max_decoding_length=3",
      absl::StrCat("<p>A man is riding.</p><script>", std::string(70000, 'x'), "\n",
                   std::string(70000, 'x'), "</script><p>A man is riding a bicycle.</p>"));
  EXPECT_THAT(page.err, HasSubstr("warning: line 1: "));
  EXPECT_THAT(page.err, HasSubstr("warning: line 2: "));
}

TEST(DocumentsTest, RefusesFlagsThatNeedLines) {
  ExpectOneLineError("nibu-translate", Translate("--text=document", ""), 2,
                     "--text=document needs --markup=html or xml");
  for (const char* flags :
       {"--tokenized", "--target_prefix=x", "--print_scores", "--alignment=hard", "--wrap=20"}) {
    const Outcome refused =
        Translate(absl::StrCat("--text=document --markup=html ", flags), "<p>x");
    EXPECT_EQ(refused.status, 2) << flags;
  }
}

TEST(DocumentsTest, OpenEndsAreSaid) {
  const Outcome open = Translate("--text=document --markup=html", "<p>A dog runs.</p><!-- A\ncat.");
  EXPECT_EQ(open.out, "<p>Ein Hund rennt.</p><!-- A\ncat.");
  EXPECT_THAT(open.err, HasSubstr("the input ends within a comment"));
}

}  // namespace
}  // namespace nibu::internal
