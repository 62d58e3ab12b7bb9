// Tests of the searches of a LinePlan, which has one for each form that the sentences of a text
// need.
#include "tools/text/lines/line_plan.h"

#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/paths.h"
#include "tests/tools/text/models.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {
namespace {

// Every form has the options that it needs, and equal forms share one search.
TEST(LinePlanTest, FormsThatAreEqualShareASearch) {
  const auto translator = NewTranslator(1);
  const auto model = LoadNibu(TestdataPath("m2m"));
  for (const AlignmentKind alignment : {AlignmentKind::kNone, AlignmentKind::kHard}) {
    for (const bool return_alternatives : {false, true}) {
      Options options;
      options.src_lang = "de";
      options.tgt_lang = "fr";
      options.num_hypotheses = 3;
      options.alignment = alignment;
      options.return_alternatives = return_alternatives;
      const auto plan = translator->Prepare(model, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const bool return_attention = alignment != AlignmentKind::kNone;
      std::set<const SearchPlan*> all;
      for (const bool needs_attention : {false, true}) {
        for (const bool has_alternatives : {false, true}) {
          const SearchPlan& search = *(*plan)->lines->searches[needs_attention][has_alternatives];
          const bool is_alone = return_alternatives && !has_alternatives;
          EXPECT_EQ(search.options().return_attention, return_attention || needs_attention);
          EXPECT_EQ(search.options().return_alternatives, return_alternatives && has_alternatives);
          EXPECT_EQ(search.options().num_hypotheses, is_alone ? 1 : 3);
          all.insert(&search);
        }
      }
      EXPECT_EQ(all.size(), (return_attention ? 1u : 2u) * (return_alternatives ? 2u : 1u));
    }
  }
}

// Equal options have one plan, and different ones have different plans, whatever the difference is.
TEST(LinePlanTest, EqualOptionsArePreparedOnce) {
  const auto translator = NewTranslator(1);
  const auto model = LoadNibu(CaptionsModelPath());
  const auto prepare = [&](auto change) {
    Options options;
    change(&options);
    const auto plan = translator->Prepare(model, options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return (*plan)->lines;
  };
  std::set<std::shared_ptr<const LinePlan>> all;
  const auto expect_another = [&](auto change) {
    const auto made = prepare(change);
    EXPECT_TRUE(all.insert(made).second);
    EXPECT_EQ(prepare(change), made);
  };
  expect_another([](Options*) {});
  expect_another([](Options* o) { o->beam_size = 2; });
  expect_another([](Options* o) { o->return_scores = false; });
  expect_another([](Options* o) { o->return_ends = true; });
  expect_another([](Options* o) { o->protect_pattern = "a:b"; });
  expect_another([](Options* o) { o->glossary = {{"a", "b"}}; });
  expect_another([](Options* o) { o->glossary = {{"a", "b"}, {"c", "b"}}; });
  expect_another([](Options* o) { o->suppress_sequences = {"\u2581Ein", "\u2581Hund"}; });
  expect_another([](Options* o) { o->suppress_sequences = {"\u2581Ein \u2581Hund"}; });
  expect_another([](Options* o) { o->text = TextKind::kParagraphs; });
  // A default that is given is not the model's own, which no value stands for.
  expect_another([](Options* o) { o->beam_size = 4; });
  expect_another([](Options* o) { o->length_penalty = 1; });
  expect_another([](Options* o) { o->word_penalty = 0; });
  expect_another([](Options* o) { o->max_decoding_length = 256; });
  expect_another([](Options* o) { o->no_repeat_ngram_size = 0; });
  expect_another([](Options* o) { o->alignment_layer = -1; });
  expect_another([](Options* o) { o->alignment_heads = 0; });
}

// A model's own default holds where nothing is given, in whatever order the two are prepared.
TEST(LinePlanTest, ADefaultThatIsGivenReplacesTheModelsOwn) {
  LoadedModel loaded = *LoadModel(CaptionsModelPath(), ComputeType::kFloat32);
  loaded.defaults.beam_size = 2;
  loaded.defaults.no_repeat_ngram_size = 3;
  const auto model = *ModelOf(std::move(loaded));
  Options given;
  given.beam_size = 4;
  given.no_repeat_ngram_size = 0;
  for (const bool own_first : {false, true}) {
    const auto translator = NewTranslator(1);
    for (const bool is_own : {own_first, !own_first}) {
      const auto plan = *translator->Prepare(model, is_own ? Options() : given);
      EXPECT_EQ(plan->lines->decoding.beam_size, is_own ? 2 : 4);
      EXPECT_EQ(plan->lines->decoding.no_repeat_ngram_size, is_own ? 3 : 0);
    }
  }
}

// The plans that were asked for last are remembered, and big ones count more than once.
TEST(LinePlanTest, PlansThatWereNotAskedForAreForgotten) {
  const auto translator = NewTranslator(1);
  const auto model = LoadNibu(CaptionsModelPath());
  const auto prepare = [&](int length, size_t terms) {
    Options options;
    options.max_decoding_length = length;
    options.glossary.resize(terms, {"a", "b"});
    return (*translator->Prepare(model, options))->lines;
  };
  const std::weak_ptr<const LinePlan> first = prepare(1, 0);
  const std::weak_ptr<const LinePlan> kept = prepare(2, 0);
  for (int length = 3; length < 260; ++length) {
    prepare(length, 0);
    prepare(2, 0);
  }
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(kept.expired());
  const std::weak_ptr<const LinePlan> large = prepare(1, 20000);
  EXPECT_TRUE(kept.expired());
  EXPECT_FALSE(large.expired());  // the last one always is remembered
}

// A model for a family of languages is told the target by a token, in any common form of its code.
TEST(LinePlanTest, TargetLanguagesThatTokensChoose) {
  LoadedModel loaded = *LoadModel(CaptionsModelPath(), ComputeType::kFloat32);
  loaded.vocabulary.source_language = "en";
  loaded.vocabulary.target_language = "roa";
  for (const char* const code : {"cmn_Hans", "cmn_Hant", "fra", "pt_BR", "roh-x"}) {
    const int token = 10 + static_cast<int>(loaded.vocabulary.language_tokens.size());
    loaded.vocabulary.source_tokens[static_cast<size_t>(token)] = absl::StrCat(">>", code, "<<");
    loaded.vocabulary.language_tokens.push_back({code, token});
  }
  const auto model = *ModelOf(std::move(loaded));
  const auto translator = NewTranslator(1);
  // Returns the language token in front of a line, or the error.
  const auto front = [&](const std::string& target, const std::string& source = "") -> std::string {
    Options options;
    options.src_lang = source;
    options.tgt_lang = target;
    const auto plan = translator->Prepare(model, options);
    if (!plan.ok()) return std::string(plan.status().message());
    return (*plan)->lines->coder.ParseLine("A dog.", false).language;
  };
  EXPECT_EQ(front(""), "");
  for (const char* const code : {"fr", "fra", "fr-FR", "fra_Latn", ">>fra<<"}) {
    EXPECT_EQ(front(code), ">>fra<<") << code;
  }
  EXPECT_EQ(front("zh-Hant"), ">>cmn_Hant<<");
  EXPECT_EQ(front("zho_Hans", "eng"), ">>cmn_Hans<<");
  EXPECT_EQ(front("roa"),
            "tgt_lang=roa is not a language of this model; it has cmn_Hans, cmn_Hant, "
            "fra, pt_BR, roh-x");
  EXPECT_EQ(front("zh"), "tgt_lang=zh may be cmn_Hans or cmn_Hant of this model; say which");
  EXPECT_EQ(front("fr", "de"), "src_lang=de is not for this model, which is for en");
}

}  // namespace
}  // namespace nibu::internal
