// How a sentence is to be decoded.
#ifndef NIBU_ENGINE_SEARCH_DECODING_OPTIONS_H_
#define NIBU_ENGINE_SEARCH_DECODING_OPTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engine/search/sampling.h"
#include "engine/search/shortlist.h"

namespace nibu::internal {

// The tokens that belong to every sentence without being its text.
struct Frame {
  std::vector<int> source_prefix;
  std::vector<int> source_suffix;
  // The tokens that the decoder is given before it generates, at least one (-1: a zero vector). In
  // neither the result nor its score.
  std::vector<int> decoder_start;

  // Positions of the source that are not its text.
  int source_extra() const { return static_cast<int>(source_prefix.size() + source_suffix.size()); }
  // Positions of the decoder before the first generated token's.
  int target_extra() const { return static_cast<int>(decoder_start.size()) - 1; }
};

// The program by whose rules a beam search ends and keeps hypotheses: see StopRule.
enum class SearchCompat : uint8_t { kNibu, kCTranslate2, kMarian, kHuggingFace };

// The treatment of a best hypothesis that repeats itself again and again.
enum class OnRepetition : uint8_t {
  kKeep,
  // The sentence is decoded once more with no_repeat_ngram_size, and the better hypothesis by the
  // plain score is taken. The others of an n-best list stay. It goes neither with alternatives nor
  // with several samples.
  kRetry,
};

// S: sum of the log-probabilities of the generated tokens. L: their number, EOS included.
struct DecodingOptions {
  int beam_size = 4;
  // Beam search goes on until round(beam_size * patience) hypotheses have finished (Kasai et al.
  // 2022).
  float patience = 1.0f;
  int num_hypotheses = 1;
  SearchCompat search_compat = SearchCompat::kNibu;
  // The early_stopping of kHuggingFace, which alone reads it: true, or false. ("never", which
  // compares with the best score that a live hypothesis may have at max_length, is taken for
  // false.)
  bool early_stopping = false;

  // score = (S - word_penalty * L) / L^length_penalty
  //       + coverage_penalty * sum over source positions of log min(attention they got, 1)
  float length_penalty = 1.0f;
  float word_penalty = 0.0f;
  float coverage_penalty = 0.0f;

  // In generated tokens, a prefix included. EOS has probability 0 in the first min_decoding_length
  // steps; at step max_decoding_length (never more than the model and the Translator have positions
  // for) a sentence is cut.
  int min_decoding_length = 1;
  int max_decoding_length = 256;
  // Above 0: a sentence is cut at this many generated tokens a source token (EOS counted in both),
  // too, but not before min_decoding_length.
  float max_length_factor = 0;
  // Any of them ends a hypothesis. Empty: the model's EOS.
  std::vector<int> end_tokens;

  // Logits of the tokens of a hypothesis: negative ones are multiplied by it, others divided
  // (Keskar et al. 2019). 1: none.
  float repetition_penalty = 1.0f;
  int no_repeat_ngram_size = 0;  // no n-gram of so many tokens comes twice; 0: any may
  std::vector<std::vector<int>> suppress_sequences;  // never generated
  bool disable_unk = false;                          // <unk> is never generated
  OnRepetition on_repetition = OnRepetition::kKeep;

  // Above 0, below 1: Request::target_prefix is no more than favoured: as long as a hypothesis
  // follows it, p' = (1 - beta) p, plus beta for its next token.
  float prefix_bias_beta = 0;
  // The num_hypotheses most probable tokens behind the prefix, each completed by a search of its
  // own; in the order of those tokens, the ones less probable than min_alternative_expansion_prob
  // left out, but for the first. An end token, none of them, has probability 0.
  bool return_alternatives = false;
  float min_alternative_expansion_prob = 0;
  // num_hypotheses samples. Needs beam_size 1.
  Sampling sampling;

  // Narrows the output layer to the tokens that are worth it for each source. Null: all tokens.
  std::shared_ptr<const Shortlist> shortlist;
  // false: scores may be left 0, which spares greedy search the log-softmax.
  bool return_scores = true;
  // Fills Hypothesis::attention with the cross-attention of a layer (negative: from the last one
  // on), the mean of its first heads (0: of all). No value: what the model says, as coverage wants.
  bool return_attention = false;
  std::optional<int> alignment_layer;
  std::optional<int> alignment_heads;
  // In place of the model's source_suffix and decoder_start: a multilingual model's languages.
  std::optional<Frame> frame;

  // InvalidArgument whose message begins with the option's name (beam_size < 1, num_hypotheses >
  // beam_size * patience, ...).
  absl::Status Validate() const;
  // Searches of one sentence, each for a hypothesis of its own.
  int branches() const { return return_alternatives || sampling.is_on() ? num_hypotheses : 1; }
  // Returns whether Request::constraints may go with them.
  bool allow_constraints() const;
  bool needs_attention() const { return return_attention || coverage_penalty != 0; }
};

// Returns (S - word_penalty * L) / L^length_penalty; 0 for no tokens. The coverage penalty is not
// in it.
inline float HypothesisScore(const DecodingOptions& options, float log_prob, size_t length) {
  const auto n = static_cast<float>(length);
  return length > 0 ? (log_prob - options.word_penalty * n) / std::pow(n, options.length_penalty)
                    : 0.0f;
}

// Returns round(beam_size * patience), at least 1.
inline int HypothesesToFinish(int beam_size, float patience) {
  return std::max(1, static_cast<int>(std::lround(static_cast<double>(beam_size) * patience)));
}

}  // namespace nibu::internal

#endif  // NIBU_ENGINE_SEARCH_DECODING_OPTIONS_H_
