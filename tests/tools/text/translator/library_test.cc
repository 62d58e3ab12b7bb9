// Tests of the public interface: models that come and go, requests, options by name, errors,
// pieces.
// Threads: the thread sanitizer runs this file.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/nibu.h"
#include "tests/paths.h"
#include "tests/sanitizers.h"

namespace nibu {
namespace {

using internal::CaptionsModelPath;
using internal::TestdataPath;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kLine[] = "A man is riding a bicycle.";
constexpr char kTranslation[] = "Ein Mann fährt Fahrrad.";

std::shared_ptr<const Model> Load(const std::string& path, ModelOptions options = {}) {
  options.compute_type = ComputeType::kFloat32;
  auto model = Model::Load(path, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

const std::shared_ptr<const Model>& Captions() {
  static const auto& model = *new std::shared_ptr<const Model>(Load(CaptionsModelPath()));
  return model;
}

std::unique_ptr<Translator> Threads(int threads) {
  SpeedOptions options;
  options.threads = threads;
  return *Translator::Create(options);
}

Options With(const std::vector<std::pair<std::string, std::string>>& named) {
  Options options;
  for (const auto& [name, value] : named) {
    EXPECT_EQ(SetOption(name, value, &options), absl::OkStatus());
  }
  return options;
}

// Returns options for a small random model of many languages.
Options GermanToFrench() {
  return With({{"src_lang", "de"}, {"tgt_lang", "fr"}, {"max_decoding_length", "8"}});
}

std::string Best(const absl::StatusOr<std::vector<Result>>& results) {
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? results->at(0).hypotheses.at(0).text : "";
}

// Waits for the result of one request.
struct Answer {
  std::promise<absl::StatusOr<Result>> promise;

  Done done() {
    return
        [this](uint64_t, absl::StatusOr<Result> result) { promise.set_value(std::move(result)); };
  }
  absl::StatusOr<Result> Wait() { return promise.get_future().get(); }
};

TEST(LibraryTest, TranslatesAndScores) {
  const auto translator = Threads(2);
  EXPECT_EQ(translator->threads(), 2);
  const auto plan = translator->Prepare(Captions());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT(translator->max_input_length(**plan), 100);
  const auto results = translator->Translate({kLine, "", kLine}, *plan);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 3);
  EXPECT_EQ((*results)[0].hypotheses[0].text, kTranslation);
  EXPECT_EQ((*results)[1].hypotheses[0].text, "");
  EXPECT_EQ(translator->sentences(), 1);  // Equal texts are translated once.
  EXPECT_EQ(translator->translated_sentences(), 1);

  const auto scores = translator->Score({kLine}, {kTranslation}, *plan);
  ASSERT_TRUE(scores.ok()) << scores.status();
  EXPECT_NEAR((*scores)[0].hypotheses[0].log_prob, (*results)[0].hypotheses[0].log_prob, 1e-3);
  EXPECT_FALSE(translator->Score({kLine}, {}, *plan).ok());
}

TEST(LibraryTest, OpensAModelAndTranslatesInTwoLines) {
  auto translator = Translator::Open(CaptionsModelPath());
  ASSERT_TRUE(translator.ok()) << translator.status();
  EXPECT_EQ((*translator)->Translate(kLine).value(), kTranslation);
  EXPECT_EQ((*translator)->Translate("A dog runs.\n\nA dog runs.").value(),
            "Ein Hund rennt.\n\nEin Hund rennt.");
  EXPECT_EQ((*translator)->Translate("").value(), "");
  EXPECT_EQ((*translator)->Translate({kLine}, nullptr)->at(0).hypotheses[0].text, kTranslation);
  // Its options are those for which no plan is given.
  translator = Translator::Open(CaptionsModelPath(), With({{"max_decoding_length", "1"}}));
  ASSERT_TRUE(translator.ok()) << translator.status();
  EXPECT_EQ((*translator)->Translate(kLine).value(), "Ein");
  EXPECT_TRUE(absl::IsNotFound(Translator::Open("/no/such/model").status()));
  Options none;
  none.beam_size = 0;
  EXPECT_EQ(OptionOfError(Translator::Open(CaptionsModelPath(), none).status()), "beam_size");
  EXPECT_TRUE(absl::IsInvalidArgument(Threads(1)->Translate(kLine).status()));
}

TEST(LibraryTest, TellsWhatAModelIs) {
  const ModelInfo& captions = Captions()->info();
  EXPECT_EQ(captions.path, CaptionsModelPath());
  EXPECT_EQ(captions.format, "Hugging Face MarianMT");
  EXPECT_THAT(captions.license, Not(IsEmpty()));
  EXPECT_EQ(captions.compute_type, ComputeType::kFloat32);
  EXPECT_GT(captions.weight_bytes, 1 << 20);
  EXPECT_TRUE(captions.has_tokenizer);
  EXPECT_THAT(captions.source_languages, IsEmpty());
  EXPECT_THAT(captions.language_tokens, IsEmpty());

  const auto many = Load(TestdataPath("m2m"));
  EXPECT_THAT(many->info().source_languages, Contains("de"));
  EXPECT_THAT(many->info().target_languages, Contains("fr"));
  EXPECT_TRUE(many->info().defaults.beam_size.has_value());
  const auto madlad = Load(TestdataPath("madlad"));
  EXPECT_THAT(madlad->info().language_tokens, Contains("<2de>"));
}

TEST(LibraryTest, ConvertsPiecesAndIds) {
  const Model& model = *Captions();
  const auto pieces = model.Tokenize(kLine);
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_EQ((*pieces)[0], "▁A");
  const std::vector<int> ids = model.SourceIds(*pieces);
  EXPECT_EQ(*model.SourcePieces(ids), *pieces);
  for (const int id : ids) EXPECT_LT(id, model.info().source_vocabulary_size);
  const auto target = model.TokenizeTarget(kTranslation);
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(*model.TargetPieces(model.TargetIds(*target)), *target);
  EXPECT_EQ(*model.Detokenize(*target), kTranslation);
  EXPECT_EQ(model.SourcePieces({-1}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(model.TargetPieces({model.info().target_vocabulary_size}).status().code(),
            absl::StatusCode::kOutOfRange);

  // A text and its pieces have the same translation.
  const auto translator = Threads(1);
  const auto plan = translator->Prepare(Captions(), With({{"tokenized", "true"}}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::string line;
  for (const std::string& piece : *pieces) line += (line.empty() ? "" : " ") + piece;
  const auto results = translator->Translate({line}, *plan);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(*model.Detokenize((*results)[0].hypotheses[0].tokens), kTranslation);
}

TEST(LibraryTest, LoadsTheBundledModelAndEnsembles) {
  EXPECT_EQ(Load("")->info().format, "Hugging Face MarianMT");
  const std::string path = CaptionsModelPath();
  ModelOptions weights;
  ASSERT_EQ(SetOption("ensemble_weights", "1,3", &weights), absl::OkStatus());
  const auto both = Load(path + "," + path, weights);
  EXPECT_THAT(both->info().ensemble, ElementsAre(path));
  const auto translator = Threads(1);
  EXPECT_EQ(Best(translator->Translate({kLine}, *translator->Prepare(both))), kTranslation);
}

TEST(LibraryTest, ErrorsNameTheFileOrTheOption) {
  const auto none = Model::Load("/no/such/model");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("/no/such/model"));
  EXPECT_EQ(OptionOfError(none.status()), "");
  EXPECT_FALSE(Model::Load(CaptionsModelPath() + ",").ok());

  ModelOptions weights;
  weights.ensemble_weights = {1, 2};
  EXPECT_EQ(OptionOfError(Model::Load(CaptionsModelPath(), weights).status()), "ensemble_weights");
  SpeedOptions speed;
  speed.threads = -1;
  EXPECT_EQ(OptionOfError(Translator::Create(speed).status()), "threads");

  const auto translator = Threads(1);
  const auto option = [&](const std::string& name, const std::string& value) {
    const auto plan = translator->Prepare(Captions(), With({{name, value}}));
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << name;
    return OptionOfError(plan.status());
  };
  EXPECT_EQ(option("tgt_lang", "xx"), "tgt_lang");
  EXPECT_EQ(option("protect_pattern", "("), "protect_pattern");
  EXPECT_EQ(option("split_language", "german"), "split_language");
  EXPECT_EQ(OptionOfError(translator->Prepare(Load(TestdataPath("m2m"))).status()).substr(4),
            "lang");
  EXPECT_FALSE(translator->Prepare(nullptr).ok());
}

TEST(LibraryTest, RefusesRequests) {
  const auto translator = Threads(1);
  const auto plan =
      *translator->Prepare(Captions(), With({{"long_input", "error"}, {"max_input_length", "4"}}));
  const auto code = [&](const std::string& line, const std::shared_ptr<const Plan>& with) {
    return translator
        ->Submit(line, with, {}, [](uint64_t, absl::StatusOr<Result>) { ADD_FAILURE(); })
        .status()
        .code();
  };
  EXPECT_EQ(code(kLine, nullptr), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(kLine, plan), absl::StatusCode::kOutOfRange);
  const auto other = Threads(1);
  EXPECT_EQ(code(kLine, *other->Prepare(Captions())), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(translator->Translate({kLine}, nullptr).ok());
}

TEST(LibraryTest, CancelsAndEndsAtADeadline) {
  const auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions(), With({{"beam_size", "8"}}));
  Answer late;
  Request passed;
  passed.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  ASSERT_TRUE(translator->Submit(kLine, plan, passed, late.done()).ok());
  EXPECT_EQ(late.Wait().status(), absl::DeadlineExceededError("the request's deadline has passed"));

  // The Done of the first request holds up the others until they are cancelled.
  std::promise<void> go;
  std::vector<Answer> answers(3);
  Answer first;
  ASSERT_TRUE(translator
                  ->Submit(kLine, plan, {},
                           [&, wait = go.get_future().share()](uint64_t, absl::StatusOr<Result> r) {
                             wait.wait();
                             first.promise.set_value(std::move(r));
                           })
                  .ok());
  std::string text;
  for (int i = 0; i < 40; ++i) text += "A man is riding a bicycle in the snow. ";
  std::vector<Ticket> tickets;
  for (Answer& answer : answers) {
    const auto ticket = translator->Submit(text, plan, {}, answer.done());
    ASSERT_TRUE(ticket.ok()) << ticket.status();
    tickets.push_back(*ticket);
  }
  for (const Ticket& ticket : tickets) translator->Cancel(ticket);
  go.set_value();
  EXPECT_TRUE(first.Wait().ok());
  for (Answer& answer : answers) {
    EXPECT_EQ(answer.Wait().status(), absl::CancelledError("the request was cancelled"));
  }
  translator->Cancel(tickets[0]);  // It has ended, so nothing happens.
  translator->Cancel(Ticket());
}

TEST(LibraryTest, TakesByPriority) {
  SpeedOptions speed;
  speed.threads = 1;
  speed.batch_size = 1;
  const auto translator = *Translator::Create(speed);
  const auto plan = *translator->Prepare(Captions());
  std::mutex mutex;
  std::vector<uint64_t> order;
  std::promise<void> all;
  constexpr uint64_t kRequests = 20;
  const auto done = [&](uint64_t key, absl::StatusOr<Result> result) {
    EXPECT_TRUE(result.ok()) << result.status();
    const std::lock_guard<std::mutex> lock(mutex);
    order.push_back(key);
    if (order.size() == kRequests) all.set_value();
  };
  for (uint64_t key = 0; key < kRequests; ++key) {
    Request request;
    request.key = key;
    request.priority = key + 1 == kRequests ? 1 : 0;
    ASSERT_TRUE(translator->Submit(kLine, plan, request, done).ok());
  }
  all.get_future().wait();
  const auto urgent = std::find(order.begin(), order.end(), kRequests - 1);
  EXPECT_LT(urgent - order.begin(), static_cast<long>(kRequests) - 1);
}

TEST(LibraryTest, ModelsComeAndGoWhileOthersTranslate) {
  const auto translator = Threads(2);
  const auto captions = *translator->Prepare(Captions());
  const std::string expected = [&] {
    const auto model = Load(TestdataPath("m2m"));
    return Best(
        translator->Translate({"Hallo Welt"}, *translator->Prepare(model, GermanToFrench())));
  }();
  std::atomic<bool> stop = false;
  std::thread others([&] {
    while (!stop) EXPECT_EQ(Best(translator->Translate({kLine}, captions)), kTranslation);
  });
  for (int i = 0; i < 5; ++i) {
    auto model = Load(TestdataPath("m2m"));
    const std::weak_ptr<const Model> unloaded = model;
    auto plan = *translator->Prepare(model, GermanToFrench());
    Answer answer;
    ASSERT_TRUE(translator->Submit("Hallo Welt", plan, {}, answer.done()).ok());
    // The request keeps the plan and the model until it has ended.
    plan = nullptr;
    model = nullptr;
    const auto result = answer.Wait();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->hypotheses[0].text, expected);
    translator->ReleaseUnloaded();
  }
  stop = true;
  others.join();
}

TEST(LibraryTest, LongerInputReplacesThePositionTables) {
  const auto translator = Threads(1);
  const auto model = Load(CaptionsModelPath());
  const auto before = *translator->Prepare(model);
  const auto longer = translator->Prepare(
      model, With({{"max_input_length", "1500"}, {"max_decoding_length", "1500"}}));
  ASSERT_TRUE(longer.ok()) << longer.status();
  const auto after = *translator->Prepare(model);
  EXPECT_GE(translator->max_input_length(**longer), translator->max_input_length(*before));
  for (const auto& plan : {before, *longer, after}) {
    EXPECT_EQ(Best(translator->Translate({kLine}, plan)), kTranslation);
  }
  EXPECT_EQ(translator->sentences(), 3);
}

TEST(LibraryTest, PlansAndTicketsMayOutliveTheirTranslator) {
  auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions());
  Answer answer;
  const auto ticket = translator->Submit(kLine, plan, {}, answer.done());
  translator = nullptr;
  EXPECT_TRUE(answer.Wait().ok());
  const auto other = Threads(1);
  other->Cancel(*ticket);
  EXPECT_EQ(other->Translate({kLine}, plan).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(LibraryTest, AForkedChildIsRefused) {
  if (internal::kThreadSanitizer) GTEST_SKIP() << "it supports no threads in a forked child";
  auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool refused =
        absl::IsFailedPrecondition(translator->Prepare(Captions()).status()) &&
        absl::IsFailedPrecondition(
            translator->Submit(kLine, plan, {}, [](uint64_t, absl::StatusOr<Result>) {})
                .status()) &&
        absl::IsFailedPrecondition(translator->Translate({""}, plan).status()) &&
        absl::IsFailedPrecondition(translator->Translate({}, plan).status());
    translator = nullptr;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(LibraryTest, DoneMaySubmitPrepareAndDropTheLastPlan) {
  const auto translator = Threads(1);
  auto model = Load(TestdataPath("m2m"));
  auto plan = *translator->Prepare(model, GermanToFrench());
  model = nullptr;
  Answer second;
  const auto done = [&](uint64_t, absl::StatusOr<Result> result) {
    EXPECT_TRUE(result.ok()) << result.status();
    plan = nullptr;
    const auto next = translator->Prepare(Captions());
    EXPECT_TRUE(next.ok()) << next.status();
    EXPECT_TRUE(translator->Submit(kLine, *next, {}, second.done()).ok());
  };
  ASSERT_TRUE(translator->Submit("Hallo Welt", plan, {}, done).ok());
  const auto result = second.Wait();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->hypotheses[0].text, kTranslation);
}

TEST(LibraryTest, ReadsMarkupWithinALine) {
  const auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions(), With({{"markup", "html"}}));
  const std::string text =
      Best(translator->Translate({"<p>A man is riding a <b>bicycle</b>.</p>"}, plan));
  EXPECT_THAT(text, HasSubstr("<b>"));
  EXPECT_EQ(text.substr(0, 3), "<p>");
}

TEST(LibraryTest, WritesJson) {
  const auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions(), With({{"alignment", "hard"}}));
  const auto results = translator->Translate({kLine}, plan);
  ASSERT_TRUE(results.ok()) << results.status();
  const std::string json = ToJson((*results)[0], 7, kLine, AlignmentKind::kHard);
  EXPECT_THAT(json, HasSubstr("{\"id\":7,\"source\":\"A man is riding a bicycle.\""));
  EXPECT_THAT(json, HasSubstr("Ein Mann fährt Fahrrad."));
  EXPECT_THAT(json, HasSubstr("\"alignment\":[["));
}

TEST(LibraryTest, WaitingWithinACallbackIsRefused) {
  const auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions());
  for (const char* line : {kLine, ""}) {  // the empty one ends within Submit
    std::promise<absl::Status> refused;
    const auto ticket = translator->Submit(line, plan, {}, [&](uint64_t, const auto&) {
      EXPECT_TRUE(Translator::InCallback());
      absl::Status status = translator->Translate({kLine}, plan).status();
      status.Update(translator->Score({kLine}, {kTranslation}, plan).status());
      refused.set_value(status);
    });
    ASSERT_TRUE(ticket.ok()) << ticket.status();
    EXPECT_EQ(refused.get_future().get().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_FALSE(Translator::InCallback());
}

TEST(LibraryTest, SubmitWithinACallbackDoesNotWait) {
  SpeedOptions speed;
  speed.threads = 1;
  speed.queue_size = 1;
  const auto translator = *Translator::Create(speed);
  const auto plan = *translator->Prepare(Captions());
  std::promise<void> ended;
  absl::Status status;
  const auto ticket = translator->Submit(
      kLine, plan, {},
      [&](uint64_t, const auto&) {
        for (int i = 0; i < 3 && status.ok(); ++i) {
          status.Update(translator
                            ->Submit(
                                kLine, plan, {}, [](uint64_t, const auto&) {}, kForever)
                            .status());
        }
        ended.set_value();
      },
      kForever);
  ASSERT_TRUE(ticket.ok()) << ticket.status();
  ended.get_future().wait();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

TEST(LibraryTest, FuturesAndTheirErrors) {
  ModelOptions exact;
  exact.compute_type = ComputeType::kFloat32;
  const auto translator = Translator::Open(CaptionsModelPath(), {.beam_size = 2}, exact);
  ASSERT_TRUE(translator.ok()) << translator.status();
  auto future = (*translator)->SubmitFuture(kLine);
  const absl::StatusOr<Result> result = future.get();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->hypotheses[0].text, kTranslation);
  EXPECT_EQ((*translator)->SubmitFuture("", nullptr, {.target = "Ein"}).get().status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      (*translator)->SubmitFuture(kLine, nullptr, {.deadline = {}}).get().status()));
}

TEST(LibraryTest, ResultsAreValues) {
  const auto translator = Threads(1);
  const auto plan = *translator->Prepare(Captions(), With({{"alignment", "soft"}}));
  const Result once = translator->Translate({kLine}, plan)->at(0);
  Result twice = translator->Translate({kLine}, plan)->at(0);
  EXPECT_EQ(once, twice);
  twice.hypotheses[0].attention[0][0] += 1;
  EXPECT_NE(once, twice);
}

TEST(LibraryTest, ReturnsEndsOfSentences) {
  const auto translator = Threads(1);
  Options options = With({{"alignment", "soft"}});
  const std::string line = "A dog runs. Two cats.";
  const Result without =
      translator->Translate({line}, *translator->Prepare(Captions(), options))->at(0);
  options.return_ends = true;
  const Result with =
      translator->Translate({line}, *translator->Prepare(Captions(), options))->at(0);
  const Hypothesis& best = with.hypotheses[0];
  EXPECT_EQ(best.text, without.hypotheses[0].text);
  EXPECT_EQ(with.target_tokens, without.target_tokens);
  EXPECT_EQ(best.tokens.size(), without.hypotheses[0].tokens.size() + 2);  // of two sentences
  EXPECT_EQ(best.tokens.back(), "</s>");
  EXPECT_EQ(best.tokens.size(), best.length);
  EXPECT_EQ(best.token_scores.size(), best.length);
  float sum = 0;
  for (const float score : best.token_scores) sum += score;
  EXPECT_NEAR(sum, best.log_prob, 1e-3);
  EXPECT_EQ(best.alignment.size(), best.length);
  EXPECT_EQ(best.attention.size(), best.length);
  EXPECT_EQ(with.source_labels.size(), without.source_labels.size() + 2);
  EXPECT_EQ(with.source_labels.back(), "</s>");
  for (const auto& row : best.attention) EXPECT_EQ(row.size(), with.source_labels.size());
}

TEST(LibraryTest, SourceLabels) {
  const auto translator = Threads(1);
  const auto labels = [&](const std::string& line, const Options& options) {
    const auto plan = *translator->Prepare(Captions(), options);
    const Result result = translator->Translate({line}, plan)->at(0);
    const Hypothesis& best = result.hypotheses[0];
    for (const auto& [source, target] : best.alignment) {
      EXPECT_LT(source, result.source_labels.size());
    }
    if (!best.attention.empty()) {
      EXPECT_EQ(best.attention[0].size(), result.source_labels.size());
    }
    return result.source_labels;
  };
  EXPECT_THAT(labels(kLine, {}), IsEmpty());
  EXPECT_EQ(labels(kLine, With({{"alignment", "soft"}})), *Captions()->Tokenize(kLine));
  EXPECT_EQ(labels("Two <b>dogs</b>.", With({{"alignment", "hard"}, {"markup", "html"}})),
            *Captions()->Tokenize("Two dogs."));
  const Options words = With({{"alignment", "soft"}, {"alignment_level", "words"}});
  EXPECT_THAT(labels(kLine, words), ElementsAre("A", "man", "is", "riding", "a", "bicycle."));
  EXPECT_THAT(labels("Two dogs at http://x.de/a run.", words),
              ElementsAre("Two", "dogs", "at", "http://x.de/a", "run."));
  EXPECT_THAT(labels("Two dogs.\nA cat.", words), ElementsAre("Two", "dogs.", "A", "cat."));
}

}  // namespace
}  // namespace nibu
