// The options of decoding, with their defaults, their meanings and the papers behind them.
#ifndef NIBU_ENGINE_SEARCH_DECODING_OPTIONS_H_
#define NIBU_ENGINE_SEARCH_DECODING_OPTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engine/core/check_range.h"
#include "engine/search/sampling.h"
#include "engine/search/shortlist.h"
#include "nibu/engine.h"

namespace nibu::internal {

// The tokens that belong to every sentence without being its text.
struct Frame {
  std::vector<int> source_prefix;
  std::vector<int> source_suffix;
  // The tokens that the decoder is given before it generates, at least one (-1: a zero vector).
  // They are neither in the result nor in its score.
  std::vector<int> decoder_start;

  // Returns the number of positions of the source that are not its text.
  int source_extra() const { return static_cast<int>(source_prefix.size() + source_suffix.size()); }
  // Returns the number of decoder positions before the one that generates the first token.
  int target_extra() const { return static_cast<int>(decoder_start.size()) - 1; }
};

// In the comments, S is the sum of the log-probabilities of the generated tokens, and L is their
// number, EOS included.
struct DecodingOptions {
  static constexpr Range<int> kBeamSizes = {1, 1024};
  int beam_size = kDefaultBeamSize;
  // Beam search goes on until round(beam_size * patience) hypotheses have finished (Kasai et al.
  // 2022).
  static constexpr float kMostPatience = 1024;  // and above 0
  float patience = 1.0f;
  int num_hypotheses = 1;
  SearchCompat search_compat = SearchCompat::kNibu;  // see StopRule
  // early_stopping of Hugging Face; only kHuggingFace reads it. (Its third value "never", which
  // compares with the best score that a live hypothesis may have at max_length, is treated as
  // false.)
  bool early_stopping = false;

  // score = (S - word_penalty * L) / L^length_penalty
  //       + coverage_penalty * sum over source positions of log min(attention to it, 1)
  static constexpr Range<double> kLengthPenalties = {-8, 8};
  static constexpr Range<double> kPenalties = {-1e6, 1e6};  // of words and of coverage
  float length_penalty = 1.0f;
  float word_penalty = 0.0f;
  float coverage_penalty = 0.0f;

  // Both count generated tokens, a prefix included. EOS has probability 0 in the first
  // min_decoding_length steps. A sentence is cut at step max_decoding_length, or earlier if the
  // model or the Translator has no more positions.
  int min_decoding_length = 1;
  int max_decoding_length = kDefaultMaxDecodingLength;
  // Above 0: a sentence is also cut when it has so many generated tokens for each source token (EOS
  // counted in both), but not before min_decoding_length.
  float max_length_factor = 0;
  // Each of them ends a hypothesis. Empty: the model's EOS.
  std::vector<int> end_tokens;

  // The logits of tokens that a hypothesis already has are multiplied by it if they are negative,
  // and divided by it otherwise (Keskar et al. 2019). 1: they stay as they are.
  static constexpr Range<double> kRepetitionPenalties = {1e-3, 1e6};
  float repetition_penalty = 1.0f;
  int no_repeat_ngram_size = 0;  // no n-gram of so many tokens comes twice; 0: any may
  std::vector<std::vector<int>> suppress_sequences;  // never generated
  std::vector<int> begin_suppress_tokens;            // never generated behind the forced prefix
  bool disable_unk = false;                          // <unk> is never generated
  // True: the rules are applied as Hugging Face's transformers applies them. The repetition penalty
  // is for the tokens of Frame::decoder_start, too, and in beam search the rules change
  // log-probabilities, which are not normalized again, instead of logits.
  bool hugging_face_rules = false;
  // kRetry is about the best hypothesis (see Passes): the others of an n-best list stay. It cannot
  // be combined with alternatives, nor with several samples.
  OnRepetition on_repetition = OnRepetition::kKeep;

  // 0: translations begin with Request::target_prefix. Above 0 and below 1: the prefix is only
  // favoured. As long as a hypothesis follows it, probabilities are p' = (1 - beta) p, plus beta
  // for the prefix' next token.
  float prefix_bias_beta = 0;
  // Takes the num_hypotheses most probable tokens behind the prefix and completes each by a search
  // of its own. The hypotheses come in the order of those tokens. Tokens less probable than
  // min_alternative_expansion_prob are left out, except for the first; end tokens are never taken.
  bool return_alternatives = false;
  float min_alternative_expansion_prob = 0;
  // With sampling, the hypotheses are num_hypotheses samples. It needs a beam_size of 1.
  Sampling sampling;

  // false: a target that is scored gets the model's own probabilities, among all tokens. true: it
  // gets those that a search would see, with the options of this struct and without the tokens that
  // the model excludes.
  bool score_as_search = true;

  // Restricts the output layer to the tokens that may translate each source. Null: all tokens.
  std::shared_ptr<const Shortlist> shortlist;
  // false: greedy search may leave out the log-softmax; scores are then made of logits.
  bool return_scores = true;
  // Fills Hypothesis::attention with the cross-attention of a layer (negative: counted from the
  // last one), averaged over its first heads (0: over all). No value: the layer and the heads that
  // the model names; the coverage penalty needs these.
  bool return_attention = false;
  std::optional<int> alignment_layer;
  std::optional<int> alignment_heads;
  // Replaces the model's source_suffix and decoder_start, for example by the languages of a
  // multilingual model.
  std::optional<Frame> frame;

  // Checks the ranges of the options and their combinations. InvalidArgument: its message begins
  // with the option's name.
  absl::Status Validate() const;
  // Returns the number of branches of a search: see BeamSearch.
  int branches() const { return return_alternatives || sampling.is_on() ? num_hypotheses : 1; }
  // Returns whether Request::constraints may go with them.
  bool allow_constraints() const;
  // Returns whether rules change log-probabilities, which are not normalized again, instead of
  // logits. Marian, too, excludes <unk> only after it has normalized them. (Greedy search without
  // scores chooses the same tokens either way.)
  bool edits_log_probs() const {
    return (hugging_face_rules && beam_size > 1) ||
           (search_compat == SearchCompat::kMarian && return_scores && repetition_penalty == 1);
  }
  bool needs_attention() const { return return_attention || coverage_penalty != 0; }
};

// Returns (S - word_penalty * L) / L^length_penalty, the score without the coverage penalty; 0 for
// no tokens. transformers counts in L a token that is forced behind the decoder's start.
inline float HypothesisScore(const DecodingOptions& options, float log_prob, size_t length) {
  const bool counts_forced =
      options.search_compat == SearchCompat::kHuggingFace && options.frame.has_value();
  const auto n = static_cast<float>(length) +
                 static_cast<float>(counts_forced ? options.frame->target_extra() : 0);
  return length > 0 ? (log_prob - options.word_penalty * n) / std::pow(n, options.length_penalty)
                    : 0.0f;
}

// Returns round(beam_size * patience), at least 1.
inline int HypothesesToFinish(int beam_size, float patience) {
  return std::max(1, static_cast<int>(std::lround(static_cast<double>(beam_size) * patience)));
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_DECODING_OPTIONS_H_
