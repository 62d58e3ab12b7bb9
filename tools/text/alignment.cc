#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "tools/text/join.h"

namespace nibu {
namespace {

constexpr char kWordStart[] = "\xe2\x96\x81";  // U+2581

size_t CountWords(absl::Span<const int> words) {
  return words.empty() ? 0 : static_cast<size_t>(words.back()) + 1;
}

}  // namespace

std::vector<std::pair<int, int>> HardAlignment(const AttentionRows& attention) {
  std::vector<std::pair<int, int>> pairs;
  for (size_t t = 0; t < attention.size(); ++t) {
    const auto most = std::max_element(attention[t].begin(), attention[t].end());
    if (most == attention[t].end()) continue;
    pairs.emplace_back(static_cast<int>(most - attention[t].begin()), static_cast<int>(t));
  }
  return pairs;
}

std::vector<int> WordsOf(absl::Span<const std::string> pieces) {
  const bool marks_starts = std::any_of(pieces.begin(), pieces.end(), [](const std::string& piece) {
    return absl::StartsWith(piece, kWordStart);
  });
  std::vector<int> words;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool starts = i == 0 || (marks_starts ? absl::StartsWith(pieces[i], kWordStart)
                                                : !absl::EndsWith(pieces[i - 1], "@@"));
    words.push_back(i == 0 ? 0 : words.back() + (starts ? 1 : 0));
  }
  return words;
}

std::vector<std::pair<int, int>> AlignWords(absl::Span<const std::pair<int, int>> pieces,
                                            absl::Span<const int> source_words,
                                            absl::Span<const int> target_words) {
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [s, t] : pieces) {
    pairs.emplace_back(source_words[static_cast<size_t>(s)], target_words[static_cast<size_t>(t)]);
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first < b.first;
  });
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

AttentionRows AttendWords(const AttentionRows& pieces, absl::Span<const int> source_words,
                          absl::Span<const int> target_words) {
  AttentionRows words(CountWords(target_words), std::vector<float>(CountWords(source_words)));
  std::vector<float> counts(words.size());
  for (const int t : target_words) ++counts[static_cast<size_t>(t)];
  for (size_t t = 0; t < pieces.size(); ++t) {
    const auto word = static_cast<size_t>(target_words[t]);
    for (size_t s = 0; s < pieces[t].size(); ++s) {
      words[word][static_cast<size_t>(source_words[s])] += pieces[t][s] / counts[word];
    }
  }
  return words;
}

}  // namespace nibu
