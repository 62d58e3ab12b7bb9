// Tests that damaged models end in an error or load, and never crash, hang or ask for absurd
// memory.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/writers/native_writer.h"
#include "tests/models/native_file.h"
#include "tests/models/tiny_ctranslate2.h"
#include "tests/models/tiny_marian.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using testing::TempFolder;
using testing::TinyMarian;

// Changes one byte of a file or cuts it short, `rounds` times, and loads the model each time: the
// folder, or with is_model the file itself.
void Damage(const TempFolder& folder, const std::string& name, int rounds, bool is_model = false) {
  const std::string whole = testing::ReadFile(folder / name);
  ASSERT_FALSE(whole.empty());
  std::mt19937 random(20160601);
  int errors = 0;
  for (int i = 0; i < rounds; ++i) {
    std::string damaged = whole;
    // Headers are small and say the most, so half of the damage goes there.
    const size_t reach = i % 2 == 0 ? whole.size() : std::min<size_t>(whole.size(), 4096);
    const size_t at = std::uniform_int_distribution<size_t>(0, reach - 1)(random);
    if (i % 5 == 4) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(random());
    }
    testing::WriteFile(folder / name, damaged);
    const std::string model = is_model ? folder / name : folder.path();
    const absl::StatusOr<LoadedModel> loaded = LoadModel(model, ComputeType::kFloat32);
    if (loaded.ok()) continue;
    ++errors;
    const std::string message(loaded.status().message());
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_NE(message.find(folder.path()), std::string::npos) << message;
  }
  EXPECT_GT(errors, rounds / 5) << "truncation at least is always an error";
  testing::WriteFile(folder / name, whole);
}

TEST(Damage, HuggingFaceMarian) {
  const TempFolder folder;
  TinyMarian().Write(folder);
  ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
  Damage(folder, "model.safetensors", 300);
  for (const char* name :
       {"config.json", "generation_config.json", "tokenizer_config.json", "vocab.json"}) {
    Damage(folder, name, 80);
  }
  EXPECT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
}

TEST(Damage, PyTorch) {
  for (const bool stream : {false, true}) {
    const TempFolder folder;
    TinyMarian tiny;
    tiny.Write(folder);
    std::filesystem::remove(folder / "model.safetensors");
    testing::WriteFile(folder / "pytorch_model.bin", testing::TorchFile(tiny.tensors, stream));
    ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
    Damage(folder, "pytorch_model.bin", 250);
  }
}

TEST(Damage, MarianWithVocabulariesAndShortlist) {
  for (const bool ssru : {false, true}) {
    const testing::TinyMarianModel tiny(ssru);
    {
      const TempFolder folder;
      testing::WriteFile(folder / "model.npz", tiny.Npz(ssru));
      testing::WriteFile(folder / "vocab.yml", tiny.VocabularyYml());
      ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
      Damage(folder, "model.npz", 150);
      Damage(folder, "vocab.yml", 80);
    }
    const TempFolder folder;
    testing::WriteFile(folder / "m.bin", tiny.Bin(ssru));
    testing::WriteFile(folder / "v.spm", tiny.VocabularySpm());
    testing::WriteFile(folder / "lex", "a b 0.5\nb a 0.5\nc c 0.9\n");
    testing::WriteFile(folder / "decoder.yml",
                       "relative-paths: true\nmodels:\n- m.bin\nvocabs: [v.spm, v.spm]\n"
                       "beam-size: 4\nnormalize: 1\nshortlist:\n- lex\n- 2\n- 2\n");
    ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok())
        << LoadModel(folder.path(), ComputeType::kFloat32).status();
    Damage(folder, "m.bin", 200);
    for (const char* name : {"v.spm", "lex", "decoder.yml"}) Damage(folder, name, 80);
  }
}

TEST(Damage, CTranslate2) {
  for (const uint8_t type : {0, 1, 2}) {
    const TempFolder folder;
    testing::TinyCTranslate2(type == 2 ? 3 : 6, type).Write(folder);
    testing::WriteFile(folder / "config.json", R"({"add_source_eos": true, "eos_token": "</s>"})");
    testing::WriteFile(folder / "vmap.txt", "\tx\na\tx <s>\na b\tx\n");
    ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
    Damage(folder, "model.bin", 200);
    for (const char* name : {"config.json", "source_vocabulary.txt", "target_vocabulary.json"}) {
      Damage(folder, name, 60);
    }
  }
}

// These files are read as they are downloaded: a package in a zip archive, and gzip files.
TEST(Damage, CompressedDownloads) {
  for (const bool deflated : {false, true}) {
    const TempFolder folder;
    const testing::TinyCTranslate2 tiny;
    const testing::Members members = {{"metadata.json", R"({"from_code": "en"})"},
                                      {"model/model.bin", tiny.Bin()},
                                      {"model/source_vocabulary.txt", tiny.source_vocabulary},
                                      {"model/target_vocabulary.json", tiny.target_vocabulary},
                                      {"sentencepiece.model", "pieces"}};
    testing::WriteFile(folder / "a.argosmodel", testing::Zip(members, deflated));
    ASSERT_TRUE(LoadModel(folder / "a.argosmodel", ComputeType::kFloat32).ok());
    Damage(folder, "a.argosmodel", 300, /*is_model=*/true);
    Damage(folder, "a.argosmodel", 100);
  }
  const TempFolder folder;
  const testing::TinyMarianModel tiny(/*ssru=*/true);
  testing::WriteFile(folder / "m.bin.gz", testing::Gzip(tiny.Bin(true)));
  testing::WriteFile(folder / "v.spm.gz", testing::Gzip(tiny.VocabularySpm()));
  ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
  Damage(folder, "m.bin.gz", 200);
  Damage(folder, "m.bin.gz", 100, /*is_model=*/true);
  Damage(folder, "v.spm.gz", 100);
}

TEST(Damage, T5WithSentencePiece) {
  const TempFolder folder;
  std::filesystem::copy(TestdataPath("t5"), folder.path());
  ASSERT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
  Damage(folder, "model.safetensors", 200);
  for (const char* name : {"config.json", "spiece.model", "tokenizer_config.json"}) {
    Damage(folder, name, 80);
  }
}

// These files are read only in the formats of the reference programs.
TEST(Damage, ReferenceModels) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> models = {
      {"m2m", {"vocab.json", "special_tokens_map.json"}},
      {"nllb", {"tokenizer.json", "sentencepiece.bpe.model"}},
      {"fairseq-new", {"checkpoint_best.pt", "dict.de.txt"}},
      {"fairseq-old", {"model.pt"}},
      {"opennmt-2", {"model_step_8.pt"}},
      {"opennmt-3", {"model_step_8.pt"}},
      {"opennmt-relative", {"model_step_8.pt"}},
      {"mixers", {"config.json"}},
      {"cross", {"config.json"}},
  };
  for (const auto& [model, files] : models) {
    SCOPED_TRACE(model);
    const TempFolder folder;
    std::filesystem::copy(TestdataPath(model), folder.path());
    for (const char* file : files) Damage(folder, file, 80);
    EXPECT_TRUE(LoadModel(folder.path(), ComputeType::kFloat32).ok());
  }
}

TEST(Damage, NativeWithShortlist) {
  const TempFolder folder;
  testing::TinyCTranslate2(6, 1).Write(folder);
  testing::WriteFile(folder / "vmap.txt", "\tx\na\tx <s>\na b\tx\n");
  for (const bool packed : {false, true}) {
    const absl::StatusOr<OpenedModel> opened = OpenModel(folder.path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    const Quantization quantization = packed ? Quantization(ComputeType::kFloat32) : std::nullopt;
    const TempFolder out;
    const absl::Status status = WriteNative(*opened, quantization, out / "m.nibu");
    ASSERT_TRUE(status.ok()) << status;
    Damage(out, "m.nibu", 300, /*is_model=*/true);
    // The header's checksum keeps most of the damage from being read. Here it is made right again.
    const std::string whole = testing::ReadFile(out / "m.nibu");
    std::string changed = testing::WithHeader(whole, [](nlohmann::json*) {});
    ASSERT_EQ(changed, whole);
    std::mt19937 random(1);
    const std::string header = testing::Header(whole).dump();
    for (int i = 0; i < 300; ++i) {
      std::string text = header;
      text[random() % text.size()] = "0123456789[]{},:\"x"[random() % 18];
      testing::WriteFile(out / "m.nibu", testing::WithHeaderText(whole, text));
      const auto loaded = LoadModel(out / "m.nibu", ComputeType::kFloat32);
      if (loaded.ok()) continue;
      EXPECT_EQ(loaded.status().message().find('\n'), absl::string_view::npos);
      EXPECT_NE(loaded.status().message().find("m.nibu"), absl::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace nibu::internal
