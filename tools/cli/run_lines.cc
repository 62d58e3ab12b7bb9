// Reads, translates and writes lines at the same time, and shows how far the program is.
#include "tools/cli/run_lines.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {
namespace {

// A progress bar, or a count if the size of the input is not known. Used by one thread.
class ProgressBar {
 public:
  // `done`: the share that is done, 0 to 1, or negative if it is not known.
  void Update(uint64_t lines, double done, const std::string& sentences) {
    if (SecondsSince(last_) < 0.2) return;
    last_ = Clock::now();
    std::string bar;
    if (done >= 0) {
      if (first_done_ < 0) {
        first_ = last_;
        first_done_ = done;
      }
      const auto full = static_cast<size_t>(done * 30);
      bar = absl::StrFormat("[%s%s] %3.0f %%%s  ", std::string(full, '='),
                            std::string(30 - full, ' '), 100 * done, Left(done));
    }
    std::string line =
        absl::StrFormat("%s%d lines, %.0f lines/s%s ", bar, lines,
                        static_cast<double>(lines) / SecondsSince(start_), sentences);
    const size_t width = line.size();
    line.resize(std::max(width, width_), ' ');  // over the line before
    width_ = width;
    absl::FPrintF(stderr, "\r%s", line);
  }
  void End() {
    if (width_ > 0) absl::FPrintF(stderr, "\r%s\r", std::string(width_, ' '));
    width_ = 0;
  }

 private:
  // Returns the time that is left, at the speed since the first share was known: a run that goes on
  // with an earlier one's output begins in the middle.
  std::string Left(double done) const {
    if (done <= first_done_) return "";
    const double seconds = SecondsSince(first_) * (1 - done) / (done - first_done_);
    const auto minutes = static_cast<int64_t>(seconds / 60);
    return minutes >= 60 ? absl::StrFormat(", %d h %d min left", minutes / 60, minutes % 60)
           : minutes > 0 ? absl::StrFormat(", %d min left", minutes)
                         : absl::StrFormat(", %.0f s left", seconds);
  }

  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_;   // begins long ago, so that the first lines are shown at once
  Clock::time_point first_;  // when first_done_ was the share
  double first_done_ = -1;   // negative: no share is known yet
  size_t width_ = 0;         // of what is printed
};

}  // namespace

absl::Status Pipeline::Run(UnitSource* source) {
  absl::Status status;
  absl::Status written;
  std::thread writer([&] { written = Write(); });
  InputUnit unit;
  for (uint64_t index = options_.first;; ++index) {
    const absl::StatusOr<bool> more = source->Next(&unit);
    if (!more.ok()) status = more.status();
    if (!more.ok() || !*more) break;
    const double progress = source->progress();
    Line* line = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      // A line that is larger than all limits is read once no other is under way.
      changed_.wait(lock, [&] {
        return stop_ || ended_ || lines_.empty() ||
               (lines_.size() < options_.max_lines && bytes_ + unit.size() <= options_.max_bytes);
      });
      if (stop_ || ended_) break;
      line = &lines_.emplace_back();
      line->bytes = unit.size();
      line->progress = progress;
      bytes_ += unit.size();
    }
    options_.submit(index, unit, [this, line](std::string output) {
      const std::lock_guard<std::mutex> lock(mutex_);
      bytes_ += output.size();
      line->bytes += output.size();
      line->output = std::move(output);
      line->ready = true;
      changed_.notify_all();
    });
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  writer.join();
  {  // waits for all deliveries, which refer to this pipeline
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] {
      return absl::c_all_of(lines_, [](const Line& line) { return line.ready; });
    });
  }
  return written.ok() ? status : written;
}

bool Pipeline::Stop(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ended_; });
}

absl::Status Pipeline::Write() {
  constexpr size_t kWriteSize = size_t{1} << 16;
  absl::Status status;
  std::string out;
  uint64_t written = options_.first;
  double progress = -1;
  std::unique_lock<std::mutex> lock(mutex_);
  while (status.ok()) {
    // Wakes up now and then to report progress while the next line is being translated.
    const bool may_go_on = changed_.wait_for(lock, std::chrono::milliseconds(200), [this] {
      return stop_ || (lines_.empty() ? closed_ : lines_.front().ready);
    });
    if (!may_go_on) {
      lock.unlock();
      if (options_.report) options_.report(written, progress);
      lock.lock();
      continue;
    }
    out.clear();
    const uint64_t before = written;
    while (!lines_.empty() && lines_.front().ready && out.size() < kWriteSize) {
      out += lines_.front().output;
      progress = lines_.front().progress;
      bytes_ -= lines_.front().bytes;
      lines_.pop_front();
      ++written;
    }
    const bool is_last = written == before;  // the pipeline was stopped, or is at the end
    if (is_last && !options_.encode) break;
    changed_.notify_all();
    lock.unlock();
    status = WriteAll(out_fd_, options_.encode ? options_.encode(out, is_last) : out);
    if (status.ok() && options_.report) options_.report(written, progress);
    if (!status.ok() && options_.write_failed) options_.write_failed(status);
    lock.lock();
    if (is_last) break;
  }
  ended_ = true;
  changed_.notify_all();
  return status;
}

absl::StatusOr<double> RunLines(UnitSource* source, Pipeline::Options options,
                                const nibu::Translator& translator, const SpeedOptions& speed,
                                const CliOptions& cli, OutputFile* out, SignalWatcher* signals) {
  // The file is opened only now, so that an old output stays if the model cannot be read.
  if (!out->is_open()) NIBU_RETURN_IF_ERROR(out->Open());
  SetFatalNote(out->Place());
  ProgressBar bar;
  // Enough lines for a thread while its longest one is translated, and for several batches.
  options.max_lines = static_cast<size_t>(translator.threads()) *
                      std::max(options.max_lines, 2 * static_cast<size_t>(speed.batch_size));
  // The bar would disturb output on the same terminal, and warnings.
  const bool has_terminal = isatty(STDERR_FILENO) && !isatty(out->fd()) && !cli.warnings;
  const bool shows = cli.progress.value_or(has_terminal);
  options.report = [&bar, &translator, out, shows, first = options.first,
                    report = std::move(options.report)](uint64_t next, double done) {
    if (report) report(next, done);
    const uint64_t lines = next - first;
    out->Record(lines);
    if (!shows) return;
    const uint64_t all = translator.sentences();
    const uint64_t translated = translator.translated_sentences();
    // While lines are under way, the sentences show that the program goes on.
    bar.Update(lines, done,
               translated < all ? absl::StrCat(", ", translated, " of ", all, " sentences") : "");
  };
  options.write_failed = [&](const absl::Status& status) {
    // Reading may be blocked, so this ends the program. If the reader is gone, that is no error.
    if (absl::IsCancelled(status)) _exit(0);
    bar.End();
    PrintError(absl::StrCat(out->Failed(status.message()).message(), out->Abandon()));
    _exit(1);
  };
  Pipeline pipeline(std::move(options), out->fd());
  OutputGuard guard(out, signals, [&] {
    if (pipeline.Stop(/*seconds=*/2)) bar.End();
  });
  const Clock::time_point start = Clock::now();
  absl::Status status = pipeline.Run(source);
  const double seconds = SecondsSince(start);
  bar.End();
  status = guard.End(std::move(status));
  SetFatalNote("");
  NIBU_RETURN_IF_ERROR(status);
  return seconds;
}

}  // namespace nibu::internal
