// Tests of the places of tags and parts in translations, by made-up alignments.
#include "tools/text/marked/marked_text.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

// Returns the words of a text, each with the blank in front of it, as SentencePiece has them.
std::vector<TextSpan> Words(const std::string& text) {
  std::vector<TextSpan> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at + 1), text.size());
    words.push_back({at, end});
    at = end;
  }
  return words;
}

std::vector<AlignedToken> Align(const std::string& source, const std::string& target,
                                const std::vector<size_t>& alignment) {
  const auto sources = Words(source);
  const auto targets = Words(target);
  std::vector<AlignedToken> tokens;
  for (size_t t = 0; t < targets.size(); ++t) tokens.push_back({targets[t], sources[alignment[t]]});
  return tokens;
}

// Parses markup such as "<b>a</b> <br/>c" into a text and what it carries.
MarkedText Parse(const std::string& markup) {
  MarkedText marked;
  std::vector<size_t> open;
  for (size_t i = 0; i < markup.size();) {
    const size_t end = markup[i] == '<' ? markup.find('>', i) + 1 : i;
    if (end == i) {
      marked.text += markup[i++];
      continue;
    }
    const std::string tag = markup.substr(i, end - i);
    const size_t at = marked.text.size();
    if (tag[1] == '/') {
      marked.annotations[open.back()].span.end = at;
      marked.annotations[open.back()].after = tag;
      open.pop_back();
    } else {
      if (tag[tag.size() - 2] != '/') open.push_back(marked.annotations.size());
      marked.annotations.push_back({{at, at}, tag, "", false});
    }
    i = end;
  }
  return marked;
}

std::string Placed(const std::string& markup, const std::string& target,
                   const std::vector<size_t>& alignment) {
  const MarkedText source = MaskProtected(Parse(markup), {});
  return PlaceAnnotations(source, target, Align(source.text, target, alignment));
}

TEST(PlaceTest, TagsGoWithTheirWords) {
  EXPECT_EQ(Placed("one <b><br/> two</b> six", "eins zwei sechs", {0, 1, 2}),
            "eins <b><br/> zwei</b> sechs");
  EXPECT_EQ(Placed("a <b>bold</b> text", "ein fetter Text", {0, 1, 2}), "ein <b>fetter</b> Text");
  EXPECT_EQ(Placed("<b>bold</b> text", "fett Text.", {0, 1}), "<b>fett</b> Text.");
  EXPECT_EQ(Placed("I <b>gave up</b> it", "ich gab es auf", {0, 1, 3, 2}), "ich <b>gab</b> es auf");
  EXPECT_EQ(Placed("<i>all <b>bold</b></i>", "alles fett", {0, 1}), "<i>alles <b>fett</b></i>");
  EXPECT_EQ(Placed("<i><b>all of it</b></i>", "das alles ja", {1, 0, 0}),
            "<i><b>das alles ja</b></i>");
  EXPECT_EQ(Placed("one<br/>two", "eins zwei", {0, 0}), "eins zwei<br/>");
  EXPECT_EQ(Placed("one <br/> two", "eins zwei", {0, 1}), "eins <br/> zwei");
  EXPECT_EQ(Placed("<img/>one two", "zwei eins", {1, 0}), "<img/>zwei eins");
  // No word comes from the tagged word.
  EXPECT_EQ(Placed("see <b>the</b> dog", "sieh Hund", {0, 2}), "sieh <b>Hund</b>");
  // The ending of a word may be aligned with the word that it agrees with. More than an ending is
  // another word.
  const MarkedText red = Parse("a <u>red</u> car");
  const auto in_pieces = [](size_t last_begin) {
    const TextSpan a = {0, 1};
    const TextSpan adjective = {1, 5};
    const TextSpan noun = {5, 9};
    std::vector<AlignedToken> tokens = {{{0, 3}, a}, {{3, 8}, adjective}, {{8, 9}, noun}};
    if (last_begin == 10) tokens.push_back({{9, 10}, noun});
    tokens.push_back({{last_begin, last_begin + 5}, noun});
    return tokens;
  };
  EXPECT_EQ(PlaceAnnotations(red, "ein rotes Auto", in_pieces(9)), "ein <u>rotes</u> Auto");
  EXPECT_EQ(PlaceAnnotations(red, "ein rotess Auto", in_pieces(10)), "ein <u>rotess</u> Auto");
  // A tag does not stand within a word.
  const MarkedText rock = Parse("A rock <b>concert</b>");
  const std::vector<AlignedToken> compound = {
      {{0, 3}, {0, 1}}, {{3, 8}, {1, 6}}, {{8, 15}, {6, 14}}};
  EXPECT_EQ(PlaceAnnotations(rock, "Ein Rockkonzert", compound), "Ein <b>Rockkonzert</b>");
  // One tag begins before this text, and the other one ends behind it.
  MarkedText half = {"a b c", {{{0, 1}, "", "</i>", false}, {{2, 5}, "<b>", "", false}}};
  EXPECT_EQ(PlaceAnnotations(half, "x y z", Align("a b c", "x y z", {0, 1, 2})), "x</i> <b>y z");
}

TEST(PlaceTest, ElementsKeepWords) {
  // All words come from another one. The word that stands where the element stood is taken.
  EXPECT_EQ(Placed("Hello <b>world</b>", "Hallo Welt", {0, 0}), "Hallo <b>Welt</b>");
  EXPECT_EQ(Placed("Hello <img/>world.", "Hallo Welt.", {0, 0}), "Hallo <img/>Welt.");
  EXPECT_EQ(Placed("<b>old</b> dog", "alter Hund", {1, 1}), "<b>alter</b> Hund");
  // A word goes with the element that it is nearest to, and an element of two gives one away.
  EXPECT_EQ(Placed("<b>big red</b> <i>dog</i> here", "gross roter Hund da", {0, 1, 1, 3}),
            "<b>gross roter</b> <i>Hund</i> da");
  // Two elements in another one have a word each.
  EXPECT_EQ(Placed("on <q><b>the</b> <i>roof</i></q>", "auf dem Dach", {0, 0, 2}),
            "auf <q><b>dem</b> <i>Dach</i></q>");
  // Numbers and names are placed by what they are, whatever they are aligned with.
  EXPECT_EQ(Placed("see <b>1</b> and <i>2</i>", "sieh 1 und 2", {1, 0, 1, 0}),
            "sieh <b>1</b> und <i>2</i>");
  EXPECT_EQ(Placed("<b>$20</b> <i>Tom</i>", "20 $ Tom", {1, 0, 1}), "<b>20 $</b> <i>Tom</i>");
  EXPECT_EQ(Placed("<s>$20</s> <b>$10</b> now", "jetzt $20 $ 10", {2, 0, 0, 0}),
            "jetzt <s>$20</s> <b>$ 10</b>");
  EXPECT_EQ(Placed("<i>5</i><b> minutes ago</b>", "vor 5 Minuten", {2, 0, 1}),
            "vor <i>5</i> <b>Minuten</b>");
  // So are parts of words.
  EXPECT_EQ(Placed("see x<sub>i</sub> and H<sub>2</sub>SO<sub>4</sub>", "sieh H2SO4 und xi",
                   {1, 0, 1, 0}),
            "sieh H<sub>2</sub>SO<sub>4</sub> und x<sub>i</sub>");
  // The ending of a number has no copy, but stands behind one.
  EXPECT_EQ(Placed("the 21<sup>st</sup> century", "das 21. Jahrhundert", {0, 1, 2}),
            "das 21<sup>.</sup> Jahrhundert");
  EXPECT_EQ(Placed("21<sup>st</sup> century", "21e siècle", {0, 1}), "21<sup>e</sup> siècle");
  // Numbers may be written in another way, and have no signs that stand outside.
  EXPECT_EQ(Placed("cost <b>5.99</b> now", "jetzt 5,99 kosten", {1, 0, 0}),
            "jetzt <b>5,99</b> kosten");
  EXPECT_EQ(Placed("was <b>3</b>.", "war 3.", {0, 1}), "war <b>3</b>.");
  EXPECT_EQ(Placed("know <a>that it is</a>.", "weiss, dass es ist.", {0, 1, 2, 2}),
            "weiss, <a>dass es ist</a>.");
  EXPECT_EQ(Placed("dog <b>(a big one)</b> sleeps", "Hund (ein grosser) da", {0, 1, 2, 4}),
            "Hund <b>(ein grosser)</b> da");
  // A picture at an element's end keeps the blank in front of it.
  EXPECT_EQ(PlaceAnnotations({"a b  c", {{{2, 4}, "<a>", "<img></a>", false}}}, "x y z",
                             Align("a b c", "x y z", {0, 1, 2})),
            "x <a>y <img></a> z");
  // There are too few words.
  bool has_emptied = false;
  const MarkedText source = Parse("<b>a</b> <i>b</i>");
  EXPECT_EQ(PlaceAnnotations(source, "x", Align("a b", "x", {0}), 0, &has_emptied),
            "<b>x</b><i></i>");
  EXPECT_TRUE(has_emptied);
}

// One token has the number and the full stop behind the element.
TEST(PlaceTest, MarksBehindAnElementAreOutOfIt) {
  const MarkedText source = Parse("See <a>page 5</a>.");
  const std::vector<AlignedToken> tokens = {
      {{0, 5}, {0, 3}}, {{5, 11}, {3, 8}}, {{11, 14}, {8, 11}}};
  EXPECT_EQ(PlaceAnnotations(source, "Siehe Seite 5.", tokens), "Siehe <a>Seite 5</a>.");
}

TEST(PlaceTest, WordsStayJoined) {
  const std::string text = "10\u00a0km <b>are</b> far";
  const MarkedText source = Parse(text);
  const std::vector<AlignedToken> tokens = {
      {{0, 2}, {0, 2}}, {{2, 5}, {2, 6}}, {{5, 10}, {6, 10}}, {{10, 15}, {10, 14}}};
  EXPECT_EQ(PlaceAnnotations(source, "10 km sind weit", tokens), "10\u00a0km <b>sind</b> weit");
  // Both words come from one.
  const AlignedToken both[] = {{{0, 5}, {0, 5}}, {{5, 10}, {0, 5}}};
  EXPECT_EQ(PlaceAnnotations(Parse("Hello\u00a0world"), "Hallo Welt", both), "Hallo\u00a0Welt");
  // Both words are copied.
  const MarkedText city = Parse("in New\u00a0York");
  EXPECT_EQ(PlaceAnnotations(city, "in New York", Align("in New York", "in New York", {0, 0, 0})),
            "in New\u00a0York");
}

TEST(PlaceTest, PointsStandBeforeTheFullStop) {
  const MarkedText source = MaskProtected(Parse("Is it <img/>?"), {});
  EXPECT_EQ(source.text, "Is it?");
  const std::vector<AlignedToken> tokens = {
      {{0, 3}, {0, 2}}, {{3, 6}, {2, 5}}, {{6, 11}, {0, 2}}, {{11, 12}, {5, 6}}};
  EXPECT_EQ(PlaceAnnotations(source, "Ist es hier?", tokens), "Ist es hier <img/>?");
}

TEST(PlaceTest, PartsReplaceTheirNames) {
  const std::vector<std::string> names = {"Tom", "Maria"};
  const auto placed = [&](const std::string& text, const std::vector<TextSpan>& parts,
                          const std::string& target, const std::vector<size_t>& alignment) {
    MarkedText marked = {text, {}};
    ProtectSpans(parts, &marked);
    const MarkedText source = MaskProtected(marked, names);
    return PlaceAnnotations(source, target, Align(source.text, target, alignment));
  };
  EXPECT_EQ(placed("see {x} .", {{4, 7}}, "sieh Tom an.", {0, 1, 2}), "sieh {x} an.");
  EXPECT_EQ(placed("see {x}", {{4, 7}}, "Toms Tom sieh", {0, 1, 0}), "{x} sieh");
  EXPECT_EQ(placed("see {x}", {{4, 7}}, "sieh Thomas", {0, 1}), "sieh {x}");
  EXPECT_EQ(placed("see {x} now", {{4, 7}}, "sieh jetzt", {0, 2}), "sieh {x} jetzt");
  EXPECT_EQ(placed("{x} and {y}", {{0, 3}, {8, 11}}, "Maria und Tom", {2, 1, 0}), "{y} und {x}");
  EXPECT_EQ(placed("Tom and {y}", {{8, 11}}, "Tom und Maria", {0, 1, 2}), "Tom und {y}");
  // A name that occurs in the source, in whatever case, is not used. Words that only begin with a
  // name, or only attend to a part, stay.
  EXPECT_EQ(placed("tomatoes {y}", {{9, 12}}, "Tomaten Maria", {0, 1}), "Tomaten {y}");
  EXPECT_EQ(placed("fruits {x}", {{7, 10}}, "Tomaten Tom", {1, 1}), "Tomaten {x}");
  EXPECT_EQ(placed("a {x} market.", {{2, 5}}, "ein Markt .", {0, 2, 1}), "ein Markt {x} .");
  // If the model replaces another person's name by a part's name, it comes out as in the source. A
  // part that the model repeats comes out once.
  EXPECT_EQ(placed("Thomas likes {x} and {y}", {{13, 16}, {21, 24}}, "Tom mag Maria und Tom",
                   {0, 1, 2, 3, 4}),
            "Thomas mag {x} und {y}");
  EXPECT_EQ(placed("Mary likes {x}", {{11, 14}}, "Maria mag Tom", {0, 1, 2}), "Maria mag {x}");
  EXPECT_EQ(placed("Tommy likes {x}", {{12, 15}}, "Tom mag Maria", {0, 1, 2}), "Tom mag {x}");
  EXPECT_EQ(placed("John likes {x}", {{11, 14}}, "Tom mag Tom", {0, 1, 2}), "mag {x}");
  EXPECT_EQ(placed("I like John and {x}", {{16, 19}}, "ich mag Tom und Tom", {0, 1, 2, 3, 4}),
            "ich mag John und {x}");
  EXPECT_EQ(placed("I like John and {x}", {{16, 19}}, "ich mag John Tom Tom", {0, 1, 2, 2, 4}),
            "ich mag John {x}");
  EXPECT_EQ(placed("I like {x} men", {{7, 10}}, "Tom mag Tom Mann", {0, 1, 3, 3}), "{x} mag Mann");
  EXPECT_EQ(placed("is {x} playing ball", {{3, 6}}, "spielt Ball", {2, 1}), "spielt {x} Ball");
  EXPECT_EQ(placed("I \xe2\x98\x83 you", {{2, 5}}, "ich dich", {0, 1}), "ich \xe2\x98\x83 dich");
}

TEST(PlaceTest, PrefixesStayAsTheyAre) {
  const auto placed = [](size_t prefix) {
    MarkedText marked = {"see {x} and {y}", {}};
    ProtectSpans({{4, 7}, {12, 15}}, &marked);
    const MarkedText source = MaskProtected(marked, std::vector<std::string>{"Tom", "Maria"});
    const std::string target = "Tim Maria geht";
    return PlaceAnnotations(source, target, Align(source.text, target, {1, 3, 0}), prefix);
  };
  EXPECT_EQ(placed(0), "{x} {y} geht");
  EXPECT_EQ(placed(3), "Tim {x} {y} geht");
  EXPECT_EQ(placed(9), "Tim {y} {x} geht");
}

// Expects that each tag comes out as often as it went in, and that tags are nested.
void ExpectNested(const std::string& text, const MarkedText& source) {
  std::map<std::string, int> expected;
  std::map<std::string, int> found;
  for (const Annotation& annotation : source.annotations) {
    ++expected[std::string(absl::StripAsciiWhitespace(annotation.before))];
    if (!annotation.after.empty()) {
      ++expected[std::string(absl::StripAsciiWhitespace(annotation.after))];
    }
  }
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const std::string tag = text.substr(at, text.find('>', at) + 1 - at);
    ++found[tag];
    if (tag[1] == '/') {
      ASSERT_FALSE(open.empty()) << text;
      EXPECT_EQ(absl::StrCat("</", open.back().substr(1)), tag) << text;
      open.pop_back();
    } else if (tag[tag.size() - 2] != '/') {
      open.push_back(tag);
    }
  }
  EXPECT_TRUE(open.empty()) << text;
  EXPECT_EQ(found, expected) << text;
}

TEST(PlaceTest, RandomTagsComeOutOnceAndNested) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string markup;
    std::vector<std::string> open;
    size_t tags = 0;
    for (size_t left = random() % 40; left > 0 || !open.empty(); left -= left > 0 ? 1 : 0) {
      switch (left == 0 ? 1 : random() % 6) {
        case 0:
          open.push_back(absl::StrCat("t", ++tags));
          absl::StrAppend(&markup, "<", open.back(), ">");
          break;
        case 1:
          if (open.empty()) break;
          absl::StrAppend(&markup, "</", open.back(), ">");
          open.pop_back();
          break;
        case 2:
          absl::StrAppend(&markup, "<p", ++tags, "/>");
          break;
        default:
          absl::StrAppend(&markup, random() % 3 == 0 ? "" : " ", "w", random() % 9);
      }
    }
    const MarkedText source = MaskProtected(Parse(markup), {});
    const auto sources = Words(source.text);
    std::string target;
    std::vector<AlignedToken> tokens;
    for (size_t t = random() % 12; t > 0; --t) {
      const size_t begin = target.size();
      absl::StrAppend(&target, random() % 4 == 0 ? "" : " ", random() % 5 == 0 ? "." : "z\u00e4");
      tokens.push_back({{begin, target.size()},
                        sources.empty() ? TextSpan{0, 0} : sources[random() % sources.size()]});
    }
    const std::string placed = PlaceAnnotations(source, target, tokens);
    ExpectNested(placed, source);
    std::string without;
    bool in_tag = false;
    for (const char c : placed) {
      in_tag |= c == '<';
      if (!in_tag && c != ' ') without += c;
      in_tag &= c != '>';
    }
    EXPECT_EQ(without, absl::StrReplaceAll(target, {{" ", ""}}));
    // The same holds for a text that is cut in two.
    const size_t cut = source.text.size() / 2;
    const auto halves = Cut(source, {{0, cut}, {cut, source.text.size()}});
    ExpectNested(
        absl::StrCat(PlaceAnnotations(halves[0], "x", {}), PlaceAnnotations(halves[1], "", {})),
        source);
    ExpectNested(absl::StrCat(Write(halves[0]), Write(halves[1])), source);
  }
}

}  // namespace
}  // namespace nibu::internal
