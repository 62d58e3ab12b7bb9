// Sentences that wait for a worker.
#ifndef NIBU_ENGINE_JOB_QUEUE_H_
#define NIBU_ENGINE_JOB_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "engine/search/beam_search.h"

namespace nibu {

struct Job {
  std::vector<int> source;  // its frame included
  std::function<void(std::vector<Hypothesis>)> done;
};

// Thread-safe. Within a window of kWindow consecutive arrivals the longest sentence comes first, so
// that workers do not end on a long one; windows come in order, so that no sentence waits for ever.
class JobQueue {
 public:
  // `workers`: threads that take from the queue.
  explicit JobQueue(int workers) : workers_(static_cast<size_t>(workers)) {}

  void Push(Job job);
  // No more jobs will come.
  void Close();
  // Blocks until no job is left and every worker waits for the next one. REQUIRES: not closed.
  void AwaitIdle();

  // Whether no job is left and all workers but the caller wait for one.
  bool Alone();

  // Takes up to `most` jobs of up to `tokens` source tokens altogether; when few are waiting, a
  // fair share of them, so that every worker gets some. With `wait`, blocks until there is one and
  // takes it whatever its length; an empty result then means that the queue is closed and empty.
  // One of the workers may be the `preferred` one: a single job is left to it if it waits, too.
  std::vector<Job> Take(size_t most, size_t tokens, bool wait, bool preferred = false);

 private:
  // Output comes in the order of input, so a window is also what a reader waits for; larger ones
  // are no faster.
  static constexpr uint64_t kWindow = 256;
  // window, -length, arrival
  using Order = std::tuple<uint64_t, int64_t, uint64_t>;

  const size_t workers_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable idle_;
  size_t waiting_ = 0;  // workers that wait in Take
  bool preferred_waits_ = false;
  std::map<Order, Job> jobs_;
  uint64_t arrivals_ = 0;
  bool closed_ = false;
};

}  // namespace nibu

#endif  // NIBU_ENGINE_JOB_QUEUE_H_
