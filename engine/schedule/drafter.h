// Draft-and-verify decoding, the greedy case (Leviathan et al. 2023, "Fast inference from
// Transformers via speculative decoding"): a second, smaller model guesses the next tokens of a
// sentence one by one, and the model itself checks them all in one step. What is generated does not
// depend on the guesses, how fast it is does.
#ifndef NIBU_ENGINE_SCHEDULE_DRAFTER_H_
#define NIBU_ENGINE_SCHEDULE_DRAFTER_H_

#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/core/logits.h"
#include "engine/model/decoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/output_layer.h"
#include "engine/model/prepared_model.h"
#include "engine/model/weights.h"
#include "engine/search/logit_edits.h"
#include "engine/search/search_plan.h"
#include "engine/search/top_k.h"

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

  // Returns the tokens with which the draft model's decoder starts a sentence of this plan.
  std::vector<int> StartFor(const SearchPlan& plan) const;

  // Appends guesses of how a sentence goes on to `tokens`, `most` at most: no EOS, and perhaps
  // nothing. `edits`: what the rules of the search do to the logits of the first of them; the draft
  // model's logits are edited in the same way. Rewinds the workspace's arena.
  void Guess(Sentence* sentence, int most, const LogitEdits& edits, std::vector<int>* tokens);

 private:
  // Finds the best token of a row of edited logits.
  class BestToken final : public LogitSink {
   public:
    void Start(const LogitEdits* edits) {
      edits_ = edits;
      best_.Reset(1);
    }
    void Edit(const LogitTokens& tokens, float* logits) const override {
      edits_->Apply(tokens, logits);
    }
    void Take(const LogitTokens& tokens, const float* logits) override {
      best_.Update(logits, tokens);
    }
    void SetLogSum(float /*log_sum*/) override {}
    // -1: no token is possible.
    int Finish() {
      const std::vector<Candidate>& best = best_.Finish();
      return best.empty() ? -1 : best[0].token;
    }

   private:
    const LogitEdits* edits_ = nullptr;  // outlive the row
    TopK best_;
  };

  void Encode(Sentence* sentence);
  // Returns the token that follows the sentence's tokens: perhaps an EOS, or -1 for none.
  int Next(Sentence* sentence, const LogitEdits& edits);

  const PreparedModel& draft_;
  Workspace* const workspace_;
  PagePool pool_;
  Decoder decoder_;
  OutputLayer output_;
  BestToken best_;
};

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SCHEDULE_DRAFTER_H_
