// The probabilities of the tokens that may follow a list of tokens: the part of the options that
// does not depend on the search.
#ifndef NIBU_TESTS_ENGINE_REFERENCE_RULES_H_
#define NIBU_TESTS_ENGINE_REFERENCE_RULES_H_

#include <map>
#include <utility>
#include <vector>

#include "engine/request.h"
#include "tests/engine/reference/transformer.h"

namespace nibu::internal {
namespace reference {

using Tokens = std::vector<int>;

// Returns log(sum(exp(logits))), by which log-probabilities are less than logits.
double LogSum(const std::vector<double>& logits);

// A model and its weight in an ensemble.
struct Member {
  const Transformer* model;
  double weight = 1;
};

// Returns the first `count` tokens, and all but the last `last`.
Tokens First(const Tokens& tokens, size_t count);
Tokens Without(const Tokens& tokens, size_t last);

class Rules {
 public:
  // All arguments must outlive the object. The frame is the first model's.
  Rules(const std::vector<Member>& models, const Request& request);

  bool IsEnd(int token) const;
  // Returns whether EOS may follow so many tokens.
  bool MayEnd(size_t generated) const;
  struct Row {
    std::vector<double> logits;  // -infinity: the token is never generated
    double log_sum = 0;
  };
  // Returns the logits of all tokens that may follow these; for an ensemble, their weighted means.
  Row Logits(const Tokens& tokens, bool may_end);
  // Returns the log-probabilities, the bias of a biased prefix included.
  std::vector<double> LogProbs(const Tokens& tokens, bool may_end);
  // Returns the attention to the source, [source], of the token that follows these.
  std::vector<double> Attention(const Tokens& tokens);

  const Tokens& ends() const { return ends_; }
  // Returns the most tokens of an output; and the number of source tokens, the frame included.
  size_t longest() const { return longest_; }
  size_t source_length() const { return source_.size(); }
  // Returns the largest logit so far.
  double largest() const { return largest_; }
  void SetNoRepeatNgramSize(int size) { options_.no_repeat_ngram_size = size; }

 private:
  const Transformer::Output& Decode(size_t member, const Tokens& tokens);
  // Does what the rules do to logits or log-probabilities.
  void Edit(const Tokens& tokens, bool may_end, std::vector<double>* scores) const;

  const std::vector<Member> models_;
  const ModelConfig& config_;
  const Request& request_;
  DecodingOptions options_;
  Frame frame_;
  Tokens source_;
  std::vector<Matrix> encoded_;  // one for each model
  Tokens ends_;
  Tokens listed_;  // the tokens of the shortlist, if there is one
  size_t longest_ = 0;
  double largest_ = 0;
  std::map<std::pair<size_t, Tokens>, Transformer::Output> decoded_;
};

}  // namespace reference
}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_RULES_H_
