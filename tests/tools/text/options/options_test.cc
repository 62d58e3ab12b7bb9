// Tests that the public interface refuses options that make no sense, alone or together, by their
// names.
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/assembly/opened_model.h"
#include "nibu/nibu.h"
#include "tests/paths.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/option_table.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OptionsTest, PrepareRefusesWhatMakesNoSense) {
  const auto model = *Model::Load(CaptionsModelPath());
  SpeedOptions speed;
  speed.threads = 1;
  const auto translator = *Translator::Create(speed);
  const std::pair<const char*, std::function<void(Options*)>> cases[] = {
      {"text", [](Options* o) { o->text = TextKind::kDocument; }},
      {"text", [](Options* o) { o->text = static_cast<TextKind>(7); }},
      {"markup",
       [](Options* o) {
         o->markup = Markup::kHtml;
         o->text = TextKind::kParagraphs;
       }},
      {"markup",
       [](Options* o) {
         o->markup = Markup::kHtml;
         o->tokenized = true;
       }},
      {"protect_pattern",
       [](Options* o) {
         o->protect_pattern = "x";
         o->tokenized = true;
       }},
      {"markup", [](Options* o) { o->markup = static_cast<Markup>(3); }},
      {"wrap", [](Options* o) { o->wrap = -5; }},
      {"wrap", [](Options* o) { o->wrap = 72; }},
      {"sampling_topp", [](Options* o) { o->sampling_topp = 0.5; }},
      {"sampling_topp", [](Options* o) { o->sampling_topp = NAN; }},
      {"prefix_bias_beta", [](Options* o) { o->prefix_bias_beta = 1; }},
      {"alignment_level", [](Options* o) { o->alignment_level = AlignmentLevel::kWords; }},
      {"long_input", [](Options* o) { o->long_input = static_cast<LongInput>(255); }},
      {"beam_size", [](Options* o) { o->beam_size = 0; }}};
  for (const auto& [name, change] : cases) {
    Options options;
    change(&options);
    const absl::Status status = translator->Prepare(model, options).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << name;
    EXPECT_EQ(OptionOfError(status), name) << status;
  }
  Options mail;
  mail.text = TextKind::kParagraphs;
  mail.wrap = 72;
  for (const float beta : {0.5f, 0.9999999f}) {
    // The prefix may come with a request.
    mail.prefix_bias_beta = beta;
    EXPECT_TRUE(translator->Prepare(model, mail).ok());
  }
}

TEST(OptionsTest, LoadAndCreateRefuseUnknownValues) {
  ModelOptions loading;
  loading.compute_type = static_cast<ComputeType>(9);
  EXPECT_EQ(OptionOfError(Model::Load(CaptionsModelPath(), loading).status()), "compute_type");
  SpeedOptions speed;
  speed.batch_type = static_cast<BatchType>(9);
  EXPECT_EQ(OptionOfError(Translator::Create(speed).status()), "batch_type");
}

TEST(OptionsTest, MisspelledNames) {
  Options options;
  const auto refusal = [&](const char* name) {
    const absl::Status status = SetOption(name, "2", &options);
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("beam_sise"), "there is no option beam_sise; did you mean beam_size?");
  EXPECT_EQ(refusal("thread"), "there is no option thread; did you mean threads?");
  EXPECT_EQ(refusal("threads"),
            "there is no option threads among these; it is set in another struct");
  EXPECT_EQ(refusal("zzz"), "there is no option zzz");
}

TEST(OptionsTest, ErrorsOfFilesHaveTheirOption) {
  const auto load = [](const std::function<void(ModelOptions*)>& change) {
    ModelOptions options;
    change(&options);
    const absl::Status status = Model::Load(CaptionsModelPath(), options).status();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/no/file"));
    return OptionOfError(status);
  };
  EXPECT_EQ(load([](ModelOptions* o) { o->sentencepiece = "/no/file"; }), "sentencepiece");
  EXPECT_EQ(load([](ModelOptions* o) { o->shortlist = "/no/file"; }), "shortlist");
  EXPECT_EQ(load([](ModelOptions* o) { o->draft_model = "/no/file"; }), "draft_model");
}

TEST(OptionsTest, CommasWithinElementsOfLists) {
  Options options;
  ASSERT_TRUE(SetOption("suppress_sequences", R"(▁a \,,\,\,,b\c,\)", &options).ok());
  EXPECT_THAT(options.suppress_sequences, ElementsAre("▁a ,", ",,", "b\\c", "\\"));
  for (const internal::OptionRow& row : internal::TextOptionRows()) {
    if (std::string(row.info.name) != "suppress_sequences") continue;
    EXPECT_EQ(row.get(row.info, &options), R"(▁a \,,\,\,,b\c,\)");
  }
}

TEST(OptionsTest, TheTableHasTheRanges) {
  Options options;
  for (const auto& [name, value, message] :
       {std::tuple("patience", "-1", "patience must be more than 0 and at most 1024, not -1"),
        {"prefix_bias_beta", "1", "prefix_bias_beta must be at least 0 and below 1, not 1"},
        {"min_decoding_length", "-1", "min_decoding_length must be at least 0, not -1"},
        {"seed", "-1", "seed must be a whole number from 0 to 18446744073709551615, not -1"},
        {"beam_size", "2.5", "beam_size must be a whole number from 1 to 1024, not 2.5"}}) {
    EXPECT_EQ(SetOption(name, value, &options).message(), message);
  }
}

TEST(OptionsTest, TheTableHasTheEnginesDefaults) {
  Options table;
  for (const internal::OptionRow& row : internal::TextOptionRows()) {
    if (std::string(row.info.type) == "word" || row.info.default_value[0] == 0) continue;
    EXPECT_TRUE(SetOption(row.info.name, row.default_value, &table).ok()) << row.info.name;
  }
  for (const Options& options : {Options(), table}) {
    const internal::DecodingOptions made = internal::MakeDecodingOptions(options, {});
    const internal::DecodingOptions engine;
    EXPECT_EQ(made.beam_size, engine.beam_size);
    EXPECT_EQ(made.patience, engine.patience);
    EXPECT_EQ(made.num_hypotheses, engine.num_hypotheses);
    EXPECT_EQ(made.length_penalty, engine.length_penalty);
    EXPECT_EQ(made.word_penalty, engine.word_penalty);
    EXPECT_EQ(made.coverage_penalty, engine.coverage_penalty);
    EXPECT_EQ(made.min_decoding_length, engine.min_decoding_length);
    EXPECT_EQ(made.max_decoding_length, engine.max_decoding_length);
    EXPECT_EQ(made.repetition_penalty, engine.repetition_penalty);
    EXPECT_EQ(made.no_repeat_ngram_size, engine.no_repeat_ngram_size);
    EXPECT_EQ(made.sampling.topk, engine.sampling.topk);
    EXPECT_EQ(made.sampling.topp, engine.sampling.topp);
    EXPECT_EQ(made.sampling.temperature, engine.sampling.temperature);
  }
}

}  // namespace
}  // namespace nibu
