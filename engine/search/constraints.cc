// Constraints of a search: the phrases that a hypothesis has met and begun, and the shares of a
// beam.
#include "engine/search/constraints.h"

#include <algorithm>

namespace nibu::internal {
namespace {

// Returns the largest n, at most `most` and less than the phrase's length, so that `tokens` end
// with the first n tokens of the phrase.
size_t Begun(absl::Span<const int> phrase, absl::Span<const int> tokens, size_t most) {
  size_t n = std::min({most, phrase.size() - 1, tokens.size()});
  while (n > 0 && tokens.last(n) != phrase.first(n)) --n;
  return n;
}

size_t ShortestOf(const Constraint& constraint) {
  size_t shortest = constraint[0].size();
  for (const std::vector<int>& phrase : constraint) shortest = std::min(shortest, phrase.size());
  return shortest;
}

}  // namespace

size_t CountTokens(absl::Span<const Constraint> constraints) {
  size_t sum = 0;
  for (const Constraint& constraint : constraints) sum += ShortestOf(constraint);
  return sum;
}

ConstraintSet FindMet(absl::Span<const Constraint> constraints, ConstraintSet met,
                      absl::Span<const int> tokens) {
  std::vector<absl::Span<const int>> used;  // phrases that have met a constraint in this step
  for (size_t c = 0; c < constraints.size(); ++c) {
    if (IsMet(met, c)) continue;
    for (const std::vector<int>& phrase : constraints[c]) {
      const absl::Span<const int> span = phrase;
      if (tokens.size() < span.size() || tokens.last(span.size()) != span ||
          std::find(used.begin(), used.end(), span) != used.end()) {
        continue;
      }
      used.push_back(span);
      met |= ConstraintSet{1} << c;
      break;
    }
  }
  return met;
}

// A phrase begun counts less than the shortest phrase of its constraint, so that a constraint that
// is not met never counts as much as one that is.
size_t BankOf(absl::Span<const Constraint> constraints, ConstraintSet met,
              absl::Span<const int> tokens) {
  size_t done = 0;
  size_t begun = 0;
  for (size_t c = 0; c < constraints.size(); ++c) {
    const size_t shortest = ShortestOf(constraints[c]);
    size_t longest_begun = 0;
    for (const std::vector<int>& phrase : constraints[c]) {
      longest_begun = std::max(longest_begun, Begun(phrase, tokens, phrase.size()));
    }
    if (IsMet(met, c)) {
      done += shortest;
    } else {
      begun = std::max(begun, std::min(longest_begun, shortest - 1));
    }
  }
  return done + begun;
}

// A hypothesis may have begun a phrase in several ways ("a b a" and the phrase "a b a c"): each n
// that Begun finds gives a token, down to n = 0, which is the phrase's first one.
void FindNext(absl::Span<const Constraint> constraints, ConstraintSet met,
              absl::Span<const int> tokens, std::vector<int>* next) {
  for (size_t c = 0; c < constraints.size(); ++c) {
    if (IsMet(met, c)) continue;
    for (const std::vector<int>& phrase : constraints[c]) {
      for (size_t n = phrase.size(); n > 0;) {
        n = Begun(phrase, tokens, n - 1);
        next->push_back(phrase[n]);
      }
    }
  }
  std::sort(next->begin(), next->end());
  next->erase(std::unique(next->begin(), next->end()), next->end());
}

// Each bank gets an equal share of the beam, and the highest one at least one place unless the beam
// has only one. The best candidates of a bank take its share; the places that are then left go to
// the best of all others.
std::vector<size_t> AllocateBeam(size_t beam, absl::Span<const size_t> bank) {
  const size_t highest = bank.empty() ? 0 : *std::max_element(bank.begin(), bank.end());
  std::vector<size_t> share(highest + 1, beam / (highest + 1));
  share[highest] = std::max<size_t>(share[highest], beam > 1 ? 1 : 0);
  std::vector<bool> kept(bank.size());
  size_t left = beam;
  for (const bool shared : {true, false}) {
    for (size_t i = 0; i < bank.size() && left > 0; ++i) {
      if (kept[i] || (shared && share[bank[i]] == 0)) continue;
      if (shared) --share[bank[i]];
      kept[i] = true;
      --left;
    }
  }
  std::vector<size_t> result;
  for (size_t i = 0; i < bank.size(); ++i) {
    if (kept[i]) result.push_back(i);
  }
  return result;
}

}  // namespace nibu::internal
