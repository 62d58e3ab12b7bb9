// Tests of the parts of the command lines: reading lines, the pipeline, and output formats.
// Threads: the thread sanitizer runs this file.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"

namespace nibu::internal {
namespace {

using Strings = std::vector<std::string>;

std::vector<std::string> ReadLines(const std::string& bytes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/lines_test_", getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  auto file = InputLines::Open(path);
  EXPECT_TRUE(file.ok());
  std::vector<std::string> lines;
  std::string line;
  while (*file->Next(&line)) lines.push_back(line);
  EXPECT_FALSE(*file->Next(&line));
  return lines;
}

TEST(LinesTest, AnyEnds) {
  EXPECT_EQ(ReadLines(""), Strings());
  EXPECT_EQ(ReadLines("\n"), Strings({""}));
  EXPECT_EQ(ReadLines("a\nb"), Strings({"a", "b"}));
  EXPECT_EQ(ReadLines("a\r\n\r\nb\r"), Strings({"a", "", "b"}));
  EXPECT_EQ(ReadLines(std::string("a\0b\n", 4)), Strings({std::string("a\0b", 3)}));
  const std::string longest(300000, 'x');
  EXPECT_EQ(ReadLines(longest + "\n" + longest), Strings({longest, longest}));
}

TEST(LinesTest, GivenTexts) {
  InputLines lines({"a", "b\nc", ""});
  std::string line;
  for (const char* expected : {"a", "b", "c", ""}) {
    ASSERT_TRUE(*lines.Next(&line));
    EXPECT_EQ(line, expected);
  }
  EXPECT_FALSE(*lines.Next(&line));
}

TEST(LinesTest, FilesThatCannotBeOpened) {
  EXPECT_TRUE(absl::IsNotFound(InputLines::Open("/nonexistent/x").status()));
  EXPECT_TRUE(absl::IsUnavailable(OutputFile("/nonexistent/x").Open()));
}

TEST(LinesTest, ProgressCountsWhatWasHandedOut) {
  const std::string path = absl::StrCat(testing::TempDir(), "/progress_test_", getpid());
  std::ofstream(path, std::ios::binary) << "ab\ncd\n\n\n";
  auto file = InputLines::Open(path);
  ASSERT_TRUE(file.ok());
  std::string line;
  EXPECT_EQ(file->progress(), 0);
  ASSERT_TRUE(*file->Next(&line));
  EXPECT_EQ(file->progress(), 3.0 / 8);
  // The file grows while it is read, but the progress is never more than the whole.
  std::ofstream(path, std::ios::binary | std::ios::app) << std::string(100000, '\n');
  while (*file->Next(&line)) EXPECT_LE(file->progress(), 1);
  EXPECT_EQ(file->progress(), 1);
  EXPECT_LT(InputLines({"a"}).progress(), 0);
}

TEST(LinesTest, KnowsItsOwnFile) {
  const std::string path = absl::StrCat(testing::TempDir(), "/same_test_", getpid());
  std::ofstream(path, std::ios::binary) << "a\n";
  const std::string link = path + "_link";
  unlink(link.c_str());
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  const auto file = InputLines::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->IsSameFile(path));
  EXPECT_TRUE(file->IsSameFile(link));
  EXPECT_FALSE(file->IsSameFile(path + "_other"));
  EXPECT_FALSE(InputLines::Open("/dev/null")->IsSameFile("/dev/null"));  // A device is not a text.
}

// Some shells and terminals leave pipes in this mode.
TEST(LinesTest, NonBlockingPipes) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  const int stdin_before = dup(STDIN_FILENO);
  ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  close(ends[0]);
  const std::string text(300000, 'x');  // This is more than a pipe takes.
  std::thread writer([&] {
    EXPECT_TRUE(WriteAll(ends[1], text).ok());
    close(ends[1]);
  });
  auto lines = InputLines::Open("-");
  ASSERT_TRUE(lines.ok());
  std::string line;
  const absl::StatusOr<bool> read = lines->Next(&line);
  EXPECT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(line, text);
  dup2(stdin_before, STDIN_FILENO);  // If reading has failed, writing now fails as well.
  close(stdin_before);
  writer.join();
}

// The reading end of a pipe, which is read in the background.
class Drain {
 public:
  Drain() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    read_ = ends[0];
    write_ = ends[1];
    thread_ = std::thread([this] {
      char buffer[4096];
      for (ssize_t n; (n = read(read_, buffer, sizeof(buffer))) > 0;) {
        text_.append(buffer, static_cast<size_t>(n));
      }
    });
  }
  int fd() const { return write_; }
  std::string Finish() {
    close(write_);
    thread_.join();
    close(read_);
    return text_;
  }

 private:
  int read_;
  int write_;
  std::string text_;
  std::thread thread_;
};

TEST(PipelineTest, KeepsOrderAndBoundsWhatIsUnderWay) {
  Drain drain;
  std::vector<std::string> input;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    input.push_back(absl::StrCat("line ", i));
    absl::StrAppend(&expected, "line ", i, "\n");
  }
  InputLines lines(input);
  UnitSource units(&lines, {});
  std::mutex mutex;
  std::vector<std::pair<std::string, Pipeline::Deliver>> waiting;
  std::atomic<int> under_way{0};
  std::atomic<int> most{0};
  std::atomic<bool> over{false};
  // Four threads deliver in random order.
  std::vector<std::thread> workers;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    workers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      while (!over) {
        std::unique_lock<std::mutex> lock(mutex);
        if (waiting.empty()) {
          lock.unlock();
          std::this_thread::yield();
          continue;
        }
        const size_t i = random() % waiting.size();
        auto [line, deliver] = std::move(waiting[i]);
        waiting.erase(waiting.begin() + static_cast<long>(i));
        lock.unlock();
        --under_way;
        deliver(line + "\n");
      }
    });
  }
  Pipeline::Options options;
  options.max_lines = 50;
  options.submit = [&](uint64_t index, const TextUnit& unit, Pipeline::Deliver deliver) {
    const std::string& line = unit.source();
    EXPECT_EQ(line, absl::StrCat("line ", index));
    most = std::max(most.load(), ++under_way);
    const std::lock_guard<std::mutex> lock(mutex);
    waiting.emplace_back(line, std::move(deliver));
  };
  Pipeline pipeline(std::move(options), drain.fd());
  EXPECT_TRUE(pipeline.Run(&units).ok());
  over = true;
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(drain.Finish(), expected);
  EXPECT_LE(most, 50);
}

TEST(PipelineTest, StopWritesWhatIsFinishedInOrder) {
  Drain drain;
  InputLines lines({"0", "1", "2", "3"});
  UnitSource units(&lines, {});
  std::vector<Pipeline::Deliver> delivers(4);
  std::atomic<int> submitted{0};
  Pipeline::Options options;
  options.submit = [&](uint64_t index, const TextUnit&, Pipeline::Deliver deliver) {
    delivers[index] = std::move(deliver);
    ++submitted;
  };
  Pipeline pipeline(std::move(options), drain.fd());
  std::thread runner([&] { EXPECT_TRUE(pipeline.Run(&units).ok()); });
  while (submitted < 4) std::this_thread::yield();
  delivers[0]("a\n");
  delivers[1]("b\n");
  delivers[3]("d\n");  // It has to wait for line 2.
  EXPECT_TRUE(pipeline.Stop(10));
  delivers[2]("c\n");
  runner.join();
  EXPECT_EQ(drain.Finish(), "a\nb\n");
}

// Finished output that waits for a slow line counts like input.
TEST(PipelineTest, BoundsBytesWhileTheFirstLineIsSlow) {
  Drain drain;
  InputLines lines(std::vector<std::string>(100, "1234567890"));
  UnitSource units(&lines, {});
  std::atomic<int> submitted{0};
  std::atomic<bool> released{false};
  Pipeline::Deliver first;
  Pipeline::Options options;
  options.max_bytes = 1000;
  options.submit = [&](uint64_t index, const TextUnit&, Pipeline::Deliver deliver) {
    // 10 + 4 * 200 bytes leave room for one more line of 10 bytes. Then reading has to wait.
    EXPECT_TRUE(index <= 5 || released) << index;
    if (index == 0) {
      first = std::move(deliver);
    } else {
      deliver(std::string(189, 'x') + "\n");
    }
    ++submitted;
  };
  Pipeline pipeline(std::move(options), drain.fd());
  std::thread runner([&] { EXPECT_TRUE(pipeline.Run(&units).ok()); });
  while (submitted < 6) std::this_thread::yield();
  released = true;
  first("first\n");
  runner.join();
  EXPECT_EQ(submitted, 100);
  EXPECT_EQ(drain.Finish().size(), 6u + 99 * 190);
}

TEST(PipelineTest, StopEndsReading) {
  Drain drain;
  constexpr int kMany = 1000000;
  InputLines lines(std::vector<std::string>(kMany, "x"));
  UnitSource units(&lines, {});
  std::atomic<int> submitted{0};
  Pipeline::Options options;
  options.submit = [&](uint64_t, const TextUnit& unit, Pipeline::Deliver deliver) {
    deliver(unit.source() + "\n");
    ++submitted;
  };
  Pipeline pipeline(std::move(options), drain.fd());
  std::thread runner([&] { EXPECT_TRUE(pipeline.Run(&units).ok()); });
  while (submitted < 100) std::this_thread::yield();
  EXPECT_TRUE(pipeline.Stop(60));
  runner.join();
  EXPECT_LT(submitted, kMany);
  EXPECT_EQ(drain.Finish().size() % 2, 0u);  // The output has whole lines.
}

TEST(PipelineTest, ReportsWhatCannotBeWritten) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const auto run = [](int fd) {
    InputLines lines(std::vector<std::string>(100, "x"));
    UnitSource units(&lines, {});
    Pipeline::Options options;
    options.submit = [](uint64_t, const TextUnit& unit, Pipeline::Deliver deliver) {
      deliver(unit.source() + "\n");
    };
    std::atomic<int> told{0};
    options.write_failed = [&](const absl::Status&) { ++told; };
    absl::Status status;
    {
      Pipeline pipeline(std::move(options), fd);
      status = pipeline.Run(&units);
    }
    EXPECT_EQ(told, 1);
    return status;
  };
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_TRUE(absl::IsCancelled(run(ends[1])));
  close(ends[1]);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  EXPECT_TRUE(absl::IsUnavailable(run(full)));
  close(full);
  std::signal(SIGPIPE, before);  // Other tests start programs.
}

// Run waits for all callbacks, even if writing has failed long before.
TEST(PipelineTest, RunOutlastsItsCallbacks) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  InputLines lines(std::vector<std::string>(20, "x"));
  UnitSource units(&lines, {});
  std::vector<std::thread> late;
  std::atomic<int> delivered{0};
  Pipeline::Options options;
  options.submit = [&](uint64_t index, const TextUnit& unit, Pipeline::Deliver deliver) {
    late.emplace_back([&delivered, index, line = unit.source(), deliver = std::move(deliver)] {
      std::this_thread::sleep_for(std::chrono::milliseconds(index == 0 ? 0 : 20));
      ++delivered;
      deliver(line + "\n");
    });
  };
  EXPECT_FALSE(Pipeline(std::move(options), full).Run(&units).ok());
  EXPECT_EQ(static_cast<size_t>(delivered), late.size());
  for (std::thread& thread : late) thread.join();
  close(full);
}

// Returns a unit that is one line of the input.
TextUnit Unit(const std::string& line) {
  nibu::TextReader reader({});
  reader.Add(line + "\n");
  TextUnit unit;
  EXPECT_TRUE(reader.Next(&unit));
  return unit;
}

nibu::Result Found() {
  nibu::Result result;
  nibu::Hypothesis h;
  h.text = "Ein \"Hund\"";
  h.tokens = {"▁Ein", "▁Hund"};
  h.token_scores = {-0.25f, -0.5f};
  h.log_prob = -1.5f;
  h.score = -0.5f;
  result.hypotheses = {h, h};
  result.hypotheses[1].text = "Zwei";
  return result;
}

TEST(OutputFormatTest, EveryFormat) {
  EXPECT_EQ(FormatResult({OutputFormat::kText, false}, 3, Unit(""), Found()), "Ein \"Hund\"\n");
  EXPECT_EQ(FormatResult({OutputFormat::kText, true}, 3, Unit(""), Found()),
            "-0.500000\tEin \"Hund\"\n");
  EXPECT_EQ(FormatResult({OutputFormat::kNBest, false}, 3, Unit(""), Found()),
            "3 ||| Ein \"Hund\" ||| logprob= -1.500000 ||| -0.500000\n"
            "3 ||| Zwei ||| logprob= -1.500000 ||| -0.500000\n");
  EXPECT_EQ(FormatResult({OutputFormat::kText, false}, 3, Unit(""), nibu::Result()), "\n");
  const std::string line = FormatResult({OutputFormat::kJsonl, false}, 3, Unit("a\xff\""), Found());
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(json["id"], 3);
  EXPECT_EQ(json["source"], "a\uFFFD\"");
  EXPECT_EQ(json["hypotheses"].size(), 2u);
  EXPECT_EQ(json["hypotheses"][0]["text"], "Ein \"Hund\"");
  EXPECT_EQ(json["hypotheses"][0]["tokens"], nlohmann::json({"▁Ein", "▁Hund"}));
  EXPECT_EQ(json["hypotheses"][0]["token_scores"], nlohmann::json({-0.25, -0.5}));
  EXPECT_EQ(json["hypotheses"][0]["score"], -0.5);
  EXPECT_FALSE(json["hypotheses"][0].contains("finished"));
  nibu::Result cut = Found();
  cut.hypotheses[1].finished = false;
  const auto hypotheses = nlohmann::json::parse(
      FormatResult({OutputFormat::kJsonl, false}, 3, Unit(""), cut))["hypotheses"];
  EXPECT_FALSE(hypotheses[0].contains("finished"));
  EXPECT_EQ(hypotheses[1]["finished"], false);
}

}  // namespace
}  // namespace nibu::internal
