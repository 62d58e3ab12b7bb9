// Applies merges by their ranks.
#include "tokenizer/subwords/merges.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tokenizer/subwords/tokenizer.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kVersion = "#version:";
constexpr absl::string_view kEnd = "</w>";  // the end of a word
constexpr absl::string_view kMore = "@@";   // the end of a piece that does not end its word

using Fields = std::vector<absl::string_view>;

// Returns the fields of a line, of which the first two are its symbols; nothing if it is no merge.
Fields FieldsOf(absl::string_view line) {
  Fields fields = absl::StrSplit(absl::StripAsciiWhitespace(line), ' ');
  int64_t count = 0;
  const bool is_merge =
      (fields.size() == 2 || (fields.size() == 3 && absl::SimpleAtoi(fields[2], &count))) &&
      !fields[0].empty() && !fields[1].empty();
  return is_merge ? fields : Fields();
}

absl::string_view FirstLine(absl::string_view text) { return text.substr(0, text.find('\n')); }

// A word's symbol, bytes of the word with kEnd behind it, in a list of the word's symbols.
struct Symbol {
  size_t begin;
  size_t end;   // 0: it has been merged into the one before it
  size_t last;  // the symbol before it
  size_t next;  // the symbol behind it; the number of symbols: none
};

}  // namespace

bool SubwordMerges::IsMerges(absl::string_view text) {
  const absl::string_view first = FirstLine(text);
  // A SentencePiece model begins with a line feed, and its first line is empty.
  return absl::StartsWith(first, kVersion) ||
         (!FieldsOf(first).empty() && std::none_of(first.begin(), first.end(), [](unsigned char c) {
           return c < ' ' && c != '\r';
         }));
}

absl::StatusOr<std::unique_ptr<const SubwordMerges>> SubwordMerges::FromText(
    absl::string_view text, const Vocabulary& vocabulary) {
  auto merges = absl::WrapUnique(new SubwordMerges());
  const absl::string_view first = FirstLine(text);
  const bool has_version = absl::StartsWith(first, kVersion);
  if (has_version) {
    const absl::string_view version = absl::StripAsciiWhitespace(first.substr(kVersion.size()));
    if (version != "0.1" && version != "0.2") {
      return absl::InvalidArgumentError(
          absl::StrCat("merges (subword-nmt) of version \"", version, "\", expected 0.1 or 0.2"));
    }
    merges->end_is_symbol_ = version == "0.1";
  } else {
    merges->end_is_symbol_ = FieldsOf(first).size() == 2;
  }
  int number = 0;
  int known = 0;
  absl::ConsumeSuffix(&text, "\n");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (++number == 1 && has_version) continue;
    const Fields fields = FieldsOf(line);
    if (fields.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number, " of the merges (subword-nmt) is not two symbols with a blank between"));
    }
    // The first rank of a pair that is there twice counts.
    merges->ranks_.emplace(absl::StrCat(fields[0], " ", fields[1]), number);
    std::string piece = absl::StrCat(fields[0], fields[1]);
    absl::string_view whole = piece;
    const bool ends = absl::ConsumeSuffix(&whole, kEnd);
    if (vocabulary.Contains(ends ? std::string(whole) : absl::StrCat(piece, kMore))) ++known;
  }
  if (10 * known < number - (has_version ? 1 : 0)) {
    return absl::InvalidArgumentError(
        "the model's vocabulary knows hardly any of the pieces of its merges (subword-nmt); they "
        "belong to another model");
  }
  return merges;
}

std::vector<TextSpan> SubwordMerges::EncodeWord(absl::string_view word) const {
  std::vector<TextSpan> pieces;
  const std::string with_end = absl::StrCat(word, kEnd);
  const absl::string_view text = with_end;
  std::vector<Symbol> symbols;
  for (size_t at = 0; at < word.size();) {
    const size_t begin = at;
    NextCharacter(word, &at);
    symbols.push_back({begin, at, symbols.size() - 1, symbols.size() + 1});
  }
  if (symbols.size() == 1) return {{0, word.size()}};  // as subword-nmt, whatever the merges say
  if (end_is_symbol_) {
    symbols.push_back({word.size(), text.size(), symbols.size() - 1, symbols.size() + 1});
  } else {
    symbols.back().end = text.size();
  }
  const size_t none = symbols.size();

  // Returns the rank of merging a symbol with the next one; -1 if there is no such merge.
  const auto rank_of = [&](size_t left) {
    const Symbol& a = symbols[left];
    if (a.end == 0 || a.next == none) return -1;
    const Symbol& b = symbols[a.next];
    const auto found = ranks_.find(absl::StrCat(text.substr(a.begin, a.end - a.begin), " ",
                                                text.substr(b.begin, b.end - b.begin)));
    return found == ranks_.end() ? -1 : found->second;
  };
  using Merge = std::pair<int, size_t>;  // the rank, and the left symbol
  std::priority_queue<Merge, std::vector<Merge>, std::greater<>> queue;
  const auto push = [&](size_t left) {
    if (const int rank = rank_of(left); rank >= 0) queue.emplace(rank, left);
  };
  for (size_t i = 0; i < none; ++i) push(i);
  std::vector<size_t> round;  // where the merge of the lowest rank may be done
  while (!queue.empty()) {
    const int rank = queue.top().first;
    round.clear();
    for (; !queue.empty() && queue.top().first == rank; queue.pop()) {
      round.push_back(queue.top().second);
    }
    for (const size_t left : round) {
      if (rank_of(left) != rank) continue;  // one of the two has been merged with another symbol
      Symbol& a = symbols[left];
      Symbol& b = symbols[a.next];
      a.end = b.end;
      a.next = b.next;
      b.end = 0;
      if (a.next != none) symbols[a.next].last = left;
      push(left);
      if (left > 0) push(a.last);
    }
  }
  for (size_t i = 0; i < none; i = symbols[i].next) {
    if (symbols[i].begin == word.size()) break;
    pieces.push_back({symbols[i].begin, std::min(symbols[i].end, word.size())});
  }
  return pieces;
}

std::vector<std::string> SubwordMerges::Encode(absl::string_view text,
                                               std::vector<TextSpan>* spans) const {
  std::vector<std::string> pieces;
  std::vector<TextSpan> words;
  SplitAtSpaces(text, &words);
  for (const TextSpan& word : words) {
    for (const TextSpan& part : EncodeWord(text.substr(word.begin, word.end - word.begin))) {
      const TextSpan span = {word.begin + part.begin, word.begin + part.end};
      pieces.push_back(absl::StrCat(text.substr(span.begin, span.end - span.begin),
                                    span.end < word.end ? kMore : ""));
      spans->push_back(span);
    }
  }
  return pieces;
}

std::string SubwordMerges::Decode(absl::Span<const std::string> pieces,
                                  std::vector<TextSpan>* spans) const {
  std::string text;
  bool inside = true;  // the last piece does not end its word, or there is none
  for (absl::string_view piece : pieces) {
    if (!inside) text += ' ';
    inside = absl::ConsumeSuffix(&piece, kMore);
    spans->push_back({text.size(), text.size() + piece.size()});
    absl::StrAppend(&text, piece);
  }
  return text;
}

}  // namespace nibu::internal
