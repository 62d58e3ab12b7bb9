// Tests of the C interface against the C++ one: it gives the same texts, scores and alignments, and
// errors where there is no memory. c_interface.c tests the rest.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/c.h"
#include "nibu/nibu.h"
#include "tests/engine/memory_hooks.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using testing::ElementsAreArray;

template <auto free>
struct Free {
  template <typename T>
  void operator()(T* handle) const {
    free(handle);
  }
};
template <typename T, auto free>
using Handle = std::unique_ptr<T, Free<free>>;

using OptionsHandle = Handle<nibu_options, nibu_options_free>;
using ModelHandle = Handle<nibu_model, nibu_model_free>;
using TranslatorHandle = Handle<nibu_translator, nibu_translator_free>;
using PlanHandle = Handle<nibu_plan, nibu_plan_free>;
using ResultHandle = Handle<nibu_result, nibu_result_free>;

// A model, a translator and a plan of both interfaces, with the same options by name.
struct Both {
  explicit Both(const std::vector<std::pair<const char*, const char*>>& named) {
    nibu_options_set(options.get(), "compute_type", "float32", nullptr);
    nibu_options_set(options.get(), "threads", "1", nullptr);
    Options text;
    for (const auto& [name, value] : named) {
      EXPECT_EQ(nibu_options_set(options.get(), name, value, nullptr), NIBU_OK);
      EXPECT_EQ(SetOption(name, value, &text), absl::OkStatus());
    }
    const std::string path = CaptionsModelPath();
    nibu_model* loaded = nullptr;
    EXPECT_EQ(nibu_model_load(path.c_str(), options.get(), &loaded, nullptr), NIBU_OK);
    model.reset(loaded);
    nibu_translator* made = nullptr;
    EXPECT_EQ(nibu_translator_new(options.get(), &made, nullptr), NIBU_OK);
    translator.reset(made);
    nibu_plan* prepared = nullptr;
    EXPECT_EQ(nibu_plan_new(translator.get(), model.get(), options.get(), &prepared, nullptr),
              NIBU_OK);
    plan.reset(prepared);

    ModelOptions loading;
    loading.compute_type = ComputeType::kFloat32;
    SpeedOptions speed;
    speed.threads = 1;
    cpp_translator = *nibu::Translator::Create(speed);
    cpp_plan = *cpp_translator->Prepare(*nibu::Model::Load(path, loading), text);
  }

  OptionsHandle options{nibu_options_new()};
  ModelHandle model;
  TranslatorHandle translator;
  PlanHandle plan;
  std::unique_ptr<nibu::Translator> cpp_translator;
  std::shared_ptr<const Plan> cpp_plan;
};

void ExpectEqual(const nibu_result* c, size_t text, const Result& cpp) {
  ASSERT_EQ(nibu_result_hypothesis_count(c, text), cpp.hypotheses.size());
  EXPECT_EQ(nibu_result_source_language(c, text), cpp.source_language);
  for (size_t n = 0; n < cpp.hypotheses.size(); ++n) {
    const Hypothesis& expected = cpp.hypotheses[n];
    size_t size = 0;
    EXPECT_EQ(nibu_result_text(c, text, n, &size), expected.text);
    EXPECT_EQ(size, expected.text.size());
    EXPECT_EQ(nibu_result_score(c, text, n), expected.score);
    EXPECT_EQ(nibu_result_log_prob(c, text, n), expected.log_prob);
    EXPECT_EQ(nibu_result_finished(c, text, n), expected.finished ? 1 : 0);
    EXPECT_EQ(nibu_result_end_token(c, text, n), expected.end_token);
    ASSERT_EQ(nibu_result_token_count(c, text, n), expected.tokens.size());
    for (size_t t = 0; t < expected.tokens.size(); ++t) {
      EXPECT_EQ(nibu_result_token(c, text, n, t, nullptr), expected.tokens[t]);
      const float* const row = nibu_result_attention(c, text, n, t, &size);
      if (expected.attention.empty()) continue;
      EXPECT_THAT(std::vector<float>(row, row + size), ElementsAreArray(expected.attention[t]));
    }
    const float* const scores = nibu_result_token_scores(c, text, n, &size);
    EXPECT_THAT(std::vector<float>(scores, scores + size), ElementsAreArray(expected.token_scores));
    const size_t* const pairs = nibu_result_alignment(c, text, n, &size);
    ASSERT_EQ(size, expected.alignment.size());
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(std::make_pair(pairs[2 * i], pairs[2 * i + 1]), expected.alignment[i]);
    }
  }
}

TEST(CInterfaceTest, TranslatesAsTheCppInterfaceDoes) {
  const Both both({{"alignment", "soft"}, {"num_hypotheses", "3"}});
  const std::vector<std::string> lines = {"A man is riding a bicycle.", "",
                                          "Two dogs. See https://example.com for 12 cats."};
  const auto expected = both.cpp_translator->Translate(lines, both.cpp_plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::vector<const char*> texts;
  for (const std::string& line : lines) texts.push_back(line.c_str());
  nibu_result* found = nullptr;
  ASSERT_EQ(nibu_translate(both.translator.get(), both.plan.get(), texts.data(), nullptr,
                           texts.size(), nullptr, &found, nullptr),
            NIBU_OK);
  const ResultHandle result(found);
  ASSERT_EQ(nibu_result_count(found), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    ExpectEqual(found, i, (*expected)[i]);
    char* json = nullptr;
    ASSERT_EQ(nibu_result_json(found, i, &json, nullptr, nullptr), NIBU_OK);
    EXPECT_EQ(json, ToJson((*expected)[i], i, lines[i], AlignmentKind::kSoft));
    nibu_free(json);
  }
}

TEST(CInterfaceTest, JoinsTheUnitsOfATextAsTheCppInterfaceDoes) {
  const Both both({{"alignment", "hard"}, {"num_hypotheses", "2"}});
  const std::string text = "A man is riding a bicycle.\n\nTwo dogs are playing.\n";
  const auto expected = both.cpp_translator->Translate({text}, both.cpp_plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const char* texts[] = {text.c_str()};
  nibu_result* found = nullptr;
  ASSERT_EQ(nibu_translate(both.translator.get(), both.plan.get(), texts, nullptr, 1, nullptr,
                           &found, nullptr),
            NIBU_OK);
  const ResultHandle result(found);
  ExpectEqual(found, 0, (*expected)[0]);
}

TEST(CInterfaceTest, ScoresAsTheCppInterfaceDoes) {
  const Both both({});
  const char* lines[] = {"A man is riding a bicycle.", "A dog."};
  const char* targets[] = {"Ein Mann fährt Fahrrad.", "Zwei Hunde. Und noch einer."};
  const auto expected =
      both.cpp_translator->Score({lines[0], lines[1]}, {targets[0], targets[1]}, both.cpp_plan);
  ASSERT_TRUE(expected.ok()) << expected.status();
  nibu_result* found = nullptr;
  ASSERT_EQ(nibu_score(both.translator.get(), both.plan.get(), lines, nullptr, targets, nullptr, 2,
                       nullptr, &found, nullptr),
            NIBU_OK);
  const ResultHandle result(found);
  for (size_t i = 0; i < 2; ++i) {
    ExpectEqual(found, i, (*expected)[i]);
    char* json = nullptr;
    ASSERT_EQ(nibu_result_json(found, i, &json, nullptr, nullptr), NIBU_OK);
    EXPECT_EQ(json, ScoreToJson((*expected)[i], i));
    nibu_free(json);
  }
}

// The statuses of the C interface are Abseil's codes.
TEST(CInterfaceTest, StatusesAreCanonicalCodes) {
  using Code = absl::StatusCode;
  const std::vector<std::pair<int, Code>> same = {
      {NIBU_OK, Code::kOk},
      {NIBU_CANCELLED, Code::kCancelled},
      {NIBU_INVALID_ARGUMENT, Code::kInvalidArgument},
      {NIBU_DEADLINE_EXCEEDED, Code::kDeadlineExceeded},
      {NIBU_NOT_FOUND, Code::kNotFound},
      {NIBU_RESOURCE_EXHAUSTED, Code::kResourceExhausted},
      {NIBU_FAILED_PRECONDITION, Code::kFailedPrecondition},
      {NIBU_OUT_OF_RANGE, Code::kOutOfRange},
      {NIBU_UNIMPLEMENTED, Code::kUnimplemented},
      {NIBU_INTERNAL, Code::kInternal},
      {NIBU_DATA_LOSS, Code::kDataLoss}};
  for (const auto& [status, code] : same) EXPECT_EQ(status, static_cast<int>(code));
}

// The n-th allocation fails, for every n. There is an answer or an error, and the user pointer is
// destroyed once.
TEST(CInterfaceTest, NoMemoryIsAnError) {
  struct User {
    std::atomic<int> called = 0;
    std::atomic<int> destroyed = 0;
    std::atomic<int> failed = 0;
  };
  // Text is tokenized, as SentencePiece does not survive a lack of memory.
  const Both both({{"beam_size", "1"}, {"tokenized", "true"}, {"alignment", "hard"}});
  const std::string text = "▁A ▁dog .\n▁A ▁cat .";
  int failed = 0;
  bool has_failed = true;
  for (int64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "allocation " << n);
    User user;
    nibu_ticket* ticket = nullptr;
    nibu_error* error = nullptr;
    FailAllocation(n);
    const nibu_status status = nibu_submit(
        both.translator.get(), both.plan.get(), text.data(), text.size(), nullptr,
        [](void* pointer, nibu_status ended, nibu_result* result, nibu_error* why) {
          auto* const told = static_cast<User*>(pointer);
          EXPECT_EQ(ended == NIBU_OK, result != nullptr);
          EXPECT_TRUE(ended == NIBU_OK || ended == NIBU_RESOURCE_EXHAUSTED);
          if (ended != NIBU_OK) ++told->failed;
          ++told->called;
          nibu_result_free(result);
          nibu_error_free(why);
        },
        &user, [](void* pointer) { ++static_cast<User*>(pointer)->destroyed; }, &ticket, &error);
    while (user.destroyed == 0) std::this_thread::yield();
    has_failed = StopFailing();
    EXPECT_TRUE(status == NIBU_OK || status == NIBU_RESOURCE_EXHAUSTED) << status;
    EXPECT_EQ(user.called, status == NIBU_OK ? 1 : 0);
    EXPECT_EQ(user.destroyed, 1);
    EXPECT_EQ(ticket != nullptr, status == NIBU_OK);
    if (status != NIBU_OK || user.failed > 0) ++failed;
    nibu_ticket_free(ticket);
    nibu_error_free(error);
  }
  EXPECT_GT(failed, 10);
}

// The same holds for a call that waits.
TEST(CInterfaceTest, NoMemoryIsAnErrorOfTranslate) {
  const Both both({{"beam_size", "1"}, {"tokenized", "true"}});
  const char* texts[] = {"▁A ▁dog .\n▁A ▁cat .", "▁A ▁dog ."};
  int failed = 0;
  bool has_failed = true;
  for (int64_t n = 1; has_failed; ++n) {
    SCOPED_TRACE(testing::Message() << "allocation " << n);
    nibu_result* result = nullptr;
    nibu_error* error = nullptr;
    FailAllocation(n);
    const nibu_status status = nibu_translate(both.translator.get(), both.plan.get(), texts,
                                              nullptr, 2, nullptr, &result, &error);
    has_failed = StopFailing();
    EXPECT_TRUE(status == NIBU_OK || status == NIBU_RESOURCE_EXHAUSTED) << status;
    EXPECT_EQ(result != nullptr, status == NIBU_OK);
    if (status != NIBU_OK) ++failed;
    nibu_result_free(result);
    nibu_error_free(error);
  }
  EXPECT_GT(failed, 10);
}

}  // namespace
}  // namespace nibu::internal
