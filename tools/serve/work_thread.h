// A thread that runs one task after the other.
#ifndef NIBU_TOOLS_SERVE_WORK_THREAD_H_
#define NIBU_TOOLS_SERVE_WORK_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace nibu::internal {

// Thread-safe.
class WorkThread {
 public:
  using Task = std::function<void()>;

  WorkThread() : thread_([this] { Run(); }) {}
  // Waits for the task that runs, and drops the others.
  ~WorkThread() { Stop(); }
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  // Adds a task behind the others.
  void Post(Task task) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_stopped_) return;
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

  // Does what the destructor does. Post has no effect afterwards.
  void Stop() {
    std::deque<Task> dropped;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_stopped_ = true;
      dropped.swap(tasks_);
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_stopped_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;  // frees what it has captured
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_WORK_THREAD_H_
