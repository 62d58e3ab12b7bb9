#ifndef NIBU_ENGINE_SCHEDULE_SOLO_THREADS_H_
#define NIBU_ENGINE_SCHEDULE_SOLO_THREADS_H_

#include <algorithm>

namespace nibu::internal {

// Whether threads inside the matmuls of a single sentence pay, learned from the time that steps
// take: they do where cores are idle and weights are large. Where other programs use the cores,
// threads wait for each other, and a step may take a hundred times as long. One of the two ways is
// the usual one; now and then the other is tried for a few steps. Not thread-safe.
class SoloThreads {
 public:
  // Whether the next step should use threads. Followed by Took.
  bool Next() {
    const bool threads = until_trial_ > 0 ? usual_ : !usual_;
    is_first_ = threads != last_;
    last_ = threads;
    return threads;
  }

  // The seconds of that step.
  void Took(double seconds) {
    if (!is_first_) Add(seconds);  // in the first, threads wake up and primitives are made
    if (until_trial_ > 0) {
      --until_trial_;
      if (usual_ && Average(true) > Average(false)) SetUsual(false);
      if (until_trial_ == 0) Average(!usual_) = 0;
      return;
    }
    const bool is_hopeless = seconds > (is_first_ ? 20 : 2) * Average(usual_);
    if (++tried_ == kTrial || is_hopeless) EndTrial();
  }

  // Whether they are the usual way; not before they have been tried.
  bool pay() const { return usual_; }

 private:
  static constexpr int kTrial = 4;       // steps, of which the first does not count
  static constexpr int kPause = 128;     // steps between trials
  static constexpr int kLongest = 8192;  // the same, where threads do not pay again and again

  double& Average(bool threads) { return average_[threads ? 1 : 0]; }
  void Add(double seconds) {
    double& average = Average(last_);
    average = average == 0 ? seconds : average + (seconds - average) / 4;
  }

  void SetUsual(bool threads) {
    usual_ = threads;
    pause_ = kPause;
    until_trial_ = pause_;
  }

  void EndTrial() {
    tried_ = 0;
    const double other = Average(!usual_);  // 0: ended with its first step
    const bool is_faster = other > 0 && other < Average(usual_);
    if (is_faster) return SetUsual(!usual_);
    if (!usual_) pause_ = std::min(2 * pause_, kLongest);
    until_trial_ = pause_;
  }

  bool usual_ = false;
  bool last_ = true;  // so that the first step of all is one, too
  bool is_first_ = true;
  int until_trial_ = 2;
  int tried_ = 0;  // steps of this trial
  int pause_ = kPause;
  double average_[2] = {};  // seconds of a step without threads and with; 0: not known
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_SOLO_THREADS_H_
