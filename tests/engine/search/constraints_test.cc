// Tests of constrained search: when a phrase is met, which tokens continue one, the share of each
// bank, and that translations have the phrases that were asked for.
#include "engine/search/constraints.h"

#include <algorithm>
#include <bit>
#include <future>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/reference/transformer.h"
#include "tests/engine/search/search_case.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;

const std::vector<Constraint> kTwo = {{{1, 2, 3}, {1, 4}}, {{5}}};

TEST(ConstraintsTest, ArePhrasesThatAppear) {
  EXPECT_EQ(FindMet(kTwo, 0, {1, 2}), 0u);
  EXPECT_EQ(FindMet(kTwo, 0, {9, 1, 2, 3}), 1u);
  EXPECT_EQ(FindMet(kTwo, 0, {1, 4}), 1u);
  EXPECT_EQ(FindMet(kTwo, 1, {1, 4, 5}), 3u);
  // Each appearance serves one.
  const std::vector<Constraint> same = {{{7}}, {{7}, {8}}};
  EXPECT_EQ(FindMet(same, 0, {7}), 1u);
  EXPECT_EQ(FindMet(same, 1, {7, 7}), 3u);
}

TEST(ConstraintsTest, GoOnWithWhatIsBegun) {
  std::vector<int> next;
  FindNext(kTwo, 0, {}, &next);
  EXPECT_THAT(next, ElementsAre(1, 5));
  next.clear();
  FindNext(kTwo, 0, {8, 1}, &next);
  EXPECT_THAT(next, ElementsAre(1, 2, 4, 5));
  next.clear();
  FindNext(kTwo, 3, {8, 1}, &next);
  EXPECT_TRUE(next.empty());
  // The beginning of this phrase is also its middle.
  const std::vector<Constraint> twice = {{{1, 1, 2}}};
  next.clear();
  FindNext(twice, 0, {1, 1}, &next);
  EXPECT_THAT(next, ElementsAre(1, 2));
}

TEST(ConstraintsTest, BanksCountTokens) {
  EXPECT_EQ(BankOf(kTwo, 0, {9}), 0u);
  EXPECT_EQ(BankOf(kTwo, 0, {9, 1}), 1u);
  EXPECT_EQ(BankOf(kTwo, 2, {9, 1}), 2u);
  EXPECT_EQ(BankOf(kTwo, 3, {9}), 3u);
}

TEST(ConstraintsTest, EveryBankHasItsShare) {
  EXPECT_THAT(AllocateBeam(4, {0, 0, 0, 0, 1, 0, 2}), ElementsAre(0, 1, 4, 6));
  EXPECT_THAT(AllocateBeam(2, {0, 0, 0, 5}), ElementsAre(0, 3));
  EXPECT_THAT(AllocateBeam(3, {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(AllocateBeam(3, {}), ElementsAre());
}

bool Has(const std::vector<int>& tokens, const std::vector<int>& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

// A translation that has room for them has all phrases, each in one of its forms.
TEST(ConstraintsTest, AppearInTranslations) {
  const ModelConfig config = SmallConfig();
  const auto model = reference::Transformer(config, 7).Build(ComputeType::kFloat32);
  auto translator = *Translator::Create(model, {});
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    Request request;
    request.source = RandomSources(1, 12, config.vocab_source)[0];
    request.options.beam_size = random.Int(2, 6);
    request.options.max_decoding_length = 40;
    for (int c = random.Int(1, 4); c > 0; --c) {
      Constraint& constraint = request.constraints.emplace_back();
      for (int n = random.Int(1, 2); n > 0; --n) {
        for (int t = random.Int(1, 3); t > 0; --t) {
          if (constraint.empty() || t == 1) constraint.emplace_back();
          constraint.back().push_back(random.Int(1, config.vocab_target - 1));
        }
      }
    }
    const auto constraints = request.constraints;
    std::promise<Result> promise;
    ASSERT_TRUE(translator
                    ->Submit(std::move(request),
                             [&](uint64_t, Result got) { promise.set_value(std::move(got)); })
                    .ok());
    const Result result = promise.get_future().get();
    ASSERT_TRUE(result.ok()) << result.status();
    const Hypothesis& best = result->at(0);
    EXPECT_EQ(std::popcount(best.met), static_cast<int>(constraints.size()));
    for (const Constraint& constraint : constraints) {
      EXPECT_TRUE(std::any_of(constraint.begin(), constraint.end(),
                              [&](const auto& phrase) { return Has(best.tokens, phrase); }));
    }
  }
}

// The tokens of a given prefix are no steps without progress.
TEST(ConstraintsTest, WaitBehindALongPrefix) {
  SearchCase options;
  options.beam_size = 2;
  SearchTask task = options.task();
  const std::vector<int> prefix(40, 3);
  const std::vector<Constraint> constraints = {{{5}}};
  task.prefix = prefix;
  task.constraints = constraints;
  BeamSearch search(task);
  const std::vector<Candidate> list = {{options.eos, -0.1f}, {3, -1.0f}, {4, -2.0f}, {6, -3.0f}};
  search.Advance({list});
  search.Stop();
  for (const Hypothesis& hypothesis : search.Finish()) EXPECT_FALSE(hypothesis.finished);
}

// Returns whether the phrase is there, and no part of a longer word follows.
bool HasWords(const std::vector<int>& tokens, const std::vector<int>& phrase,
              const std::vector<bool>& word_parts) {
  for (auto at = tokens.begin();; ++at) {
    at = std::search(at, tokens.end(), phrase.begin(), phrase.end());
    if (at == tokens.end()) return false;
    const auto next = at + static_cast<long>(phrase.size());
    if (next == tokens.end() || !word_parts[static_cast<size_t>(*next)]) return true;
  }
}

// A phrase that is the beginning of a longer word does not count.
TEST(ConstraintsTest, AreWholeWords) {
  const ModelConfig config = SmallConfig();
  const auto model = reference::Transformer(config, 7).Build(ComputeType::kFloat32);
  Random random(5);
  int ran_on = 0;
  for (int i = 0; i < 60; ++i) {
    Request request;
    request.source = RandomSources(1, 12, config.vocab_source)[0];
    request.options.beam_size = random.Int(2, 6);
    request.options.max_decoding_length = 40;
    const int first = random.Int(2, config.vocab_target - 1);
    request.constraints = {{{first}}, {{random.Int(2, config.vocab_target - 1), first}}};
    const Result free = Ask(model, request);
    auto parts = std::make_shared<std::vector<bool>>(config.vocab_target);
    for (int t = 2; t < config.vocab_target; ++t) (*parts)[static_cast<size_t>(t)] = t % 2 == i % 2;
    for (const Constraint& constraint : request.constraints) {
      for (const int token : constraint[0]) (*parts)[static_cast<size_t>(token)] = false;
    }
    request.word_parts = parts;
    const Result whole = Ask(model, request);
    ASSERT_TRUE(free.ok() && whole.ok());
    for (const Constraint& constraint : request.constraints) {
      if (!HasWords(free->at(0).tokens, constraint[0], *parts)) ++ran_on;
      EXPECT_TRUE(HasWords(whole->at(0).tokens, constraint[0], *parts)) << i;
    }
  }
  EXPECT_GT(ran_on, 5);
}

// Constraints that cannot be met leave the translation as it would have been.
TEST(ConstraintsTest, ThatCannotBeMetAreDropped) {
  const auto model = reference::Transformer(SmallConfig(), 7).Build(ComputeType::kFloat32);
  for (const auto& source : RandomSources(10, 12, SmallConfig().vocab_source)) {
    Request request{.source = source};
    request.options.max_decoding_length = 60;
    request.options.suppress_sequences = {{9}};
    const Result plain = Ask(model, request);
    request.constraints = {{{12}}};
    const Result met = Ask(model, request);
    request.constraints = {{{9}, {4, 9}}};
    const Result dropped = Ask(model, request);
    request.constraints = {{{9}}, {{12}}};
    const Result other = Ask(model, request);
    ASSERT_TRUE(plain.ok() && met.ok() && dropped.ok() && other.ok());
    EXPECT_EQ(dropped->at(0).tokens, plain->at(0).tokens);
    EXPECT_EQ(other->at(0).tokens, met->at(0).tokens);
    EXPECT_TRUE(Has(met->at(0).tokens, {12}));
  }
}

}  // namespace
}  // namespace nibu::internal
