// Tests of how the files of a Marian model are found: configurations of Marian's decoder, the forms
// of vocabularies, and compressed files.
#include "models/formats/marian_files.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/models/files.h"
#include "tests/models/greedy.h"
#include "tests/models/tiny_marian.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::TinyMarianModel;
using testing::WriteFile;

// Loads a folder of the given files, or one of them.
absl::StatusOr<LoadedModel> Load(const testing::Members& files, const std::string& path = "") {
  const TempFolder folder;
  for (const auto& [name, bytes] : files) WriteFile(folder / name, bytes);
  return LoadModel(path.empty() ? folder.path() : folder / path, ComputeType::kFloat32);
}

std::string LoadError(const testing::Members& files, const std::string& path = "") {
  const auto loaded = Load(files, path);
  EXPECT_FALSE(loaded.ok());
  return std::string(loaded.status().message());
}

// Returns the beam size of the defaults, 0 for none.
int BeamSize(const testing::Members& files, const std::string& path = "") {
  const auto loaded = Load(files, path);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->defaults.beam_size.value_or(0) : -1;
}

// Training writes such a file beside each checkpoint, with the names of its command line.
std::string DecoderYml(const std::string& model, int beam_size) {
  return absl::StrCat("relative-paths: false\nmodels:\n  - train/", model,
                      "\nvocabs:\n  - /old/v.yml\n  - data/v.yml\nbeam-size: ", beam_size,
                      "\nnormalize: 0.7\nword-penalty: 0.5\nmini-batch: 16\nmaxi-batch: 100\n",
                      "maxi-batch-sort: src\n");
}

TEST(MarianFiles, ConfigurationsOfTraining) {
  const TinyMarianModel tiny;
  const testing::Members files = {{"m.npz", tiny.Npz()},
                                  {"m.npz.decoder.yml", DecoderYml("m.npz", 6)},
                                  {"m.npz.yml", "type: transformer\nvocabs:\n  - data/v.yml\n"},
                                  {"m.npz.progress.yml", "epochs: 3\nseen: [1, 2]\n"},
                                  {"v.yml", tiny.VocabularyYml()}};
  for (const char* path : {"", "m.npz", "m.npz.decoder.yml"}) {
    SCOPED_TRACE(path);
    const auto loaded = Load(files, path);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->defaults.beam_size, 6);
    EXPECT_EQ(loaded->defaults.length_penalty, 0.7f);
    EXPECT_EQ(loaded->defaults.word_penalty, 0.5f);
    EXPECT_EQ(Greedy(*loaded).log_prob,
              Greedy(*Load({{"m.npz", tiny.Npz()}, {"v.yml", tiny.VocabularyYml()}})).log_prob);
  }
  // Training's own options are no configuration of a decoder.
  EXPECT_THAT(LoadError(files, "m.npz.yml"), HasSubstr("m.npz.yml: not a model"));

  // Each of several checkpoints has its own.
  testing::Members several = files;
  several.emplace_back("m.npz.best-chrf.npz", tiny.Npz());
  several.emplace_back("m.npz.best-chrf.npz.decoder.yml", DecoderYml("m.npz.best-chrf.npz", 3));
  EXPECT_EQ(BeamSize(several, "m.npz"), 6);
  EXPECT_EQ(BeamSize(several, "m.npz.best-chrf.npz"), 3);
  EXPECT_THAT(LoadError(several), HasSubstr("which of its configurations counts? Give one of them "
                                            "as the model: m.npz.best-chrf.npz.decoder.yml, "
                                            "m.npz.decoder.yml"));
}

// YAML has many forms of the same content.
TEST(MarianFiles, ConfigurationsInAnyForm) {
  const TinyMarianModel tiny;
  for (const std::string yml :
       {"\"models\": [m.npz]\n'vocabs': [v.yml, v.yml]\nbeam-size: 5\n",
        "models : [m.npz]\nvocabs : [v.yml, v.yml]\nbeam-size : 5\n",
        "{models: [m.npz], vocabs: [v.yml, v.yml], beam-size: 5}\n",
        "{\"models\": [\"m.npz\"], \"vocabs\": [\"v.yml\", \"v.yml\"], \"beam-size\": 5}",
        "\xef\xbb\xbfmodels: [m.npz]\nvocabs: [v.yml, v.yml]\nbeam-size: 5\n"}) {
    SCOPED_TRACE(yml);
    const testing::Members files = {
        {"m.npz", tiny.Npz()}, {"v.yml", tiny.VocabularyYml()}, {"config.yml", yml}};
    for (const char* path : {"", "m.npz", "config.yml"}) EXPECT_EQ(BeamSize(files, path), 5);
  }
  EXPECT_THAT(LoadError({{"m.npz", tiny.Npz()},
                         {"v.yml", tiny.VocabularyYml()},
                         {"config.yml", "models: m.npz\nvocabs: [v.yml, v.yml]\n"}}),
              HasSubstr("config.yml: \"models\" must be"));
}

TEST(MarianFiles, ConfigurationsOfAnyName) {
  const TinyMarianModel tiny;
  const std::string head = "relative-paths: true\nmodels: [m.npz]\nvocabs:\n- v.yml\n- v.yml\n";
  testing::Members files = {{"m.npz", tiny.Npz()},
                            {"v.yml", tiny.VocabularyYml()},
                            {"config.fast.yml", head + "beam-size: 5\nallow-unk: true\n"}};
  for (const char* path : {"", "m.npz", "config.fast.yml"}) EXPECT_EQ(BeamSize(files, path), 5);
  EXPECT_TRUE(Load(files)->model->config.suppressed.empty());
  // An option that is wrong is never passed over.
  files[2].second += "output-sampling: true\n";
  for (const char* path : {"", "m.npz", "config.fast.yml"}) {
    EXPECT_THAT(LoadError(files, path), HasSubstr("config.fast.yml: option \"output-sampling\""));
  }
  files[2].second = head + "beam-size: 5\n";
  // It is not about this model.
  files.emplace_back("other.npz", tiny.Npz());
  EXPECT_EQ(BeamSize(files, "other.npz"), 0);
  // Two are about the same model, and decoder.yml would count before both.
  files.emplace_back("config.good.yml", head + "beam-size: 7\n");
  EXPECT_THAT(LoadError(files, "m.npz"), HasSubstr("config.fast.yml, config.good.yml"));
  EXPECT_EQ(BeamSize(files, "config.good.yml"), 7);
  files.emplace_back("m.npz.decoder.yml", head + "beam-size: 8\n");
  EXPECT_EQ(BeamSize(files, "m.npz"), 8);
  files.emplace_back("decoder.yml", head + "beam-size: 9\n");
  EXPECT_EQ(BeamSize(files, "m.npz"), 9);
  EXPECT_EQ(BeamSize(files), 9);
  EXPECT_EQ(BeamSize(files, "other.npz"), 9);
  // The tokens of a vocabulary are no lists.
  TinyMarianModel words;
  words.tokens[4] = "models";
  words.tokens[5] = "vocabs";
  EXPECT_EQ(BeamSize({{"m.npz", words.Npz()},
                      {"v.yml", "</s>: 0\n<unk>: 1\na: 2\nb: 3\nmodels: 4\nvocabs: 5\n"}}),
            0);
}

TEST(MarianFiles, VocabulariesAreTextsOfTokens) {
  const TinyMarianModel tiny;
  const std::string text = absl::StrJoin(tiny.tokens, "\n") + "\n";
  const double expected =
      Greedy(*Load({{"m.npz", tiny.Npz()}, {"v.yml", tiny.VocabularyYml()}})).log_prob;
  const std::string yml = "models: [m.npz]\nvocabs: [vocab.en, vocab.en]\n";
  for (const testing::Members& files :
       {testing::Members{{"m.npz", tiny.Npz()}, {"vocab.txt", text}, {"README.md", "# A model\n"}},
        testing::Members{{"m.npz", tiny.Npz()}, {"vocab.en", text}, {"decoder.yml", yml}},
        testing::Members{{"m.npz", tiny.Npz()},
                         {"vocab.en", absl::StrJoin(tiny.tokens, "\r\n")},
                         {"decoder.yml", yml}}}) {
    const auto loaded = Load(files);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->vocabulary.source_tokens, tiny.tokens);
    EXPECT_EQ(loaded->vocabulary.target_tokens, tiny.tokens);
    EXPECT_EQ(Greedy(*loaded).log_prob, expected);
  }
  const auto error = [&](const std::string& tokens) {
    return LoadError({{"m.npz", tiny.Npz()}, {"vocab.en", tokens}, {"decoder.yml", yml}});
  };
  EXPECT_THAT(error("</s>\n<unk>\na\n\nb\nc\n"), HasSubstr("vocab.en: line 4 has no token"));
  EXPECT_THAT(error("</s>\n<unk>\na\nb\na\nc\n"),
              HasSubstr("vocab.en: line 5 has \"a\" for the second time"));
  EXPECT_THAT(error("</s>\n<unk>\na\nb\nc\n"), HasSubstr("vocab.en: 5 tokens, expected 6"));
  EXPECT_THAT(error("x\n<unk>\na\nb\nc\nd\n"), HasSubstr("the token \"</s>\" is missing"));
}

// Marian's "dim-vocabs" cuts a vocabulary: tokens of higher ids are unknown.
TEST(MarianFiles, VocabulariesAreCut) {
  const TinyMarianModel tiny;
  TinyMarianModel longer;
  longer.tokens.insert(longer.tokens.end(), {"e", "f"});
  for (const auto& [name, bytes] : {std::pair("vocab.yml", longer.VocabularyYml()),
                                    {"vocab.txt", absl::StrJoin(longer.tokens, "\n") + "\n"},
                                    {"vocab.yml", "f: 17\n" + tiny.VocabularyYml()}}) {
    const auto loaded = Load({{"m.npz", tiny.Npz()}, {name, bytes}});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->vocabulary.source_tokens, tiny.tokens);
    EXPECT_EQ(loaded->vocabulary.target_tokens, tiny.tokens);
  }
  // A SentencePiece model is never cut, and ids must not be missing.
  EXPECT_THAT(LoadError({{"m.npz", tiny.Npz()}, {"v.spm", longer.VocabularySpm()}}),
              HasSubstr("v.spm: 8 tokens, expected 6"));
  EXPECT_THAT(
      LoadError({{"m.npz", tiny.Npz()}, {"v.yml", "</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: 4\ne: 6\n"}}),
      HasSubstr("the id of token \"e\" is not a number from 0 to 5"));
  EXPECT_THAT(LoadError({{"m.npz", tiny.Npz()},
                         {"v.yml", "</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: 4\ne: 6\nf: 7\n"}}),
              HasSubstr("v.yml: 5 tokens, expected 6"));
}

TEST(MarianFiles, NamesOfNematus) {
  TinyMarianModel tiny;
  tiny.tokens[0] = "eos";
  tiny.tokens[1] = "UNK";
  const auto loaded = Load({{"m.npz", tiny.Npz()}, {"v.yml", tiny.VocabularyYml()}});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->model->config.eos, 0);
  EXPECT_EQ(loaded->model->config.unk, 1);
}

TEST(MarianFiles, OpusFoldersWithMerges) {
  const TinyMarianModel tiny;
  const std::string merges = "#version: 0.2\na b</w>\n";
  const auto loaded =
      Load({{"m.npz", tiny.Npz()},
            {"opus.vocab.yml", tiny.VocabularyYml()},
            {"decoder.yml", "models: [m.npz]\nvocabs: [opus.vocab.yml, opus.vocab.yml]"},
            {"source.bpe", merges},
            {"target.bpe", "#version: 0.2\nc d</w>\n"}});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->vocabulary.source_sentencepiece, merges);
  EXPECT_EQ(loaded->vocabulary.target_sentencepiece, "#version: 0.2\nc d</w>\n");
}

// Each file of Firefox's registry is compressed by gzip.
TEST(MarianFiles, CompressedFiles) {
  const TinyMarianModel tiny;
  const std::string model = testing::Gzip(tiny.Bin(true));
  const std::string pieces = testing::Gzip(tiny.VocabularySpm());
  const auto plain = Load({{"model.xxyy.bin", tiny.Bin(true)}, {"v.spm", tiny.VocabularySpm()}});
  ASSERT_TRUE(plain.ok()) << plain.status();
  const std::vector<int> expected = Greedy(*plain).tokens;
  const testing::Members all = {{"model.xxyy.bin.gz", model}, {"vocab.xxyy.spm.gz", pieces}};
  const testing::Members both = {{"model.xxyy.bin.gz", "\x1f\x8b and no more"},
                                 {"model.xxyy.bin", tiny.Bin(true)},
                                 {"vocab.xxyy.spm.gz", pieces},
                                 {"vocab.xxyy.spm", tiny.VocabularySpm()}};
  const testing::Members some = {{"model.xxyy.bin", tiny.Bin(true)}, {"vocab.xxyy.spm.gz", pieces}};
  const testing::Members npz = {{"model.npz.gz", testing::Gzip(tiny.Npz(true))},
                                {"vocab.yml.gz", testing::Gzip(tiny.VocabularyYml())}};
  const testing::Members listed = {
      {"m.gz", model}, {"v.gz", pieces}, {"decoder.yml", "models: [m.gz]\nvocabs: [v.gz, v.gz]\n"}};
  // decoder.yml, which is compressed itself, names the model. The names in it are those of the
  // uncompressed files.
  const testing::Members decoder = {
      {"decoder.yml.gz", testing::Gzip("models: [a.bin]\nvocabs: [v.spm, v.spm]\nbeam-size: 3\n")},
      {"a.bin.gz", model},
      {"b.bin.gz", model},
      {"v.spm.gz", pieces}};
  for (const auto& [files, path] : {std::pair(all, ""),
                                    {all, "model.xxyy.bin.gz"},
                                    {both, ""},
                                    {some, "model.xxyy.bin"},
                                    {npz, ""},
                                    {npz, "model.npz.gz"},
                                    {listed, ""},
                                    {decoder, ""},
                                    {decoder, "b.bin.gz"}}) {
    SCOPED_TRACE(absl::StrCat(files[0].first, " ", files.size(), " ", path));
    const auto loaded = Load(files, path);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(Greedy(*loaded).tokens, expected);
    EXPECT_EQ(loaded->defaults.beam_size == 3, files == decoder);
  }
  // With two vocabularies, the name says which is the source's.
  EXPECT_TRUE(Load({all[0], {"srcvocab.spm.gz", pieces}, {"trgvocab.spm.gz", pieces}}).ok());

  const auto error = [](const testing::Members& files) {
    return std::string(Load(files).status().message());
  };
  EXPECT_THAT(error({{"model.bin.gz", model.substr(0, model.size() / 2)}, all[1]}),
              HasSubstr("model.bin.gz: compressed by gzip, but damaged or not whole; download it"));
  EXPECT_THAT(error({all[0], {"v.spm.gz", pieces.substr(0, pieces.size() - 1)}}),
              HasSubstr("v.spm.gz: compressed by gzip, but damaged or not whole"));
  EXPECT_THAT(error({all[0], {"v.spm.gz", testing::Gzip("no pieces")}}),
              HasSubstr("v.spm.gz: a text, such as a list of tokens, and no SentencePiece model"));
  EXPECT_THAT(error({all[0], {"v.spm.gz", testing::Gzip("\n\x05no")}}),
              HasSubstr("v.spm.gz: not a whole SentencePiece model"));
  EXPECT_THAT(error({all[0], all[1], {"other.bin.gz", model}}), HasSubstr("more than one model"));
  const char* pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n";
  EXPECT_THAT(error({all[0], {"v.yml", pointer}}), HasSubstr("v.yml: this is a Git LFS pointer"));
}

TEST(MarianFiles, SeparateVocabularies) {
  const TinyMarianModel tiny;
  TinyMarianModel other;
  other.tokens[2] = "other";
  testing::Members files = {{"model.npz", tiny.Npz()},
                            {"srcvocab.spm", tiny.VocabularySpm()},
                            {"trgvocab.spm", other.VocabularySpm()}};
  absl::StatusOr<LoadedModel> loaded = Load(files);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->vocabulary.source_tokens[2], "a");
  EXPECT_EQ(loaded->vocabulary.target_tokens[2], "other");
  files[1].first = "x.spm";
  EXPECT_THAT(std::string(Load(files).status().message()), HasSubstr("which vocabulary"));
}

TEST(MarianFiles, DecoderYml) {
  const TinyMarianModel tiny;
  const std::string head = "models:\n- m.npz\nvocabs:\n- v.yml\n- v.yml\nrelative-paths: true\n";
  const auto with = [&](const std::string& options) {
    return Load({{"m.npz", tiny.Npz()},
                 {"other.npz", "not a model"},
                 {"v.yml", tiny.VocabularyYml()},
                 {"lex", "c b 0.5\nd b 0.6\na b 0.2\n"},
                 {"decoder.yml", head + options}});
  };
  absl::StatusOr<LoadedModel> loaded =
      with("beam-size: 6\nnormalize: 0.6\nword-penalty: 0.1\nmini-batch: 8\nallow-unk: true\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->defaults.beam_size, 6);
  EXPECT_FLOAT_EQ(*loaded->defaults.length_penalty, 0.6f);
  EXPECT_FLOAT_EQ(*loaded->defaults.word_penalty, 0.1f);
  EXPECT_TRUE(loaded->model->config.suppressed.empty());
  loaded = with("");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->defaults.beam_size, std::nullopt);
  EXPECT_EQ(loaded->defaults.length_penalty, 0.0f);
  loaded = with("shortlist: [lex, 1, 2]\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_NE(loaded->shortlist, nullptr);
  EXPECT_EQ(loaded->shortlist->first, 1);
  EXPECT_THAT(loaded->shortlist->ids, ElementsAre(5, 4));
  EXPECT_TRUE(loaded->shortlist->copy_source);

  const auto error = [&](const std::string& options) {
    return std::string(with(options).status().message());
  };
  EXPECT_THAT(error("word-penalty: much\n"), HasSubstr("\"word-penalty\" must be"));
  EXPECT_THAT(error("output-sampling: true\n"),
              HasSubstr("option \"output-sampling\" is not supported; remove it"));
  EXPECT_THAT(error("beam-size: 0\n"), HasSubstr("\"beam-size\" must be 1 to 1024"));
  EXPECT_THAT(error("shortlist: lex\n"), HasSubstr("\"shortlist\" must be a list"));
  EXPECT_THAT(error("shortlist: [none]\n"), HasSubstr("none: no such file"));
  EXPECT_THAT(std::string(Load({{"decoder.yml", "models: [a, b]\n"}}).status().message()),
              HasSubstr("\"models\" must be a list of 1 file"));
}

}  // namespace
}  // namespace nibu::internal
