// The options that forbid tokens or change their probabilities, each written as it is described.
#include "tests/engine/reference/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/plan.h"

namespace nibu::internal {
namespace reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool EndsWith(const Tokens& tokens, const Tokens& end) {
  return tokens.size() >= end.size() &&
         std::equal(end.begin(), end.end(), tokens.end() - static_cast<long>(end.size()));
}

bool Contains(const Tokens& tokens, int token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

}  // namespace

Tokens First(const Tokens& tokens, size_t count) {
  return {tokens.begin(), tokens.begin() + static_cast<long>(count)};
}

Tokens Without(const Tokens& tokens, size_t last) {
  return {tokens.begin(), tokens.end() - static_cast<long>(last)};
}

double LogSum(const std::vector<double>& logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  if (most == -kInfinity) return 0;
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - most);
  return most + std::log(sum);
}

Rules::Rules(const std::vector<Member>& models, const Request& request)
    : models_(models),
      config_(models[0].model->config()),
      request_(request),
      options_(request.options) {
  frame_ = FrameFor(options_, config_);
  source_ = frame_.source_prefix;
  source_.insert(source_.end(), request.source.begin(), request.source.end());
  source_.insert(source_.end(), frame_.source_suffix.begin(), frame_.source_suffix.end());
  for (const Member& member : models_) encoded_.push_back(member.model->Encode(source_));
  ends_ = options_.end_tokens.empty() ? Tokens{config_.eos} : options_.end_tokens;
  const auto positions = static_cast<size_t>(config_.max_positions);
  longest_ = std::min(static_cast<size_t>(options_.max_decoding_length),
                      positions - (frame_.decoder_start.size() - 1));
  if (options_.max_length_factor > 0) {
    const float most = options_.max_length_factor * static_cast<float>(source_.size());
    longest_ = std::min(longest_, std::max({size_t{1}, static_cast<size_t>(std::min(most, 1e6f)),
                                            static_cast<size_t>(options_.min_decoding_length)}));
  }
  if (options_.shortlist != nullptr) {
    Tokens needed = ends_;
    needed.insert(needed.end(), request.target_prefix.begin(), request.target_prefix.end());
    if (request.target) {
      needed.insert(needed.end(), request.target->begin(), request.target->end());
    }
    listed_ = options_.shortlist->Candidates(source_, config_.vocab_target, needed);
  }
}

bool Rules::IsEnd(int token) const { return Contains(ends_, token); }

const Transformer::Output& Rules::Decode(size_t member, const Tokens& tokens) {
  const auto known = decoded_.find({member, tokens});
  if (known != decoded_.end()) return known->second;
  const Transformer& model = *models_[member].model;
  Tokens all = frame_.decoder_start;
  if (!options_.frame) all[0] = model.config().decoder_start;
  all.insert(all.end(), tokens.begin(), tokens.end());
  const auto& output = decoded_[{member, tokens}] = model.Decode(encoded_[member], all);
  for (const double logit : output.logits) {
    largest_ = std::max(largest_, std::abs(logit));
  }
  return output;
}

Rules::Row Rules::Logits(const Tokens& tokens, bool may_end) {
  Row row;
  row.logits.resize(static_cast<size_t>(config_.vocab_target));
  const bool has_rules = !request_.target || options_.score_as_search;
  const bool edits_log_probs = has_rules && !options_.sampling.is_on() &&
                               ((options_.hugging_face_rules && options_.beam_size > 1) ||
                                (options_.search_compat == SearchCompat::kMarian &&
                                 options_.return_scores && options_.repetition_penalty == 1));
  for (size_t m = 0; m < models_.size(); ++m) {
    std::vector<double> logits = Decode(m, tokens).logits;
    for (int t = 0; has_rules && options_.shortlist != nullptr && t < config_.vocab_target; ++t) {
      if (!Contains(listed_, t)) logits[static_cast<size_t>(t)] = -kInfinity;
    }
    if (has_rules && !edits_log_probs) Edit(tokens, may_end, &logits);
    for (size_t t = 0; t < row.logits.size(); ++t) row.logits[t] += models_[m].weight * logits[t];
    row.log_sum += models_[m].weight * LogSum(logits);
  }
  if (!edits_log_probs) return row;
  for (double& logit : row.logits) logit -= row.log_sum;
  row.log_sum = 0;
  Edit(tokens, may_end, &row.logits);
  return row;
}

void Rules::Edit(const Tokens& tokens, bool may_end, std::vector<double>* scores) const {
  std::vector<double>& logits = *scores;
  const auto forbid = [&](int token) { logits[static_cast<size_t>(token)] = -kInfinity; };
  if (options_.repetition_penalty != 1) {
    const auto penalty = static_cast<double>(options_.repetition_penalty);
    for (int t = 0; t < config_.vocab_target; ++t) {
      if (!Contains(tokens, t) &&
          !(options_.hugging_face_rules && Contains(frame_.decoder_start, t))) {
        continue;
      }
      double& logit = logits[static_cast<size_t>(t)];
      logit = logit < 0 ? logit * penalty : logit / penalty;
    }
  }
  for (int t = 0; t < config_.vocab_target; ++t) {
    Tokens next = tokens;
    next.push_back(t);
    const auto n = static_cast<size_t>(options_.no_repeat_ngram_size);
    if (n > 0 && next.size() > n) {
      const Tokens last(next.end() - static_cast<long>(n), next.end());
      for (size_t k = 1; k + n <= next.size(); ++k) {
        if (EndsWith(Without(next, k), last)) forbid(t);
      }
    }
    for (const Tokens& sequence : options_.suppress_sequences) {
      if (EndsWith(next, sequence)) forbid(t);
    }
    if (!may_end && IsEnd(t)) forbid(t);
  }
  const bool forces = !request_.target && options_.prefix_bias_beta == 0;
  if (tokens.size() == (forces ? request_.target_prefix.size() : 0)) {
    for (const int token : options_.begin_suppress_tokens) forbid(token);
  }
  if (options_.disable_unk) forbid(config_.unk_target);
  for (const int token : config_.suppressed) forbid(token);
}

bool Rules::MayEnd(size_t generated) const {
  return generated >= static_cast<size_t>(options_.min_decoding_length);
}

std::vector<double> Rules::LogProbs(const Tokens& tokens, bool may_end) {
  const Row row = Logits(tokens, may_end);
  std::vector<double> log_probs = row.logits;
  for (double& log_prob : log_probs) log_prob -= row.log_sum;
  const Tokens& prefix = request_.target_prefix;
  const bool follows = options_.prefix_bias_beta > 0 && !request_.target &&
                       tokens.size() < prefix.size() &&
                       std::equal(tokens.begin(), tokens.end(), prefix.begin());
  if (!follows) return log_probs;
  const auto beta = static_cast<double>(options_.prefix_bias_beta);
  for (int t = 0; t < config_.vocab_target; ++t) {
    double& log_prob = log_probs[static_cast<size_t>(t)];
    if (log_prob == -kInfinity) continue;  // The token is never generated.
    double p = (1 - beta) * std::exp(log_prob);
    if (t == prefix[tokens.size()]) p += beta;
    log_prob = p > 0 ? std::log(p) : std::log1p(-beta) + log_prob;
  }
  return log_probs;
}

std::vector<double> Rules::Attention(const Tokens& tokens) {
  const auto& output = Decode(0, tokens);
  const int layer = options_.alignment_layer.value_or(config_.alignment_layer);
  int heads = options_.alignment_heads.value_or(config_.alignment_heads);
  if (heads == 0) heads = config_.heads_decoder;
  const std::vector<Matrix>& of_heads =
      output.cross[static_cast<size_t>(layer < 0 ? layer + config_.layers_decoder : layer)];
  std::vector<double> row(source_.size());
  for (size_t h = 0; h < static_cast<size_t>(heads); ++h) {
    for (size_t s = 0; s < row.size(); ++s) row[s] += of_heads[h].back()[s] / heads;
  }
  return row;
}

}  // namespace reference
}  // namespace nibu::internal
