// Runs SentencePiece on chunks of bounded size, or applies merges.
#include "tokenizer/subwords/tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"
#include "engine/core/wire_format.h"
#include "tokenizer/subwords/charsmap.h"
#include "tokenizer/unicode/characters.h"

namespace nibu::internal {
namespace {

// SentencePiece gets so many bytes at a time, because it needs a few hundred bytes of memory for a
// byte of text, and time that grows with the square of the length of a run of unknown characters.
constexpr size_t kMostBytes = size_t{1} << 14;

// Removes up to kMostBytes from the front of the text and returns them. A chunk ends before a
// blank, which is dropped, because the next chunk begins a new word anyway. Text without blanks is
// cut between two characters.
absl::string_view TakeChunk(absl::string_view* text) {
  absl::string_view chunk = text->substr(0, kMostBytes);
  if (chunk.size() == text->size()) {
    *text = {};
    return chunk;
  }
  const size_t blank = chunk.rfind(' ');
  if (blank != absl::string_view::npos) {
    text->remove_prefix(blank + 1);
    return chunk.substr(0, blank);
  }
  size_t end = kMostBytes;
  while (end > kMostBytes - 4 && !IsCharacterBorder(*text, end)) --end;
  text->remove_prefix(end);
  return chunk.substr(0, end);
}

constexpr absl::string_view kBlank = "\u2581";  // SentencePiece's sign for a blank

// Returns true if the vocabulary has at least half of the model's pieces. Of many pieces, a
// thousand to two thousand are looked up, evenly spread: they tell as much as all, and sooner.
bool KnowsHalf(const Vocabulary& vocabulary, const SentencePieceModel& model) {
  const int step = std::max(1, model.size() / 1000);
  int asked = 0;
  int known = 0;
  for (int id = 0; id < model.size(); id += step) {
    ++asked;
    if (vocabulary.Contains(model.Piece(id))) ++known;
  }
  return 2 * known >= asked;
}

}  // namespace

std::vector<std::string> SplitAtSpaces(absl::string_view text, std::vector<TextSpan>* spans) {
  std::vector<std::string> pieces;
  for (const absl::string_view piece :
       absl::StrSplit(text, absl::ByAnyChar(" \t\r\n\v\f"), absl::SkipEmpty())) {
    const auto begin = static_cast<size_t>(piece.data() - text.data());
    if (spans != nullptr) spans->push_back({begin, begin + piece.size()});
    pieces.emplace_back(piece);
  }
  return pieces;
}

absl::StatusOr<std::unique_ptr<SentencePieceTokenizer>> SentencePieceTokenizer::FromSerialized(
    absl::string_view model, const Vocabulary& vocabulary) {
  auto tokenizer = absl::WrapUnique(new SentencePieceTokenizer());
  if (SubwordMerges::IsMerges(model)) {
    NIBU_ASSIGN_OR_RETURN(tokenizer->merges_, SubwordMerges::FromText(model, vocabulary));
    return tokenizer;
  }
  std::string error = "its character map is broken";
  if (BeginsLikeText(model)) {
    return absl::InvalidArgumentError(
        "a text, such as a list of tokens, and no SentencePiece model (*.spm, *.model)");
  }
  if (!CharsmapsAreSound(model) || !tokenizer->model_.Load(model.data(), model.size(), &error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a whole SentencePiece model (", error, "); download it again"));
  }
  if (!KnowsHalf(vocabulary, tokenizer->model_)) {
    return absl::InvalidArgumentError(
        "the model's vocabulary does not know most of its pieces; it belongs to another model");
  }
  return tokenizer;
}

absl::StatusOr<std::vector<std::string>> SentencePieceTokenizer::Encode(
    absl::string_view text, std::vector<TextSpan>* spans) const {
  std::vector<std::string> pieces;
  std::vector<TextSpan> found;
  std::string error;
  if (merges_ != nullptr) {
    pieces = merges_->Encode(text, &found);
    if (spans != nullptr) *spans = std::move(found);
    return pieces;
  }
  const char* const start = text.data();
  do {
    const absl::string_view chunk = TakeChunk(&text);
    const auto offset = static_cast<size_t>(chunk.data() - start);
    const size_t before = found.size();
    if (!model_.Encode(chunk.data(), chunk.size(), &pieces, &found, &error)) {
      return absl::InternalError(absl::StrCat("SentencePiece cannot encode a line: ", error));
    }
    for (size_t i = before; i < found.size(); ++i) {
      found[i] = {offset + found[i].begin, offset + found[i].end};
    }
  } while (!text.empty());
  if (spans != nullptr) *spans = std::move(found);
  return pieces;
}

absl::StatusOr<std::string> SentencePieceTokenizer::Decode(absl::Span<const std::string> pieces,
                                                           std::vector<TextSpan>* spans) const {
  std::string text;
  std::vector<TextSpan> found;
  std::string error;
  if (merges_ != nullptr) {
    text = merges_->Decode(pieces, &found);
    if (spans != nullptr) *spans = std::move(found);
    return text;
  }
  if (!model_.Decode({pieces.begin(), pieces.end()}, &text, &found, &error)) {
    return absl::InternalError(absl::StrCat("SentencePiece cannot decode a line: ", error));
  }
  if (spans != nullptr) *spans = std::move(found);
  // SentencePiece leaves pieces that it does not know (another model's) as they are, with its sign
  // for a blank.
  if (absl::StartsWith(text, kBlank)) text.erase(0, kBlank.size());
  absl::StrReplaceAll({{kBlank, " "}}, &text);
  return text;
}

}  // namespace nibu::internal
