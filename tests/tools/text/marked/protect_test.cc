// Tests of the protector, which finds the parts of a text that are not to be translated.
#include "tools/text/marked/protect.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

std::vector<std::string> Parts(const std::string& text,
                               const ProtectedKinds& kinds = ProtectedKinds().set(),
                               const std::string& pattern = "") {
  const auto protector = MakeProtector(kinds, pattern);
  EXPECT_TRUE(protector.ok()) << protector.status();
  std::vector<std::string> parts;
  for (const TextSpan& span : (*protector)(text)) {
    parts.push_back(text.substr(span.begin, span.end - span.begin));
  }
  return parts;
}

using Found = std::vector<std::string>;

TEST(ProtectTest, FindsParts) {
  EXPECT_EQ(Parts("(see https://x.y/a_(b)), www.foo.de! http://a.b/c?d=e&f=g."),
            Found({"https://x.y/a_(b)", "www.foo.de", "http://a.b/c?d=e&f=g"}));
  EXPECT_EQ(Parts("http://[::1]:80/ https://müller.de/ä example.com, foo.org/x?y"),
            Found({"http://[::1]:80/", "https://müller.de/ä", "example.com", "foo.org/x?y"}));
  EXPECT_EQ(Parts("Mail a.b+c@d.co.uk."), Found({"a.b+c@d.co.uk"}));
  EXPECT_EQ(Parts(R"(/usr/bin/x C:\dir\file.txt, ./a/b.txt ../x ~/y \\srv\share src/main.cc.)"),
            Found({"/usr/bin/x", R"(C:\dir\file.txt)", "./a/b.txt", "../x", "~/y", R"(\\srv\share)",
                   "src/main.cc"}));
  EXPECT_EQ(
      Parts("In /etc, $HOME/bin or ${A}/b/c.d/: notes.txt, My-File_2.tar.gz (README.TXT) Node.js."),
      Found({"/etc", "$HOME/bin", "${A}/b/c.d/", "notes.txt", "My-File_2.tar.gz", "README.TXT",
             "Node.js"}));
  EXPECT_EQ(Parts("{0} {name}, {{ x }} %s %d, %1$s %(name)d ${x} $name :name: <<x>> %.2f {0:.2f}"),
            Found({"{0}", "{name}", "{{ x }}", "%s", "%d", "%1$s", "%(name)d", "${x}", "$name",
                   ":name:", "<<x>>", "%.2f", "{0:.2f}"}));
  EXPECT_EQ(
      Parts("Hi 😀 👩‍👩‍👧🇩🇪 👍🏽, 3️⃣ ❤️ ©️ ☃"),
      Found({"😀", "👩‍👩‍👧🇩🇪", "👍🏽", "3️⃣", "❤️", "©️", "☃"}));
  EXPECT_EQ(Parts("{0}{1} %s/%s {a}-{b}, %d:%02d:%(x)s \"%s\"; %s(%s) 50%d/%s"),
            Found({"{0}{1}", "%s/%s", "{a}-{b}", "%d:%02d:%(x)s", "%s", "%s", "%s", "%s"}));
  EXPECT_EQ(Parts("git@github.com:a/b.git, me@host:~/x and (a@b.co:c/d). From a@b.co: and/or"),
            Found({"git@github.com:a/b.git", "me@host:~/x", "a@b.co:c/d", "a@b.co"}));
  EXPECT_EQ(Parts("a@b.org/c, mailto:x@y.org https://a@b.co/c?d=e@f.org foo@bar.md"),
            Found({"a@b.org/c", "mailto:x@y.org", "https://a@b.co/c?d=e@f.org", "foo@bar.md"}));
  EXPECT_EQ(Parts("{x[0]} {x:>10} ${a.b()} {{{x}}} {{}} :+1: C:/a/b.txt"),
            Found({"{x[0]}", "{x:>10}", "${a.b()}", "{{{x}}}", "{{}}", ":+1:", "C:/a/b.txt"}));
  EXPECT_EQ(Parts("\u263a\ufe0e"), Found({"\u263a\ufe0e"}));
  EXPECT_EQ(Parts("@bob_, @_al_b_. and a.b_@c.de_ (@x)!"),
            Found({"@bob_", "@_al_b_", "a.b_@c.de", "@x"}));
  EXPECT_EQ(Parts("%@ of %1$@, %@."), Found({"%@", "%1$@", "%@"}));
}

TEST(ProtectTest, FindsWhatProgramsFillIn) {
  EXPECT_EQ(Parts("%'d %<PRIuMAX> %1$sfoo %dpx, %sx %2$-5.3fMB %n %1 of %L2"),
            Found({"%'d", "%<PRIuMAX>", "%1$s", "%dpx", "%sx", "%2$-5.3f", "%n", "%1", "%L2"}));
  EXPECT_EQ(
      Parts("{count, plural, one {# file} other {# files}} {n,number} {d, date, short}"),
      Found({"{count, plural, one {# file} other {# files}}", "{n,number}", "{d, date, short}"}));
  EXPECT_EQ(Parts("{n, select, a {x {m, plural, other {y}}} other {z}} end"),
            Found({"{n, select, a {x {m, plural, other {y}}} other {z}}"}));
  EXPECT_EQ(Parts("${ name } { name } {% if x %} {{ a.b }} <%= x %> [% x %] $(name) ##NAME##"),
            Found({"${ name }", "{ name }", "{% if x %}", "{{ a.b }}", "<%= x %>", "[% x %]",
                   "$(name)", "##NAME##"}));
  EXPECT_EQ(Parts("%NAME% __NAME__ __A1__ #work, #été #a_b!"),
            Found({"%NAME%", "__NAME__", "__A1__", "#work", "#été", "#a_b"}));
  EXPECT_EQ(Parts("10%s 5%1$s 50%d {# c #} {{#if a}} {{/if}} $NAME$ $[x] *|A|* :smile:You {:d}"),
            Found({"%s", "%1$s", "{# c #}", "{{#if a}}", "{{/if}}", "$NAME$", "$[x]", "*|A|*",
                   ":smile:", "{:d}"}));
}

TEST(ProtectTest, MessagesHaveTexts) {
  EXPECT_TRUE(HasTexts("{count, plural, one {# file} other {# files}}"));
  EXPECT_TRUE(HasTexts("{who,select,a{x}other{y}}"));
  EXPECT_FALSE(HasTexts("{n, number}"));
  EXPECT_FALSE(HasTexts("{n}"));
}

TEST(ProtectTest, SignsOfAnEdge) {
  for (const char* sign : {"→", "»", "—", " — ", ">> "}) EXPECT_TRUE(IsEdgeSign(sign)) << sign;
  for (const char* part : {"→x", ":)", "@anna", "-"}) EXPECT_FALSE(IsEdgeSign(part)) << part;
}

TEST(ProtectTest, FindsCodesAndNumbers) {
  EXPECT_EQ(Parts("[00:00:02.000 --> 00:00:11.400] 00:02,500 [12:30] <00:00:01.000>"),
            Found({"[00:00:02.000 --> 00:00:11.400]", "00:02,500", "[12:30]", "<00:00:01.000>"}));
  EXPECT_EQ(Parts("--help --ab-c=d, foo_bar() std::foo() a_b_c Ctrl+Alt+F5 Strg+C, F12."),
            Found({"--help", "--ab-c=d", "foo_bar()", "std::foo()", "a_b_c", "Ctrl+Alt+F5",
                   "Strg+C", "F12"}));
  EXPECT_EQ(Parts(":) ;-) a :D <3, ^^ xD! (a:) 8) x:D <3a"),
            Found({":)", ";-)", ":D", "<3", "^^", "xD"}));
  EXPECT_EQ(Parts("1.2.3, v2.0.1-rc1 192.168.0.1:80 10.0.0.0/8."),
            Found({"1.2.3", "v2.0.1-rc1", "192.168.0.1:80", "10.0.0.0/8"}));
  EXPECT_EQ(Parts(">> a ♪ b ♪. >> c>>d"), Found({">> ", "♪", "♪", ">> "}));
  EXPECT_EQ(Parts("fe80::1, [::1]:8080 2001:db8::8a2e:370 1:2:3:4:5:6:7:8 12:30:45"),
            Found({"fe80::1", "[::1]:8080", "2001:db8::8a2e:370", "1:2:3:4:5:6:7:8"}));
  EXPECT_EQ(Parts(R"(Use std::vector, p->next, __init__. C:\\a\\b)"),
            Found({"std::vector", "p->next", "__init__", R"(C:\\a\\b)"}));
  EXPECT_EQ(Parts("a -_- >:( </3 T_T \\o/ b"), Found({"-_-", ">:(", "</3", "T_T", "\\o/"}));
  // Keys; in a text in capitals they are words.
  EXPECT_EQ(Parts("Press ENTER or TAB."), Found({"ENTER", "TAB"}));
  EXPECT_EQ(Parts("ENTER HERE"), Found());
}

TEST(ProtectTest, ProseHasNone) {
  for (const char* text :
       {"and/or 10:30 50% a:b e.g. w/o 1/2 50% solution 100 % der He/she 24/7 km/h 3.5 i.e. U.S.A.",
        "$5 US$20 a.m. 5 % davon. 20% discount, 30%off 50%d C:D time 12:30:45 3:4:5 a:b:c",
        "Note:this: © ™ 20 °C „Zitat“ “x” … – — € ½ Er sagte: „Nein.“ Dr.med.",
        "<b>bold</b> The end.Next one.so on. yes/ no /, e.g.pd and \\ / Mr.X a.b c.text .txt",
        "{a, b} { a b } #1 C# a#b 5 % davon 100 %ig % x %discount 3:4 [1] -- a --b- F13 F-5 "
        "(x)",
        "a -> b --> c 2.5 1,000.50 31.12.2020? :x (8) 1:1) http: / a_ _b a>>b 50%discount",
        "A man, in a blue T-shirt ( or so ) ; and... \"what?\" {not one} < 5 > 3 @ home # 1 ~ 5"}) {
    EXPECT_EQ(Parts(text), Found()) << text;
  }
}

TEST(ProtectTest, KindsAndPattern) {
  ProtectedKinds kinds;
  const std::string text = "a@b.co {0} 😀 /a/b X12";
  EXPECT_EQ(Parts(text, kinds), Found());
  EXPECT_EQ(Parts(text, kinds, "X\\d+"), Found({"X12"}));
  kinds.set(Protected::kEmails);
  EXPECT_EQ(Parts(text, kinds), Found({"a@b.co"}));
  EXPECT_EQ(Parts(text, kinds, "x*"), Found({"a@b.co"}));
  EXPECT_EQ(Parts(text, kinds, "\\s+"), Found({"a@b.co"}));
  EXPECT_EQ(Parts(text, ProtectedKinds().set(), "X\\d+"),
            Found({"a@b.co", "{0}", "😀", "/a/b", "X12"}));
  // A byte of a character stands for all of it.
  EXPECT_EQ(Parts("xé, xa, éa", {}, "x\\C|\\Ca"), Found({"xé", "xa", "éa"}));
  const auto bad = MakeProtector({}, "a(b");
  EXPECT_TRUE(absl::IsInvalidArgument(bad.status()));
  EXPECT_TRUE(absl::StartsWith(bad.status().message(), "protect_pattern: ")) << bad.status();
}

TEST(ProtectTest, Amounts) {
  const std::string text = "now $20 $10, USD 5 or 7 € -3,50 EUR at 7:45 pm";
  Found found;
  for (const TextSpan& span : FindAmounts(text)) {
    found.push_back(text.substr(span.begin, span.end - span.begin));
  }
  EXPECT_EQ(found, Found({"$20", "$10", "USD 5", "7 €", "-3,50 EUR", "7:45 pm"}));
}

TEST(ProtectTest, AnyBytes) {
  std::mt19937 random(1);
  const std::string likely = "a./:%${}@\\<>()\xf0\x9f\x98\x80 \xff";
  const auto protector = *MakeProtector({}, "");
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    while (random() % 40 != 0) {
      text += random() % 8 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
    }
    size_t end = 0;
    for (const TextSpan& span : protector(text)) {
      EXPECT_LT(span.begin, span.end);
      EXPECT_GE(span.begin, end);
      EXPECT_LE(span.end, text.size());
      end = span.end;
    }
  }
  for (const char* unit : {"a/", "www.a.b)", "%", "{{a", ")", "a@", "😀", "http://", "(("}) {
    std::string text;
    while (text.size() < 300000) text += unit;
    protector(text);
  }
}

}  // namespace
}  // namespace nibu::internal
