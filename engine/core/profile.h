// Measures how much time a worker spends in each part of a step.
#ifndef NIBU_ENGINE_CORE_PROFILE_H_
#define NIBU_ENGINE_CORE_PROFILE_H_

#include <chrono>

namespace nibu::internal {

// The seconds spent in each part. Those of the encoder include its matmuls and attention.
struct Profile {
  double encoder = 0;
  double decoder_matmul = 0;
  double attention = 0;  // self-attention and cross-attention of the decoder
  double search = 0;     // top-k, log-softmax and beam bookkeeping

  void operator+=(const Profile& other) {
    encoder += other.encoder;
    decoder_matmul += other.decoder_matmul;
    attention += other.attention;
    search += other.search;
  }
};

// Adds the time from its construction to its destruction to a counter.
class ScopedTimer {
 public:
  explicit ScopedTimer(double* seconds)
      : seconds_(seconds), start_(std::chrono::steady_clock::now()) {}
  ~ScopedTimer() {
    *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double* seconds_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_CORE_PROFILE_H_
