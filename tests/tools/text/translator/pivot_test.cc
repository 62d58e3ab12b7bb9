// Tests of two models in a row: the second one translates the translations of the first one.
// Threads: the thread sanitizer runs this file.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using internal::TestdataPath;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kLine[] = "A man in a red shirt is riding a bicycle.";

std::shared_ptr<const Model> Load(const std::string& path, const std::string& pivot = "") {
  ModelOptions options;
  options.compute_type = ComputeType::kFloat32;
  options.pivot = pivot;
  auto model = Model::Load(path, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

const std::shared_ptr<const Model>& EnglishGerman() {
  static const auto& model = *new std::shared_ptr<const Model>(Load(CaptionsModelPath()));
  return model;
}
const std::shared_ptr<const Model>& GermanEnglish() {
  static const auto& model = *new std::shared_ptr<const Model>(Load(TestdataPath("de-en")));
  return model;
}
// Returns a model that translates from English to German and back.
const std::shared_ptr<const Model>& ThereAndBack() {
  static const auto& model =
      *new std::shared_ptr<const Model>(*Model::Pivot(EnglishGerman(), GermanEnglish()));
  return model;
}

std::unique_ptr<Translator> Threads(int threads, int queue_size = 0) {
  SpeedOptions options;
  options.threads = threads;
  options.queue_size = queue_size;
  return *Translator::Create(options);
}

Options With(const std::vector<std::pair<std::string, std::string>>& named) {
  Options options;
  for (const auto& [name, value] : named) {
    EXPECT_EQ(SetOption(name, value, &options), absl::OkStatus());
  }
  return options;
}

std::vector<std::string> Captions(size_t count) {
  std::ifstream file(TestdataPath("multi30k.en"));
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<Result> Translate(Translator& translator, const std::shared_ptr<const Model>& model,
                              const std::vector<std::string>& lines, const Options& options) {
  auto plan = translator.Prepare(model, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  auto results = translator.Translate(lines, *plan);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<Result>();
}

std::vector<std::string> Texts(const std::vector<Result>& results) {
  std::vector<std::string> texts;
  for (const Result& result : results) texts.push_back(result.hypotheses.at(0).text);
  return texts;
}

std::string TranslateLine(const std::string& line, const Options& options = {}) {
  return Texts(Translate(*Threads(1), ThereAndBack(), {line}, options)).at(0);
}

// Returns the piece of each character of a text. The space in front of a word is a part of its
// piece.
std::vector<size_t> PieceOfCharacter(const std::vector<std::string>& pieces) {
  std::vector<size_t> owner;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string written = absl::StrReplaceAll(pieces[i], {{"▁", " "}});
    const size_t from = i == 0 && written[0] == ' ' ? 1 : 0;
    owner.insert(owner.end(), written.size() - from, i);
  }
  return owner;
}

TEST(PivotTest, IsTheSecondModelsTranslationOfTheFirstOnes) {
  const auto translator = Threads(2);
  const std::vector<std::string> lines = Captions(60);
  for (const char* beam_size : {"1", "4"}) {
    const Options options = With({{"beam_size", beam_size}, {"alignment", "soft"}});
    const auto first = Translate(*translator, EnglishGerman(), lines, options);
    const auto second = Translate(*translator, GermanEnglish(), Texts(first), options);
    const auto both = Translate(*translator, ThereAndBack(), lines, options);
    ASSERT_EQ(both.size(), lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const Hypothesis& to = first[i].hypotheses[0];
      const Hypothesis& back = second[i].hypotheses[0];
      const Hypothesis& joined = both[i].hypotheses[0];
      EXPECT_EQ(joined.text, back.text) << lines[i];
      EXPECT_EQ(joined.tokens, back.tokens);
      EXPECT_EQ(joined.token_scores, back.token_scores);
      EXPECT_EQ(joined.score, back.score);
      EXPECT_EQ(both[i].source_tokens, first[i].source_tokens);

      // The attention is the product of both models', by the characters of the German text.
      const std::vector<std::string> pieces = *GermanEnglish()->Tokenize(to.text);
      const std::vector<size_t> token_of = PieceOfCharacter(to.tokens);
      const std::vector<size_t> piece_of = PieceOfCharacter(pieces);
      // A character was normalized.
      if (token_of.size() != piece_of.size()) continue;
      std::vector<float> size(pieces.size());
      for (const size_t piece : piece_of) ++size[piece];
      ASSERT_EQ(joined.attention.size(), joined.tokens.size());
      for (size_t t = 0; t < joined.tokens.size(); ++t) {
        std::vector<float> expected(to.attention[0].size());
        for (size_t c = 0; c < piece_of.size(); ++c) {
          for (size_t s = 0; s < expected.size(); ++s) {
            expected[s] +=
                back.attention[t][piece_of[c]] / size[piece_of[c]] * to.attention[token_of[c]][s];
          }
        }
        ASSERT_THAT(joined.attention[t],
                    ::testing::Pointwise(::testing::FloatNear(1e-5), expected));
      }
    }
  }
}

TEST(PivotTest, DoesNotDependOnBatchesOrderOrThreads) {
  std::vector<std::string> lines = Captions(24);
  const std::vector<std::string> expected =
      Texts(Translate(*Threads(1), ThereAndBack(), lines, {}));
  for (size_t i = 0; i < lines.size(); i += 7) {
    EXPECT_EQ(TranslateLine(lines[i]), expected[i]);
  }
  std::vector<std::string> backwards(lines.rbegin(), lines.rend());
  std::vector<std::string> texts = Texts(Translate(*Threads(3, 2), ThereAndBack(), backwards, {}));
  EXPECT_EQ(std::vector<std::string>(texts.rbegin(), texts.rend()), expected);
}

TEST(PivotTest, TranslatesSentenceBySentenceAndLeavesWhatIsNoText) {
  EXPECT_EQ(TranslateLine(""), "");
  EXPECT_EQ(TranslateLine("  ---  "), "  ---  ");
  const std::string first = TranslateLine("A dog runs.");
  const std::string second = TranslateLine("Two men are talking.");
  EXPECT_EQ(TranslateLine("A dog runs.  Two men are talking. "), first + "  " + second + " ");
  EXPECT_THAT(TranslateLine("A man is reading https://example.org/a?b=c in a park."),
              HasSubstr("https://example.org/a?b=c"));
}

TEST(PivotTest, PlacesTagsOnce) {
  const Options html = With({{"markup", "html"}});
  const std::string plain = TranslateLine(kLine);
  const std::string text = TranslateLine(
      "A <i>man</i> in a <b>red shirt</b> is riding a <a href=\"x\">bicycle</a>.", html);
  EXPECT_EQ(absl::StrReplaceAll(text, {{"<i>", ""},
                                       {"</i>", ""},
                                       {"<b>", ""},
                                       {"</b>", ""},
                                       {"<a href=\"x\">", ""},
                                       {"</a>", ""}}),
            plain);
  EXPECT_THAT(text, HasSubstr("<i>man</i>"));
  EXPECT_THAT(text, HasSubstr("<b>red shirt</b>"));
}

TEST(PivotTest, TheSecondModelObeysWhatIsSaidOfTheResult) {
  const auto translator = Threads(1);
  const auto best =
      Translate(*translator, ThereAndBack(), {kLine}, With({{"num_hypotheses", "3"}}))[0];
  ASSERT_EQ(best.hypotheses.size(), 3);
  EXPECT_NE(best.hypotheses[0].text, best.hypotheses[1].text);
  EXPECT_GE(best.hypotheses[0].score, best.hypotheses[1].score);

  const auto plan = *translator->Prepare(ThereAndBack());
  Request request;
  request.target_prefix = "Some people";
  std::promise<absl::StatusOr<Result>> answer;
  ASSERT_TRUE(translator
                  ->Submit(kLine, plan, request,
                           [&](uint64_t, absl::StatusOr<Result> result) {
                             answer.set_value(std::move(result));
                           })
                  .ok());
  const absl::StatusOr<Result> prefixed = answer.get_future().get();
  ASSERT_TRUE(prefixed.ok()) << prefixed.status();
  EXPECT_THAT(prefixed->hypotheses[0].text, StartsWith("Some people"));
  EXPECT_EQ(translator->Score({kLine}, {kLine}, plan).status().code(),
            absl::StatusCode::kInvalidArgument);

  Options glossary;
  glossary.glossary = {{"bicycle", "velocipede"}};
  EXPECT_THAT(TranslateLine(kLine, glossary), HasSubstr("velocipede"));

  const std::string pieces = absl::StrJoin(*EnglishGerman()->Tokenize(kLine), " ");
  const Result tokens =
      Translate(*translator, ThereAndBack(), {pieces}, With({{"tokenized", "true"}}))[0];
  EXPECT_EQ(tokens.hypotheses[0].text, absl::StrJoin(tokens.hypotheses[0].tokens, " "));
  EXPECT_EQ(*ThereAndBack()->Detokenize(tokens.hypotheses[0].tokens), TranslateLine(kLine));
}

// The first model's translation of the second sentence is a space.
TEST(PivotTest, ASentenceWithoutTextInBetweenKeepsTheHypothesesOfOthers) {
  const auto translator = Threads(1);
  const Options options = With({{"num_hypotheses", "3"}, {"max_decoding_length", "1"}});
  ASSERT_THAT(Texts(Translate(*translator, EnglishGerman(), {"Q."}, options)), ElementsAre(""));
  const auto results =
      Translate(*translator, ThereAndBack(), {"A dog runs.", "A dog runs. Q.", "Q."}, options);
  ASSERT_EQ(results.size(), 3);
  ASSERT_EQ(results[0].hypotheses.size(), 3);
  for (const size_t i : {1, 2}) {
    ASSERT_EQ(results[i].hypotheses.size(), 3);
    for (size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(results[i].hypotheses[n].tokens,
                i == 1 ? results[0].hypotheses[n].tokens : std::vector<std::string>());
    }
  }
}

// Loads a German-English model of 12 positions, fewer than translations have pieces.
std::shared_ptr<const Model> LoadNarrow() {
  const internal::testing::TempFolder folder;
  const std::string path = folder.path() + "/de-en";
  std::filesystem::copy(TestdataPath("de-en"), path);
  std::ifstream in(path + "/config.json");
  const std::string config((std::istreambuf_iterator<char>(in)), {});
  std::ofstream(path + "/config.json") << absl::StrReplaceAll(
      config, {{"\"max_position_embeddings\": 512", "\"max_position_embeddings\": 12"}});
  return Load(path);
}

TEST(PivotTest, CutsWhatIsTooLongForTheSecondModel) {
  const std::shared_ptr<const Model> narrow = LoadNarrow();
  const auto translator = Threads(1);
  const std::vector<std::string> lines = Captions(12);
  const Options options = With({{"split_sentences", "false"}, {"alignment", "soft"}});
  const auto first = Translate(*translator, EnglishGerman(), lines, options);
  const auto second = Translate(*translator, narrow, Texts(first), options);
  const auto both = Translate(*translator, *Model::Pivot(EnglishGerman(), narrow), lines, options);
  int cut = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    cut += second[i].too_long ? 1 : 0;
    EXPECT_EQ(both[i].hypotheses[0].tokens, second[i].hypotheses[0].tokens);
    EXPECT_EQ(both[i].hypotheses[0].attention.size(), both[i].hypotheses[0].tokens.size());
    EXPECT_FALSE(both[i].too_long);
  }
  EXPECT_GT(cut, 0);
}

// The prefix is the whole translation of the first part of the first sentence, and limits no other
// part.
TEST(PivotTest, APrefixEndsOnlyThePartThatItBegins) {
  const auto translator = Threads(1);
  const auto plan = *translator->Prepare(*Model::Pivot(EnglishGerman(), LoadNarrow()));
  const std::string line =
      "A man in a red shirt is riding a very old bicycle down the long street. A dog runs.";
  Request request;
  request.target_prefix = "Two. A";
  std::promise<absl::StatusOr<Result>> answer;
  const auto done = [&](uint64_t, absl::StatusOr<Result> result) {
    answer.set_value(std::move(result));
  };
  ASSERT_TRUE(translator->Submit(line, plan, request, done).ok());
  const absl::StatusOr<Result> result = answer.get_future().get();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->hypotheses[0].text, "Two. The very old bicycles down the street. A dog runs.");
}

TEST(PivotTest, ModelsShareThreadsAndWaitForNoOne) {
  const auto translator = Threads(2, /*queue_size=*/2);
  const auto there = *translator->Prepare(ThereAndBack());
  const auto back = *translator->Prepare(*Model::Pivot(GermanEnglish(), EnglishGerman()));
  const std::vector<std::string> lines = Captions(30);
  absl::StatusOr<std::vector<Result>> english;
  absl::StatusOr<std::vector<Result>> german;
  std::thread other([&] { german = translator->Translate(lines, back); });
  english = translator->Translate(lines, there);
  other.join();
  EXPECT_TRUE(english.ok()) << english.status();
  EXPECT_TRUE(german.ok()) << german.status();
}

TEST(PivotTest, EachRequestEndsOnce) {
  const std::vector<std::string> lines = Captions(40);
  for (const int cancelled_every : {0, 1, 3}) {
    std::vector<std::atomic<int>> ends(lines.size());
    {
      const auto translator = Threads(2);
      const auto plan = *translator->Prepare(ThereAndBack());
      std::vector<Ticket> tickets;
      for (size_t i = 0; i < lines.size(); ++i) {
        Request request;
        request.key = i;
        if (i % 5 == 4) request.deadline = std::chrono::steady_clock::now();
        tickets.push_back(*translator->Submit(
            lines[i], plan, request,
            [&](uint64_t key, absl::StatusOr<Result> result) {
              ++ends[key];
              EXPECT_TRUE(result.ok() || absl::IsCancelled(result.status()) ||
                          absl::IsDeadlineExceeded(result.status()))
                  << result.status();
            },
            kForever));
      }
      for (size_t i = 0; cancelled_every > 0 && i < lines.size(); i += cancelled_every) {
        translator->Cancel(tickets[i]);
      }
    }
    for (const std::atomic<int>& end : ends) EXPECT_EQ(end, 1);
  }
}

TEST(PivotTest, TellsWhatTheModelsAre) {
  const std::shared_ptr<const Model> model = Load(CaptionsModelPath(), TestdataPath("de-en"));
  const ModelInfo& info = model->info();
  EXPECT_EQ(info.path, CaptionsModelPath());
  EXPECT_EQ(info.pivot, TestdataPath("de-en"));
  EXPECT_EQ(info.source_language, "en");
  EXPECT_EQ(info.target_language, "en");
  EXPECT_EQ(info.target_vocabulary_size, GermanEnglish()->info().target_vocabulary_size);
  EXPECT_EQ(info.weight_bytes,
            EnglishGerman()->info().weight_bytes + GermanEnglish()->info().weight_bytes);
  EXPECT_EQ(*model->TokenizeTarget(kLine), *GermanEnglish()->TokenizeTarget(kLine));
  EXPECT_THAT(EnglishGerman()->info().pivot, IsEmpty());
}

TEST(PivotTest, RefusesModelsThatDoNotMeet) {
  const auto translator = Threads(1);
  const auto plan = translator->Prepare(*Model::Pivot(EnglishGerman(), EnglishGerman()));
  EXPECT_EQ(OptionOfError(plan.status()), "pivot") << plan.status();
  EXPECT_THAT(std::string(plan.status().message()), HasSubstr("into de"));
  EXPECT_FALSE(Model::Pivot(ThereAndBack(), EnglishGerman()).ok());
  EXPECT_FALSE(Model::Pivot(EnglishGerman(), ThereAndBack()).ok());
  EXPECT_FALSE(Model::Pivot(EnglishGerman(), nullptr).ok());
  const auto no_tokenizer = Model::Pivot(Load(TestdataPath("fairseq-new")), EnglishGerman());
  EXPECT_EQ(OptionOfError(no_tokenizer.status()), "pivot") << no_tokenizer.status();
  ModelOptions missing;
  missing.pivot = "/no/such/model";
  EXPECT_THAT(std::string(Model::Load(CaptionsModelPath(), missing).status().message()),
              HasSubstr("/no/such/model"));
}

// A model that needs a language is given the language in between.
TEST(PivotTest, ChoosesTheLanguageBetween) {
  const auto translator = Threads(1);
  const std::shared_ptr<const Model> many = Load(TestdataPath("m2m"));
  Options to_french = With({{"tgt_lang", "fr"}, {"max_decoding_length", "8"}});
  EXPECT_TRUE(translator->Prepare(*Model::Pivot(EnglishGerman(), many), to_french).ok());
  const Options from_french = With({{"src_lang", "fr"}, {"max_decoding_length", "8"}});
  EXPECT_TRUE(translator->Prepare(*Model::Pivot(many, GermanEnglish()), from_french).ok());
  const auto unknown = translator->Prepare(*Model::Pivot(many, GermanEnglish()), {});
  EXPECT_EQ(OptionOfError(unknown.status()), "src_lang") << unknown.status();
}

}  // namespace
}  // namespace nibu
