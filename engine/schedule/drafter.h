// Draft-and-verify decoding, the greedy case (Leviathan et al. 2023, "Fast inference from
// Transformers via speculative decoding"): a second, smaller model guesses the next tokens of a
// sentence one by one, and the model itself checks them all in one step. What is generated does not
// depend on the guesses, how fast it is does.
#ifndef NIBU_ENGINE_SCHEDULE_DRAFTER_H_
#define NIBU_ENGINE_SCHEDULE_DRAFTER_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/decoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/output_layer.h"
#include "engine/model/prepared_model.h"
#include "engine/model/weights.h"
#include "engine/ops/top_k.h"

namespace nibu::internal {

// Guesses for one worker's sentences. Not thread-safe. Allocates nothing in a warm Guess.
class Drafter {
 public:
  // Tokens guessed for a step, at most: matmuls of four rows take little longer than those of one.
  // One less after a wrong guess, down to one, so that a draft that is often wrong costs little.
  static constexpr int kMostGuesses = 3;

  // A sentence, reused from one to the next.
  class Sentence {
   public:
    // `decoder_start`: see Frame. `source` and `shortlist` (the tokens that are worth it; empty:
    // all) outlive the sentence.
    void Start(const std::vector<int>& decoder_start, absl::Span<const int> source,
               absl::Span<const int> shortlist);
    // `tokens` have been generated behind those before; they need not be what was guessed.
    void Append(absl::Span<const int> tokens);
    // Hands its memory back.
    void Release();

   private:
    friend class Drafter;
    absl::Span<const int> source_;
    absl::Span<const int> shortlist_;
    DecoderState state_;
    OutputSubset output_;
    bool encoded_ = false;     // since the first guess
    std::vector<int> tokens_;  // decoder_start, what has been generated, what is guessed
    size_t generated_ = 0;     // of tokens_, without the guesses
    int most_ = 0;             // guesses for the next step
  };

  // Both outlive the drafter.
  Drafter(const PreparedModel& draft, Workspace* workspace);

  // Appends guesses of how a sentence goes on to `tokens`, `most` at most: no EOS, and perhaps
  // nothing. `suppressed`: see OutputLayer::Query. Rewinds the workspace's arena.
  void Guess(Sentence* sentence, int most, absl::Span<const int> suppressed,
             std::vector<int>* tokens);

 private:
  void Encode(Sentence* sentence);
  // What follows the sentence's tokens: perhaps an EOS, or -1 for nothing.
  int Next(Sentence* sentence, absl::Span<const int> suppressed);

  const PreparedModel& draft_;
  Workspace* const workspace_;
  PagePool pool_;
  Decoder decoder_;
  OutputLayer output_;
  TopK top_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_DRAFTER_H_
