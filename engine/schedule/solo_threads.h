// Learns whether threads inside the matmuls of a single sentence pay.
//
//  1. There are two ways to run a step, without threads and with them. One is the usual way;
//     without threads, at first.
//  2. Each step's time goes into the moving average of its way. The first step after a change does
//     not count: in it, threads wake up and primitives are made.
//  3. After kPause steps of the usual way (the first time, after two), a trial runs kTrial steps of
//     the other one. It ends early in a step that takes more than twice (in its first step, 20
//     times) as long as usual.
//  4. If the other way was faster, it becomes the usual one. Each time that threads do not pay, the
//     pause doubles, up to kLongest.
//  5. If steps with threads become slower on average than those without were, the usual way is
//     without threads again, at once.
#ifndef NIBU_ENGINE_SCHEDULE_SOLO_THREADS_H_
#define NIBU_ENGINE_SCHEDULE_SOLO_THREADS_H_

#include <algorithm>

namespace nibu::internal {

// Threads pay where cores are idle and weights are large. Where other programs use the cores,
// threads wait for each other, and a step may take a hundred times as long. Not thread-safe.
class SoloThreads {
 public:
  // Returns whether the next step should use threads. A call of Took follows.
  bool Next() {
    const bool threads = until_trial_ > 0 ? usual_ : !usual_;
    is_first_ = threads != last_;
    last_ = threads;
    return threads;
  }

  // Takes the seconds of the step that the last Next was about.
  void Took(double seconds) {
    if (!is_first_) Add(seconds);
    if (until_trial_ > 0) {
      --until_trial_;
      if (usual_ && Average(true) > Average(false)) SetUsual(false);
      if (until_trial_ == 0) Average(!usual_) = 0;
      return;
    }
    const bool is_hopeless = seconds > (is_first_ ? 20 : 2) * Average(usual_);
    if (++tried_ == kTrial || is_hopeless) EndTrial();
  }

  // Returns whether threads are the usual way. They are not before they have been tried.
  bool pay() const { return usual_; }

 private:
  static constexpr int kTrial = 4;       // steps of a trial, the first of which does not count
  static constexpr int kPause = 128;     // steps between trials
  static constexpr int kLongest = 8192;  // the longest pause

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
    const double other = Average(!usual_);  // 0: the trial ended with its first step
    const bool is_faster = other > 0 && other < Average(usual_);
    if (is_faster) return SetUsual(!usual_);
    if (!usual_) pause_ = std::min(2 * pause_, kLongest);
    until_trial_ = pause_;
  }

  bool usual_ = false;      // true: with threads
  bool last_ = true;        // the way of the last step; at first, one that makes a change
  bool is_first_ = true;    // the step is the first one after a change
  int until_trial_ = 2;     // steps of the usual way before the next trial; 0: there is one now
  int tried_ = 0;           // steps of this trial
  int pause_ = kPause;      // steps between this trial and the next one
  double average_[2] = {};  // seconds of a step without threads and with; 0: not known
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_SOLO_THREADS_H_
