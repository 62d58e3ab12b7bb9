// Turns CLD2's scores of all languages into probabilities of the languages of a list:
//   1. The constructor assigns to each entry of the list the scored languages that stand for it
//      (ScoredOf), in each of their scripts: the candidates.
//   2. Detect scores the letters of each script of the text (ScoreLanguages).
//   3. For each script, AddProbabilities compares its candidates with each other and with the best
//      language that is not in the list.
//   4. The scripts' probabilities are added, weighted by their shares of the bytes.
#include "tokenizer/languages/language_detector.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tokenizer/languages/language_scores.h"
#include "tokenizer/unicode/language_code.h"

namespace nibu::internal {
namespace {

// CLD2's tables know more groups of letters of English than of any other language, so that a few
// letters of another language look like English too often. English therefore starts with this
// score; from -3 to -6, about as many texts are right. Other scores are whole numbers, so that it
// never ties.
constexpr float kEnglishScore = -3.5F;

// Languages that are not in the list start with this score: the caller knows his texts, but may
// still meet another language.
constexpr float kUnlistedScore = -8;

// Turns scores into the exponents of probabilities. It is well below ln(3), because groups of
// letters overlap and so count twice; at this value the confidences are, on the average, the
// shares of right answers.
constexpr float kExponent = 0.35F;

// Less probable languages are not worth telling.
constexpr float kLeastConfidence = 0.01F;

// The confidence in a language that is found by its script alone.
constexpr float kOnlyOfScript = 0.5F;

// Pairs of a language and a scored language, whose scores count for it if no entry of the list is
// the scored language itself.
struct StandIn {
  absl::string_view language;
  absl::string_view scored;
};
constexpr StandIn kStandIns[] = {{"bs", "hr"},  {"bs", "sr"},  {"cnr", "sr"}, {"nb", "no"},
                                 {"nb", "nn"},  {"no", "nn"},  {"nn", "no"},  {"ckb", "ku"},
                                 {"pbt", "ps"}, {"quy", "qu"}, {"yue", "zh"}, {"zh", "zh"}};

// Returns the script as ScriptScores names it.
std::string ScoredScript(absl::string_view script) {
  for (absl::string_view part : {"Hans", "Hant", "Jpan", "Hrkt", "Hira", "Kana", "Kore", "Hang"}) {
    if (script == part) return "Hani";
  }
  return std::string(script);
}

// Returns whether `entry` is the scored language; Chinese must be in the same script.
bool IsSame(const LanguageCode& entry, const LanguageCode& scored) {
  if (entry.language != scored.language) return false;
  return entry.language != "zh" || entry.script == scored.script;
}

// Returns whether the scored language may stand for `entry`, which has no scores of its own.
bool IsStandIn(const LanguageCode& entry, const LanguageCode& scored) {
  return std::any_of(std::begin(kStandIns), std::end(kStandIns), [&](const StandIn& pair) {
    return pair.language == entry.language && pair.scored == scored.language;
  });
}

float StartScore(const ScoredLanguage& language) {
  return language.code == "en" ? kEnglishScore : 0;
}

// Returns for each entry the indices of the scored languages that stand for it: those that it
// names, and those of kStandIns that no entry names. `is_listed` tells which ones are used.
std::vector<std::vector<int>> ScoredOf(const std::vector<LanguageCode>& entries,
                                       std::vector<bool>* is_listed) {
  static const auto* codes = [] {
    auto* parsed = new std::vector<LanguageCode>;
    for (const ScoredLanguage& language : ScoredLanguages()) parsed->emplace_back(language.code);
    return parsed;
  }();
  std::vector<std::vector<int>> scored_of(entries.size());
  is_listed->assign(codes->size(), false);
  for (const auto& stands_for : {IsSame, IsStandIn}) {
    const std::vector<bool> is_named = *is_listed;
    for (size_t language = 0; language < codes->size(); ++language) {
      if (is_named[language]) continue;
      for (size_t entry = 0; entry < entries.size(); ++entry) {
        if (!stands_for(entries[entry], (*codes)[language])) continue;
        scored_of[entry].push_back(static_cast<int>(language));
        (*is_listed)[language] = true;
      }
    }
  }
  return scored_of;
}

}  // namespace

LanguageDetector::LanguageDetector(absl::Span<const std::string> among)
    : codes_(among.begin(), among.end()) {
  if (codes_.empty()) codes_ = KnownLanguages();
  const std::vector<LanguageCode> entries(codes_.begin(), codes_.end());
  const std::vector<std::vector<int>> scored_of = ScoredOf(entries, &is_listed_);
  std::set<std::pair<std::string, int>> taken;  // script and scored language, by an earlier entry
  // The entries of each script. Those with scored languages count twice, so that no other entry is
  // found there by its script alone.
  std::map<std::string, int> users;
  for (size_t entry = 0; entry < entries.size(); ++entry) {
    const std::string own_script = ScoredScript(entries[entry].script);
    std::map<std::string, std::vector<int>> scored_in;
    for (int language : scored_of[entry]) {
      for (const std::string& script : ScoredLanguages()[language].scripts) {
        if (entries[entry].says_script && script != own_script) continue;
        if (taken.emplace(script, language).second) scored_in[script].push_back(language);
      }
    }
    if (scored_of[entry].empty()) ++users[own_script];
    for (const auto& [script, languages] : scored_in) {
      candidates_.push_back({script, entry, languages});
      users[script] += 2;
    }
  }
  // An entry without any scored language is a candidate if no other entry has its script.
  for (size_t entry = 0; entry < entries.size(); ++entry) {
    const std::string script = ScoredScript(entries[entry].script);
    if (!script.empty() && scored_of[entry].empty() && users[script] == 1) {
      candidates_.push_back({script, entry, {}});
    }
  }
}

// Adds to `probability`, which is indexed by entry, `share` times P(entry | script), where
//   P(entry | script) = weight(entry) / sum of weights, weight = exp(kExponent * score)
// and the sum is over the candidates and the best language that is not in the list. Candidates
// without any evidence share the weight of one, or those of a long list would outweigh the rest.
void LanguageDetector::AddProbabilities(const ScriptScores& script, float share,
                                        std::vector<float>* probability) const {
  const std::vector<ScoredLanguage>& scored = ScoredLanguages();
  std::vector<std::pair<float, size_t>> scores;  // score, entry
  for (const Candidate& candidate : candidates_) {
    if (candidate.script != script.script) continue;
    if (candidate.scored.empty()) {
      (*probability)[candidate.entry] += kOnlyOfScript * share;
      return;
    }
    float best = kEnglishScore;
    for (int i : candidate.scored) {
      best = std::max(best, static_cast<float>(script.scores[i]) + StartScore(scored[i]));
    }
    scores.emplace_back(best, candidate.entry);
  }
  const bool any_score =
      std::any_of(script.scores.begin(), script.scores.end(), [](int score) { return score > 0; });
  if (scores.empty() || !any_score) return;
  const float top = std::max_element(scores.begin(), scores.end())->first;
  const auto is_top = [&](const auto& score) { return score.first == top; };
  // No letters point to a language of the list, and nothing prefers one of them.
  if (top <= 0 && std::count_if(scores.begin(), scores.end(), is_top) > 1) return;

  int unlisted = 0;
  for (size_t i = 0; i < scored.size(); ++i) {
    if (!is_listed_[i]) unlisted = std::max(unlisted, script.scores[i]);
  }
  const auto unseen = std::count_if(scores.begin(), scores.end(),
                                    [](const auto& score) { return score.first == 0; });
  const auto weight = [&](float score) {
    return std::exp(kExponent * (score - top)) / (score == 0 ? static_cast<float>(unseen) : 1);
  };
  float sum = unlisted == 0
                  ? 0
                  : std::exp(kExponent * (static_cast<float>(unlisted) + kUnlistedScore - top));
  for (const auto& [score, entry] : scores) sum += weight(score);
  for (const auto& [score, entry] : scores) (*probability)[entry] += share * weight(score) / sum;
}

std::vector<DetectedLanguage> LanguageDetector::Detect(absl::string_view text, bool is_html) const {
  const std::vector<ScriptScores> scripts = ScoreLanguages(text, is_html);
  size_t bytes = 0;
  for (const ScriptScores& script : scripts) bytes += script.bytes;
  // P(entry) = sum over scripts: the script's share of the bytes * P(entry | script). A name in
  // Latin letters weighs little in a Russian text, since a Cyrillic letter has two bytes.
  std::vector<float> probability(codes_.size());
  for (const ScriptScores& script : scripts) {
    const float share = static_cast<float>(script.bytes) / static_cast<float>(bytes);
    AddProbabilities(script, share, &probability);
  }
  std::vector<DetectedLanguage> found;
  for (size_t i = 0; i < codes_.size(); ++i) {
    if (probability[i] > 0) found.push_back({codes_[i], std::min(probability[i], 1.0F)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.confidence > b.confidence; });
  while (found.size() > 1 && found.back().confidence < kLeastConfidence) found.pop_back();
  return found;
}

std::vector<std::string> LanguageDetector::KnownLanguages() {
  std::vector<std::string> codes;
  for (const ScoredLanguage& language : ScoredLanguages()) codes.push_back(language.code);
  std::sort(codes.begin(), codes.end());
  return codes;
}

}  // namespace nibu::internal
