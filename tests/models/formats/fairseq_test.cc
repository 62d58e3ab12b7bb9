// Tests of what is read from the options and dictionaries of fairseq's checkpoints.
// reference_test.cc tests that the models translate correctly.
#include "models/formats/fairseq.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/translator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/formats/checkpoint.h"
#include "models/formats/multilingual.h"
#include "models/load_model.h"
#include "tests/models/archives.h"
#include "tests/models/files.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TempFolder;
using testing::WriteFile;

std::string Data(const char* name) { return TestdataPath(name); }

std::string OpenError(const std::string& path) {
  const absl::StatusOr<OpenedModel> opened = OpenModel(path);
  EXPECT_FALSE(opened.ok());
  return std::string(opened.status().message());
}

TEST(Fairseq, WhatTheCheckpointsSay) {
  const auto newer = OpenModel(Data("fairseq-new"));
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_EQ(newer->format, "fairseq");
  EXPECT_EQ(newer->config.norm_order, NormOrder::kPost);
  EXPECT_EQ(newer->config.position_kind, PositionKind::kSinusoidalHalfMinusOne);
  EXPECT_EQ(newer->config.position_offset, 2);
  EXPECT_EQ(newer->config.max_positions, 40);
  EXPECT_EQ(newer->config.vocab_source, 41);
  EXPECT_EQ(newer->config.vocab_target, 32);
  EXPECT_THAT(newer->config.suppressed, ElementsAre(1));
  EXPECT_EQ(newer->vocabulary.target_tokens[31], "madeupword0001");
  EXPECT_EQ(newer->names.Tensor("output"), "decoder.output_projection.weight");
  EXPECT_EQ(newer->vocabulary.source_sentencepiece, "");

  // A checkpoint can be given by its file as well as by its directory.
  const auto older = OpenModel(Data("fairseq-old/model.pt"));
  ASSERT_TRUE(older.ok()) << older.status();
  EXPECT_EQ(older->config.norm_order, NormOrder::kPre);
  EXPECT_TRUE(older->config.final_norm);
  EXPECT_TRUE(older->config.embedding_norm);
  EXPECT_EQ(older->config.position_kind, PositionKind::kLearned);
  EXPECT_EQ(older->config.activation, Activation::kGelu);
  EXPECT_EQ(older->names.Tensor("encoder.tokens"), older->names.Tensor("output"));
}

TEST(Fairseq, DefaultsAreThoseOfFairseq) {
  const ConfigFile options = *ConfigFile::Parse(R"({"source_lang":"a","target_lang":"b"})", "f");
  const auto config = ReadFairseqConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->model.d_model, 512);
  EXPECT_EQ(config->model.ffn_decoder, 2048);
  EXPECT_EQ(config->model.layers_encoder, 6);
  EXPECT_EQ(config->model.heads_decoder, 8);
  EXPECT_EQ(config->model.norm_order, NormOrder::kPost);
  EXPECT_EQ(config->model.activation, Activation::kRelu);
  EXPECT_FALSE(config->shared_embeddings);
  EXPECT_FALSE(config->tied_output);
}

TEST(FairseqDamage, OptionsThatAreNotSupported) {
  const auto error = [](const nlohmann::json& fields) {
    nlohmann::json json = {{"source_lang", "a"}, {"target_lang", "b"}};
    json.update(fields);
    return std::string(ReadFairseqConfig(*ConfigFile::From(json, "f")).status().message());
  };
  EXPECT_EQ(error({{"adaptive_softmax_cutoff", nullptr},
                   {"cross_self_attention", false},
                   {"base_layers", 0},
                   {"quant_noise_pq", 0.0},
                   {"encoder_layers_to_keep", ""}}),
            "");
  EXPECT_THAT(error({{"adaptive_softmax_cutoff", {1000, 2000}}}),
              HasSubstr("f: trained with \"adaptive_softmax_cutoff\"; nibu reads"));
  EXPECT_THAT(error({{"quant_noise_pq", 0.1}}), HasSubstr("\"quant_noise_pq\""));
  EXPECT_THAT(error({{"encoder_layers_to_keep", "0,2"}}), HasSubstr("\"encoder_layers_to_keep\""));
  EXPECT_THAT(error({{"arch", "transformer_lm_gpt"}}), HasSubstr("\"arch\" must be one of"));
  EXPECT_THAT(error({{"arch", "lstm"}}), HasSubstr("\"arch\" must be one of"));
  EXPECT_THAT(error({{"task", "multilingual_translation"}}),
              HasSubstr("\"task\" must be \"translation\" or \"translation_multi_simple_epoch\""));
  const auto multilingual = [&](const nlohmann::json& fields) {
    nlohmann::json json = {{"task", "translation_multi_simple_epoch"},
                           {"encoder_langtok", "src"},
                           {"decoder_langtok", true}};
    json.update(fields);
    return error(json);
  };
  EXPECT_EQ(multilingual({{"source_lang", nullptr}, {"langtoks_specs", {"main"}}}), "");
  EXPECT_THAT(multilingual({{"encoder_langtok", "tgt"}}),
              HasSubstr("\"encoder_langtok\" must be \"src\", found \"tgt\""));
  EXPECT_THAT(multilingual({{"encoder_langtok", nullptr}}), HasSubstr("\"encoder_langtok\" must"));
  EXPECT_THAT(multilingual({{"decoder_langtok", false}}), HasSubstr("\"decoder_langtok\" must"));
  EXPECT_THAT(multilingual({{"lang_tok_style", "mbart"}}), HasSubstr("\"lang_tok_style\" must"));
  EXPECT_THAT(multilingual({{"lang_tok_replacing_bos_eos", true}}),
              HasSubstr("\"lang_tok_replacing_bos_eos\" must be off"));
  EXPECT_THAT(multilingual({{"langtoks_specs", {"main", "mined"}}}),
              HasSubstr("\"langtoks_specs\""));
  EXPECT_THAT(multilingual({{"langs", "de,en"}}), HasSubstr("\"langs\" must be a list"));
  EXPECT_THAT(error({{"encoder_embed_dim", 8}, {"decoder_embed_dim", 16}}),
              HasSubstr("encoder_embed_dim is 8 and decoder_embed_dim 16"));
  EXPECT_THAT(error({{"encoder_normalize_before", true}, {"decoder_normalize_before", false}}),
              HasSubstr("encoder_normalize_before is true and"));
  EXPECT_THAT(error({{"decoder_output_dim", 8}}),
              HasSubstr("\"decoder_output_dim\" must be 512, found 8"));
  EXPECT_THAT(error({{"activation_fn", "tanh"}}), HasSubstr("\"activation_fn\" must be relu"));
  EXPECT_THAT(error({{"source_lang", nullptr}}),
              HasSubstr("\"source_lang\" must be the XX of a dict.XX.txt, found nothing"));
  EXPECT_THAT(error({{"target_lang", "../x"}}), HasSubstr("\"target_lang\" must be the XX"));
  EXPECT_THAT(error({{"encoder_learned_pos", true},
                     {"max_source_positions", 10},
                     {"max_target_positions", 11}}),
              HasSubstr("\"max_target_positions\" must be max_source_positions, 10"));
}

TEST(Fairseq, DictionariesBeginWithSpecialTokens) {
  const auto read = [](const char* text) { return ReadFairseqDictionary(text, "d"); };
  EXPECT_THAT(*read("a 5\nb c 3\r\n@@ 1\n"),
              ElementsAre("<s>", "<pad>", "</s>", "<unk>", "a", "b c", "@@"));
  EXPECT_THAT(*read("a 5"), ElementsAre("<s>", "<pad>", "</s>", "<unk>", "a"));
  EXPECT_EQ(read("a 5\nb\n").status().message(), "d: line 2 is not a token, a space and a count");
  EXPECT_EQ(read("a x").status().message(), "d: line 1 is not a token, a space and a count");
  EXPECT_EQ(read("a #fairseq:overwrite").status().message(),
            "d: line 1 is not a token, a space and a count");
  EXPECT_EQ(read(" 5").status().message(), "d: line 1 is not a token, a space and a count");
  EXPECT_EQ(read("a 5\nb 4\na 3\n").status().message(), "d: line 3 has \"a\" for the second time");
}

// The last of several ids of a token is the one that a text has.
TEST(Fairseq, DictionariesMayOverwrite) {
  const auto tokens = ReadFairseqDictionary(
      "a 5\n<unk> 3 #fairseq:overwrite\nb 2\na 1 #fairseq:overwrite\nc 1 #fairseq:overwrite\n",
      "d");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_THAT(*tokens, ElementsAre("<s>", "<pad>", "</s>", "<unused 3>", "<unused 4>", "<unk>", "b",
                                   "a", "c"));
}

// Returns a value as Python's pickle has it.
std::string Pickled(const nlohmann::json& value) {
  if (value.is_null()) return "N";
  if (value.is_boolean()) return value.get<bool>() ? "\x88" : "\x89";
  if (value.is_string()) return testing::PickleText(value.get<std::string>());
  if (value.is_number_integer()) return absl::StrCat("J", testing::Bytes(value.get<int32_t>()));
  std::string items;
  for (const auto& [key, item] : value.items()) {
    absl::StrAppend(&items, value.is_object() ? testing::PickleText(key) : "", Pickled(item));
  }
  return value.is_object() ? "}(" + items + "u" : "](" + items + "e";
}

// The weights of the reference model m2m in a checkpoint as M2M-100's own, with its translations.
TEST(Fairseq, CheckpointsOfM2m100) {
  const auto hugging_face = OpenModel(Data("m2m"));
  ASSERT_TRUE(hugging_face.ok()) << hugging_face.status();
  const std::vector<std::string>& all = hugging_face->vocabulary.source_tokens;
  size_t known = 0;  // the tokens up to the last language; those behind it have no text
  for (const auto& language : hugging_face->vocabulary.languages.languages) {
    known = std::max(known, static_cast<size_t>(language.token) + 1);
  }
  ASSERT_LT(known, all.size());
  testing::TestTensors tensors;
  for (const std::string& name : hugging_face->source->Names()) {
    const TensorView& view = hugging_face->source->Find(name)->view;
    ASSERT_EQ(view.dtype, DType::kFloat32);
    testing::TestTensor tensor{{view.shape.begin(), view.shape.end()},
                               std::vector<float>(static_cast<size_t>(view.elements()))};
    std::memcpy(tensor.values.data(), view.data, view.bytes());
    if (name == "model.shared.weight") {
      tensor.shape[0] = static_cast<int64_t>(known);
      tensor.values.resize(known * static_cast<size_t>(tensor.shape[1]));
      tensors["encoder.embed_tokens.weight"] = tensors["decoder.embed_tokens.weight"] = tensor;
    } else {
      tensors[name.substr(std::string("model.").size())] = tensor;
    }
  }
  const ModelConfig& config = hugging_face->config;
  nlohmann::json args = {{"arch", "transformer_wmt_en_de_big"},
                         {"task", "translation_multi_simple_epoch"},
                         {"encoder_langtok", "src"},
                         {"decoder_langtok", true},
                         {"lang_pairs", {"de-en", "en-de"}},
                         {"langtoks", {{"main", {"src", "tgt"}}}},
                         {"source_lang", nullptr},
                         {"encoder_normalize_before", true},
                         {"decoder_normalize_before", true},
                         {"share_all_embeddings", true},
                         {"max_source_positions", 40},
                         {"max_target_positions", 40}};
  for (const auto& [name, encoder, decoder] :
       {std::tuple("embed_dim", config.d_model, config.d_model),
        {"ffn_embed_dim", config.ffn_encoder, config.ffn_decoder},
        {"layers", config.layers_encoder, config.layers_decoder},
        {"attention_heads", config.heads_encoder, config.heads_decoder}}) {
    args[absl::StrCat("encoder_", name)] = encoder;
    args[absl::StrCat("decoder_", name)] = decoder;
  }
  // The languages are in the dictionary, as published, or only in the options.
  for (const bool in_dictionary : {true, false}) {
    SCOPED_TRACE(in_dictionary);
    const TempFolder folder;
    std::string lines;
    std::vector<std::string> languages;
    for (size_t id = 4; id < known; ++id) {
      const std::string code = LanguageCode(all[id]);
      if (!code.empty()) languages.push_back(code);
      if (code.empty() || in_dictionary) absl::StrAppend(&lines, all[id], " 1\n");
    }
    args["langs"] = in_dictionary ? nlohmann::json() : nlohmann::json(languages);
    WriteFile(folder / (in_dictionary ? "model_dict.128k.txt" : "dict.en.txt"), lines);
    if (in_dictionary) WriteFile(folder / "data_dict.128k.txt", "a 1\n");
    WriteFile(folder / "418M_last_checkpoint.pt",
              testing::TorchFile(tensors, /*stream=*/false, Pickled(args)));
    WriteFile(folder / "spm.128k.model", ReadFile(Data("m2m/sentencepiece.bpe.model")));
    const auto loaded = LoadModel(folder.path(), ComputeType::kFloat32);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->vocabulary.source_sentencepiece,
              hugging_face->vocabulary.source_sentencepiece);
    const ModelLanguages& found = loaded->vocabulary.languages;
    ASSERT_EQ(found.languages.size(), 3u);
    EXPECT_EQ(found.languages[1].code, "en");
    EXPECT_EQ(all[static_cast<size_t>(found.languages[1].token)], "__en__");
    EXPECT_TRUE(found.source_in_front);
    EXPECT_TRUE(found.target_follows_start);
    auto translator = Translator::Create(loaded->model, {});
    ASSERT_TRUE(translator.ok()) << translator.status();
    for (const auto& expected : nlohmann::json::parse(ReadFile(Data("m2m/expected.json")))) {
      DecodingOptions options;
      options.beam_size = 1;
      options.max_decoding_length = 12;
      const nlohmann::json& frame = expected["frame"];
      options.frame = {frame["source_prefix"].get<std::vector<int>>(),
                       frame["source_suffix"].get<std::vector<int>>(),
                       frame["decoder_start"].get<std::vector<int>>()};
      const std::vector<int> source = expected["source"];
      const Hypothesis hypothesis = (*translator)->Translate({source}, options).value()[0][0];
      EXPECT_EQ(hypothesis.tokens, expected["tokens"].get<std::vector<int>>());
      EXPECT_THAT(hypothesis.token_scores,
                  ::testing::Pointwise(::testing::FloatNear(1e-4f),
                                       expected["token_scores"].get<std::vector<float>>()));
    }
    if (!in_dictionary) continue;
    WriteFile(folder / "model_dict.128k.txt", lines + "madeupword0000 0\n");
    EXPECT_THAT(OpenError(folder.path()),
                HasSubstr(absl::StrCat("model_dict.128k.txt: ", known + 1, " tokens, expected ",
                                       known, ", the size in the model")));
    std::filesystem::remove(folder / "model_dict.128k.txt");
    EXPECT_THAT(OpenError(folder.path()),
                HasSubstr("no dictionary (model_dict.*.txt or dict.*.txt)"));
  }
}

TEST(FairseqDamage, MissingOrWrongFilesAreNamed) {
  const TempFolder folder;
  const auto copy = [&](const char* from, const char* to) {
    std::filesystem::copy_file(Data(from), folder / to,
                               std::filesystem::copy_options::overwrite_existing);
  };
  copy("fairseq-old/model.pt", "model.pt");
  EXPECT_THAT(OpenError(folder.path()),
              HasSubstr("dict.de.txt: no such file; a fairseq checkpoint has its dictionaries"));
  copy("fairseq-old/dict.de.txt", "dict.de.txt");
  copy("fairseq-old/dict.en.txt", "dict.en.txt");
  EXPECT_TRUE(OpenModel(folder.path()).ok());
  copy("m2m/sentencepiece.bpe.model", "spm.model");
  EXPECT_EQ(OpenModel(folder.path())->vocabulary.target_sentencepiece,
            ReadFile(Data("m2m/sentencepiece.bpe.model")));

  copy("fairseq-old/model.pt", "other.pt");
  EXPECT_THAT(OpenError(folder.path()), HasSubstr("2 models in it, give one of them"));
  EXPECT_TRUE(OpenModel(folder / "other.pt").ok());
  std::filesystem::remove(folder / "other.pt");

  // This dictionary belongs to another model.
  WriteFile(folder / "dict.en.txt", "a 1\n");
  const absl::StatusOr<LoadedModel> loaded = LoadModel(folder.path(), ComputeType::kFloat32);
  EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("embed_tokens.weight\" has shape"));

  // No checkpoint has this class.
  std::string bytes = ReadFile(folder / "model.pt");
  bytes = absl::StrReplaceAll(bytes, {{"AverageMeter", "AverageXXXXX"}});
  WriteFile(folder / "model.pt", bytes);
  EXPECT_THAT(OpenError(folder.path()),
              HasSubstr("refers to \"fairseq.meters AverageXXXXX\", which has no place in"));

  // This file has only weights.
  copy("nllb/pytorch_model.bin", "model.pt");
  EXPECT_THAT(OpenError(folder / "model.pt"),
              HasSubstr("a PyTorch file, but not a checkpoint of fairseq or OpenNMT-py"));
}

}  // namespace
}  // namespace nibu::internal
