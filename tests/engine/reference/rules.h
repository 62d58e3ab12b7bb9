// What may follow a list of tokens, and how probable it is: the options that are not a matter of
// searching.
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

// What log-probabilities are less than logits.
double LogSum(const std::vector<double>& logits);

// A model, and its weight in an ensemble.
struct Member {
  const Transformer* model;
  double weight = 1;
};

// The first tokens, and all but the last.
Tokens First(const Tokens& tokens, size_t count);
Tokens Without(const Tokens& tokens, size_t last);

class Rules {
 public:
  // All outlive it. The first model's is the frame.
  Rules(const std::vector<Member>& models, const Request& request);

  bool IsEnd(int token) const;
  // Whether EOS may follow so many tokens.
  bool MayEnd(size_t generated) const;
  struct Row {
    std::vector<double> logits;  // -infinity: never
    double log_sum = 0;
  };
  // Of all tokens behind these; of an ensemble the means.
  Row Logits(const Tokens& tokens, bool may_end);
  // log p, with the bias.
  std::vector<double> LogProbs(const Tokens& tokens, bool may_end);
  // [source]: where the token stands in it that follows these.
  std::vector<double> Attention(const Tokens& tokens);

  const Tokens& ends() const { return ends_; }
  // Tokens of an output, and of the source with its frame.
  size_t longest() const { return longest_; }
  size_t source_length() const { return source_.size(); }
  // The largest logit so far.
  double largest() const { return largest_; }
  void SetNoRepeatNgramSize(int size) { options_.no_repeat_ngram_size = size; }

 private:
  const Transformer::Output& Decode(size_t member, const Tokens& tokens);
  std::vector<double> LogitsOf(size_t member, const Tokens& tokens, bool may_end);

  const std::vector<Member> models_;
  const ModelConfig& config_;
  const Request& request_;
  DecodingOptions options_;
  Frame frame_;
  Tokens source_;
  std::vector<Matrix> encoded_;  // by each
  Tokens ends_;
  Tokens listed_;  // with a shortlist
  size_t longest_ = 0;
  double largest_ = 0;
  std::map<std::pair<size_t, Tokens>, Transformer::Output> decoded_;
};

}  // namespace reference
}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_REFERENCE_RULES_H_
