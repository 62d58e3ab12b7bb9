// Tests of damaged files of every format, which are loaded like sound ones: each ends in an error
// of one line or in a translator, never in a crash, a hang or a huge allocation. NIBU_DAMAGES=10000
// in the environment tries that many for each file.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "models/writers/native_writer.h"
#include "nibu/translator.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;

const std::string kCaptions = CaptionsModelPath();
const std::string kShared = SharedPath("models");
// These models have random weights, and every file that a format has.
const std::string kSmall = TestdataPath("");

int Damages() {
  int n = 25;
  const char* wanted = std::getenv("NIBU_DAMAGES");
  if (wanted == nullptr) return n;
  EXPECT_TRUE(absl::SimpleAtoi(wanted, &n)) << wanted;
  return n;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A directory with links to a model's files, except for one, which is a copy to be damaged.
class DamagedModel {
 public:
  DamagedModel(const fs::path& model, const std::string& file)
      : directory_(fs::path(testing::TempDir()) / absl::StrCat("nibu_damage_", getpid())),
        path_(directory_ / file),
        bytes_(ReadFile(model / file)) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    for (const auto& entry : fs::directory_iterator(model)) {
      if (entry.path().filename() != file) {
        fs::create_symlink(fs::canonical(entry.path()), directory_ / entry.path().filename());
      }
    }
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    Write(0, bytes_.size());
  }
  ~DamagedModel() {
    close(fd_);
    fs::remove_all(directory_);
  }

  size_t size() const { return bytes_.size(); }
  // Returns the value that a user would give for --model.
  std::string model() const {
    return path_.extension() == ".nibu" ? path_.string() : directory_.string();
  }
  void SetByte(size_t at, char value) {
    EXPECT_EQ(pwrite(fd_, &value, 1, static_cast<off_t>(at)), 1);
  }
  char byte(size_t at) const { return bytes_[at]; }
  void Truncate(size_t size) { EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(size)), 0); }
  void Write(size_t begin, size_t end) {
    EXPECT_EQ(pwrite(fd_, bytes_.data() + begin, end - begin, static_cast<off_t>(begin)),
              static_cast<ssize_t>(end - begin));
  }

 private:
  fs::path directory_;
  fs::path path_;
  std::string bytes_;
  int fd_ = -1;
};

absl::Status Load(const std::string& path) {
  ModelOptions loading;
  loading.compute_type = nibu::ComputeType::kFloat32;
  const auto model = nibu::Model::Load(path, loading);
  if (!model.ok()) return model.status();
  const ModelInfo& info = (*model)->info();
  Options options;
  options.tokenized = !info.has_tokenizer;
  if (!info.source_languages.empty()) {
    options.src_lang = info.source_languages.front();
    options.tgt_lang = info.target_languages.back();
  }
  const auto translator = nibu::Translator::Create({.threads = 1});
  if (!translator.ok()) return translator.status();
  const auto plan = (*translator)->Prepare(*model, options);
  if (!plan.ok()) return plan.status();
  // The request is too late, so it is tokenized but not decoded.
  const auto past = std::chrono::steady_clock::now();
  (*translator)
      ->Submit("A man is riding a bicycle.", *plan, {.deadline = past},
               [](uint64_t, const auto&) {})
      .IgnoreError();
  return absl::OkStatus();
}

void ExpectOneLine(const absl::Status& status, const std::string& what) {
  if (status.ok()) return;
  EXPECT_FALSE(status.message().empty()) << what;
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos) << what << status;
}

void Damage(const std::string& model, const std::string& file) {
  if (!fs::exists(fs::path(model) / file)) GTEST_SKIP() << model << "/" << file << " is not there";
  DamagedModel damaged(model, file);
  ASSERT_GT(damaged.size(), 0u);
  ASSERT_TRUE(Load(damaged.model()).ok()) << Load(damaged.model());
  std::mt19937 random(17);
  const int rounds = Damages();
  for (int round = 0; round < rounds; ++round) {
    // Headers are small and at one of the ends.
    const size_t range = round % 2 == 0 ? damaged.size() : std::min<size_t>(damaged.size(), 4096);
    size_t at = random() % range;
    if (round % 4 == 1) at = damaged.size() - 1 - at;
    const std::string what = absl::StrCat(file, ", round ", round, ", at ", at);
    SCOPED_TRACE(what);
    if (random() % 4 == 0) {
      damaged.Truncate(at);
      ExpectOneLine(Load(damaged.model()), what);
      damaged.Write(at, damaged.size());
    } else {
      damaged.SetByte(at, static_cast<char>(random()));
      ExpectOneLine(Load(damaged.model()), what);
      damaged.SetByte(at, damaged.byte(at));
    }
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 2'000'000) << "KB";
}

TEST(DamageTest, HuggingFaceSafetensors) { Damage(kCaptions, "model.safetensors"); }
TEST(DamageTest, HuggingFaceConfig) { Damage(kCaptions, "config.json"); }
TEST(DamageTest, GenerationConfig) { Damage(kCaptions, "generation_config.json"); }
TEST(DamageTest, TokenizerConfig) { Damage(kCaptions, "tokenizer_config.json"); }
TEST(DamageTest, HuggingFaceVocabulary) { Damage(kCaptions, "vocab.json"); }
TEST(DamageTest, SentencePiece) { Damage(kCaptions, "source.spm"); }
TEST(DamageTest, TorchZip) { Damage(kShared + "/en-de-hf-torch", "pytorch_model.bin"); }
TEST(DamageTest, TorchStream) { Damage(kShared + "/en-de-hf-torch-legacy", "pytorch_model.bin"); }
TEST(DamageTest, MarianNpz) { Damage(kShared + "/en-de-marian", "model.npz"); }
TEST(DamageTest, MarianDecoderYml) { Damage(kShared + "/en-de-marian", "decoder.yml"); }
TEST(DamageTest, MarianBin) { Damage(kShared + "/en-de-ssru-marian-int8", "model.intgemm8.bin"); }
TEST(DamageTest, MarianVocabulary) { Damage(kShared + "/en-de-ssru-marian-int8", "vocab.spm"); }
TEST(DamageTest, BinaryShortlist) { Damage(kShared + "/en-de-ssru-marian-int8", "lex.50.50.bin"); }
TEST(DamageTest, CTranslate2) { Damage(kShared + "/en-de-ct2", "model.bin"); }
TEST(DamageTest, CTranslate2Config) { Damage(kShared + "/en-de-ct2", "config.json"); }
TEST(DamageTest, CTranslate2Vocabulary) {
  Damage(kShared + "/en-de-ct2", "shared_vocabulary.json");
}
TEST(DamageTest, CTranslate2Old) {
  Damage(kShared + "/ct2/v2/aren-transliteration-i8", "model.bin");
}
TEST(DamageTest, MultilingualVocabulary) { Damage(kSmall + "/m2m", "vocab.json"); }
TEST(DamageTest, MultilingualSentencePiece) { Damage(kSmall + "/m2m", "sentencepiece.bpe.model"); }
TEST(DamageTest, MultilingualTokenizer) { Damage(kSmall + "/nllb", "tokenizer.json"); }
TEST(DamageTest, MultilingualTokenizerConfig) {
  Damage(kSmall + "/mbart50", "tokenizer_config.json");
}
TEST(DamageTest, T5Safetensors) { Damage(kSmall + "/t5", "model.safetensors"); }
TEST(DamageTest, T5SentencePiece) { Damage(kSmall + "/t5", "spiece.model"); }
TEST(DamageTest, FairseqNew) { Damage(kSmall + "/fairseq-new", "checkpoint_best.pt"); }
TEST(DamageTest, FairseqOld) { Damage(kSmall + "/fairseq-old", "model.pt"); }
TEST(DamageTest, FairseqDictionary) { Damage(kSmall + "/fairseq-new", "dict.en.txt"); }
TEST(DamageTest, OpenNmt2) { Damage(kSmall + "/opennmt-2", "model_step_8.pt"); }
TEST(DamageTest, OpenNmt3) { Damage(kSmall + "/opennmt-3", "model_step_8.pt"); }

TEST(DamageTest, NativeFile) {
  const fs::path directory =
      fs::path(testing::TempDir()) / absl::StrCat("nibu_damage_native_", getpid());
  fs::create_directories(directory);
  absl::StatusOr<OpenedModel> model = OpenModel(kSmall + "/m2m");
  ASSERT_TRUE(model.ok()) << model.status();
  const Quantization options = ComputeType::kFloat32;
  const absl::Status written = WriteNative(*model, options, (directory / "model.nibu").string());
  ASSERT_TRUE(written.ok()) << written;
  Damage(directory.string(), "model.nibu");
  fs::remove_all(directory);
}

}  // namespace
}  // namespace nibu::internal
