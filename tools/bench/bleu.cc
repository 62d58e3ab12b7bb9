// Computes BLEU and chrF, and runs nibu-bench bleu.
#include "tools/bench/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"
#include "re2/re2.h"
#include "tokenizer/unicode/characters.h"
#include "tools/cli/lines.h"
#include "tools/text/options/option_groups.h"

namespace nibu::internal {
namespace {

constexpr size_t kChrfOrders = 6;
constexpr double kChrfBeta = 2;  // how many times as much as precision recall counts

// A text, and the places of its units (tokens or characters): an n-gram is what lies between the
// first byte of a unit and the last byte of another.
struct Units {
  std::string text;
  std::vector<std::pair<size_t, size_t>> places = {};
};

// The n-grams of a text and how often it has each.
using Counts = std::map<absl::string_view, int64_t>;

// How many n-grams of an order the output and the reference have, and how many of those of the
// output are in the reference, too.
struct Matches {
  int64_t output = 0;
  int64_t reference = 0;
  int64_t common = 0;
};
template <size_t orders>
using AllMatches = std::array<Matches, orders>;

// Returns whether Python's str.split() splits at a character, as sacreBLEU does.
bool IsSplitter(int32_t character) {
  if (character == 0x200B || character == 0xFEFF) return false;  // not White_Space in Unicode
  return IsBlank(character) || (character >= 0x1C && character <= 0x1F);
}

// Returns the words of a text with one blank between two of them.
Units WordsOf(absl::string_view text) {
  Units words;
  bool is_open = false;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const bool is_word = !IsSplitter(NextCharacter(text, &i));
    if (is_word) {
      if (!is_open) {
        if (!words.text.empty()) words.text += ' ';
        words.places.emplace_back(words.text.size(), 0);
      }
      absl::StrAppend(&words.text, text.substr(start, i - start));
      words.places.back().second = words.text.size();
    }
    is_open = is_word;
  }
  return words;
}

// Returns the characters of a text without its white space.
Units CharactersOf(absl::string_view text) {
  Units characters;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    if (IsSplitter(NextCharacter(text, &i))) continue;
    const size_t place = characters.text.size();
    absl::StrAppend(&characters.text, text.substr(start, i - start));
    characters.places.emplace_back(place, characters.text.size());
  }
  return characters;
}

Counts CountNGrams(const Units& units, size_t order) {
  Counts counts;
  for (size_t last = order - 1; last < units.places.size(); ++last) {
    const size_t start = units.places[last - (order - 1)].first;
    ++counts[absl::string_view(units.text).substr(start, units.places[last].second - start)];
  }
  return counts;
}

// Counts the n-grams of an output and those that it has in common with its references, of which an
// n-gram counts as often as it occurs in the one that has it most often.
Matches Match(const Units& output, const std::vector<Units>& references, size_t order) {
  Counts expected;
  for (const Units& reference : references) {
    for (const auto& [ngram, count] : CountNGrams(reference, order)) {
      expected[ngram] = std::max(expected[ngram], count);
    }
  }
  Matches matches;
  for (const auto& [ngram, count] : expected) matches.reference += count;
  for (const auto& [ngram, count] : CountNGrams(output, order)) {
    matches.output += count;
    if (const auto found = expected.find(ngram); found != expected.end()) {
      matches.common += std::min(count, found->second);
    }
  }
  return matches;
}

template <size_t orders>
void Add(const AllMatches<orders>& matches, AllMatches<orders>* sum) {
  for (size_t i = 0; i < orders; ++i) {
    (*sum)[i].output += matches[i].output;
    (*sum)[i].reference += matches[i].reference;
    (*sum)[i].common += matches[i].common;
  }
}

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// chrF = (1 + beta^2) P R / (beta^2 P + R), with the means of precision P and recall R over the
// orders that both texts have.
double Chrf(const AllMatches<kChrfOrders>& matches) {
  double precision = 0;
  double recall = 0;
  double orders = 0;
  for (const Matches& order : matches) {
    if (order.output == 0 || order.reference == 0) continue;
    precision += Share(order.common, order.output);
    recall += Share(order.common, order.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  constexpr double kFactor = kChrfBeta * kChrfBeta;
  return 100 * (1 + kFactor) * precision * recall / orders / (kFactor * precision + recall);
}

// BLEU = min(1, exp(1 - reference length / output length)) * (the product of precisions)^(1/4).
void SetBleu(const AllMatches<kBleuOrders>& matches, Quality* quality) {
  double product = 1;
  double unmatched = 1;
  bool has_match = false;
  for (size_t i = 0; i < kBleuOrders; ++i) {
    const auto& [output, reference, common] = matches[i];
    has_match |= common > 0;
    if (common == 0) unmatched *= 2;  // the k-th order without a match counts as 1 / 2^k matches
    if (output == 0) {
      product = 0;
      continue;
    }
    const double matched = common > 0 ? static_cast<double>(common) : 1 / unmatched;
    quality->precisions[i] = 100 * matched / static_cast<double>(output);
    product *= quality->precisions[i];
  }
  if (quality->output_tokens > 0) {
    quality->brevity_penalty =
        std::min(1.0, std::exp(1 - Share(quality->reference_tokens, quality->output_tokens)));
  }
  if (has_match) quality->bleu = quality->brevity_penalty * std::pow(product, 1.0 / kBleuOrders);
}

// Returns the length that is nearest to that of the output, or the shorter one of two.
int64_t NearestLength(size_t length, const std::vector<Units>& references) {
  std::pair<int64_t, int64_t> nearest = {INT64_MAX, 0};
  for (const Units& reference : references) {
    const auto size = static_cast<int64_t>(reference.places.size());
    nearest = std::min(nearest, {std::abs(size - static_cast<int64_t>(length)), size});
  }
  return nearest.second;
}

}  // namespace

std::string Tokenize13a(absl::string_view line) {
  std::string text = absl::StrReplaceAll(line, {{"<skipped>", ""}});
  // One after the other, since "&amp;lt;" becomes "<".
  text = absl::StrReplaceAll(text, {{"&quot;", "\""}});
  text = absl::StrReplaceAll(text, {{"&amp;", "&"}});
  text = absl::StrReplaceAll(text, {{"&lt;", "<"}});
  text = absl::StrReplaceAll(text, {{"&gt;", ">"}});
  text = " " + text + " ";
  // In Latin-1 every byte is a character, and all that the patterns name are ASCII. The first one
  // is all of its punctuation and symbols, except for apostrophe, comma, dash and full stop.
  static const RE2& symbol = *new RE2(R"(([!-&(-+/:-@\[-`{-~]))", RE2::Latin1);
  // Full stops and commas stay in numbers, between digits.
  static const RE2& stop_after = *new RE2(R"(([^0-9])([.,]))", RE2::Latin1);
  static const RE2& stop_before = *new RE2(R"(([.,])([^0-9]))", RE2::Latin1);
  static const RE2& dash_after_digit = *new RE2(R"(([0-9])(-))", RE2::Latin1);
  RE2::GlobalReplace(&text, symbol, R"( \1 )");
  RE2::GlobalReplace(&text, stop_after, R"(\1 \2 )");
  RE2::GlobalReplace(&text, stop_before, R"( \1 \2)");
  RE2::GlobalReplace(&text, dash_after_digit, R"(\1 \2 )");
  return WordsOf(text).text;
}

absl::Status CheckReferences(const TextLines& output, const std::vector<TextLines>& references) {
  if (references.empty()) return Invalid("there is no reference");
  for (const TextLines& reference : references) {
    if (reference.size() == output.size()) continue;
    return Invalid("the translation has ", output.size(), " lines and its reference ",
                   reference.size(), "; they belong together line by line");
  }
  return absl::OkStatus();
}

absl::StatusOr<Quality> ScoreText(const TextLines& output,
                                  const std::vector<TextLines>& references) {
  NIBU_RETURN_IF_ERROR(CheckReferences(output, references));
  Quality quality;
  AllMatches<kBleuOrders> tokens = {};
  AllMatches<kChrfOrders> characters = {};
  for (size_t line = 0; line < output.size(); ++line) {
    std::vector<Units> expected;
    expected.reserve(references.size());
    for (const TextLines& text : references) expected.push_back(WordsOf(Tokenize13a(text[line])));
    const Units words = WordsOf(Tokenize13a(output[line]));
    quality.output_tokens += static_cast<int64_t>(words.places.size());
    quality.reference_tokens += NearestLength(words.places.size(), expected);
    AllMatches<kBleuOrders> of_line;
    for (size_t i = 0; i < kBleuOrders; ++i) of_line[i] = Match(words, expected, i + 1);
    Add(of_line, &tokens);

    // A line has the matches with the reference for which its chrF is best.
    const Units letters = CharactersOf(output[line]);
    std::optional<AllMatches<kChrfOrders>> best;
    for (const TextLines& text : references) {
      AllMatches<kChrfOrders> found;
      for (size_t i = 0; i < kChrfOrders; ++i) {
        found[i] = Match(letters, {CharactersOf(text[line])}, i + 1);
        // An order that the reference is too short for does not count.
        if (found[i].reference == 0) found[i].output = 0;
      }
      if (!best.has_value() || Chrf(found) > Chrf(*best)) best = found;
    }
    Add(*best, &characters);
  }
  SetBleu(tokens, &quality);
  quality.chrf = Chrf(characters);
  return quality;
}

absl::StatusOr<TextLines> ReadTextLines(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(InputLines file, InputLines::Open(path));
  TextLines lines;
  for (std::string line;;) {
    NIBU_ASSIGN_OR_RETURN(const bool more, file.Next(&line));
    if (!more) return lines;
    lines.push_back(line);
  }
}

absl::Span<const OptionRow> BleuOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>(OptionRows({
      Row<&BleuOptions::json>({.help = "Print one JSON object in place of text.",
                               .group = kOutputGroup,
                               .programs = "bench-bleu",
                               .is_common = true}),
  }));
  return rows;
}

ProgramInfo BenchBleuProgram(BleuOptions* options) {
  return {"nibu-bench bleu",
          "bench-bleu",
          "[flags] OUTPUT REFERENCE ...",
          "Scores a translation against one or more references, line by line, by BLEU and chrF.\n"
          "Both are in percent, and equal to those of sacreBLEU with its defaults: BLEU with the\n"
          "13a tokenizer, exponential smoothing and case; chrF2 without white space.",
          {{BleuOptionRows(), options}},
          /*takes_text=*/true};
}

absl::Status BenchBleu(int argc, char** argv) {
  BleuOptions options;
  const std::vector<std::string> paths =
      ParseCommandLineOrExit(BenchBleuProgram(&options), argc, argv);
  if (paths.size() < 2) {
    return WrongUsage("give the file of a translation and those of its references");
  }
  std::vector<TextLines> texts;
  for (const std::string& path : paths) {
    NIBU_ASSIGN_OR_RETURN(texts.emplace_back(), ReadTextLines(path));
  }
  const TextLines output = std::move(texts[0]);
  texts.erase(texts.begin());
  NIBU_ASSIGN_OR_RETURN(const Quality quality, ScoreText(output, texts));
  const auto& [bleu, precisions, penalty, tokens, reference_tokens, chrf] = quality;
  if (options.json) {
    const nlohmann::ordered_json json = {{"bleu", bleu},
                                         {"chrf", chrf},
                                         {"precisions", precisions},
                                         {"brevity_penalty", penalty},
                                         {"output_tokens", tokens},
                                         {"reference_tokens", reference_tokens}};
    absl::PrintF("%s\n", json.dump());
  } else {
    absl::PrintF(
        "BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f, output %d, reference %d tokens), "
        "chrF2 = %.2f\n",
        bleu, precisions[0], precisions[1], precisions[2], precisions[3], penalty, tokens,
        reference_tokens, chrf);
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
