// Reads, translates and writes lines at the same time, and shows how far the program is.
#include "tools/cli/run_lines.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/text/resources.h"

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
      const auto full = static_cast<size_t>(done * 30);
      bar = absl::StrFormat("[%s%s] %3.0f %%  ", std::string(full, '='),
                            std::string(30 - full, ' '), 100 * done);
    }
    absl::FPrintF(stderr, "\r%s%d lines, %.0f lines/s%s ", bar, lines,
                  static_cast<double>(lines) / SecondsSince(start_), sentences);
    printed_ = true;
  }
  void End() {
    if (printed_) absl::FPrintF(stderr, "\r%78s\r", "");
    printed_ = false;
  }

 private:
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_;  // begins long ago, so that the first lines are shown at once
  bool printed_ = false;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const nibu::Model>> LoadModel(const std::string& path,
                                                             const ModelOptions& options,
                                                             bool tokenized) {
  const auto model = nibu::Model::Load(path, options);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(model.status()));
  const ModelInfo& info = (*model)->info();
  for (const std::string& note : info.notes) PrintWarning(note);
  if (tokenized || info.has_tokenizer) return *model;
  return Invalid(info.path,
                 ": has no SentencePiece model; give it with --sentencepiece, or pieces "
                 "separated by spaces with --tokenized");
}

absl::Status CheckTextFlags(const Options& options) {
  for (const auto& [flag, is_asked] :
       {std::pair("split_sentences", options.split_sentences && WasGiven("split_sentences")),
        std::pair("protect", options.protect != "none" && WasGiven("protect"))}) {
    if (options.tokenized && is_asked) {
      return WrongUsage("--", flag, " needs text, not the pieces of --tokenized; give one of them");
    }
  }
  return Refuse(
      {{(options.tokenized || !options.split_sentences) && !options.split_language.empty(),
        "--split_language means nothing without --split_sentences"}});
}

absl::Status Pipeline::Run(UnitSource* source) {
  absl::Status status;
  absl::Status written;
  std::thread writer([&] { written = Write(); });
  TextUnit unit;
  for (uint64_t index = 0;; ++index) {
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
  uint64_t written = 0;
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
    if (written == before) break;  // the pipeline was stopped, or is at the end
    changed_.notify_all();
    lock.unlock();
    status = WriteAll(out_fd_, out);
    if (status.ok() && options_.report) options_.report(written, progress);
    if (!status.ok() && options_.write_failed) options_.write_failed(status);
    lock.lock();
  }
  ended_ = true;
  changed_.notify_all();
  return status;
}

nibu::Done Repeats::Add(const std::string& key, uint64_t index, Done done) {
  std::unique_lock<std::mutex> lock(mutex_);
  ABSL_ASSERT(lines_.empty() || lines_.back().first < index);
  const auto [place, is_new] = entries_.try_emplace(key);
  Entry& entry = place->second;
  ++entry.lines;
  lines_.emplace_back(index, &*place);
  // The first of equal lines makes the result. Later ones wait for it, or get it at once.
  if (const std::shared_ptr<const Result> known = entry.result) {
    lock.unlock();
    done(index, *known);
    return nullptr;
  }
  entry.waiting.emplace_back(index, std::move(done));
  if (!is_new) return nullptr;
  return [this, &entry](uint64_t, Result result) noexcept {
    const auto shared = std::make_shared<const Result>(std::move(result));
    std::unique_lock<std::mutex> again(mutex_);
    entry.result = shared;
    const auto waiting = std::exchange(entry.waiting, {});
    again.unlock();
    for (const auto& [line, waits] : waiting) waits(line, *shared);
  };
}

void Repeats::Forget(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (; !lines_.empty() && lines_.front().first < index; lines_.pop_front()) {
    auto* entry = lines_.front().second;
    if (--entry->second.lines == 0) entries_.erase(entries_.find(entry->first));
  }
}

void Totals::Add(uint64_t index, uint64_t line, const absl::StatusOr<nibu::Result>& result) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++lines;
  const auto name = [line] { return absl::StrCat("line ", line + 1, ": "); };
  if (result.ok()) {
    source_tokens += result->source_tokens;
    target_tokens += result->target_tokens;
    too_long += result->too_long ? 1 : 0;
    if (result->scored_whole && (scored_whole++ == 0 || line < first_scored_whole)) {
      first_scored_whole = line;
    }
  } else if (failed++ == 0 || line < first_failed) {
    const bool is_long = absl::IsOutOfRange(result.status());
    first_failed = line;
    first_failure = absl::StrCat(name(), result.status().message(),
                                 is_long ? "; raise --max_input_length, or split it" : "");
  }
  std::string warning;
  if (result.ok() && !result->hypotheses.empty()) {
    const nibu::Hypothesis& best = result->hypotheses[0];
    for (size_t i = 0; i < warned.size(); ++i) warned[i] += best.warnings[i] ? 1 : 0;
    if (best.warnings.any()) {
      warning = absl::StrCat(name(), absl::StrJoin(WarningNames(best.warnings), ", "));
    }
    log_prob += static_cast<double>(best.log_prob);
    scored_tokens += best.tokens.size();
  }
  PrintWaiting(index, std::move(warning));
}

void Totals::Skip(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex);
  PrintWaiting(index, "");
}

void Totals::PrintWaiting(uint64_t index, std::string warning) {
  if (!prints) return;
  ABSL_ASSERT(index >= printed_ && !waiting_.contains(index));
  waiting_[index] = std::move(warning);
  for (; !waiting_.empty() && waiting_.begin()->first == printed_; ++printed_) {
    const auto next = waiting_.begin();
    if (!next->second.empty()) PrintWarning(next->second);
    waiting_.erase(next);
  }
}

absl::Status Totals::Failure(const char* what) const {
  if (failed == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(failed, " line(s) could not be ", what, "; the first is ", first_failure));
}

absl::StatusOr<double> RunLines(UnitSource* source, Pipeline::Options options,
                                const SpeedOptions& speed, const CliOptions& cli, OutputFile* out,
                                SignalWatcher* signals) {
  // The file is opened only now, so that an old output stays if the model cannot be read.
  NIBU_RETURN_IF_ERROR(out->Open());
  SetFatalNote(out->Place());
  ProgressBar bar;
  // Enough lines for a thread while its longest one is translated, and for several batches.
  options.max_lines = static_cast<size_t>(speed.threads) *
                      std::max(options.max_lines, 2 * static_cast<size_t>(speed.batch_size));
  // The bar would disturb output on the same terminal, and warnings.
  const bool has_terminal = isatty(STDERR_FILENO) && !isatty(out->fd()) && !cli.warnings;
  const bool shows = cli.progress.value_or(has_terminal);
  options.report = [&bar, shows, report = std::move(options.report),
                    sentences = std::move(options.sentences)](uint64_t lines, double done) {
    if (report) report(lines, done);
    if (!shows) return;
    const auto [all, translated] = sentences ? sentences() : std::pair<uint64_t, uint64_t>(0, 0);
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
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  const auto run = [&] {
    absl::Status status = pipeline.Run(source);
    seconds = SecondsSince(start);
    bar.End();
    return status;
  };
  const auto stop = [&] {
    if (pipeline.Stop(/*seconds=*/2)) bar.End();
  };
  const absl::Status status = WriteOutput(out, signals, run, stop);
  SetFatalNote("");
  NIBU_RETURN_IF_ERROR(status);
  return seconds;
}

}  // namespace nibu::internal
