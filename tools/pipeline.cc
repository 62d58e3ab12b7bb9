#include "tools/pipeline.h"

#include <chrono>
#include <utility>

#include "tools/output_file.h"

namespace nibu {

Pipeline::Pipeline(Options options, int out_fd)
    : options_(std::move(options)), out_fd_(out_fd), writer_([this] { Write(); }) {}

Pipeline::~Pipeline() {
  Stop(/*seconds=*/1e9);
  if (writer_.joinable()) writer_.join();
}

absl::Status Pipeline::Run(LineSource* source) {
  absl::Status status;
  std::string text;
  for (uint64_t index = 0;; ++index) {
    const absl::StatusOr<bool> more = source->Next(&text);
    if (!more.ok()) status = more.status();
    if (!more.ok() || !*more) break;
    const double progress = source->progress();
    Line* line = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] {
        return stop_ || ended_ || lines_.empty() ||
               (lines_.size() < options_.max_lines && bytes_ + text.size() <= options_.max_bytes);
      });
      if (stop_ || ended_) break;
      line = &lines_.emplace_back();
      line->bytes = text.size();
      line->progress = progress;
      bytes_ += text.size();
      ++submitted_;
    }
    options_.submit(index, text,
                    [this, line](std::string output) { Finished(line, std::move(output)); });
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  writer_.join();
  {  // nothing is delivered to a pipeline that is gone
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return submitted_ == 0; });
  }
  return write_status_.ok() ? status : write_status_;
}

bool Pipeline::Stop(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ended_; });
}

void Pipeline::Finished(Line* line, std::string output) {
  const std::lock_guard<std::mutex> lock(mutex_);
  line->output = std::move(output);
  line->bytes += line->output.size();
  bytes_ += line->output.size();
  line->ready = true;
  --submitted_;
  if (submitted_ == 0 || line == &lines_.front()) changed_.notify_all();
}

void Pipeline::Write() {
  constexpr size_t kWriteSize = size_t{1} << 16;
  std::string out;
  uint64_t written = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [this] { return stop_ || (lines_.empty() ? closed_ : lines_.front().ready); });
    out.clear();
    const uint64_t before = written;
    double progress = -1;
    while (!lines_.empty() && lines_.front().ready && out.size() < kWriteSize) {
      out += lines_.front().output;
      progress = lines_.front().progress;
      bytes_ -= lines_.front().bytes;
      lines_.pop_front();
      ++written;
    }
    if (written == before) break;  // stopped, or at the end
    changed_.notify_all();
    lock.unlock();
    write_status_ = WriteAll(out_fd_, out);
    const bool ok = write_status_.ok();
    if (ok && options_.report) options_.report(written, progress);
    if (!ok && options_.write_failed) options_.write_failed(write_status_);
    lock.lock();
    if (!ok) break;
  }
  ended_ = true;
  changed_.notify_all();
}

}  // namespace nibu
