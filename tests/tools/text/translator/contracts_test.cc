// Tests the contracts of the headers in tools/text/.
#include "tests/contracts.h"

#include <string>
#include <vector>

#include "tools/text/lines/glossary.h"
#include "tools/text/lines/translation_check.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/marked/markup.h"
#include "tools/text/marked/markup_lexer.h"
#include "tools/text/marked/text_reader.h"
#include "tools/text/model/text_coder.h"
#include "tools/text/translator/engines.h"

namespace nibu::internal {
namespace {

using TextContracts = ContractTest;

TEST_F(TextContracts, UnknownWordsNeedATokenizer) {
  const TextCoder coder;
  EXPECT_BROKEN((void)coder.Unknowns("text"), "has_sentencepiece()");
}

TEST_F(TextContracts, EnginesAreUsedBetweenEnterAndLeave) {
  Engines engines({});
  ASSERT_TRUE(engines.Enter());
  engines.Leave();
  EXPECT_BROKEN(engines.Leave(), "uses_ > 0");
}

TEST_F(TextContracts, PlansThatEndHaveBeenCounted) {
  // The engines are made in the process that ends, since a forked one releases no plans.
  const auto release_twice = [] {
    Engines engines({});
    Engine engine;
    engine.plans = 1;
    engines.ReleasePlan(&engine);
    engines.ReleasePlan(&engine);
  };
  EXPECT_BROKEN(release_twice(), "engine->plans > 0");
}

TEST_F(TextContracts, GlossariesHavePhrases) {
  Glossary glossary;
  EXPECT_BROKEN(glossary.Add("", {1}), "!source.empty()");
  EXPECT_BROKEN(glossary.Add("a", {}), "!target.empty()");
}

TEST_F(TextContracts, TextsAreCutIntoSpansInOrder) {
  const MarkedText marked = {"abcd"};
  EXPECT_EQ(Cut(marked, {{0, 2}, {2, 4}}).size(), 2u);
  EXPECT_BROKEN(Cut(marked, {}), "!spans.empty()");
  EXPECT_BROKEN(Cut(marked, {{2, 4}, {0, 2}}), "AreInOrder");
  EXPECT_BROKEN(Cut(marked, {{0, 3}, {2, 4}}), "AreInOrder");
  EXPECT_BROKEN(Cut(marked, {{3, 2}}), "AreInOrder");
  EXPECT_BROKEN(Cut(marked, {{0, 5}}), "AreInOrder");
}

TEST_F(TextContracts, ProtectedPartsAreNotCut) {
  const MarkedText marked = {"abcdef", {{{1, 3}, "bc", "", true}, {{3, 6}, "<b>", "</b>"}}};
  EXPECT_EQ(Cut(marked, {{0, 1}, {1, 3}, {3, 5}, {5, 6}}).size(), 4u);
  EXPECT_BROKEN(Cut(marked, {{0, 2}}), "CutsNoParts");
  EXPECT_BROKEN(Cut(marked, {{2, 4}}), "CutsNoParts");
  EXPECT_BROKEN(Cut(marked, {{0, 1}, {1, 2}}), "CutsNoParts");
  EXPECT_BROKEN(CutAround(marked, {{2, 2}}), "CutsNoParts");
}

TEST_F(TextContracts, AnnotationsAreSorted) {
  const MarkedText marked = {"ab", {{{1, 2}, "b", "", true}, {{0, 1}, "a", "", true}}};
  EXPECT_BROKEN(MaskProtected(marked, {}), "absl::c_is_sorted(marked.annotations, IsBefore)");
}

TEST_F(TextContracts, EndedTextsGetNoMoreBytes) {
  TextReader reader(TextKind::kLines, Markup::kNone);
  reader.Add("a\n");
  reader.End();
  EXPECT_BROKEN(reader.Add("b\n"), "!is_ended_");
}

TEST_F(TextContracts, PiecesOfDocumentsHaveASize) {
  EXPECT_BROKEN(MarkupReader(Markup::kHtml, true, 63), "max_piece >= 64");
}

TEST_F(TextContracts, TheRestOfADocumentIsReadAtItsEnd) {
  MarkupLexer lexer(Markup::kHtml, /*is_document=*/true, /*has_values=*/false, /*language=*/"");
  lexer.SetText("a <b", /*is_whole=*/false);
  while (lexer.Advance(/*is_full=*/false)) {
  }
  EXPECT_BROKEN(lexer.End(), "is_whole_");
  lexer.SetText("a <b> c", /*is_whole=*/true);
  EXPECT_BROKEN(lexer.End(), "pos_ == text_.size()");
  while (lexer.Advance(/*is_full=*/false)) {
  }
  lexer.End();
  EXPECT_EQ(lexer.tokens().size(), 3u);
}

TEST_F(TextContracts, DocumentsAreCutWhereNothingMoreCanBeRead) {
  MarkupLexer lexer(Markup::kHtml, /*is_document=*/true, /*has_values=*/false, /*language=*/"");
  lexer.SetText("a b <i", /*is_whole=*/false);
  EXPECT_BROKEN(lexer.Cut(), "needed_ > 0");
  while (lexer.Advance(/*is_full=*/true)) {
  }
  lexer.Cut();
  EXPECT_FALSE(lexer.tokens().empty());
}

TEST_F(TextContracts, TokensAreDroppedOfThoseThatAreThere) {
  MarkupLexer lexer(Markup::kHtml, /*is_document=*/true, /*has_values=*/false, /*language=*/"");
  lexer.SetText("a", /*is_whole=*/true);
  while (lexer.Advance(/*is_full=*/false)) {
  }
  lexer.End();
  EXPECT_BROKEN(lexer.Drop(0), "0 < count");
  EXPECT_BROKEN(lexer.Drop(2), "count <= tokens_.size()");
}

TEST_F(TextContracts, PartsToBeFoundHaveBytes) {
  EXPECT_TRUE(HasEachOnce({"a"}, "a"));
  EXPECT_BROKEN(HasEachOnce({"a", ""}, "a"), "absl::c_linear_search(parts");
}

}  // namespace
}  // namespace nibu::internal
