// Tests of lines on their way through a small random model: tokens, splitting and joining, scores.
// Threads: the thread sanitizer runs this file.

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
#include "tests/tools/text/models.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

LoadedModel RandomModel(bool language_tokens = false) {
  ModelConfig config;
  config.d_model = 16;
  config.heads_encoder = config.heads_decoder = 2;
  config.ffn_encoder = config.ffn_decoder = 32;
  config.layers_encoder = config.layers_decoder = 1;
  config.vocab_source = 32;
  config.vocab_target = 33;  // with an output layer of its own, the source decides more
  config.max_positions = 64;
  config.eos = 0;
  config.unk = config.unk_target = 1;
  config.decoder_start = 0;
  config.source_suffix = {0};
  LoadedModel loaded = *LoadModel(*OpenRandom(config, /*seed=*/7), ComputeType::kFloat32);
  std::vector<std::string> tokens = {"</s>", "<unk>", ">>deu<<", ">>fra<<", ".", ","};
  while (tokens.size() < 32) tokens.push_back(absl::StrCat("▁w", tokens.size()));
  loaded.vocabulary.source_tokens = loaded.vocabulary.target_tokens = tokens;
  loaded.vocabulary.target_tokens.emplace_back("▁w32");
  if (language_tokens) loaded.vocabulary.language_tokens = {{"deu", 2}, {"fra", 3}};
  return loaded;
}

Options Tokenized() {
  Options options;
  options.tokenized = true;
  options.max_decoding_length = 8;
  return options;
}

std::vector<nibu::Result> Translate(const LoadedModel& loaded, const Options& options,
                                    const std::vector<std::string>& lines) {
  const auto model = ModelOf(loaded);
  EXPECT_TRUE(model.ok()) << model.status();
  return TranslateWith(NewTranslator(1).get(), *model, options, lines);
}

// Expects that `joined` is what the results of a line's parts give together.
void ExpectJoined(const nibu::Result& joined, const std::vector<const nibu::Result*>& parts,
                  float length_penalty) {
  ASSERT_EQ(joined.hypotheses.size(), parts[0]->hypotheses.size());
  for (size_t n = 0; n < joined.hypotheses.size(); ++n) {
    std::string text;
    std::vector<std::string> tokens;
    std::vector<float> token_scores;
    double sum = 0;
    double length = 0;
    bool finished = true;
    for (const nibu::Result* part : parts) {
      const nibu::Hypothesis& h = part->hypotheses[n];
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

TEST(PendingLineTest, JoinsTheParts) {
  for (const float length_penalty : {1.0f, 0.6f}) {
    Options options = Tokenized();
    options.max_input_length = 5;
    options.num_hypotheses = 2;
    options.length_penalty = length_penalty;
    const std::string first = "▁w6 ▁w7 .";
    const std::string second = "▁w8 ▁w9 ▁w10 ▁w11 ,";
    const std::string third = "▁w12 ▁w13";
    const auto results =
        Translate(RandomModel(), options,
                  {absl::StrCat(first, " ", second, " ", third), first, second, third});
    EXPECT_TRUE(results[0].too_long);
    EXPECT_EQ(results[0].source_tokens, 10);
    EXPECT_FALSE(results[2].too_long);  // exactly as many tokens as fit
    ExpectJoined(results[0], {&results[1], &results[2], &results[3]}, length_penalty);
  }
}

TEST(PendingLineTest, EveryPartHasTheLanguageToken) {
  Options options = Tokenized();
  options.max_input_length = 4;
  const auto results = Translate(RandomModel(true), options,
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

TEST(PendingLineTest, TextAsTheReferenceTranslatesIt) {
  for (const std::string name : {"t5", "madlad"}) {
    std::ifstream file(TestdataPath(name + "/expected.json"));
    Options options;
    options.split_sentences = false;
    options.protect = "none";
    options.beam_size = 1;
    options.max_decoding_length = 12;
    for (const nlohmann::json& expected : nlohmann::json::parse(file)) {
      const std::string text = expected["text"];
      const auto results = Translate(TestModel(name), options, {text});
      EXPECT_EQ(results[0].source_tokens, static_cast<int>(expected["source"].size())) << text;
      EXPECT_EQ(results[0].hypotheses[0].text, expected["translation"].get<std::string>());
    }
  }
}

TEST(PendingLineTest, LanguageTokensThatArePieces) {
  Options options;
  options.max_input_length = 6;
  options.max_decoding_length = 8;
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

// The option sets the token of lines that have none.
TEST(PendingLineTest, LanguageTokensFromTheOption) {
  Options options;
  options.max_decoding_length = 8;
  const std::vector<std::string> lines = {"a man", "<2en> a man", "<2de> a man", "", " . "};
  const auto plain = Translate(TestModel("madlad"), options, lines);
  options.src_lang = "en";
  for (const std::string code : {"de", "deu", "de_DE"}) {
    options.tgt_lang = code;
    const auto chosen = Translate(TestModel("madlad"), options, lines);
    ASSERT_EQ(chosen.size(), lines.size()) << code;
    ExpectJoined(chosen[0], {&plain[2]}, 1);
    for (const size_t i : {1, 2}) ExpectJoined(chosen[i], {&plain[i]}, 1);
    for (const size_t i : {3, 4}) EXPECT_EQ(chosen[i].hypotheses[0].text, lines[i]);
  }
  options = Tokenized();
  options.tgt_lang = "fr";
  const auto tokens = Translate(RandomModel(true), options, {"▁w6 ▁w7", ">>deu<< ▁w6 ▁w7"});
  options.tgt_lang.clear();
  const auto own = Translate(RandomModel(true), options, {">>fra<< ▁w6 ▁w7", ">>deu<< ▁w6 ▁w7"});
  ExpectJoined(tokens[0], {&own[0]}, 1);
  ExpectJoined(tokens[1], {&own[1]}, 1);
  EXPECT_NE(own[0].hypotheses[0].log_prob, own[1].hypotheses[0].log_prob);
}

// A token that the model lacks is an error of its line alone.
TEST(PendingLineTest, UnknownLanguageTokensAreRefused) {
  const auto translator = NewTranslator(1);
  const auto model = *ModelOf(RandomModel(true));
  const auto plan = *translator->Prepare(model, Tokenized());
  const auto refused = translator->Translate({">>xyz<< ▁w6"}, plan);
  EXPECT_EQ(refused.status().message(),
            "\">>xyz<<\" is not a language token of this model; it has >>deu<<, >>fra<<");
  for (const std::string text : {"<2xyz> ▁w6", ">>hello_world<< ▁w6", ">> ▁w6", ">>1<< ▁w6"}) {
    EXPECT_TRUE(translator->Translate({text}, plan).ok()) << text;
  }
}

TEST(PendingLineTest, LongLinesTruncatedOrRefused) {
  const std::vector<std::string> lines = {"▁w6 ▁w7 . ▁w8", "▁w6 ▁w7 ."};
  Options options = Tokenized();
  options.max_input_length = 3;
  options.long_input = LongInput::kTruncate;
  auto results = Translate(RandomModel(), options, lines);
  EXPECT_TRUE(results[0].too_long);
  EXPECT_EQ(results[0].hypotheses[0].tokens, results[1].hypotheses[0].tokens);
  EXPECT_EQ(results[0].hypotheses[0].score, results[1].hypotheses[0].score);
  options.long_input = LongInput::kError;
  const auto translator = NewTranslator();
  const auto plan = *translator->Prepare(*ModelOf(RandomModel()), options);
  EXPECT_EQ(translator->Translate(lines, plan).status(),
            absl::OutOfRangeError("a sentence of 4 tokens is longer than max_input_length, 3"));
  EXPECT_EQ((*translator->Translate({lines[1]}, plan))[0].hypotheses.size(), 1u);
}

TEST(PendingLineTest, LinesWithoutText) {
  for (const bool language_tokens : {false, true}) {
    std::vector<std::string> lines = {"", "  ", "\u3000", "\u00a0\t"};
    if (language_tokens) lines.insert(lines.end(), {">>deu<<", " >>fra<< \u3000"});
    for (const nibu::Result& result : Translate(RandomModel(language_tokens), Tokenized(), lines)) {
      ASSERT_EQ(result.hypotheses.size(), 1u);
      EXPECT_TRUE(IsBlank(result.hypotheses[0].text));
      EXPECT_EQ(result.hypotheses[0].score, 0);
      EXPECT_EQ(result.source_tokens, 0);
    }
  }
}

TEST(PendingLineTest, ModelsWithoutUsableSentencePiece) {
  Options options = Tokenized();
  options.tokenized = false;
  const auto refused = NewTranslator()->Prepare(*ModelOf(RandomModel()), options);
  EXPECT_EQ(refused.status().message().find("sentencepiece is"), 0u);
  LoadedModel damaged = RandomModel();
  damaged.vocabulary.source_sentencepiece = "not a model";
  const auto model = ModelOf(damaged);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("SentencePiece of the source"), absl::string_view::npos);
}

// Requests have options of their own, by which some of their sentences are too long.
TEST(PendingLineTest, RequestsHaveTheirOwnOptions) {
  const auto translator = NewTranslator();
  const auto model = *ModelOf(RandomModel(true));
  Options beam = Tokenized();
  beam.num_hypotheses = 3;
  Options greedy = Tokenized();
  greedy.beam_size = 1;
  greedy.max_input_length = 3;
  const std::vector<std::string> lines = {"▁w6 ▁w7 . ▁w8 ▁w9", "▁w10 ▁w11", ""};
  const std::vector<Options> options = {beam, greedy};
  std::vector<std::vector<nibu::Result>> expected;
  for (const Options& each : options) {
    expected.push_back(TranslateWith(translator.get(), model, each, lines));
  }
  EXPECT_EQ(expected[0][0].hypotheses.size(), 3u);
  EXPECT_TRUE(expected[1][0].too_long);
  std::vector<nibu::Result> results(6);
  std::atomic<int> missing = 6;
  for (uint64_t key = 0; key < 6; ++key) {
    const auto plan = *translator->Prepare(model, options[key / 3]);
    const auto ticket = translator->Submit(lines[key % 3], plan, {.key = key},
                                           [&](uint64_t of, absl::StatusOr<nibu::Result> result) {
                                             results[of] = *std::move(result);
                                             --missing;
                                           });
    EXPECT_TRUE(ticket.ok()) << ticket.status();
  }
  while (missing > 0) std::this_thread::yield();
  for (size_t key = 0; key < 6; ++key) {
    const nibu::Result& same = expected[key / 3][key % 3];
    ASSERT_EQ(results[key].hypotheses.size(), same.hypotheses.size());
    for (size_t n = 0; n < same.hypotheses.size(); ++n) {
      EXPECT_EQ(results[key].hypotheses[n].text, same.hypotheses[n].text);
      EXPECT_EQ(results[key].hypotheses[n].score, same.hypotheses[n].score);
    }
  }
}

TEST(PendingLineTest, AFullQueueRefusesALineOfManySentencesWhole) {
  const auto translator = *nibu::Translator::Create({.threads = 1, .queue_size = 2});
  Options options = Tokenized();
  options.max_input_length = 1;
  const auto plan = *translator->Prepare(*ModelOf(RandomModel()), options);
  std::string line = "▁w6";
  for (int i = 0; i < 500; ++i) line += " ▁w7";
  std::atomic<int> called = 0;
  const auto count = [&](uint64_t, absl::StatusOr<nibu::Result>) { ++called; };
  EXPECT_EQ(translator->Submit(line, plan, {}, count).status().code(),
            absl::StatusCode::kResourceExhausted);
  // A caller that waits gets room for the line.
  EXPECT_EQ(translator->Translate({line}, plan)->size(), 1u);
  // The patience is that of the whole line, not of each sentence.
  EXPECT_EQ(translator->Submit(line, plan, {}, count, std::chrono::milliseconds(5)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(called, 0);
}

TEST(PendingLineTest, EndsWhatIsCancelledOrLate) {
  const auto translator = NewTranslator();
  Options options = Tokenized();
  options.max_input_length = 1;
  const auto plan = *translator->Prepare(*ModelOf(RandomModel()), options);
  std::string line = "▁w6";
  for (int i = 0; i < 200; ++i) line += " ▁w7";
  std::atomic<int> missing = 2;
  std::vector<absl::Status> statuses(2);
  const auto keep = [&](uint64_t key, absl::StatusOr<nibu::Result> result) {
    statuses[key] = result.status();
    --missing;
  };
  const auto past = std::chrono::steady_clock::now();
  EXPECT_TRUE(translator->Submit(line, plan, {.deadline = past}, keep).ok());
  const auto ticket = translator->Submit(line, plan, {.key = 1}, keep);
  ASSERT_TRUE(ticket.ok());
  translator->Cancel(*ticket);
  while (missing > 0) std::this_thread::yield();
  EXPECT_EQ(statuses[0].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(statuses[1].code(), absl::StatusCode::kCancelled);
  translator->Cancel(*ticket);  // Nothing is left of it.
}

// Whoever gets a result may end the translator once its other models have nothing to do: the second
// model's thread delivers the text, and nothing of the first model is needed afterwards.
TEST(PendingLineTest, TheModelsOfATextMayEndOnceItIsDelivered) {
  const auto translator = NewTranslator();
  std::weak_ptr<const nibu::Model> first;
  std::atomic<bool> is_delivered = false;
  {
    auto captions = LoadNibu(CaptionsModelPath());
    first = captions;
    const auto plan = translator->Prepare(
        *nibu::Model::Pivot(std::move(captions), LoadNibu(TestdataPath("de-en"))));
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_TRUE(translator
                    ->Submit("A man.", *plan, {},
                             [&](uint64_t, const absl::StatusOr<nibu::Result>& result) {
                               EXPECT_TRUE(result.ok()) << result.status();
                               is_delivered = true;
                             })
                    .ok());
  }
  while (!is_delivered || !first.expired()) std::this_thread::yield();
  translator->ReleaseUnloaded();
}

// What was submitted goes as soon as it is refused, whatever it was refused for.
TEST(PendingLineTest, ARefusedRequestKeepsNothing) {
  const auto translator = NewTranslator();
  const auto held = std::make_shared<int>(0);
  nibu::Request with_steps;
  with_steps.on_step = [held](const nibu::Step&) { return false; };
  nibu::Request with_target;
  with_target.target = "A man.";
  for (const nibu::Request& request : {with_steps, with_target}) {
    std::weak_ptr<const Plan> plan;
    {
      Options greedy;
      greedy.beam_size = 1;
      const auto prepared = *translator->Prepare(
          *nibu::Model::Pivot(LoadNibu(CaptionsModelPath()), LoadNibu(TestdataPath("de-en"))),
          greedy);
      plan = prepared;
      const auto refused = translator->Submit("A man.", prepared, request,
                                              [held](uint64_t, const auto&) { ADD_FAILURE(); });
      EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
    }
    EXPECT_TRUE(plan.expired());
  }
  with_steps.on_step = nullptr;
  EXPECT_EQ(held.use_count(), 1);
}

TEST(PendingLineTest, OptionsAreCheckedAgainstTheModel) {
  const auto translator = NewTranslator();
  const auto refused = [&](auto change) {
    Options options = Tokenized();
    change(&options);
    return std::string(translator->Prepare(*ModelOf(RandomModel()), options).status().message());
  };
  EXPECT_EQ(refused([](Options* o) { o->src_lang = "de"; }).find("src_lang=de is not for"), 0u);
  EXPECT_EQ(refused([](Options* o) { o->beam_size = 0; }).find("beam_size must"), 0u);
  EXPECT_EQ(refused([](Options* o) { o->max_input_length = 0; }).find("max_input_length"), 0u);
  // It has no plan.
  EXPECT_FALSE(translator->Submit("▁w6", nullptr, {}, [](uint64_t, const auto&) {}).ok());
}

}  // namespace
}  // namespace nibu::internal
