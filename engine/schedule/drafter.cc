// Guesses by a draft model: a decoder and an output layer of its own, in the worker's workspace.
#include "engine/schedule/drafter.h"

#include <algorithm>

#include "engine/model/encoder.h"

namespace nibu::internal {

void Drafter::Sentence::Start(const std::vector<int>& decoder_start, absl::Span<const int> source,
                              absl::Span<const int> shortlist) {
  source_ = source;
  encoded_ = false;
  shortlist_ = shortlist;
  tokens_ = decoder_start;
  generated_ = tokens_.size();
  most_ = kMostGuesses;
}

// The guesses that were right stay, with their keys and values; the others are replaced.
void Drafter::Sentence::Append(absl::Span<const int> tokens) {
  size_t right = generated_;  // tokens_ in front of it are right
  size_t next = 0;
  while (next < tokens.size() && right < tokens_.size() && tokens_[right] == tokens[next]) {
    ++right;
    ++next;
  }
  if (generated_ < tokens_.size()) {
    most_ = right == tokens_.size() ? std::min(most_ + 1, kMostGuesses) : std::max(most_ - 1, 1);
  }
  tokens_.resize(right);
  if (encoded_ && state_.length() > static_cast<int>(right)) {
    state_.Truncate(static_cast<int>(right));
  }
  tokens_.insert(tokens_.end(), tokens.begin() + static_cast<long>(next), tokens.end());
  generated_ = tokens_.size();
}

void Drafter::Sentence::Release() {
  if (encoded_) state_.Release();
  encoded_ = false;
  output_ = {};
}

Drafter::Drafter(const PreparedModel& draft, Workspace* workspace)
    : draft_(draft),
      workspace_(workspace),
      pool_(draft.model->config, CacheTypeOf(*draft.model), workspace->memory),
      decoder_(*draft.model, draft.target, workspace),
      output_(*draft.model, workspace) {}

std::vector<int> Drafter::StartFor(const SearchPlan& plan) const {
  if (plan.options().frame.has_value()) return plan.frame().decoder_start;
  return {draft_.model->config.decoder_start};
}

// A source that is longer than the draft model's positions gets no guesses, nor do positions of the
// target beyond them.
void Drafter::Guess(Sentence* sentence, int most, const LogitEdits& edits,
                    std::vector<int>* tokens) {
  if (sentence->source_.size() > static_cast<size_t>(draft_.source_positions)) return;
  most = std::min(most, sentence->most_);
  std::vector<int>& all = sentence->tokens_;
  for (int i = 0; i < most && all.size() <= static_cast<size_t>(draft_.target_positions); ++i) {
    if (!sentence->encoded_) Encode(sentence);
    const int next = Next(sentence, edits);
    if (next < 0 || next == draft_.model->config.eos) break;
    all.push_back(next);
    tokens->push_back(next);
  }
}

void Drafter::Encode(Sentence* sentence) {
  sentence->encoded_ = true;
  sentence->state_.Start(draft_.model->config, &pool_, static_cast<int>(sentence->source_.size()),
                         /*beam_size=*/1, kMostGuesses);
  if (!sentence->shortlist_.empty()) {
    sentence->output_.tokens.assign(sentence->shortlist_.begin(), sentence->shortlist_.end());
    output_.Select({&sentence->output_});
  }
  ScopedTimer timer(&workspace_->profile.encoder);
  workspace_->arena.Rewind(0);
  decoder_.Begin(
      nibu::internal::Encode(*draft_.model, draft_.source, {sentence->source_}, workspace_),
      {&sentence->state_});
}

// Runs the decoder on all tokens whose keys and values are not held yet, in one step. The logits of
// the last of them give the next token.
int Drafter::Next(Sentence* sentence, const LogitEdits& edits) {
  workspace_->arena.Rewind(0);
  const auto held = static_cast<size_t>(sentence->state_.length());
  const auto tokens = absl::MakeConstSpan(sentence->tokens_).subspan(held);
  const Decoder::Input input{&sentence->state_, tokens, /*consecutive=*/true};
  const RowSpan<const float> rows = decoder_.Step({&input, 1});
  best_.Start(&edits);
  const OutputLayer::Query query{static_cast<int>(tokens.size()) - 1, &best_,
                                 sentence->output_.tokens.empty() ? nullptr : &sentence->output_};
  output_.Run({&rows, 1}, {&query, 1});
  return best_.Finish();
}

}  // namespace nibu::internal
