// Lets the workers of several translators share one set of cores.
#ifndef NIBU_ENGINE_SCHEDULE_CORE_BUDGET_H_
#define NIBU_ENGINE_SCHEDULE_CORE_BUDGET_H_

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace nibu::internal {

// A counting semaphore whose units are cores. A worker holds one while it decodes and none while it
// waits for requests, so a program with many loaded models runs no more threads than it has cores.
// Cores are given in the order in which workers ask for them. Thread-safe, and it allocates
// nothing.
class CoreBudget {
 public:
  // The time that a worker keeps its core while others wait for one. A worker that gets a core
  // reads the weights of another model into the caches, which takes up to a few milliseconds (tens
  // of megabytes at some 10 GB/s); in 20 ms that cost stays small. And 20 ms are short enough that
  // a request to one of five busy models waits no more than about 0.1 s for a core.
  static constexpr std::chrono::milliseconds kSlice{20};

  // `slice`: other than kSlice in tests alone. With fewer cores than 1, Translator::Create refuses
  // the budget.
  explicit CoreBudget(int cores, std::chrono::nanoseconds slice = kSlice);
  CoreBudget(const CoreBudget&) = delete;
  CoreBudget& operator=(const CoreBudget&) = delete;

  int cores() const { return cores_; }
  // The cores that are held now, and the workers that wait for one.
  int held() const;
  int waiting() const;
  // Returns true in a forked child of the process that created the budget, where threads that do
  // not exist hold its cores for ever.
  bool is_forked() const;

  // One worker's use of a budget. Not thread-safe: it belongs to the worker's thread.
  class Holder {
   public:
    // `budget` outlives the holder. With a null budget the worker may always run, and calls do
    // nothing.
    explicit Holder(CoreBudget* budget) : budget_(budget) {}
    ~Holder() { GiveBack(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    // Blocks until the worker holds a core. Does nothing if it holds one already.
    void Take();
    // Gives the core to the first worker in line, or back to the budget. Does nothing if the worker
    // holds none.
    void GiveBack();
    // Gives the core to the first worker in line, if there is one and this one has held its core
    // for a slice or longer, and takes one again behind the others. Returns whether it did so. Call
    // it between two steps.
    bool Share();
    // Returns whether no other worker holds a core or waits for one, so that threads inside this
    // one's matmuls may use the other cores.
    bool IsAlone() const;

   private:
    CoreBudget* const budget_;
    bool has_core_ = false;
    std::chrono::steady_clock::time_point since_;  // when it got its core
  };

 private:
  // A thread in the line of those that wait. It lies on that thread's stack, so that the line takes
  // no memory.
  struct Waiter {
    std::condition_variable woken;
    bool has_core = false;
    Waiter* next = nullptr;
  };
  // Blocks until the calling thread has a core. REQUIRES: `lock` holds mutex_.
  void Acquire(std::unique_lock<std::mutex>* lock);
  // Gives the caller's core to the first in line, or back to the budget. REQUIRES: `lock` holds
  // mutex_.
  void PassOn(const std::unique_lock<std::mutex>& lock);

  const int cores_;
  const std::chrono::nanoseconds slice_;
  const pid_t process_;
  mutable std::mutex mutex_;
  int held_ = 0;
  Waiter* first_ = nullptr;  // the head of the line; null unless all cores are held
  Waiter* last_ = nullptr;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_CORE_BUDGET_H_
