// Tests of options in any combination, on random models: the results are the reference's, whatever
// other requests share the steps.
// Threads: the thread sanitizer runs this file.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/plan.h"
#include "gtest/gtest.h"
#include "tests/engine/asking.h"
#include "tests/engine/random_config.h"
#include "tests/engine/reference/expect.h"
#include "tests/engine/small_model.h"

namespace nibu::internal {
namespace {

constexpr int kModels = 16;
constexpr int kSearches = 40;

std::vector<int> RandomTokens(Random* random, int shortest, int longest, int vocabulary) {
  std::vector<int> tokens(static_cast<size_t>(random->Int(shortest, longest)));
  for (int& token : tokens) token = random->Int(0, vocabulary - 1);
  return tokens;
}

float OneOf(Random* random, const std::vector<float>& values) {
  return values[static_cast<size_t>(random->Int(0, static_cast<int>(values.size()) - 1))];
}

// Chooses at random what kind of search a request asks for.
void RandomKind(Random* random, Request* request) {
  DecodingOptions& o = request->options;
  switch (random->Int(0, 6)) {
    case 0:
      o.beam_size = 1;
      o.sampling.topk = OneOf(random, {0, 0, 2, 3, 8, 1000});
      o.sampling.topp = OneOf(random, {1, 1, 0.9f, 0.5f, 0.01f});
      o.sampling.temperature = OneOf(random, {1, 1, 0.5f, 3, 0.01f, 1000});
      o.sampling.seed = static_cast<uint64_t>(random->Int(0, 1 << 30));
      o.num_hypotheses = random->Int(1, 5);
      break;
    case 1:
      o.return_alternatives = true;
      o.num_hypotheses = random->Int(1, 6);
      o.min_alternative_expansion_prob = OneOf(random, {0, 0, 0.01f, 0.1f, 0.9f});
      break;
    case 2:
      o.beam_size = random->Int(1, 5);
      o.prefix_bias_beta = OneOf(random, {0.1f, 0.5f, 0.9f});
      break;
    case 3:
      o.coverage_penalty = OneOf(random, {0.2f, 1, -0.3f});
      break;
    default:
      break;
  }
}

void RandomRules(Random* random, const ModelConfig& config, DecodingOptions* options) {
  DecodingOptions& o = *options;
  const int vocabulary = config.vocab_target;
  if (random->Int(0, 2) == 0) o.length_penalty = OneOf(random, {0, 0, 0.5f, 2, -1});
  if (random->Int(0, 3) == 0) o.word_penalty = OneOf(random, {0.3f, -0.4f, 5});
  if (random->Int(0, 3) == 0) o.repetition_penalty = OneOf(random, {1.5f, 0.7f, 100});
  if (random->Int(0, 3) == 0) o.no_repeat_ngram_size = random->Int(1, 4);
  if (random->Int(0, 3) == 0) {
    for (int n = random->Int(1, 10); n > 0; --n) {
      o.suppress_sequences.push_back(RandomTokens(random, 1, random->Int(1, 2), vocabulary));
    }
  }
  if (random->Int(0, 3) == 0) {
    o.begin_suppress_tokens = RandomTokens(random, 1, vocabulary / 2, vocabulary);
  }
  o.hugging_face_rules = random->Int(0, 3) == 0;
  o.disable_unk = random->Int(0, 3) == 0;
  if (random->Int(0, 3) == 0) {
    o.end_tokens = RandomTokens(random, 1, random->Int(1, 5), vocabulary);
  }
  if (random->Chance()) o.min_decoding_length = random->Int(0, o.max_decoding_length);
  if (random->Int(0, 4) == 0) o.max_length_factor = OneOf(random, {0.1f, 0.5f, 1, 2.5f});
  if (random->Int(0, 4) == 0) o.on_repetition = OnRepetition::kRetry;
}

Request RandomRequest(Random* random, const ModelConfig& config) {
  Request request;
  request.source = RandomTokens(random, 1, 8, config.vocab_source);
  request.key = static_cast<uint64_t>(random->Int(0, 1 << 30)) << random->Int(0, 33);
  DecodingOptions& o = request.options;
  o.beam_size = random->Int(1, 5);
  o.num_hypotheses = random->Int(1, o.beam_size);
  o.search_compat = static_cast<SearchCompat>(random->Int(0, 3));
  o.early_stopping = random->Chance();
  o.max_decoding_length = random->Int(0, 5) == 0 ? random->Int(20, 30) : random->Int(1, 12);
  if (random->Int(0, 3) == 0) o.patience = OneOf(random, {0.3f, 0.5f, 1.6f, 2});
  RandomKind(random, &request);
  // Most requests are changed so that they are not refused for these options.
  if (random->Int(0, 3) > 0) {
    const bool other_rules = o.search_compat >= SearchCompat::kMarian;
    if (other_rules) o.patience = 1;
    if (!o.return_alternatives && !o.sampling.is_on()) {
      o.num_hypotheses = std::min(o.num_hypotheses, HypothesesToFinish(o.beam_size, o.patience));
    }
  }
  RandomRules(random, config, &o);
  if (random->Int(0, 2) == 0 || o.prefix_bias_beta > 0) {
    request.target_prefix = RandomTokens(random, 0, random->Int(1, 6), config.vocab_target);
  }
  if (random->Int(0, 7) == 0) {
    request.target = RandomTokens(random, 1, 10, config.vocab_target);
    if (random->Chance()) request.target->back() = config.eos;
    o.score_as_search = random->Chance();
  }
  if (random->Int(0, 4) == 0) {
    o.frame = Frame{RandomTokens(random, 0, 2, config.vocab_source),
                    RandomTokens(random, 0, 2, config.vocab_source),
                    RandomTokens(random, 1, 3, config.vocab_target)};
  }
  if (random->Int(0, 3) == 0) {
    o.return_attention = true;
    if (random->Chance()) o.alignment_layer = random->Int(-1, 0);
    if (random->Chance()) o.alignment_heads = random->Int(0, 1);
  }
  if (o.allow_constraints() && !request.target && random->Int(0, 4) == 0) {
    for (int n = random->Int(1, 3); n > 0; --n) {
      Constraint& constraint = request.constraints.emplace_back();
      for (int forms = random->Int(1, 2); forms > 0; --forms) {
        constraint.push_back(RandomTokens(random, 1, 3, config.vocab_target));
      }
    }
  }
  o.return_scores = random->Int(0, 4) > 0;
  if (random->Int(0, 3) == 0) o.shortlist = SmallShortlist(config.vocab_target);
  return request;
}

ModelConfig AnyConfig(Random* random) {
  ModelConfig config = random->Chance() ? SmallConfig() : RandomConfig(random);
  if (config.vocab_target == 50 && random->Chance()) config.vocab_target = 8;
  config.vocab_source = std::max(config.vocab_source, config.vocab_target);
  config.alignment_layer = random->Int(-1, 0);
  config.alignment_heads = random->Int(0, config.heads_decoder);
  return config;
}

std::string Describe(const Request& request) {
  const DecodingOptions& o = request.options;
  std::string text;
  const auto add = [&](const char* name, double value, double usual) {
    if (value != usual) text += absl::StrCat(" ", name, "=", value);
  };
  add("compat", static_cast<int>(o.search_compat), 0);
  add("early_stopping", o.early_stopping, 0);
  add("hugging_face_rules", o.hugging_face_rules, 0);
  add("begin_suppress_tokens", static_cast<double>(o.begin_suppress_tokens.size()), 0);
  add("beam_size", o.beam_size, -1);
  add("patience", o.patience, 1);
  add("num_hypotheses", o.num_hypotheses, 1);
  add("length_penalty", o.length_penalty, 1);
  add("word_penalty", o.word_penalty, 0);
  add("coverage_penalty", o.coverage_penalty, 0);
  add("min", o.min_decoding_length, 1);
  add("max", o.max_decoding_length, -1);
  add("max_length_factor", o.max_length_factor, 0);
  add("end_tokens", o.end_tokens.size(), 0);
  add("repetition_penalty", o.repetition_penalty, 1);
  add("no_repeat_ngram_size", o.no_repeat_ngram_size, 0);
  add("suppress_sequences", o.suppress_sequences.size(), 0);
  add("disable_unk", o.disable_unk, 0);
  add("retry", o.on_repetition == OnRepetition::kRetry, 0);
  add("prefix_bias_beta", o.prefix_bias_beta, 0);
  add("alternatives", o.return_alternatives, 0);
  add("least", o.min_alternative_expansion_prob, 0);
  add("topk", o.sampling.topk, 1);
  add("topp", o.sampling.topp, 1);
  add("temperature", o.sampling.temperature, 1);
  add("prefix", request.target_prefix.size(), 0);
  add("target", request.target ? request.target->size() : 0, 0);
  add("score_as_search", o.score_as_search, 1);
  add("constraints", request.constraints.size(), 0);
  add("shortlist", o.shortlist != nullptr, 0);
  add("frame", o.frame.has_value(), 0);
  add("return_scores", o.return_scores, 1);
  return text;
}

// Returns whether the message begins with the name of an option.
bool NamesAnOption(const std::string& message) {
  for (const char* name :
       {"beam_size", "patience", "num_hypotheses", "min_decoding_length", "sampling_topk",
        "return_alternatives", "prefix_bias_beta", "target", "frame", "alignment_layer",
        "alignment_heads", "on_repetition", "coverage_penalty"}) {
    if (message.rfind(name, 0) == 0) return true;
  }
  return false;
}

// Returns options of translators that must give the same results. All of them have those of
// `alone`.
std::vector<TranslatorOptions> Translators(const TranslatorOptions& alone,
                                           const std::shared_ptr<const Model>& draft) {
  std::vector<TranslatorOptions> many(5, alone);
  many[1].batch_size = 1;
  many[2].batch_size = 1;
  many[2].draft = draft;
  many[3].threads = 2;
  many[3].draft = draft;
  many[4].batch_size = 3;
  return many;
}

DecoderMemory OtherThan(DecoderMemory memory) {
  return memory == DecoderMemory::kSsru ? DecoderMemory::kSelfAttention : DecoderMemory::kSsru;
}

class SearchOptionsTest : public testing::TestWithParam<ComputeType> {};

INSTANTIATE_TEST_SUITE_P(Types, SearchOptionsTest,
                         testing::Values(ComputeType::kFloat32, ComputeType::kBFloat16,
                                         ComputeType::kInt8));

TEST_P(SearchOptionsTest, EqualTheReferencesWhateverSharesTheSteps) {
  const ComputeType type = GetParam();
  if (!IsSupported(type)) GTEST_SKIP() << "no bfloat16 on " << InstructionSet();
  const bool is_exact = type == ComputeType::kFloat32;
  int refused = 0;
  int compared = 0;
  int skipped = 0;
  const int models = Rounds(is_exact ? kModels : kModels / 4);
  for (int m = 0; m < models; ++m) {
    Random random(static_cast<uint32_t>(100 + m));
    const ModelConfig config = AnyConfig(&random);
    const auto seed = static_cast<uint32_t>(m);
    const reference::Transformer reference(config, seed);
    const auto model = reference.Build(type);
    // Every other draft model is always right. The others nearly never are.
    const auto draft = reference::Transformer(config, seed + (m % 2)).Build(type);
    // Every third translator has an ensemble with a model of another kind.
    ModelConfig other = config;
    other.decoder_memory = OtherThan(config.decoder_memory);
    const reference::Transformer partner(other, seed + 50);
    std::vector<reference::Member> members = {{&reference}};
    TranslatorOptions alone;
    if (m % 3 == 1) {
      members = {{&reference, 0.75}, {&partner, 0.25}};
      alone.ensemble = {partner.Build(type)};
      alone.ensemble_weights = {3, 1};
    }
    std::vector<Request> requests;
    requests.reserve(kSearches);
    for (int i = 0; i < kSearches; ++i) requests.push_back(RandomRequest(&random, config));
    const std::vector<Result> results = AskAll(model, alone, requests);
    for (const TranslatorOptions& options : Translators(alone, draft)) {
      const auto others = AskAll(model, options, requests);
      for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_TRUE(SameBits(results[i], others[i]))
            << "model " << m << ", batch_size " << options.batch_size << ", threads "
            << options.threads << (options.draft ? ", draft: " : ": ") << Describe(requests[i]);
      }
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      SCOPED_TRACE("model " + std::to_string(m) + ", " + Describe(requests[i]));
      const absl::Status& status = results[i].status();
      if (!ValidateFor(requests[i].options, config).ok()) {
        EXPECT_EQ(status, ValidateFor(requests[i].options, config));
        EXPECT_TRUE(NamesAnOption(std::string(status.message()))) << status;
        ++refused;
        continue;
      }
      ASSERT_TRUE(status.ok()) << status;
      if (!is_exact || !requests[i].constraints.empty()) continue;
      const reference::Answer answer = reference::Search(members, requests[i]);
      ++compared;
      if (!reference::IsClear(answer)) {
        ++skipped;
        continue;
      }
      reference::ExpectEqual(answer, requests[i], *results[i]);
    }
  }
  if (is_exact) {
    EXPECT_GT(refused, 0);
    EXPECT_GT(compared, models * kSearches / 2);
    EXPECT_LT(skipped, compared / 20) << "of " << compared;
  }
}

}  // namespace
}  // namespace nibu::internal
