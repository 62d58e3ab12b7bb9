// Tests of nibu-convert and nibu-inspect as a user runs them.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;

const std::string kBin = ProgramPath("");
// The option, as a word of a command line.
const std::string kCaptions = CaptionsModelOption() + " ";
const std::string kShared = SharedPath("");

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

class ConvertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / absl::StrCat("nibu_convert_", getpid());
    fs::create_directories(folder_ / "out");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Returns a path in the folder that the tests write to.
  std::string Out(const std::string& name) const { return (folder_ / "out" / name).string(); }

  Outcome Run(const std::string& command) const {
    const std::string full =
        absl::StrCat("'", kBin, "'", command, " >'", (folder_ / "stdout").string(), "' 2>'",
                     (folder_ / "stderr").string(), "'");
    const int status = std::system(full.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            ReadFile(folder_ / "stdout"), ReadFile(folder_ / "stderr")};
  }

  std::string Translate(const std::string& flags) const {
    const Outcome outcome =
        Run(absl::StrCat("nibu-translate --output_format=jsonl --beam_size=2 ", kCaptions, flags));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }

  // Writes the captions model to m.nibu with a --quantization.
  void ConvertCaptions(const std::string& type) const {
    ASSERT_EQ(Run(absl::StrCat("nibu-convert --quantization=", type, " ", kCaptions,
                               "--out=", Out("m.nibu")))
                  .status,
              0);
  }

  void ExpectError(const std::string& command, int status, const std::string& part) const {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.status, status) << command;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind(command.substr(0, command.find(' ')) + ": error: ", 0), 0u)
        << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }

  fs::path folder_;
};

constexpr char kText[] = "'A man is riding a bicycle.' 'Two dogs are playing in the snow.'";

TEST_F(ConvertTest, ModelsComeBack) {
  const Outcome converted = Run(absl::StrCat("nibu-convert ", kCaptions, "--out=", Out("m.nibu")));
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_NE(converted.out.find("m.nibu ("), std::string::npos) << converted.out;
  EXPECT_EQ(Run(absl::StrCat("nibu-convert ", kCaptions, "--out=", Out("hf/"))).status, 0);
  for (const char* type : {"float32", "int8"}) {
    const std::string flags = absl::StrCat("--compute_type=", type, " ", kText);
    const std::string expected = Translate(flags);
    EXPECT_NE(expected.find("Ein Mann f"), std::string::npos) << expected;
    EXPECT_EQ(Translate(absl::StrCat("--model=", Out("m.nibu "), flags)), expected);
    EXPECT_EQ(Translate(absl::StrCat("--model=", Out("hf "), flags)), expected);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "out"), {}), 2);
}

// The Hugging Face directory keeps the model's own length limit: of its max_length of 257, one is
// the decoder's start, and one the end token that forced_eos_token_id puts there.
TEST_F(ConvertTest, DefaultsComeBack) {
  ASSERT_EQ(Run(absl::StrCat("nibu-convert ", kCaptions, "--out=", Out("hf/"))).status, 0);
  const auto defaults = [&](const std::string& flags) {
    return nlohmann::json::parse(
        Run(absl::StrCat("nibu-inspect --json ", kCaptions, flags)).out)["defaults"];
  };
  EXPECT_EQ(defaults("")["max_decoding_length"], 255);
  EXPECT_EQ(defaults("--model=" + Out("hf")), defaults(""));
}

TEST_F(ConvertTest, ParametersAreCountedOnce) {
  const auto parameters = [&](const std::string& flags) {
    const Outcome outcome = Run(absl::StrCat("nibu-inspect --json ", kCaptions, flags));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["parameters"].get<int>();
  };
  ConvertCaptions("int8");
  if (HasFatalFailure()) return;
  EXPECT_EQ(parameters("--model=" + Out("m.nibu")), parameters(""));
}

// The error says what the directory cannot hold.
TEST_F(ConvertTest, WhatADirectoryCannotHold) {
  ExpectError(
      absl::StrCat("nibu-convert --model=", TestdataPath("opennmt-3"), " --out=", Out("x/")), 1,
      "cannot hold RMS normalization");
}

TEST_F(ConvertTest, Int8TranslatesAlike) {
  ConvertCaptions("int8");
  if (HasFatalFailure()) return;
  EXPECT_LT(fs::file_size(Out("m.nibu")), 16'000'000u);
  const Outcome outcome =
      Run(absl::StrCat("nibu-translate --compute_type=int8 --model=", Out("m.nibu "), kText));
  EXPECT_EQ(outcome.out, "Ein Mann fährt Fahrrad.\nZwei Hunde spielen im Schnee.\n");
}

// A file of 4 bits is translated in int4 unless asked otherwise, as its original is in int4.
TEST_F(ConvertTest, Int4IsKept) {
  ConvertCaptions("int4");
  if (HasFatalFailure()) return;
  EXPECT_LT(fs::file_size(Out("m.nibu")), 9'000'000u);
  const std::string flags = absl::StrCat(" ", kText);
  const std::string model = absl::StrCat("--model=", Out("m.nibu"));
  const std::string expected = Translate(absl::StrCat(kCaptions, "--compute_type=int4", flags));
  EXPECT_NE(expected.find("Zwei Hunde spielen im Schnee."), std::string::npos) << expected;
  EXPECT_EQ(Translate(absl::StrCat(model, flags)), expected);
  const std::string facts = Run(absl::StrCat("nibu-inspect --json ", model)).out;
  EXPECT_EQ(nlohmann::json::parse(facts)["load"]["compute_type"], "int4") << facts;
  EXPECT_EQ(Run(absl::StrCat("nibu-translate --compute_type=int8 ", model, " ", kText)).out,
            "Ein Mann fährt Fahrrad.\nZwei Hunde spielen im Schnee.\n");
  ExpectError(absl::StrCat("nibu-convert --quantization=int4 ", kCaptions, "--out=", Out("hf/")), 2,
              "--quantization=int4 needs a .nibu file");
}

// A text's tokens are enough to translate it as before; other translations cannot have others.
TEST_F(ConvertTest, TargetVocabulary) {
  std::ofstream(Out("corpus")) << "Ein Mann fährt Fahrrad.\nZwei Hunde spielen im Schnee.\nEin\n";
  const std::string convert = absl::StrCat("nibu-convert ", kCaptions, "--out=");
  ASSERT_EQ(Run(absl::StrCat(convert, Out("tokens"), " --list_vocabulary=", Out("corpus"))).status,
            0);
  const std::string tokens = ReadFile(Out("tokens"));
  EXPECT_LT(tokens.find("▁Ein\n"), tokens.find("▁Hunde\n")) << tokens;  // it comes twice
  EXPECT_LT(std::count(tokens.begin(), tokens.end(), '\n'), 20);
  const Outcome converted =
      Run(absl::StrCat(convert, Out("m.nibu"), " --target_vocabulary=", Out("tokens")));
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(Run(absl::StrCat("nibu-translate --model=", Out("m.nibu "), kText)).out,
            "Ein Mann fährt Fahrrad.\nZwei Hunde spielen im Schnee.\n");
  std::ofstream(Out("tokens")) << "no token\n";
  ExpectError(absl::StrCat(convert, Out("m.nibu"), " --target_vocabulary=", Out("tokens")), 1,
              "tokens: \"no token\" is no token of the target vocabulary");
  ExpectError(absl::StrCat(convert, Out("hf/"), " --target_vocabulary=/dev/null"), 1,
              "cannot hold a target vocabulary that lacks tokens");
}

// The published models of other systems are the same as .nibu files.
TEST_F(ConvertTest, SharedModelsComeBack) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  if (!fs::exists(kShared + "models")) GTEST_SKIP() << kShared << "models is not there";
  for (const char* model :
       {"en-de-hf", "en-de-hf-torch", "en-de-marian", "en-de-ssru-marian", "en-de-ssru-marian-int8",
        "ct2/v2/aren-transliteration", "ct2/v2/aren-transliteration-i16",
        "ct2/v2/aren-transliteration-i8", "en-de-ct2"}) {
    SCOPED_TRACE(model);
    const std::string path = absl::StrCat(kShared, "models/", model);
    const std::string text = std::string(model).find("ct2") == std::string::npos
                                 ? kText
                                 : "--tokenized 'آ ت ز م و ن' '▁A ▁man ▁is'";
    for (const auto& [stored, type] :
         {std::pair("none", "float32"), {"none", "int8"}, {"int8", "int8"}}) {
      const Outcome converted = Run(absl::StrCat("nibu-convert --quantization=", stored,
                                                 " --model=", path, " --out=", Out("m.nibu")));
      ASSERT_EQ(converted.status, 0) << converted.err;
      const std::string flags = absl::StrCat(" --compute_type=", type, " ", text);
      EXPECT_EQ(Translate(absl::StrCat("--model=", path, flags)),
                Translate(absl::StrCat("--model=", Out("m.nibu"), flags)));
    }
  }
}

// The published models are the same as Hugging Face directories, where these can hold them.
TEST_F(ConvertTest, SharedModelsAsHuggingFace) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  if (!fs::exists(kShared + "models")) GTEST_SKIP() << kShared << "models is not there";
  // CTranslate2's directory comes without SentencePiece models.
  fs::copy(kShared + "models/en-de-ct2", folder_ / "ct2");
  for (const char* name : {"source.spm", "target.spm"}) {
    fs::copy_file(kShared + "models/en-de-hf/" + name, folder_ / "ct2" / name);
  }
  for (const std::string& path : {kShared + "models/en-de-hf-torch-legacy",
                                  kShared + "models/en-de-marian", (folder_ / "ct2").string()}) {
    SCOPED_TRACE(path);
    fs::remove_all(Out("hf"));
    const Outcome converted =
        Run(absl::StrCat("nibu-convert --model=", path, " --out=", Out("hf/")));
    ASSERT_EQ(converted.status, 0) << converted.err;
    const std::string flags = absl::StrCat(" --compute_type=float32 ", kText);
    EXPECT_EQ(Translate(absl::StrCat("--model=", path, flags)),
              Translate(absl::StrCat("--model=", Out("hf"), flags)));
  }
  // With SentencePiece models from elsewhere, a CTranslate2 directory becomes one whole file.
  const Outcome whole =
      Run(absl::StrCat("nibu-convert --model=", kShared,
                       "models/en-de-ct2 --sentencepiece=", CaptionsModelPath("source.spm"), ",",
                       CaptionsModelPath("target.spm"), " --out=", Out("ct2.nibu")));
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(Run(absl::StrCat("nibu-translate --model=", Out("ct2.nibu "), kText)).out,
            "Ein Mann fährt Fahrrad.\nZwei Hunde spielen im Schnee.\n");
  ExpectError(absl::StrCat("nibu-convert --model=", kShared,
                           "models/en-de-ssru-marian --out=", Out("ssru/")),
              1, "cannot hold an SSRU decoder");
}

TEST_F(ConvertTest, WrongUsage) {
  ExpectError("nibu-convert --model=a,b --out=x.nibu", 2, "--model must be one model");
  ExpectError("nibu-convert", 2, "--out=FILE.nibu or --out=DIRECTORY/ is missing");
  ExpectError("nibu-convert --out=x", 2, "must end in .nibu or in /");
  ExpectError("nibu-convert --out=x --format=zip", 2, "--format must be auto, nibu or safetensors");
  ExpectError("nibu-convert --out=x.nibu --quantization=int2", 2,
              "--quantization must be none, float32, bfloat16, int8 or int4, not \"int2\"");
  ExpectError("nibu-convert --out=x/ --quantization=int8", 2, "needs a .nibu file");
  ExpectError("nibu-convert --out=x.nibu --config=a --model=b", 2,
              "give --model or --config, not both");
  ExpectError("nibu-convert --out=x.nibu more", 2, "unexpected argument \"more\"");
  ExpectError(absl::StrCat("nibu-convert --model=/no/model --out=", Out("x.nibu")), 1,
              "/no/model: no such file or directory");
  ExpectError("nibu-convert --out=/no/folder/x.nibu", 1, "cannot be written");
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
}

// Only regular files are replaced, and their permissions are kept.
TEST_F(ConvertTest, WhatIsReplaced) {
  const std::string convert =
      absl::StrCat("nibu-convert --quantization=none --format=nibu ", kCaptions, "--out=");
  const std::string socket_path = Out("socket");
  ASSERT_EQ(mkfifo(Out("fifo").c_str(), 0600), 0);
  ASSERT_EQ(mknod(socket_path.c_str(), S_IFSOCK | 0600, 0), 0);
  fs::create_directory(Out("folder"));
  fs::create_symlink("fifo", Out("link"));
  for (const char* name : {"fifo", "socket", "folder", "link"}) {
    ExpectError(convert + Out(name), 1, "cannot be written: it is not a regular file");
  }
  EXPECT_TRUE(fs::is_fifo(Out("fifo")) && fs::is_socket(socket_path));
  ExpectError(convert + "/dev/stdout", 1, "cannot be written: it is not a regular file");

  std::ofstream(Out("m.nibu")) << "old";
  fs::permissions(Out("m.nibu"), fs::perms(0640));
  const mode_t mask = umask(077);
  const Outcome converted = Run(convert + Out("m.nibu"));
  umask(mask);
  EXPECT_EQ(converted.status, 0) << converted.err;
  EXPECT_GT(fs::file_size(Out("m.nibu")), 1'000'000u);
  EXPECT_EQ(fs::status(Out("m.nibu")).permissions(), fs::perms(0640));
  if (geteuid() == 0) return;  // The superuser may write anything.
  fs::permissions(Out("m.nibu"), fs::perms(0444));
  ExpectError(convert + Out("m.nibu"), 1, "cannot be written: Permission denied");
}

// When it is killed at any moment, the old file or the new one has the name. When it is asked to
// end, it leaves no other file either.
TEST_F(ConvertTest, KilledItLeavesNoHalfFile) {
  for (const int number : {SIGKILL, SIGTERM, SIGINT}) {
    std::ofstream(Out("m.nibu")) << "old";
    for (int i = 0; i < 12; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        signal(number, SIG_DFL);
        const std::string out = absl::StrCat("--out=", Out("m.nibu"));
        execl((kBin + "nibu-convert").c_str(), "nibu-convert", out.c_str(), nullptr);
        _exit(127);
      }
      usleep(static_cast<useconds_t>(i) * 20'000);
      kill(child, number);
      int status = 0;
      waitpid(child, &status, 0);
      if (number != SIGKILL && WIFEXITED(status) && WEXITSTATUS(status) == 128 + number) {
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "out"), {}), 1) << "files left";
      }
      if (ReadFile(Out("m.nibu")) == "old") continue;
      EXPECT_EQ(Run(absl::StrCat("nibu-inspect --model=", Out("m.nibu"))).status, 0);
      break;
    }
    fs::remove_all(folder_ / "out");
    fs::create_directories(folder_ / "out");
  }
}

TEST_F(ConvertTest, InspectShowsWhatAModelContains) {
  const Outcome text = Run("nibu-inspect --compute_type=float32 " + kCaptions);
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* part :
       {"format          Hugging Face MarianMT",
        "license         Licences of the data. Multi30k: ", "source_language en\n",
        "target_language de\n", "architecture    6 + 3 layers, d_model 256, 4 heads",
        "sinusoidal positions, at most 512 tokens\n", "attention       encoder: full\n",
        "alignment       decoder layer 3 of 3, first head\n", "parameters      9,955,137",
        "vocabulary      8,001 tokens, SentencePiece, end </s> 0", "loading         ",
        "\nmodel.shared.weight  ", "[8001, 256]"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " in\n" << text.out;
  }
  EXPECT_EQ(Run("nibu-inspect --notensors " + kCaptions).out.find("model.shared.weight"),
            std::string::npos);

  ConvertCaptions("int8");
  if (HasFatalFailure()) return;
  const Outcome json = Run(absl::StrCat("nibu-inspect --json --model=", Out("m.nibu")));
  EXPECT_EQ(json.status, 0) << json.err;
  const auto facts = nlohmann::json::parse(json.out);
  EXPECT_EQ(facts["format"], "nibu");
  EXPECT_EQ(facts["source_language"], "en");
  EXPECT_EQ(facts["license"].get<std::string>().rfind("Licences of the data. ", 0), 0u);
  EXPECT_EQ(facts["parameters"], 9955137);
  EXPECT_EQ(facts["packed"]["compute_type"], "int8");
  EXPECT_EQ(facts["packed"]["usable"], true);
  EXPECT_EQ(facts["checksums"], true);
  EXPECT_EQ(facts["config"]["d_model"], 256);
  EXPECT_EQ(facts["vocabulary"]["source"], 8001);
  EXPECT_GT(facts["load"]["peak_rss_bytes"], 0);
  bool found = false;
  for (const auto& tensor : facts["tensors"]) {
    if (tensor["name"] != "encoder.5.ffn.up.weight") continue;
    found = true;
    EXPECT_EQ(tensor["dtype"], "int8");
    EXPECT_EQ(tensor["shape"], (std::vector<int>{1024, 256}));
    EXPECT_EQ(tensor["bytes"], 1024 * 256);
    EXPECT_EQ(tensor["nan"], 0);
    EXPECT_LT(tensor["min"], 0);
    EXPECT_GT(tensor["max"], 0);
  }
  EXPECT_TRUE(found);
}

// The parts of a damaged model are shown all the same, with the damage.
TEST_F(ConvertTest, InspectFindsDamage) {
  ConvertCaptions("none");
  if (HasFatalFailure()) return;
  std::fstream file(Out("m.nibu"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8'000'000);  // Two values of float16 become NaNs.
  file.write("\xff\x7e\xff\x7e", 4);
  file.close();
  const Outcome outcome =
      Run(absl::StrCat("nibu-inspect --compute_type=int8 --json --model=", Out("m.nibu")));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("nibu-inspect: error: "), std::string::npos) << outcome.err;
  const auto facts = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(facts["checksums"], false);
  int64_t nan = 0;
  for (const auto& tensor : facts["tensors"]) nan += tensor["nan"].get<int64_t>();
  EXPECT_EQ(nan, 2);
  ExpectError("nibu-inspect --model=/no/model", 1, "no such file");
  ExpectError("nibu-inspect --modl=x", 2, "did you mean --model?");
}

TEST_F(ConvertTest, RandomWeights) {
  std::ofstream(folder_ / "shape.json")
      << R"({"d_model": 16, "heads_encoder": 2, "heads_decoder": 2, "ffn_encoder": 32,
             "ffn_decoder": 32, "layers_encoder": 1, "layers_decoder": 1, "vocab_source": 50,
             "vocab_target": 50, "max_positions": 64})";
  const std::string shape = (folder_ / "shape.json").string();
  ASSERT_EQ(Run(absl::StrCat("nibu-convert --config=", shape, " --out=", Out("m.nibu"))).status, 0);
  const Outcome outcome = Run(absl::StrCat(
      "nibu-translate --tokenized --max_decoding_length=5 --model=", Out("m.nibu"), " 't5'"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(outcome.out.empty());
  ExpectError("nibu-convert --config=/no/shape.json --out=x.nibu", 1, "/no/shape.json");
}

}  // namespace
}  // namespace nibu::internal
