// Helpers that have requests with options of their own decoded together, and that compare results
// bit for bit.
#ifndef NIBU_TESTS_ENGINE_ASKING_H_
#define NIBU_TESTS_ENGINE_ASKING_H_

#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engine/translator.h"
#include "gtest/gtest.h"

namespace nibu::internal {

// Returns the results of the requests, or the errors in their place, in the order of the requests.
inline std::vector<Result> AskAll(const std::shared_ptr<const Model>& model,
                                  const TranslatorOptions& options,
                                  const std::vector<Request>& requests) {
  std::vector<Result> results(requests.size());
  auto translator = Translator::Create(model, options);
  EXPECT_TRUE(translator.ok()) << translator.status();
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto ticket =
        (*translator)
            ->Submit(
                requests[i],
                [&results, i](uint64_t /*key*/, Result result) { results[i] = std::move(result); },
                std::chrono::nanoseconds::max());
    if (!ticket.ok()) results[i] = ticket.status();
  }
  translator->reset();  // The destructor waits for all results.
  return results;
}

inline Result Ask(const std::shared_ptr<const Model>& model, const Request& request) {
  return AskAll(model, {}, {request})[0];
}

inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Compares all that a result says.
inline bool SameBits(const Result& a, const Result& b) {
  if (!a.ok() || !b.ok()) return a.status() == b.status();
  if (a->size() != b->size()) return false;
  for (size_t n = 0; n < a->size(); ++n) {
    const Hypothesis& x = (*a)[n];
    const Hypothesis& y = (*b)[n];
    const std::vector<float> x_numbers = {x.log_prob, x.coverage, x.score};
    const std::vector<float> y_numbers = {y.log_prob, y.coverage, y.score};
    if (x.tokens != y.tokens || x.finished != y.finished || x.repetition != y.repetition ||
        !SameBits(x.token_scores, y.token_scores) || !SameBits(x_numbers, y_numbers) ||
        !SameBits(x.attention, y.attention)) {
      return false;
    }
  }
  return true;
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_ENGINE_ASKING_H_
