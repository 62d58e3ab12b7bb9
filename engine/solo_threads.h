#ifndef NIBU_ENGINE_SOLO_THREADS_H_
#define NIBU_ENGINE_SOLO_THREADS_H_

namespace nibu {

// Whether threads inside the matmuls of a single sentence pay, learned from the time that steps
// take: they do where cores are idle and weights are large, and not where other programs use the
// cores. One of the two ways is the usual one; now and then the other is tried again. Not
// thread-safe.
class SoloThreads {
 public:
  // Whether the next step should use threads. Followed by Took.
  bool Next() {
    if (step_ == 0) tried_ = !pay_;
    const bool threads = step_ < kTrial ? tried_ : pay_;
    is_first_ = step_ == 0 || threads != last_;
    last_ = threads;
    step_ = (step_ + 1) % kRound;
    return threads;
  }

  // The seconds of that step.
  void Took(double seconds) {
    if (is_first_) return;  // threads had to wake up, or primitives to be made
    double& average = average_[last_ ? 1 : 0];
    average = average == 0 ? seconds : average + (seconds - average) / 4;
    if (average_[0] > 0 && average_[1] > 0) pay_ = average_[1] < average_[0];
  }

  // What is the usual way now; before anything is known, threads.
  bool pay() const { return pay_ || average_[0] == 0; }

 private:
  static constexpr int kTrial = 4;    // steps in a row, of which the first does not count
  static constexpr int kRound = 128;  // steps from trial to trial

  bool pay_ = false;  // so that threads are tried first
  bool tried_ = true;
  bool last_ = false;
  bool is_first_ = true;
  int step_ = 0;
  double average_[2] = {};  // seconds of a step without threads and with; 0: not known
};

}  // namespace nibu

#endif  // NIBU_ENGINE_SOLO_THREADS_H_
