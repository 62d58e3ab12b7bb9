// Tests of nibu-bench: its sweeps, reports and command line.
// Threads: the thread sanitizer runs this file.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nibu/version.h"
#include "nlohmann/json.hpp"
#include "tests/paths.h"
#include "tests/sanitizers.h"
#include "tests/tools/shell.h"
#include "tools/bench/bench_report.h"
#include "tools/bench/bench_run.h"
#include "tools/bench/bench_text.h"
#include "tools/bench/sha256.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kProgram = CaptionsProgram("nibu-bench");

// Returns the path of a file with the shape of a very small model.
std::string TinyShape() {
  std::string path = absl::StrCat(testing::TempDir(), "/bench_tiny_", getpid(), ".json");
  std::ofstream(path) << R"({"d_model": 32, "heads_encoder": 2, "heads_decoder": 2,
      "ffn_encoder": 64, "ffn_decoder": 64, "layers_encoder": 1, "layers_decoder": 1,
      "vocab_source": 96, "vocab_target": 96, "max_positions": 64})";
  return path;
}

Outcome BenchTiny(const std::string& flags) {
  return Shell(absl::StrCat(Program("nibu-bench"), " --random_weights --config='", TinyShape(),
                            "' --sentences=6 --output_length=5 ", flags),
               "");
}

void ExpectUsageError(const std::string& flags, const std::string& part) {
  ExpectOneLineError("nibu-bench", BenchTiny(flags), 2, part);
}

TEST(BenchTest, PercentileIsTheNearestRank) {
  EXPECT_EQ(Percentile({}, 0.5), 0);
  EXPECT_EQ(Percentile({7}, 0.99), 7);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(Percentile({4, 3, 2, 1}, 0.5), 2);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i) hundred.push_back(i);
  EXPECT_EQ(Percentile(hundred, 0.5), 50);
  EXPECT_EQ(Percentile(hundred, 0.9), 90);
  EXPECT_EQ(Percentile(hundred, 0.99), 99);
}

TEST(BenchTest, RandomSourcesAreAlwaysTheSame) {
  const auto sources = RandomSources(200, 0, 50);
  EXPECT_EQ(sources, RandomSources(200, 0, 50));
  ASSERT_THAT(sources, SizeIs(200));
  EXPECT_THAT(sources, Each(SizeIs(AllOf(Ge(12), Le(47)))));
  for (const auto& source : sources) EXPECT_THAT(source, Each(AllOf(Ge(0), Lt(50))));
  EXPECT_THAT(RandomSources(3, 9, 50), Each(SizeIs(9)));
}

BenchResult Example() {
  BenchResult result;
  result.model = "some/model";
  result.source_file = "some/text";
  result.source_sha256 = "abcd";
  result.encoder_attention = "window:width=64";
  result.cross_attention = "full";
  result.lines = 3;
  result.settings.text.patience = 2;
  result.settings.text.beam_size = 3;
  result.settings.decoding.length_penalty = 0.5;
  result.settings.loading.draft_model = "a/draft";
  result.settings.speed.matmul = MatmulKernels::kOneDnn;
  result.settings.speed.batch_type = BatchType::kTokens;
  result.settings.compute_type = ComputeType::kInt8;
  result.settings.decoding.beam_size = 3;
  result.settings.translator.threads = 2;
  result.settings.translator.batch_size = 16;
  result.sentences = 4;
  result.source_tokens = 40;
  result.target_tokens = 50;
  result.seconds = 2;
  result.tokenizer_seconds = 0.5;
  result.text_seconds = 0.25;
  result.load_seconds = 0.25;
  result.peak_rss_bytes = 3000000;
  result.weight_bytes = 1000000;
  result.measurement.latencies = {0.4, 0.1, 0.3, 0.2};
  result.line_latencies = {0.5, 0.75, 1};
  result.measurement.profile.encoder = 0.4;
  result.measurement.profile.decoder_matmul = 0.8;
  result.measurement.profile.attention = 1.2;
  result.measurement.profile.search = 0.2;
  result.matmul_seconds = 1.75;
  result.matmul_calls = 5;
  result.own_matmul_calls = 3;
  result.matmul_floor_seconds = 1.5;
  result.peak = {4e9, 1e9};
  result.limit_seconds = 0.5;
  return result;
}

TEST(BenchTest, JsonHasEveryField) {
  auto json = nlohmann::json::parse(BenchJson(Example()));
  EXPECT_FALSE(json["isa"].get<std::string>().empty());
  EXPECT_EQ(json["cpu"], CpuName());
  EXPECT_EQ(json["version"], Version());
  for (const char* name : {"isa", "cpu", "version"}) json.erase(name);
  EXPECT_EQ(json, nlohmann::json::parse(R"({
    "model": "some/model", "compute_type": "int8", "threads": 2, "beam_size": 3, "batch_size": 16,
    "source_file": "some/text", "source_sha256": "abcd", "split_sentences": true,
    "source_length": null, "output_length": 0, "lines": 3, "reference_file": null,
    "reference_sha256": null, "repeat": 1,
    "search": {"patience": 2, "length_penalty": 0.5},
    "encoder_attention": "window:width=64", "cross_attention": "full", "draft_model": "a/draft",
    "shortlist": "none", "matmul": "onednn", "batch_type": "tokens",
    "sentences": 4, "source_tokens": 40, "target_tokens": 50, "seconds": 2.0,
    "tokens_per_second": 25.0, "sentences_per_second": 2.0,
    "latency_ms": {"p50": 200.0, "p90": 400.0, "p99": 400.0},
    "line_latency_ms": {"p50": 750.0, "p90": 1000.0, "p99": 1000.0}, "load_seconds": 0.25,
    "peak_rss_bytes": 3000000, "weight_bytes": 1000000,
    "profile": {"encoder": 0.4, "decoder_matmul": 0.8, "attention": 1.2, "search": 0.2,
                "tokenizer": 0.5, "text": 0.25},
    "matmul_seconds": 1.75, "matmul_kernels": "both",
    "matmul_floor_seconds": 1.5, "matmul_floor_ratio": 0.75,
    "limit_seconds": 0.5, "limit_ratio": 0.25, "peak_operations_per_second": 4e9,
    "peak_bytes_per_second": 1e9})"));
}

TEST(BenchTest, JsonOfRandomSourcesAndOfQuality) {
  BenchResult result = Example();
  result.source_file = "";
  result.settings.source_length = 30;
  result.has_shortlist = true;
  result.settings.loading.shortlist = "a/list";
  result.quality.emplace();
  result.quality->bleu = 31.5;
  result.quality->chrf = 58.5;
  result.equal_lines = 0.75;
  const auto json = nlohmann::json::parse(BenchJson(result));
  for (const char* name : {"source_file", "source_sha256", "split_sentences"}) {
    EXPECT_TRUE(json[name].is_null()) << name;
  }
  EXPECT_EQ(json["source_length"], 30);
  EXPECT_EQ(json["shortlist"], "a/list");
  EXPECT_EQ(json["bleu"], 31.5);
  EXPECT_EQ(json["chrf"], 58.5);
  EXPECT_EQ(json["equal_lines"], 0.75);
}

// Returns the cells of the example's row, which has to line up under the table's head.
std::vector<std::string> Cells(BenchTable table) {
  BenchResult result = Example();
  result.quality.emplace();
  result.quality->bleu = 31.5;
  result.quality->chrf = 58.25;
  const std::vector<std::string> head = Lines(BenchTableHead(table));
  EXPECT_THAT(head, SizeIs(2));
  EXPECT_LE(head[1].size(), 104U);
  const std::string row = Lines(BenchTableRow(table, result)).at(0);
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] != '|') continue;
    EXPECT_EQ(head[0].at(i), '|') << i;
    EXPECT_EQ(head[1].at(i), '|') << i;
  }
  return absl::StrSplit(row, absl::ByAnyChar(" |"), absl::SkipEmpty());
}

TEST(BenchTest, TablesLineUpUnderTheirHeads) {
  EXPECT_THAT(Cells(BenchTable::kSpeed),
              ElementsAre("int8", "2", "3", "16", "10", "12", "25.0", "2.0", "200.0", "400.0",
                          "400.0", "750.0", "1000", "1000", "3.0"));
  EXPECT_THAT(Cells(BenchTable::kTime),
              ElementsAre("int8", "2", "3", "16", "10", "12", "0.25", "10.0", "20.0", "30.0", "5.0",
                          "12.5", "6.2", "1.50", "0.75", "0.25", "4", "1.0"));
  EXPECT_THAT(Cells(BenchTable::kQuality),
              ElementsAre("int8", "2", "3", "16", "31.50", "58.25", "100.0", "25.0", "2.0", "200.0",
                          "400.0", "400.0", "3.0", "1.0"));
  EXPECT_THAT(Cells(BenchTable::kLengths),
              ElementsAre("int8", "2", "3", "16", "10", "12", "25.0", "40000.0", "10.0", "20.0",
                          "30.0", "5.0", "0.75", "0.25", "4", "1.0"));
}

TEST(BenchTest, EveryCombinationIsARun) {
  NIBU_TOO_SLOW_FOR_SANITIZERS();
  const Outcome outcome = BenchTiny(
      "--json --compute_type=float32,int8 --threads=1,2 --beam_size=1,3 --batch_size=1,4 "
      "--source_length=3,8");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  std::vector<std::tuple<std::string, int, int, int, int>> runs;
  std::vector<std::tuple<std::string, int, int, int, int>> expected;
  for (const std::string& line : lines) {
    const auto json = nlohmann::json::parse(line);
    runs.emplace_back(json["compute_type"], json["threads"], json["beam_size"], json["batch_size"],
                      json["source_tokens"]);
    EXPECT_EQ(json["sentences"], 6);
    EXPECT_EQ(json["target_tokens"], 30);
    EXPECT_EQ(json["isa"], InstructionSet());
    EXPECT_EQ(json["model"], TinyShape());
    for (const char* positive :
         {"seconds", "tokens_per_second", "sentences_per_second", "load_seconds", "matmul_seconds",
          "matmul_floor_seconds", "limit_seconds", "peak_bytes_per_second"}) {
      EXPECT_GT(json[positive].get<double>(), 0) << positive;
    }
    // Runs that are too short have no ratio.
    const nlohmann::json& ratio = json["matmul_floor_ratio"];
    EXPECT_TRUE(ratio.is_null() || ratio.get<double>() > 0) << ratio;
    EXPECT_GT(json["peak_rss_bytes"].get<size_t>(), json["weight_bytes"].get<size_t>());
    EXPECT_LE(json["latency_ms"]["p50"], json["latency_ms"]["p90"]);
    EXPECT_LE(json["latency_ms"]["p90"], json["latency_ms"]["p99"]);
    EXPECT_GT(json["profile"]["decoder_matmul"].get<double>(), 0);
  }
  for (const char* type : {"float32", "int8"}) {
    for (const int threads : {1, 2}) {
      for (const int beam : {1, 3}) {
        for (const int batch : {1, 4}) {
          for (const int length : {3, 8}) {
            expected.emplace_back(type, threads, beam, batch, 6 * length);
          }
        }
      }
    }
  }
  EXPECT_EQ(runs, expected);
}

TEST(BenchTest, OneTableRowARun) {
  const Outcome outcome = BenchTiny("--beam_size=1,2,4 --threads=1 --compute_type=float32");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  ASSERT_THAT(lines, SizeIs(1 + 2 + 3 + 1 + 2 + 3));
  EXPECT_THAT(lines[0], AllOf(HasSubstr(TinyShape()), HasSubstr("6 random sources")));
  for (const size_t table : {1U, 7U}) {
    EXPECT_THAT(lines[table], HasSubstr("settings"));
    EXPECT_THAT(lines[table + 2], HasSubstr("   1  auto |"));
    EXPECT_THAT(lines[table + 4], HasSubstr("   4  auto |"));
  }
}

// The peak of memory is that of one run, although the run before it held far more.
TEST(BenchTest, PeakMemoryIsOfOneRun) {
  if (kSanitized) GTEST_SKIP() << "the address sanitizer keeps what is freed";
  if (!std::ofstream("/proc/self/clear_refs").is_open()) GTEST_SKIP() << "no peak to reset";
  const Outcome outcome = BenchTiny(
      "--json --threads=1 --beam_size=64 --batch_size=64,1 --sentences=64 --output_length=40 "
      "--compute_type=float32");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_GT(nlohmann::json::parse(lines[0])["peak_rss_bytes"].get<int64_t>(),
            nlohmann::json::parse(lines[1])["peak_rss_bytes"].get<int64_t>());
}

TEST(BenchTest, TranslatesText) {
  const Outcome outcome =
      Shell(absl::StrCat(kProgram,
                         " --json --compute_type=float32 --threads=1 --beam_size=1 "
                         "--src=/dev/stdin"),
            "A man is riding a bicycle.\n\nTwo dogs are playing in the snow.\n");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["sentences"], 2);
  EXPECT_GE(json["target_tokens"], 10);
  EXPECT_GT(json["profile"]["tokenizer"].get<double>(), 0);
  EXPECT_GT(json["profile"]["text"].get<double>(), 0);
}

// The sentences of a line are split, as nibu-translate does it, and empty lines count as lines.
TEST(BenchTest, TextIsSplitLikeThatOfNibuTranslate) {
  const std::string text = "A man is riding. A dog runs.\n\nTwo dogs are playing in the snow.\n";
  const auto run = [&](const std::string& flags) {
    const Outcome outcome = Shell(
        absl::StrCat(kProgram, " --json --threads=1 --beam_size=1 --src=/dev/stdin ", flags), text);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json split = run("");
  EXPECT_EQ(split["sentences"], 3);
  EXPECT_EQ(split["lines"], 3);
  EXPECT_EQ(split["source_file"], "/dev/stdin");
  EXPECT_EQ(split["source_sha256"], Sha256(text));
  EXPECT_EQ(split["split_sentences"], true);
  const nlohmann::json whole = run("--nosplit_sentences --protect=none --sentences=1");
  EXPECT_EQ(whole["sentences"], 1);
  EXPECT_EQ(whole["source_sha256"], Sha256(text.substr(0, text.find('\n') + 1)));
  EXPECT_EQ(whole["search"]["protect"], "none");
}

TEST(BenchTest, WithoutATextTheBundledOneIsMeasured) {
  const Outcome outcome = Shell(kProgram + " --json --threads=1 --beam_size=1 --sentences=3", "");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["source_file"], "bundled");
  EXPECT_EQ(json["lines"], 3);
  BenchWorkload workload;
  ASSERT_TRUE(ReadBenchText({}, &workload).ok());
  EXPECT_THAT(workload.lines, SizeIs(500));
  EXPECT_EQ(std::set<std::string>(workload.lines.begin(), workload.lines.end()).size(), 500U);
  // A length asks for random sources.
  const Outcome random =
      Shell(kProgram + " --json --threads=1 --beam_size=1 --sentences=3 --source_length=9", "");
  EXPECT_EQ(nlohmann::json::parse(random.out)["source_tokens"], 27);
  const Outcome german = Shell(
      absl::StrCat(Program("nibu-bench"), " --sentences=1 --model='", TestdataPath("de-en"), "'"),
      "");
  EXPECT_THAT(german.err, HasSubstr("the bundled text is English, and the model reads de"));
}

TEST(BenchTest, QualityAgainstReferences) {
  const std::string reference = absl::StrCat(testing::TempDir(), "/bench_reference_", getpid());
  std::ofstream(reference) << "Ein Mann fährt Fahrrad.\n";
  const std::string command = absl::StrCat(kProgram, " --threads=1 --beam_size=4 --ref='",
                                           reference, "' --compute_type=float32,int8 ");
  const std::string text = "A man is riding a bicycle.\n";
  const Outcome outcome = Shell(command + "--json --src=/dev/stdin", text);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_NEAR(nlohmann::json::parse(lines[0])["bleu"].get<double>(), 100, 1e-6);
  EXPECT_NEAR(nlohmann::json::parse(lines[0])["chrf"].get<double>(), 100, 1e-6);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["equal_lines"], 1);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["reference_file"], reference);
  EXPECT_THAT(nlohmann::json::parse(lines[0])["reference_sha256"].get<std::string>(), SizeIs(64));
  const Outcome table = Shell(command + "--src=/dev/stdin", text);
  EXPECT_THAT(table.out, HasSubstr("BLEU  chrF"));
  EXPECT_THAT(table.out, HasSubstr("100.00 100.00   100.0 |"));
  ExpectOneLineError("nibu-bench", Shell(command + "--src=/dev/stdin", text + text), 1,
                     absl::StrCat("/dev/stdin has 2 lines and ", reference, " 1"));
  ExpectOneLineError("nibu-bench", Shell(command, text), 2, "--ref means nothing without --src");
}

TEST(BenchTest, CostByLength) {
  const Outcome outcome = Shell(absl::StrCat(Program("nibu-bench"), " --random_weights --config='",
                                             TinyShape(), "' --sentences=2 --lengths=4,16"),
                                "");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto lines = Lines(outcome.out);
  ASSERT_THAT(lines, SizeIs(1 + 2 + 2));
  EXPECT_THAT(lines[2], HasSubstr("GOP/s GB/s"));
  EXPECT_THAT(lines[3], HasSubstr(" |   4    4 |"));
  EXPECT_THAT(lines[4], HasSubstr(" |  16   16 |"));
  ExpectUsageError("--lengths=4", "--lengths and --output_length do not go together");
}

TEST(BenchTest, ProgressOfASweep) {
  const Outcome outcome = BenchTiny("--json --batch_size=1,2 --progress");
  EXPECT_THAT(outcome.err, HasSubstr("run 1 of 2"));
  EXPECT_THAT(outcome.err, HasSubstr("run 2 of 2"));
  EXPECT_THAT(BenchTiny("--json").err, Not(HasSubstr("run 1")));
}

TEST(BenchTest, ARunThatIsTooShortHasNoFloorRatio) {
  BenchResult result;
  result.seconds = 0.5;
  result.matmul_floor_seconds = 0.25;
  EXPECT_EQ(FloorRatio(result), 0.5);
  EXPECT_EQ(WhyNoFloorRatio(result), "");
  result.matmul_floor_seconds = 0.6;
  EXPECT_EQ(FloorRatio(result), std::nullopt);
  EXPECT_THAT(WhyNoFloorRatio(result), HasSubstr("less time than its matrix products"));
  EXPECT_TRUE(nlohmann::json::parse(BenchJson(result))["matmul_floor_ratio"].is_null());
  result.seconds = 0.003;
  result.matmul_floor_seconds = 0.001;
  EXPECT_EQ(FloorRatio(result), std::nullopt);
  EXPECT_THAT(WhyNoFloorRatio(result), HasSubstr("the run took 3 ms, which is too short"));
}

// All lengths are checked before the first run; a shape gets the positions that they need.
TEST(BenchTest, LengthsAreCheckedFirst) {
  EXPECT_EQ(Shell(absl::StrCat(Program("nibu-bench"), " --random_weights --config='", TinyShape(),
                               "' --sentences=1 --lengths=8,300"),
                  "")
                .status,
            0);
  const Outcome outcome = Shell(
      absl::StrCat(kProgram,
                   " --threads=1 --sentences=1 --lengths=4,999999 --model=", CaptionsModelPath()),
      "");
  EXPECT_EQ(outcome.out, "");
  ExpectOneLineError("nibu-bench", outcome, 1, "set a shorter --source_length or --lengths");
}

TEST(BenchTest, AnEnsembleTranslates) {
  const std::string model = CaptionsModelPath();
  const auto run = [](const std::string& models) {
    const Outcome outcome =
        Shell(absl::StrCat(kProgram, " --json --threads=1 --sentences=2 --output_length=2 ",
                           "--model=", models),
              "");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json both = run(absl::StrCat(model, ",", model, " --ensemble_weights=1,2"));
  EXPECT_EQ(both["target_tokens"], 4);
  EXPECT_EQ(both["weight_bytes"], 2 * run(model)["weight_bytes"].get<size_t>());
}

TEST(BenchTest, RefusesBeforeAnythingRuns) {
  ExpectUsageError("--beam_size=4,0", "--beam_size must be 1 to 1024, not 0");
  ExpectUsageError("--threads=1,,2", "--threads: \"\" is not a number");
  ExpectUsageError("--batch_size=1,x", "--batch_size: \"x\" is not a number");
  ExpectUsageError("--compute_type=float32,int7", "not \"int7\"");
  ExpectUsageError("--source_length=5,-1", "--source_length must be at least 0, not -1");
  ExpectUsageError("--repeat=1,2", "--repeat: \"1,2\" is not a number");
  ExpectUsageError("--src=x", "--src needs a model");
  ExpectUsageError("--norandom_weights", "go together");
  ExpectUsageError("--model=x", "not both");
  // The same error is given with random weights.
  ExpectOneLineError("nibu-bench", BenchTiny("--encoder_attention=mlp:4"), 1, "mlp:positions=4");
  ExpectUsageError("word", "unexpected argument \"word\"");
  ExpectOneLineError("nibu-bench", Shell(absl::StrCat(kProgram, " --src=x --source_length=4"), ""),
                     2, "--source_length and --src do not go together");
}

TEST(BenchTest, FailsWithOneLine) {
  const std::string random =
      absl::StrCat(kProgram, " --sentences=1 --model=", CaptionsModelPath(), " --source_length=");
  ExpectOneLineError("nibu-bench", Shell(random + "9999", ""), 1, "--source_length");
  ExpectOneLineError("nibu-bench", Shell(random + "4 --output_length=9999", ""), 1,
                     "--output_length=9999 is more than the ");
  const std::string command = absl::StrCat(kProgram, " --json --src=");
  ExpectOneLineError("nibu-bench", Shell(command + "/nonexistent", ""), 1, "/nonexistent");
  ExpectOneLineError("nibu-bench", Shell(command + "/dev/stdin", "\n \n"), 1, "has no text");
  const Outcome full = BenchTiny("--json >/dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write standard output"));
}

Outcome BenchAttention(const std::string& flags) {
  return Shell(absl::StrCat(Program("nibu-bench"), " attention --compute_type=float32 ", flags),
               "");
}

// Full attention is compared with itself and a wide window equals it, so both have no error. A
// narrow window has one.
TEST(AttentionBenchTest, EveryMechanismAtEveryLength) {
  for (const std::string& encoder :
       {std::string(), absl::StrCat(" --encoder --config='", TinyShape(), "'")}) {
    const Outcome outcome =
        BenchAttention("--json --lengths=32,1024,2048 --mechanisms='full;window:4'" + encoder);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<std::string> lines = absl::StrSplit(outcome.out, '\n', absl::SkipEmpty());
    ASSERT_THAT(lines, SizeIs(8));
    for (size_t i = 0; i < 6; ++i) {
      const auto line = nlohmann::json::parse(lines[i]);
      EXPECT_EQ(line["what"], encoder.empty() ? "attention" : "encoder");
      EXPECT_EQ(line["mechanism"], i % 2 == 0 ? "full" : "window:width=4");
      EXPECT_EQ(line["length"], std::vector<int>({32, 1024, 2048})[i / 2]);
      EXPECT_GT(line["seconds"], 0);
      EXPECT_GE(line["peak_bytes"], 0);
      EXPECT_EQ(line["error"] == 0, i % 2 == 0);
    }
    for (size_t i = 6; i < 8; ++i)
      EXPECT_TRUE(nlohmann::json::parse(lines[i]).contains("exponent"));
  }
  for (const char* type : {"float32", "int8"}) {
    const Outcome cross = BenchAttention(
        absl::StrCat("--cross --json --repeat=1 --lengths=20,40 --compute_type=", type));
    ASSERT_EQ(cross.status, 0) << cross.err;
    std::set<std::string> mechanisms;
    for (const std::string& line : Lines(cross.out)) {
      const auto point = nlohmann::json::parse(line);
      EXPECT_EQ(point["what"], "cross-attention");
      mechanisms.insert(point["mechanism"]);
      EXPECT_GT(point["stored_bytes"], 0);
      if (point["mechanism"] == "full" && std::string(type) == "float32") {
        EXPECT_EQ(point["error"], 0);
      }
    }
    EXPECT_EQ(mechanisms.size(), 8U);
  }
  const Outcome table = BenchAttention("--lengths=8 --mechanisms='window:8'");
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.out, HasSubstr("window:width=8"));
  EXPECT_THAT(table.out, HasSubstr("0.0000"));
  // Encoders that have weights beside those of full attention are measured, too.
  const Outcome reduction = BenchAttention(absl::StrCat(
      "--json --encoder --config='", TinyShape(), "' --lengths=8 --mechanisms='reduction:2;pool'"));
  ASSERT_EQ(reduction.status, 0) << reduction.err;
  const std::vector<std::string> lines = absl::StrSplit(reduction.out, '\n', absl::SkipEmpty());
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_GT(nlohmann::json::parse(lines[0])["error"], 0);
  EXPECT_FALSE(nlohmann::json::parse(lines[1]).contains("error"));
}

TEST(AttentionBenchTest, WrongUsage) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--lengths=0", "--lengths must be 1 to 65536"},
      {"--lengths=x", "--lengths"},
      {"--mechanisms=x", "--mechanisms: encoder_attention \"x\": no such mechanism"},
      {"--cross --mechanisms=window:4", "is no mechanism of cross-attention"},
      {"--cross --encoder", "--encoder and --cross are two measurements"},
      {"--compute_type=int8", "measure other types with --encoder or --cross"},
      {"--mechanisms=pool", "measure it with --encoder"},
      {"--repeat=0", "--repeat must be at least 1"},
      {"--model=x", "unknown flag --model"}};
  for (const auto& [flags, part] : wrong) {
    ExpectOneLineError("nibu-bench attention", BenchAttention(flags), 2, part);
  }
}

}  // namespace
}  // namespace nibu::internal
