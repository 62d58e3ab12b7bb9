// Tests that the generation options of Hugging Face directories are obeyed as transformers obeys
// them, that the others are named, and that all of them stay with a model that is converted.
#include "models/formats/hugging_face_defaults.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/plan.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/writers/hugging_face_writer.h"
#include "models/writers/native_writer.h"
#include "tests/engine/asking.h"
#include "tests/engine/testing.h"
#include "tests/models/files.h"
#include "tests/paths.h"
#include "tests/tools/text/model/hugging_face_generate.h"
#include "tools/text/lines/choose_languages.h"
#include "tools/text/options/engine_options.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using testing::Generate;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempFolder;
using testing::TinyMarian;
using testing::WriteFile;
using Json = nlohmann::json;
using Ids = std::vector<int>;

// A Hugging Face directory whose generation_config.json a test writes.
class Directory {
 public:
  // `name`: a folder of the test data, or "marian".
  explicit Directory(const std::string& name) {
    if (name == "marian") {
      TinyMarian().Write(folder_);
    } else {
      std::filesystem::copy(TestdataPath(name), folder_.path());
    }
    const Json config = Json::parse(testing::ReadFile(folder_ / "config.json"));
    const std::string path = folder_ / "generation_config.json";
    if (std::filesystem::exists(path)) base_ = Json::parse(testing::ReadFile(path));
    for (const char* key : {"eos_token_id", "decoder_start_token_id"}) {
      if (!base_.contains(key)) base_[key] = config[key];
    }
    base_["num_beams"] = 1;
    base_.erase("bad_words_ids");
  }

  const std::string& path() const { return folder_.path(); }
  std::string file(const std::string& name) const { return folder_ / name; }
  // Writes the fields over those that a model has to have, and returns all.
  Json Write(const Json& fields) const {
    Json all = base_;
    all.update(fields);
    WriteFile(folder_ / "generation_config.json", all.dump());
    return all;
  }

 private:
  const TempFolder folder_;
  Json base_;
};

// The model of a directory without options, whose logits the reference takes.
class Logits {
 public:
  explicit Logits(const std::string& path) {
    auto opened = OpenModel(path);
    EXPECT_TRUE(opened.ok()) << opened.status();
    never_ = opened->config.suppressed;
    opened->config.suppressed.clear();
    model_ = LoadModel(*std::move(opened), ComputeType::kFloat32)->model;
  }

  // The tokens that nibu never generates.
  const Ids& never() const { return never_; }

  // Returns the logits of all tokens that follow `start` and `ids`: each is the only token that is
  // allowed once.
  std::vector<double> Of(Frame frame, const Ids& source, const Ids& ids) {
    std::vector<double>& logits = known_[{frame.decoder_start, ids}];
    if (!logits.empty()) return logits;
    std::vector<Request> requests(static_cast<size_t>(model_->config.vocab_target));
    for (size_t t = 0; t < requests.size(); ++t) {
      Request& request = requests[t];
      request.source = source;
      request.target_prefix = ids;
      request.options.beam_size = 1;
      request.options.return_scores = false;
      request.options.min_decoding_length = 0;
      request.options.max_decoding_length = static_cast<int>(ids.size()) + 1;
      request.options.frame = frame;
      for (size_t other = 0; other < requests.size(); ++other) {
        if (other != t) request.options.suppress_sequences.push_back({static_cast<int>(other)});
      }
    }
    for (const Result& result : AskAll(model_, {}, requests)) {
      EXPECT_TRUE(result.ok()) << result.status();
      logits.push_back(static_cast<double>((*result)[0].token_scores.back()));
    }
    return logits;
  }

 private:
  std::shared_ptr<const Model> model_;
  Ids never_;
  std::map<std::pair<Ids, Ids>, std::vector<double>> known_;
};

// Returns the options for a model as nibu-translate makes them, and its languages.
DecodingOptions Decoding(const LoadedModel& loaded, const Options& options) {
  DecodingOptions decoding = MakeDecodingOptions(options, loaded.defaults);
  const auto& languages = loaded.vocabulary.languages.languages;
  const std::string code = languages.empty() ? "" : languages.back().code;
  decoding.frame = ChooseLanguages(loaded.vocabulary, loaded.model->config, code, code)->frame;
  AddForcedToken(loaded.defaults, loaded.model->config, &decoding.frame);
  return decoding;
}

// Translates as nibu does and as transformers does, and expects the same.
void ExpectSame(const Directory& directory, const Json& fields, Logits* logits) {
  const Ids source = {5, 2, 4};
  const Json all = directory.Write(fields);
  SCOPED_TRACE(all.dump());
  const auto loaded = LoadModel(directory.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Options options;
  options.search_compat = SearchCompat::kHuggingFace;
  Request request = {.source = source};
  request.options = Decoding(*loaded, options);
  const Frame frame = FrameFor(request.options, loaded->model->config);

  Generate generate;
  generate.config = all;
  generate.start = frame.decoder_start;
  generate.has_forced = frame.decoder_start.size() > 1;
  generate.never = logits->never();
  generate.logits = [&](const Ids& ids) {
    const auto behind = ids.begin() + static_cast<long>(frame.decoder_start.size());
    return logits->Of(frame, source, Ids(behind, ids.end()));
  };
  const Result result = Ask(loaded->model, request);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].tokens, generate());
}

class HuggingFaceDefaults : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, HuggingFaceDefaults,
                         ::testing::Values("marian", "m2m", "nllb", "mbart50", "mbart", "t5",
                                           "madlad"));

// Each field alone, with and without a beam.
TEST_P(HuggingFaceDefaults, AreObeyedAsByTransformers) {
  const Directory directory(GetParam());
  directory.Write(Json::object());
  Logits logits(directory.path());
  const int eos = OpenModel(directory.path())->config.eos;
  for (const int beams : {1, 3}) {
    for (const Json& fields : std::vector<Json>{
             {{"max_length", 7}},
             {{"max_new_tokens", 5}, {"max_length", 20}},
             {{"max_length", 6}, {"forced_eos_token_id", eos}, {"length_penalty", 0.0}},
             {{"max_length", 9}, {"min_length", 8}},
             {{"max_length", 9}, {"min_length", 2}, {"min_new_tokens", 6}},
             {{"max_length", 12}, {"repetition_penalty", 1.7}},
             {{"max_length", 12}, {"repetition_penalty", 0.6}},
             {{"max_length", 12}, {"no_repeat_ngram_size", 2}},
             {{"max_length", 12}, {"suppress_tokens", {4, 5}}},
             {{"max_length", 12}, {"suppress_tokens", {eos}}},
             {{"max_length", 12}, {"begin_suppress_tokens", {2, 3, 5}}},
             {{"max_length", 12}, {"eos_token_id", {eos, 5, 4}}},
             {{"max_length", 12}, {"bad_words_ids", {{3}, {4, 4}, {5, 2, 3}, {2, 5}, {eos}}}}}) {
      Json both = fields;
      both["num_beams"] = beams;
      ExpectSame(directory, both, &logits);
    }
  }
}

TEST_P(HuggingFaceDefaults, AreObeyedTogether) {
  const Directory directory(GetParam());
  directory.Write(Json::object());
  Logits logits(directory.path());
  const int eos = OpenModel(directory.path())->config.eos;
  Random random(3);
  const auto token = [&random] { return random.Int(3, 5); };
  for (int round = 0; round < 40; ++round) {
    Json fields = {{"num_beams", random.Int(1, 4)}, {"early_stopping", random.Chance()}};
    fields[random.Chance() ? "max_length" : "max_new_tokens"] = random.Int(5, 12);
    if (random.Chance()) fields["length_penalty"] = 0.25 * random.Int(-4, 8);
    if (random.Chance())
      fields[random.Chance() ? "min_length" : "min_new_tokens"] = random.Int(0, 4);
    if (random.Chance()) fields["repetition_penalty"] = 0.5 + 0.1 * random.Int(0, 15);
    if (random.Chance()) fields["no_repeat_ngram_size"] = random.Int(2, 3);
    if (random.Chance()) fields["begin_suppress_tokens"] = {token(), token()};
    if (random.Chance()) fields["suppress_tokens"] = {token()};
    if (random.Chance())
      fields["bad_words_ids"] = {{token(), token()}, {token(), token(), token()}};
    if (random.Chance()) fields["eos_token_id"] = {eos, token()};
    ExpectSame(directory, fields, &logits);
  }
}

// Models whose languages are not chosen may have a forced first token all the same.
TEST(HuggingFaceDefaultsTest, TheFirstTokenMayBeForced) {
  for (const char* name : {"marian", "t5"}) {
    const Directory directory(name);
    directory.Write(Json::object());
    Logits logits(directory.path());
    for (const int beams : {1, 3}) {
      ExpectSame(directory,
                 {{"num_beams", beams},
                  {"max_length", 9},
                  {"min_new_tokens", 4},
                  {"forced_bos_token_id", 3},
                  {"begin_suppress_tokens", {2, 4}},
                  {"repetition_penalty", 1.3}},
                 &logits);
    }
  }
}

// The end token of translations may be padding, or a token that is never text.
TEST(HuggingFaceDefaultsTest, EndTokensMayBeGenerated) {
  const Directory directory("marian");
  directory.Write({{"eos_token_id", {0, 6}}, {"bad_words_ids", {{6}, {4}}}});
  const auto opened = OpenModel(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_THAT(opened->config.suppressed, ElementsAre(4));
  EXPECT_THAT(opened->defaults.end_tokens, ElementsAre(0, 6));
}

TEST(HuggingFaceDefaultsTest, FlagsWin) {
  const Directory directory("marian");
  directory.Write({{"repetition_penalty", 1.5},
                   {"min_length", 9},
                   {"max_length", 20},
                   {"eos_token_id", {0, 3}},
                   {"no_repeat_ngram_size", 2}});
  const auto loaded = LoadModel(directory.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const DecodingOptions own = MakeDecodingOptions({}, loaded->defaults);
  EXPECT_EQ(own.repetition_penalty, 1.5f);
  EXPECT_EQ(own.min_decoding_length, 8);
  EXPECT_EQ(own.max_decoding_length, 19);
  EXPECT_THAT(own.end_tokens, ElementsAre(0, 3));
  EXPECT_TRUE(own.hugging_face_rules);
  Options asked;
  asked.repetition_penalty = 1.0f;
  asked.min_decoding_length = 1;
  asked.no_repeat_ngram_size = 0;
  asked.end_token = {"</s>"};
  const DecodingOptions given = MakeDecodingOptions(asked, loaded->defaults);
  EXPECT_EQ(given.repetition_penalty, 1);
  EXPECT_EQ(given.min_decoding_length, 1);
  EXPECT_EQ(given.no_repeat_ngram_size, 0);
  EXPECT_THAT(given.end_tokens, IsEmpty());  // the plan adds the ids of end_token
  EXPECT_FALSE(given.hugging_face_rules);
  // A longest length below the model's least one is no mistake of the user's.
  Options shorter;
  shorter.max_decoding_length = 3;
  EXPECT_EQ(MakeDecodingOptions(shorter, loaded->defaults).min_decoding_length, 3);
  EXPECT_TRUE(MakeDecodingOptions(shorter, loaded->defaults).Validate().ok());
}

TEST(HuggingFaceDefaultsTest, OthersAreNamedOnce) {
  const Directory directory("marian");
  directory.Write({{"do_sample", true},
                   {"temperature", 0.7},
                   {"top_k", 50},
                   {"top_p", 1.0},
                   {"num_beam_groups", 2},
                   {"diversity_penalty", 0.5},
                   {"encoder_no_repeat_ngram_size", 3},
                   {"exponential_decay_length_penalty", {5, 1.1}},
                   {"early_stopping", "never"}});
  auto loaded = LoadModel(directory.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->notes,
              ElementsAre(HasSubstr(
                  "config.json: nibu does not obey these options of the model: "
                  "diversity_penalty 0.5, do_sample true, early_stopping \"never\", "
                  "encoder_no_repeat_ngram_size 3, exponential_decay_length_penalty [5,1.1], "
                  "num_beam_groups 2, temperature 0.7, top_k 50")));
  // Values that change nothing, and fields without the one that they need.
  directory.Write({{"do_sample", false},
                   {"temperature", 0.7},
                   {"top_k", 20},
                   {"num_beam_groups", 1},
                   {"diversity_penalty", 3},
                   {"encoder_repetition_penalty", 1.0},
                   {"guidance_scale", nullptr},
                   {"sequence_bias", nullptr},
                   {"use_cache", true},
                   {"early_stopping", true}});
  loaded = LoadModel(directory.path(), ComputeType::kFloat32);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->notes, IsEmpty());
}

TEST(HuggingFaceDefaultsTest, TheirSourcesAreKnown) {
  const Directory directory("marian");
  Json config = Json::parse(testing::ReadFile(directory.file("config.json")));
  config.erase("bad_words_ids");
  config["max_length"] = 30;
  config["num_beams"] = 6;
  WriteFile(directory.file("config.json"), config.dump());
  directory.Write({{"num_beams", 2}, {"min_new_tokens", 3}, {"max_time", 5}});
  EXPECT_THAT(OpenModel(directory.path())->defaults.sources,
              ElementsAre("generation_config.json: num_beams 2", "config.json: max_length 30",
                          "generation_config.json: min_new_tokens 3",
                          "generation_config.json: max_time 5"));
}

TEST(HuggingFaceDefaultsTest, WrongValuesAreRefused) {
  const Directory directory("marian");
  for (const auto& [fields, expected] : std::vector<std::pair<Json, std::string>>{
           {{{"eos_token_id", {0, 7}}}, "\"eos_token_id\" must be a list of token ids below 7"},
           {{{"suppress_tokens", {-1}}}, "\"suppress_tokens\" must be a list of token ids below 7"},
           {{{"begin_suppress_tokens", "a"}}, "\"begin_suppress_tokens\" must be an integer"},
           {{{"bad_words_ids", {Json::array()}}}, "\"bad_words_ids\" must be a list of lists"},
           {{{"repetition_penalty", 0}}, "\"repetition_penalty\" must be 0.001 to 1e+06"},
           {{{"max_new_tokens", 0}}, "\"max_new_tokens\" must be 1 to 1048576"},
           {{{"min_length", -1}}, "\"min_length\" must be 0 to 1048576"},
           {{{"forced_bos_token_id", 0}}, "must be a token that does not end translations"}}) {
    directory.Write(fields);
    const absl::Status status = OpenModel(directory.path()).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("generation_config.json: ")));
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected));
  }
}

// Returns the defaults that a model has, and its forbidden tokens.
std::string DefaultsOf(const std::string& path) {
  const auto opened = OpenModel(path);
  if (!opened.ok()) return opened.status().ToString();
  return WriteHuggingFaceDefaults(opened->defaults, opened->config).dump();
}

TEST(HuggingFaceDefaultsTest, StayWithAConvertedModel) {
  const Directory directory("marian");
  directory.Write({{"repetition_penalty", 1.5},
                   {"min_length", 4},
                   {"max_new_tokens", 20},
                   {"eos_token_id", {0, 3}},
                   {"forced_bos_token_id", 5},
                   {"suppress_tokens", {3}},
                   {"begin_suppress_tokens", {2, 4}},
                   {"bad_words_ids", {{6}, {2, 2}, {4, 2, 5}}},
                   {"do_sample", true},
                   {"top_p", 0.9}});
  const Json written = Json::parse(DefaultsOf(directory.path()));
  EXPECT_EQ(written["max_length"], 21);
  EXPECT_EQ(written["min_length"], 4);
  EXPECT_EQ(written["eos_token_id"], Json({0, 3}));
  EXPECT_EQ(written["suppress_tokens"], Json({3}));
  EXPECT_EQ(written["bad_words_ids"], Json({{6}, {2, 2}, {4, 2, 5}}));
  EXPECT_EQ(written["top_p"], 0.9);
  const auto opened = OpenModel(directory.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_TRUE(WriteNative(*opened, {}, directory.file("a.nibu")).ok());
  ASSERT_TRUE(WriteHuggingFace(*opened, {}, directory.file("hf")).ok());
  for (const char* copy : {"a.nibu", "hf"}) {
    EXPECT_EQ(Json::parse(DefaultsOf(directory.file(copy))), written) << copy;
    EXPECT_EQ(LoadModel(directory.file(copy), ComputeType::kFloat32)->notes.size(), 1u) << copy;
  }
}

}  // namespace
}  // namespace nibu::internal
