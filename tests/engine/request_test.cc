// Tests of the checks of DecodingOptions and requests: a wrong value is refused by its name.
// Threads: the thread sanitizer runs this file.
#include "engine/request.h"

#include <cmath>
#include <string>

#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

TEST(DecodingOptionsTest, NamesWhatMakesNoSense) {
  EXPECT_TRUE(DecodingOptions().Validate().ok());
  const auto refused = [](auto change) {
    DecodingOptions options;
    change(&options);
    return std::string(options.Validate().message());
  };
  EXPECT_NE(refused([](auto* o) { o->beam_size = 0; }).find("beam_size"), std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->patience = 0; }).find("patience"), std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->patience = NAN; }).find("patience"), std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->num_hypotheses = 5; }).find("num_hypotheses"),
            std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->length_penalty = INFINITY; }).find("length_penalty"),
            std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->min_decoding_length = 300; }).find("min_decoding_length"),
            std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->max_length_factor = -1; }).find("max_length_factor"),
            std::string::npos);
  EXPECT_NE(refused([](auto* o) { o->max_decoding_length = 0; }).find("max_decoding_length"),
            std::string::npos);
}

// Returns the first word of the refusal of options, which is the name of an option.
template <typename Change>
std::string Blamed(const Change& change) {
  DecodingOptions options;
  change(&options);
  const std::string message(options.Validate().message());
  return message.substr(0, message.find_first_of(" ="));
}

TEST(DecodingOptionsTest, RetriesAreOfTheBestHypothesis) {
  const auto blamed = [](bool alternatives, bool samples, int hypotheses) {
    return Blamed([&](auto* o) {
      o->on_repetition = OnRepetition::kRetry;
      o->return_alternatives = alternatives;
      o->num_hypotheses = hypotheses;
      if (!samples) return;
      o->beam_size = 1;
      o->sampling.topk = 0;
    });
  };
  EXPECT_EQ(blamed(false, false, 4), "");
  EXPECT_EQ(blamed(false, true, 1), "");
  EXPECT_EQ(blamed(false, true, 2), "on_repetition");
  EXPECT_EQ(blamed(true, false, 1), "on_repetition");
  EXPECT_EQ(blamed(true, false, 4), "on_repetition");
}

TEST(DecodingOptionsTest, CoverageIsOfTheModelsOwnAttention) {
  const auto layer = [](auto* o) { o->alignment_layer = -1; };
  const auto heads = [](auto* o) { o->alignment_heads = 0; };
  EXPECT_EQ(Blamed(layer), "");
  EXPECT_EQ(Blamed(heads), "");
  const auto with_coverage = [](auto change) {
    return [change](auto* o) {
      o->coverage_penalty = -0.5f;
      change(o);
    };
  };
  EXPECT_EQ(Blamed(with_coverage([](auto*) {})), "");
  EXPECT_EQ(Blamed(with_coverage(layer)), "coverage_penalty");
  EXPECT_EQ(Blamed(with_coverage(heads)), "coverage_penalty");
}

TEST(DecodingOptionsTest, PatienceIsNoBeam) {
  const auto blamed = [](int beam, int hypotheses) {
    return Blamed([=](auto* o) {
      o->patience = 2;
      o->beam_size = beam;
      o->num_hypotheses = hypotheses;
    });
  };
  EXPECT_EQ(blamed(1, 1), "");
  EXPECT_EQ(blamed(1, 2), "num_hypotheses");
  EXPECT_EQ(blamed(2, 4), "");
}

}  // namespace
}  // namespace nibu::internal
