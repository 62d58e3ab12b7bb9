#include "engine/drafter.h"

#include <algorithm>
#include <utility>

#include "engine/model/encoder.h"

namespace nibu {

DraftModel::DraftModel(std::shared_ptr<const Model> draft, std::vector<int> start, int max_source,
                       int max_target)
    : model(std::move(draft)),
      decoder_start(std::move(start)),
      source_positions(std::min(max_source, model->config.max_positions)),
      target_positions(std::min(max_target, model->config.max_positions)),
      source(model->config, model->weights.source, source_positions),
      target(model->config, model->weights.target, target_positions) {}

void Drafter::Sentence::Start(const DraftModel& draft, absl::Span<const int> source,
                              absl::Span<const int> shortlist) {
  source_ = source;
  encoded_ = false;
  shortlist_ = shortlist;
  tokens_ = draft.decoder_start;
  generated_ = tokens_.size();
  most_ = kFirstGuesses;
}

void Drafter::Sentence::Append(absl::Span<const int> tokens) {
  // The guesses that were right stay as they are.
  size_t right = generated_;
  size_t next = 0;
  while (next < tokens.size() && right < tokens_.size() && tokens_[right] == tokens[next]) {
    ++right;
    ++next;
  }
  if (generated_ < tokens_.size()) {
    most_ = right == tokens_.size() ? std::min(most_ + 2, kMostGuesses) : std::max(most_ - 1, 1);
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

Drafter::Drafter(const DraftModel& draft, Workspace* workspace)
    : draft_(draft),
      workspace_(workspace),
      pool_(draft.model->config, CacheTypeOf(*draft.model), /*beam_size=*/1),
      decoder_(*draft.model, draft.target, workspace) {}

void Drafter::Guess(absl::Span<const Request> requests) {
  live_.clear();
  for (const Request& request : requests) {
    Sentence& sentence = *request.sentence;
    const bool fits = sentence.source_.size() <= static_cast<size_t>(draft_.source_positions);
    if (fits && request.most > 0) live_.push_back(request);
  }
  Encode(live_);
  while (true) {
    live_.erase(std::remove_if(live_.begin(), live_.end(),
                               [&](const Request& request) {
                                 const Sentence& sentence = *request.sentence;
                                 const size_t size = sentence.tokens_.size();
                                 const auto most =
                                     static_cast<size_t>(std::min(request.most, sentence.most_));
                                 return size - sentence.generated_ == most ||
                                        size > static_cast<size_t>(draft_.target_positions) ||
                                        // No guess followed the last one.
                                        sentence.state_.length() == static_cast<int>(size);
                               }),
                live_.end());
    if (live_.empty()) break;
    Step(live_);
  }
}

void Drafter::Encode(absl::Span<const Request> requests) {
  std::vector<absl::Span<const int>> sources;
  std::vector<DecoderState*> states;
  for (const Request& request : requests) {
    Sentence& sentence = *request.sentence;
    if (sentence.encoded_) continue;
    sentence.encoded_ = true;
    sentence.state_.Start(draft_.model->config, &pool_, static_cast<int>(sentence.source_.size()),
                          kMostGuesses);
    if (!sentence.shortlist_.empty()) {
      sentence.output_ = Decoder::Select(draft_.model->weights.output,
                                         {sentence.shortlist_.begin(), sentence.shortlist_.end()});
    }
    sources.push_back(sentence.source_);
    states.push_back(&sentence.state_);
  }
  if (sources.empty()) return;
  ScopedTimer timer(&workspace_->profile.encoder);
  workspace_->arena.Rewind(0);
  const float* encoded = nibu::Encode(*draft_.model, draft_.source, sources, workspace_);
  decoder_.Begin(encoded, states);
}

// One more guess for each.
void Drafter::Step(absl::Span<const Request> requests) {
  workspace_->arena.Rewind(0);
  inputs_.clear();
  queries_.clear();
  for (const Request& request : requests) {
    Sentence& sentence = *request.sentence;
    const auto held = static_cast<size_t>(sentence.state_.length());
    inputs_.push_back(
        {&sentence.state_, absl::MakeConstSpan(sentence.tokens_).subspan(held), true});
    queries_.push_back({1, /*normalize=*/false, request.suppressed,
                        sentence.output_.tokens.empty() ? nullptr : &sentence.output_});
  }
  const float* rows = decoder_.Step(inputs_);
  // Of each sentence the newest row counts.
  const int dim = draft_.model->config.d_model;
  float* newest = workspace_->Rows(static_cast<int>(requests.size()), dim);
  float* to = newest;
  for (const Decoder::Input& input : inputs_) {
    rows += input.tokens.size() * static_cast<size_t>(dim);
    to = std::copy(rows - dim, rows, to);
  }
  if (tops_.size() < queries_.size()) tops_.resize(queries_.size());
  decoder_.BestTokens(newest, queries_, absl::MakeSpan(tops_));
  ScopedTimer timer(&workspace_->profile.search);
  for (size_t i = 0; i < requests.size(); ++i) {
    const absl::Span<const Candidate> best = tops_[i].Finish();
    if (best.empty() || best[0].token == draft_.model->config.eos) continue;
    requests[i].sentence->tokens_.push_back(best[0].token);
    requests[i].tokens->push_back(best[0].token);
  }
}

}  // namespace nibu
