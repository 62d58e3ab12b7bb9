// Draft-and-verify decoding, the greedy case (Leviathan et al. 2023, "Fast inference from
// Transformers via speculative decoding"): a second, smaller model guesses the next tokens of a
// sentence one by one, and the model itself checks them all in one step (Slot::Verify). The guesses
// never change a translation, only the time that it takes.
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

// Guesses tokens of one worker's sentences. Not thread-safe. Guess allocates nothing once it has
// warmed up.
class Drafter {
 public:
  // The most tokens guessed for a step: matmuls of four rows take little longer than those of one.
  // A sentence gets one guess less after a wrong one, down to one, so that a draft model that is
  // often wrong costs little, and one more after a step in which all were right.
  static constexpr int kMostGuesses = 3;

  // The draft model's state of a sentence. Reused from one sentence to the next.
  class Sentence {
   public:
    // `decoder_start`: see Frame. `shortlist`: the tokens that may be generated; empty: all.
    // `source` and `shortlist` outlive the sentence.
    void Start(const std::vector<int>& decoder_start, absl::Span<const int> source,
               absl::Span<const int> shortlist);
    // Says that the model has generated `tokens` behind those before, whether or not they are those
    // that were guessed.
    void Append(absl::Span<const int> tokens);
    // Hands all memory back that other sentences can use.
    void Release();

   private:
    friend class Drafter;
    absl::Span<const int> source_;
    absl::Span<const int> shortlist_;
    DecoderState state_;
    OutputSubset output_;
    bool encoded_ = false;     // the draft model has read the source: not before the first guess
    std::vector<int> tokens_;  // decoder_start, the tokens that were generated, the guesses
    size_t generated_ = 0;     // the number of tokens_ in front of the guesses
    int most_ = 0;             // the most guesses for the next step
  };

  // Both arguments outlive the drafter.
  Drafter(const PreparedModel& draft, Workspace* workspace);

  // Returns the tokens with which the draft model's decoder starts a sentence of this plan.
  std::vector<int> StartFor(const SearchPlan& plan) const;

  // Appends to `tokens` up to `most` guesses of how a sentence continues, perhaps none, and never
  // an EOS. `edits`: what the rules of the search do to the logits of the next token; the draft
  // model's logits of all guesses are edited in this way. Rewinds the workspace's arena.
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
    // Returns the best token, or -1 if no token is possible.
    int Finish() {
      const std::vector<Candidate>& best = best_.Finish();
      return best.empty() ? -1 : best[0].token;
    }

   private:
    const LogitEdits* edits_ = nullptr;  // they outlive the row
    TopK best_;
  };

  // Runs the draft model's encoder on the source.
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
