// Tests of TextTranslator with a small random model: tokens, splitting and joining, scores.
// Threads: the thread sanitizer runs this file.
#include "tools/text/text_translator.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/random_model.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

LoadedModel Model(bool language_tokens = false) {
  ModelConfig config;
  config.d_model = 16;
  config.heads_encoder = config.heads_decoder = 2;
  config.ffn_encoder = config.ffn_decoder = 32;
  config.layers_encoder = config.layers_decoder = 1;
  config.vocab_source = config.vocab_target = 32;
  config.max_positions = 64;
  config.eos = 0;
  config.unk = config.unk_target = 1;
  config.decoder_start = 0;
  config.source_suffix = {0};
  LoadedModel loaded = *LoadModel(*OpenRandom(config, /*seed=*/7), ComputeType::kFloat32);
  std::vector<std::string> tokens = {"</s>", "<unk>", ">>deu<<", ">>fra<<", ".", ","};
  while (tokens.size() < 32) tokens.push_back(absl::StrCat("▁w", tokens.size()));
  loaded.vocabulary.source_tokens = loaded.vocabulary.target_tokens = tokens;
  loaded.vocabulary.language_tokens = language_tokens;
  return loaded;
}

TextOptions Tokenized() {
  TextOptions options;
  options.tokenized = true;
  options.decoding.max_decoding_length = 8;
  return options;
}

std::vector<TextResult> Translate(const LoadedModel& model, const TextOptions& options,
                                  const std::vector<std::string>& lines) {
  auto translator = TextTranslator::Create({model}, {});
  EXPECT_TRUE(translator.ok()) << translator.status();
  auto results = (*translator)->Translate(lines, options);
  EXPECT_TRUE(results.ok()) << results.status();
  return *std::move(results);
}

// Expects that `joined` is what the results of a line's parts give together.
void ExpectJoined(const TextResult& joined, const std::vector<const TextResult*>& parts,
                  float length_penalty) {
  ASSERT_EQ(joined.hypotheses.size(), parts[0]->hypotheses.size());
  for (size_t n = 0; n < joined.hypotheses.size(); ++n) {
    std::string text;
    std::vector<std::string> tokens;
    std::vector<float> token_scores;
    double sum = 0;
    double length = 0;
    bool finished = true;
    for (const TextResult* part : parts) {
      const TextHypothesis& h = part->hypotheses[n];
      absl::StrAppend(&text, text.empty() || h.text.empty() ? "" : " ", h.text);
      tokens.insert(tokens.end(), h.tokens.begin(), h.tokens.end());
      token_scores.insert(token_scores.end(), h.token_scores.begin(), h.token_scores.end());
      sum += h.log_prob;
      // score = S / L^penalty, where L counts the EOS.
      length += std::round(std::pow(h.log_prob / h.score, 1 / length_penalty));
      finished = finished && h.finished;
    }
    EXPECT_EQ(joined.hypotheses[n].finished, finished);
    EXPECT_EQ(joined.hypotheses[n].text, text);
    EXPECT_EQ(joined.hypotheses[n].tokens, tokens);
    EXPECT_EQ(joined.hypotheses[n].token_scores, token_scores);
    EXPECT_NEAR(joined.hypotheses[n].log_prob, sum, 1e-4);
    EXPECT_NEAR(joined.hypotheses[n].score, sum / std::pow(length, length_penalty), 1e-4);
  }
}

TEST(TextTranslatorTest, JoinsTheParts) {
  for (const float length_penalty : {1.0f, 0.6f}) {
    TextOptions options = Tokenized();
    options.max_input_length = 5;
    options.decoding.num_hypotheses = 2;
    options.decoding.length_penalty = length_penalty;
    const std::string first = "▁w6 ▁w7 .";
    const std::string second = "▁w8 ▁w9 ▁w10 ▁w11 ,";
    const std::string third = "▁w12 ▁w13";
    const auto results = Translate(
        Model(), options, {absl::StrCat(first, " ", second, " ", third), first, second, third});
    EXPECT_TRUE(results[0].too_long);
    EXPECT_EQ(results[0].source_tokens, 10);
    EXPECT_FALSE(results[2].too_long);  // exactly as many tokens as fit
    ExpectJoined(results[0], {&results[1], &results[2], &results[3]}, length_penalty);
  }
}

TEST(TextTranslatorTest, EveryPartHasTheLanguageToken) {
  TextOptions options = Tokenized();
  options.max_input_length = 4;
  const auto results = Translate(Model(true), options,
                                 {">>deu<< ▁w6 ▁w7 . ▁w8 ▁w9 ▁w10", ">>deu<< ▁w6 ▁w7 .",
                                  ">>deu<< ▁w8 ▁w9 ▁w10", "▁w8 ▁w9 ▁w10", ">>fra<< ▁w8 ▁w9 ▁w10"});
  ExpectJoined(results[0], {&results[1], &results[2]}, 1);
  // The model's results depend on that token.
  EXPECT_NE(results[2].hypotheses[0].log_prob, results[3].hypotheses[0].log_prob);
  EXPECT_NE(results[2].hypotheses[0].log_prob, results[4].hypotheses[0].log_prob);
}

LoadedModel TestModel(const std::string& name) {
  auto loaded = LoadModel(TestdataPath(name), ComputeType::kFloat32);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *std::move(loaded);
}

TEST(TextTranslatorTest, TextAsTheReferenceTranslatesIt) {
  for (const std::string name : {"t5", "madlad"}) {
    std::ifstream file(TestdataPath(name + "/expected.json"));
    TextOptions options;
    options.split_sentences = false;
    options.protect.reset();
    options.decoding.beam_size = 1;
    options.decoding.max_decoding_length = 12;
    for (const nlohmann::json& expected : nlohmann::json::parse(file)) {
      const std::string text = expected["text"];
      const auto results = Translate(TestModel(name), options, {text});
      EXPECT_EQ(results[0].source_tokens, static_cast<int>(expected["source"].size())) << text;
      EXPECT_EQ(results[0].hypotheses[0].text, expected["translation"].get<std::string>());
    }
  }
}

TEST(TextTranslatorTest, LanguageTokensThatArePieces) {
  TextOptions options;
  options.max_input_length = 6;
  options.decoding.max_decoding_length = 8;
  const auto results = Translate(
      TestModel("madlad"), options,
      {"<2en> a man a man a man", "<2en> a man a man", "<2en> a man", "<2en> ", "<2en>", "a man"});
  EXPECT_EQ(results[1].source_tokens, 6);
  EXPECT_TRUE(results[0].too_long);
  ExpectJoined(results[0], {&results[1], &results[2]}, 1);
  EXPECT_NE(results[2].hypotheses[0].log_prob, results[5].hypotheses[0].log_prob);
  // These lines have nothing to translate.
  EXPECT_EQ(results[3].source_tokens, 0);
  EXPECT_EQ(results[4].hypotheses[0].text, "");
}

TEST(TextTranslatorTest, LongLinesTruncatedOrRefused) {
  const std::vector<std::string> lines = {"▁w6 ▁w7 . ▁w8", "▁w6 ▁w7 ."};
  TextOptions options = Tokenized();
  options.max_input_length = 3;
  options.long_input = LongInput::kTruncate;
  auto results = Translate(Model(), options, lines);
  EXPECT_TRUE(results[0].too_long);
  EXPECT_EQ(results[0].hypotheses[0].tokens, results[1].hypotheses[0].tokens);
  EXPECT_EQ(results[0].hypotheses[0].score, results[1].hypotheses[0].score);
  options.long_input = LongInput::kError;
  const auto translator = *TextTranslator::Create({Model()}, {});
  EXPECT_EQ(translator->Translate(lines, options).status(),
            absl::OutOfRangeError("a sentence of 4 tokens is longer than max_input_length, 3"));
  EXPECT_EQ((*translator->Translate({lines[1]}, options))[0].hypotheses.size(), 1u);
}

TEST(TextTranslatorTest, LinesWithoutText) {
  for (const bool language_tokens : {false, true}) {
    std::vector<std::string> lines = {"", "  ", "\u3000", "\u00a0\t"};
    if (language_tokens) lines.insert(lines.end(), {">>deu<<", " >>fra<< \u3000"});
    for (const TextResult& result : Translate(Model(language_tokens), Tokenized(), lines)) {
      ASSERT_EQ(result.hypotheses.size(), 1u);
      EXPECT_TRUE(IsBlank(result.hypotheses[0].text));
      EXPECT_EQ(result.hypotheses[0].score, 0);
      EXPECT_EQ(result.source_tokens, 0);
    }
  }
}

TEST(TextTranslatorTest, ModelsWithoutUsableSentencePiece) {
  TextOptions options = Tokenized();
  options.tokenized = false;
  const auto without = *TextTranslator::Create({Model()}, {});
  EXPECT_EQ(std::string(without->Prepare(options).status().message()).find("sentencepiece is"), 0u);
  LoadedModel damaged = Model();
  damaged.vocabulary.source_sentencepiece = "not a model";
  const auto refused = TextTranslator::Create({damaged}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("SentencePiece of the source"),
            absl::string_view::npos);
}

// Requests have options of their own, by which some of their sentences are too long.
TEST(TextTranslatorTest, RequestsHaveTheirOwnOptions) {
  const auto translator = *TextTranslator::Create({Model(true)}, {});
  TextOptions beam = Tokenized();
  beam.decoding.num_hypotheses = 3;
  TextOptions greedy = Tokenized();
  greedy.decoding.beam_size = 1;
  greedy.max_input_length = 3;
  const std::vector<std::string> lines = {"▁w6 ▁w7 . ▁w8 ▁w9", "▁w10 ▁w11", ""};
  const std::vector<TextOptions> options = {beam, greedy};
  std::vector<std::vector<TextResult>> expected;
  for (const TextOptions& each : options) expected.push_back(*translator->Translate(lines, each));
  EXPECT_EQ(expected[0][0].hypotheses.size(), 3u);
  EXPECT_TRUE(expected[1][0].too_long);
  std::vector<TextResult> results(6);
  std::atomic<int> missing = 6;
  for (uint64_t key = 0; key < 6; ++key) {
    const auto plan = *translator->Prepare(options[key / 3]);
    const auto ticket = translator->Submit(lines[key % 3], {.plan = plan, .key = key},
                                           [&](uint64_t of, absl::StatusOr<TextResult> result) {
                                             results[of] = *std::move(result);
                                             --missing;
                                           });
    EXPECT_TRUE(ticket.ok()) << ticket.status();
  }
  while (missing > 0) std::this_thread::yield();
  for (size_t key = 0; key < 6; ++key) {
    const TextResult& same = expected[key / 3][key % 3];
    ASSERT_EQ(results[key].hypotheses.size(), same.hypotheses.size());
    for (size_t n = 0; n < same.hypotheses.size(); ++n) {
      EXPECT_EQ(results[key].hypotheses[n].text, same.hypotheses[n].text);
      EXPECT_EQ(results[key].hypotheses[n].score, same.hypotheses[n].score);
    }
  }
}

TEST(TextTranslatorTest, AFullQueueRefusesALineOfManySentencesWhole) {
  TranslatorOptions small;
  small.queue_size = 2;
  const auto translator = *TextTranslator::Create({Model()}, small);
  TextOptions options = Tokenized();
  options.max_input_length = 1;
  const auto plan = *translator->Prepare(options);
  std::string line = "▁w6";
  for (int i = 0; i < 500; ++i) line += " ▁w7";
  std::atomic<int> called = 0;
  const auto count = [&](uint64_t, absl::StatusOr<TextResult>) { ++called; };
  EXPECT_EQ(translator->Submit(line, {.plan = plan}, count).status().code(),
            absl::StatusCode::kResourceExhausted);
  // A caller that waits gets room for the line.
  EXPECT_EQ(translator->Translate({line}, options)->size(), 1u);
  // The patience is that of the whole line, not of each sentence.
  EXPECT_EQ(
      translator->Submit(line, {.plan = plan}, count, std::chrono::milliseconds(5)).status().code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(called, 0);
}

TEST(TextTranslatorTest, EndsWhatIsCancelledOrLate) {
  const auto translator = *TextTranslator::Create({Model()}, {});
  TextOptions options = Tokenized();
  options.max_input_length = 1;
  const auto plan = *translator->Prepare(options);
  std::string line = "▁w6";
  for (int i = 0; i < 200; ++i) line += " ▁w7";
  std::atomic<int> missing = 2;
  std::vector<absl::Status> statuses(2);
  const auto keep = [&](uint64_t key, absl::StatusOr<TextResult> result) {
    statuses[key] = result.status();
    --missing;
  };
  const auto past = std::chrono::steady_clock::now();
  EXPECT_TRUE(translator->Submit(line, {plan, 0, past, 0}, keep).ok());
  const auto ticket = translator->Submit(line, {.plan = plan, .key = 1}, keep);
  ASSERT_TRUE(ticket.ok());
  translator->Cancel(*ticket);
  while (missing > 0) std::this_thread::yield();
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kCancelled);
  translator->Cancel(*ticket);  // Nothing is left of it.
}

std::unique_ptr<TextTranslator> Load(const std::string& path) {
  auto loaded = LoadModel(path, ComputeType::kFloat32);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *TextTranslator::Create({*std::move(loaded)}, {});
}

// The second model's thread delivers the text, and nothing of the first model is needed afterwards.
TEST(TextTranslatorTest, TheFirstOfTwoModelsMayEndOnceItsLastTextIsDelivered) {
  auto first = Load(CaptionsModelPath());
  const auto second = Load(TestdataPath("de-en"));
  std::atomic<bool> is_delivered = false;
  auto plan = *first->PreparePivot({}, *second, {});
  ASSERT_TRUE(first
                  ->Submit("A man.", {.plan = plan},
                           [&](uint64_t, const absl::StatusOr<TextResult>& result) {
                             EXPECT_TRUE(result.ok()) << result.status();
                             first.reset();
                             is_delivered = true;
                           })
                  .ok());
  while (!is_delivered) std::this_thread::yield();
}

TEST(TextTranslatorTest, OptionsAreCheckedAgainstTheModel) {
  const auto translator = *TextTranslator::Create({Model()}, {});
  const auto refused = [&](auto change) {
    TextOptions options = Tokenized();
    change(&options);
    return std::string(translator->Prepare(options).status().message());
  };
  EXPECT_EQ(refused([](TextOptions* o) { o->src_lang = "de"; }).find("src_lang=de is not for"), 0u);
  EXPECT_EQ(refused([](TextOptions* o) { o->decoding.beam_size = 0; }).find("beam_size must"), 0u);
  EXPECT_EQ(refused([](TextOptions* o) { o->max_input_length = 0; }).find("max_input_length"), 0u);
  // It has no plan.
  EXPECT_FALSE(translator->Submit("▁w6", {}, [](uint64_t, const auto&) {}).ok());
}

}  // namespace
}  // namespace nibu::internal
