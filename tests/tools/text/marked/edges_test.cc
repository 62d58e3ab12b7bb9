// Tests of which protected parts at the edges of a sentence are no words of it, and of what stands
// for those that are.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/marked/protect.h"

namespace nibu::internal {
namespace {

MarkedText Protected(const std::string& text) {
  MarkedText marked = {text};
  ProtectSpans((*MakeProtector(ProtectedKinds().set(), ""))(text), &marked);
  return marked;
}

// Returns a sentence with | around what WithoutEdges leaves of it.
std::string Edges(const std::string& text) {
  const auto [begin, end] = WithoutEdges(Protected(text));
  return absl::StrCat(text.substr(0, begin), "|", text.substr(begin, end - begin), "|",
                      text.substr(end));
}

TEST(EdgesTest, PartsInFrontOfASentence) {
  EXPECT_EQ(Edges("@anna I am tired."), "@anna |I am tired.|");
  EXPECT_EQ(Edges("@anna @bob Where are you?"), "@anna @bob |Where are you?|");
  EXPECT_EQ(Edges("https://x.de :smile: #tag Yes."), "https://x.de :smile: #tag |Yes.|");
  EXPECT_EQ(Edges("{name} I am tired."), "{name} |I am tired.|");
  EXPECT_EQ(Edges("%s: file not found"), "%s: |file not found|");
  EXPECT_EQ(Edges("{0}You are here."), "{0}|You are here.|");
  EXPECT_EQ(Edges("{% if x %}You are here.{% endif %}"), "{% if x %}|You are here.|{% endif %}");
  EXPECT_EQ(Edges("{{#if x}}you are here{{/if}}"), "{{#if x}}|you are here|{{/if}}");
  EXPECT_EQ(Edges("@anna 我累了。"), "@anna |我累了。|");
  EXPECT_EQ(Edges("[00:00:02.000 --> 00:00:11.400]   where are you?"),
            "[00:00:02.000 --> 00:00:11.400]   |where are you?|");
  EXPECT_EQ(Edges("\U0001F600 yes."), "\U0001F600 |yes.|");
  EXPECT_EQ(Edges(">> Yes."), ">> |Yes.|");
  EXPECT_EQ(Edges("→ Next"), "→ |Next|");
  EXPECT_EQ(Edges("– yes"), "– |yes|");
}

TEST(EdgesTest, WordsOfASentenceStay) {
  for (const char* text : {"@anna is tired.", "{name} has a dog", "@anna, I am tired.",
                           "%d Files were deleted", "{count} Files", "I see @anna.", "Hello {name}",
                           "Hello, {name}!", "{名} 来了", "@anna @bob", "Read https://x.de",
                           "Mail:me@x.org", "« Yes »", "Home › Books", "A→B", "He –"}) {
    EXPECT_EQ(Edges(text), absl::StrCat("|", text, "|"));
  }
}

TEST(EdgesTest, PartsBehindASentence) {
  EXPECT_EQ(Edges("I am tired. @anna"), "|I am tired.| @anna");
  EXPECT_EQ(Edges("Read more: https://x.de"), "|Read more:| https://x.de");
  EXPECT_EQ(Edges("I am happy! #monday #work"), "|I am happy!| #monday #work");
  EXPECT_EQ(Edges("I am happy :D"), "|I am happy| :D");
  EXPECT_EQ(Edges("Read more »"), "|Read more| »");
  EXPECT_EQ(Edges("@bob Where? @anna \U0001F600"), "@bob |Where?| @anna \U0001F600");
  EXPECT_EQ(Edges("I see @anna \U0001F600"), "|I see @anna| \U0001F600");
}

TEST(EdgesTest, PartsBetweenSentencesHideNoBeginning) {
  const auto without = [](const std::string& text) {
    return WithoutPartsBetweenSentences(Protected(text));
  };
  EXPECT_EQ(without("Yes. #a @b No."), "Yes.       No.");
  EXPECT_EQ(without("Yes! :) No. :smile: Oh"), "Yes!    No.         Oh");
  for (const char* text : {"Yes. @anna is here.", "See @anna Maria.", "@anna Yes.", "Yes. @anna",
                           "Yes. {name} Two", "Yes. @anna {name} Two", "Yes."}) {
    EXPECT_EQ(without(text), text);
  }
}

// Returns what the model reads.
std::string Masked(const std::string& text) {
  return MaskProtected(Protected(text), std::vector<std::string>{"Tom", "Maria", "25", "37"}).text;
}

TEST(EdgesTest, StandInsByKind) {
  EXPECT_EQ(Masked("%d files and {n} pages"), "25 files and 37 pages");
  EXPECT_EQ(Masked("{count} of {total}, {name}"), "25 of 37, Tom");
  EXPECT_EQ(Masked("%(count)d %1$d %'d"), "25 37");  // no number is left for the third
  EXPECT_EQ(Masked("{0} files were deleted by {1}"), "25 files were deleted by Tom");
  EXPECT_EQ(Masked("%s likes your post"), "Tom likes your post");
  EXPECT_EQ(Masked("%s is here"), "Tom is here");
  EXPECT_EQ(Masked("Version 1.2.3"), "Version 25");
  EXPECT_EQ(Masked("I am :D happy"), "I am happy");
  EXPECT_EQ(Masked("see %s in 25 pages: %d"), "see Tom in 25 pages: 37");
  // A part of markup has tags in it.
  const std::string object = "\uFFFC";
  MarkedText marked = {object + " files", {{{0, object.size()}, "<b>%d</b>", "", true}}};
  EXPECT_EQ(MaskProtected(marked, std::vector<std::string>{"Tom", "25"}).text, "25 files");
  // Parts that are left out are points.
  const std::vector<size_t> left_out = {0};
  EXPECT_EQ(MaskProtected(Protected("%s is here"), std::vector<std::string>{"Tom"}, left_out).text,
            "is here");
}

}  // namespace
}  // namespace nibu::internal
