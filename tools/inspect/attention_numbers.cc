// Computes entropies, distances and likenesses of heads from their matrices.
#include "tools/inspect/attention_numbers.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace nibu::internal {
namespace {

// Returns where each key lies, in positions.
std::vector<double> KeyPlaces(const AttentionMap& map, size_t positions) {
  if (!map.places.empty()) return {map.places.begin(), map.places.end()};
  std::vector<double> places;
  const auto each = static_cast<size_t>(map.mixer.reduction());
  for (size_t first = 0; first < positions; first += each) {
    const size_t last = std::min(first + each, positions) - 1;
    places.push_back(static_cast<double>(first + last) / 2);
  }
  return places;
}

}  // namespace

AttentionNumbers NumbersOf(const AttentionMap& map, const AttentionTokens& tokens, bool is_cross) {
  AttentionNumbers numbers;
  if (map.weights.empty()) return numbers;
  const auto heads = static_cast<size_t>(map.heads);
  const auto queries = static_cast<size_t>(map.queries);
  const auto keys = static_cast<size_t>(map.keys);
  const std::vector<double> places = KeyPlaces(map, tokens.keys.size());
  double slope = 1;
  if (is_cross) {
    const auto steps = static_cast<double>(std::max<size_t>(queries - 1, 1));
    slope = static_cast<double>(tokens.keys.size() - 1) / steps;
  }
  std::vector<double> p(map.weights.begin(), map.weights.end());
  for (size_t h = 0; h < heads; ++h) {
    double bits = 0;
    double far = 0;
    for (size_t q = 0; q < queries; ++q) {
      double* const row = &p[(h * queries + q) * keys];
      double sum = 0;
      for (size_t k = 0; k < keys; ++k) sum += row[k];
      for (size_t k = 0; k < keys; ++k) {
        if (sum > 0) row[k] /= sum;
        if (row[k] > 0) bits -= row[k] * std::log2(row[k]);
        far += row[k] * std::abs(places[k] - static_cast<double>(q) * slope);
      }
    }
    numbers.entropy.push_back(bits / static_cast<double>(queries));
    numbers.distance.push_back(far / static_cast<double>(queries));
  }
  double common = 0;
  const size_t size = queries * keys;
  for (size_t a = 0; a < heads; ++a) {
    for (size_t b = 0; b < a; ++b) {
      for (size_t i = 0; i < size; ++i) common += std::min(p[a * size + i], p[b * size + i]);
    }
  }
  const size_t pairs = heads * (heads - 1) / 2;
  if (pairs > 0) numbers.likeness = common / static_cast<double>(pairs * queries);
  return numbers;
}

int64_t EdgesOf(absl::Span<const AttentionMap> maps) {
  int64_t edges = 0;
  for (const AttentionMap& map : maps) {
    edges += absl::c_count_if(map.scores, [](float score) { return score != -HUGE_VALF; });
  }
  return edges;
}

std::vector<double> ReceptiveField(const AttentionMaps::Layers& encoder, size_t positions) {
  using Set = std::vector<char>;  // 1 for each position that is in it
  const auto add = [](const Set& from, Set* to) {
    for (size_t i = 0; i < from.size(); ++i) (*to)[i] |= from[i];
  };
  std::vector<Set> reached(positions, Set(positions));
  for (size_t i = 0; i < positions; ++i) reached[i][i] = 1;
  std::vector<double> sizes;
  for (const AttentionMap& map : encoder) {
    const std::vector<Set> before = reached;
    const auto each = static_cast<size_t>(map.mixer.reduction());
    const auto* const pool = map.mixer.As<MeanPooling>();
    const auto keys = static_cast<size_t>(map.keys);
    for (size_t i = 0; i < positions; ++i) {
      // Factorized attention and the MLP mix all positions.
      for (size_t j = 0; j < positions && map.scores.empty(); ++j) {
        const size_t distance = i < j ? j - i : i - j;
        if (pool == nullptr || distance <= static_cast<size_t>(pool->width / 2)) {
          add(before[j], &reached[i]);
        }
      }
      for (size_t at = i * keys; at < map.scores.size(); at += positions * keys) {
        for (size_t k = 0; k < keys; ++k) {
          if (map.scores[at + k] == -HUGE_VALF) continue;
          const bool is_sampled = !map.places.empty();
          const size_t first = is_sampled ? static_cast<size_t>(map.places[k]) : k * each;
          const size_t count = is_sampled ? 2 : each;
          for (size_t j = first; j < std::min(first + count, positions); ++j) {
            add(before[j], &reached[i]);
          }
        }
      }
    }
    size_t sum = 0;
    for (const Set& set : reached) sum += static_cast<size_t>(absl::c_count(set, 1));
    sizes.resize(static_cast<size_t>(map.layer) + 1);  // a second part takes the first one's place
    sizes.back() = static_cast<double>(sum) / static_cast<double>(positions);
  }
  return sizes;
}

std::vector<std::vector<double>> TermVariances(absl::Span<const float> terms, int heads,
                                               size_t positions) {
  std::vector<std::vector<double>> variances(static_cast<size_t>(heads));
  for (size_t at = 0, head = 0; at < terms.size(); ++head) {
    double variance = 0;
    for (size_t q = 0; q < positions; ++q, at += positions) {
      double sum = 0;
      double squares = 0;
      for (const float score : terms.subspan(at, positions)) sum += static_cast<double>(score);
      const double mean = sum / static_cast<double>(positions);
      for (const float score : terms.subspan(at, positions)) {
        squares += std::pow(static_cast<double>(score) - mean, 2);
      }
      variance += squares / static_cast<double>(positions);
    }
    variances[head % static_cast<size_t>(heads)].push_back(variance /
                                                           static_cast<double>(positions));
  }
  return variances;
}

std::vector<std::string> KeyNames(const AttentionMap& map, absl::Span<const std::string> tokens) {
  std::vector<std::string> names;
  for (const float place : map.places) {
    const auto left = static_cast<size_t>(place);
    const double part = static_cast<double>(place) - static_cast<double>(left);
    std::string name = absl::StrFormat("%.2f %s", 1 - part, tokens[left]);
    if (part > 0) absl::StrAppendFormat(&name, " + %.2f %s", part, tokens[left + 1]);
    names.push_back(name);
  }
  if (!names.empty()) return names;
  const auto each = static_cast<size_t>(map.mixer.reduction());
  for (size_t first = 0; first < tokens.size(); first += each) {
    names.push_back(absl::StrJoin(tokens.subspan(first, each), " "));
  }
  return names;
}

std::string PartName(const AttentionMap& map) {
  if (!map.mixer.has_two_parts()) return "";
  return map.part == 0 ? "windows" : "grid";
}

}  // namespace nibu::internal
