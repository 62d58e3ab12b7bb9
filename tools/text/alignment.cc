#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "tools/text/join.h"

namespace nibu {
namespace {

bool StartsWord(absl::string_view piece) { return absl::StartsWith(piece, "\u2581"); }

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
  const bool marks_starts = absl::c_any_of(pieces, StartsWord);
  std::vector<int> words;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool starts =
        i > 0 && (marks_starts ? StartsWord(pieces[i]) : !absl::EndsWith(pieces[i - 1], "@@"));
    words.push_back((i == 0 ? 0 : words.back()) + (starts ? 1 : 0));
  }
  return words;
}

std::vector<std::pair<int, int>> AlignWords(absl::Span<const std::pair<int, int>> pieces,
                                            absl::Span<const int> source_words,
                                            absl::Span<const int> target_words) {
  std::set<std::pair<int, int>> words;  // (target, source)
  for (const auto& [s, t] : pieces) {
    words.emplace(target_words[static_cast<size_t>(t)], source_words[static_cast<size_t>(s)]);
  }
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [t, s] : words) pairs.emplace_back(s, t);
  return pairs;
}

AttentionRows AttendWords(const AttentionRows& pieces, absl::Span<const int> source_words,
                          absl::Span<const int> target_words) {
  const auto count = [](absl::Span<const int> words) {
    return words.empty() ? 0 : static_cast<size_t>(words.back()) + 1;
  };
  AttentionRows words(count(target_words), std::vector<float>(count(source_words)));
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
