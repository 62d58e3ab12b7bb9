// Finds added tokens in a text by the rules of Hugging Face's tokenizers.
#include "tools/text/model/text_tokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/nfkc.h"

namespace nibu::internal {
namespace {

// Returns the character that ends at byte `at`, or begins there; empty at the text's ends.
absl::string_view CharacterBefore(absl::string_view text, size_t at) {
  size_t begin = at;
  while (begin > 0 && !IsCharacterBorder(text, --begin)) continue;
  return text.substr(begin, at - begin);
}
absl::string_view CharacterBehind(absl::string_view text, size_t at) {
  size_t end = at;
  if (at < text.size()) NextCharacter(text, &end);
  return text.substr(at, end - at);
}

bool IsOfWord(absl::string_view character) { return HasWords(character) || character == "_"; }

// Returns the bytes of white space at the end of a text.
size_t BlankSuffix(absl::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const absl::string_view last = CharacterBefore(text, end);
    if (!IsBlank(last)) break;
    end -= last.size();
  }
  return text.size() - end;
}

bool IsAscii(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TextTokenizer>> TextTokenizer::Create(
    absl::string_view sentencepiece, const Vocabulary& vocabulary, const Vocabulary& source,
    const ModelVocabulary& model) {
  auto tokenizer = std::make_shared<TextTokenizer>();
  NIBU_ASSIGN_OR_RETURN(tokenizer->sentencepiece_,
                        SentencePieceTokenizer::FromSerialized(sentencepiece, vocabulary));
  if (!model.added_tokens.empty() && !model.words_follow_added) {
    // Fields of a protocol buffer that come twice are merged; this one sets
    // normalizer_spec.add_dummy_prefix to false.
    const std::string continued =
        absl::StrCat(sentencepiece, absl::string_view("\x1a\x02\x18\0", 4));
    NIBU_ASSIGN_OR_RETURN(tokenizer->continued_,
                          SentencePieceTokenizer::FromSerialized(continued, vocabulary));
  }
  for (const AddedToken& added : model.added_tokens) {
    const std::string& token = source.Token(added.token);
    if (!tokenizer->added_.emplace(token, added).second) continue;
    std::vector<size_t> unused;
    const std::string text = added.normalized ? Nfkc(token, &unused) : token;
    if (text.empty()) continue;
    (added.normalized ? tokenizer->normalized_ : tokenizer->exact_)[text[0]].push_back(
        {text, token, added});
  }
  for (Names* const names : {&tokenizer->exact_, &tokenizer->normalized_}) {
    for (auto& [first, list] : *names) {
      std::stable_sort(list.begin(), list.end(),
                       [](const Name& a, const Name& b) { return a.text.size() > b.text.size(); });
    }
  }
  return tokenizer;
}

std::vector<TextTokenizer::Match> TextTokenizer::FindNames(const Names& names,
                                                           absl::string_view text) {
  std::vector<Match> matches;
  size_t end = 0;  // of the last match
  for (size_t i = 0; i < text.size() && !names.empty();) {
    const auto begins = names.find(text[i]);
    const Name* found = nullptr;
    if (begins != names.end()) {
      const auto name = std::find_if(
          begins->second.begin(), begins->second.end(),
          [&](const Name& each) { return absl::StartsWith(text.substr(i), each.text); });
      if (name != begins->second.end()) found = &*name;
    }
    if (found == nullptr) {
      ++i;
      continue;
    }
    TextSpan span = {i, i + found->text.size()};
    i = span.end;
    if (found->rules.single_word && (IsOfWord(CharacterBefore(text, span.begin)) ||
                                     IsOfWord(CharacterBehind(text, span.end)))) {
      continue;
    }
    if (span.begin < end) continue;  // the last match took it as white space
    if (found->rules.lstrip) {
      span.begin = std::max(end, span.begin - BlankSuffix(text.substr(0, span.begin)));
    }
    if (found->rules.rstrip) span.end += BlankPrefix(text.substr(span.end));
    end = span.end;
    matches.push_back({span, found->token});
  }
  return matches;
}

std::vector<TextTokenizer::Match> TextTokenizer::FindNormalized(absl::string_view text) const {
  if (IsAscii(text) || normalized_.empty()) return FindNames(normalized_, text);
  std::vector<size_t> sources;
  std::vector<Match> matches = FindNames(normalized_, Nfkc(text, &sources));
  // A match that has a part of what one character becomes is dropped, since the rest of that
  // character would be lost.
  std::erase_if(matches, [&](const Match& match) {
    const auto& [begin, end] = match.span;
    return (begin > 0 && sources[begin] == sources[begin - 1]) || sources[end] == sources[end - 1];
  });
  for (Match& match : matches) match.span = {sources[match.span.begin], sources[match.span.end]};
  return matches;
}

std::vector<TextTokenizer::Match> TextTokenizer::Find(absl::string_view text) const {
  std::vector<Match> all;
  size_t begin = 0;
  std::vector<Match> exact = FindNames(exact_, text);
  exact.push_back({{text.size(), text.size()}, ""});
  for (Match& match : exact) {
    for (Match& between : FindNormalized(text.substr(begin, match.span.begin - begin))) {
      between.span = {begin + between.span.begin, begin + between.span.end};
      all.push_back(std::move(between));
    }
    begin = match.span.end;
    if (!match.token.empty()) all.push_back(std::move(match));
  }
  return all;
}

std::vector<TextSpan> TextTokenizer::AddedTokens(absl::string_view text) const {
  std::vector<TextSpan> spans;
  if (added_.empty()) return spans;
  for (const Match& match : Find(text)) spans.push_back(match.span);
  return spans;
}

absl::StatusOr<std::vector<std::string>> TextTokenizer::Encode(absl::string_view text,
                                                               std::vector<TextSpan>* spans) const {
  if (added_.empty()) return sentencepiece_->Encode(text, spans);
  std::vector<std::string> pieces;
  std::vector<TextSpan> found;
  size_t begin = 0;
  const auto encode = [&](size_t end) -> absl::Status {
    const absl::string_view part = text.substr(begin, end - begin);
    if (part.empty()) return absl::OkStatus();
    const bool is_continued = begin > 0 && continued_ != nullptr && !IsBlank(FirstCharacter(part));
    std::vector<TextSpan> own;
    NIBU_ASSIGN_OR_RETURN(const auto encoded,
                          (is_continued ? continued_ : sentencepiece_)->Encode(part, &own));
    pieces.insert(pieces.end(), encoded.begin(), encoded.end());
    for (const TextSpan& span : own) found.push_back({begin + span.begin, begin + span.end});
    return absl::OkStatus();
  };
  for (Match& match : Find(text)) {
    NIBU_RETURN_IF_ERROR(encode(match.span.begin));
    pieces.push_back(std::move(match.token));
    found.push_back(match.span);
    begin = match.span.end;
  }
  NIBU_RETURN_IF_ERROR(encode(text.size()));
  if (spans != nullptr) *spans = std::move(found);
  return pieces;
}

absl::StatusOr<std::string> TextTokenizer::Decode(absl::Span<const std::string> pieces,
                                                  std::vector<TextSpan>* spans) const {
  if (added_.empty()) return sentencepiece_->Decode(pieces, spans);
  std::string text;
  std::vector<TextSpan> found;
  const auto add_blank = [&text] {
    if (!text.empty() && !IsBlank(LastCharacter(text))) text += ' ';
  };
  for (size_t i = 0; i < pieces.size();) {
    if (const auto added = added_.find(pieces[i]); added != added_.end()) {
      if (!added->second.special) add_blank();
      const size_t begin = text.size();
      if (!added->second.special) text += pieces[i];
      found.push_back({begin, text.size()});
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < pieces.size() && added_.count(pieces[end]) == 0) ++end;
    std::vector<TextSpan> own;
    NIBU_ASSIGN_OR_RETURN(const std::string part,
                          sentencepiece_->Decode(pieces.subspan(i, end - i), &own));
    if (absl::StartsWith(pieces[i], kWordMark)) add_blank();
    for (const TextSpan& span : own)
      found.push_back({text.size() + span.begin, text.size() + span.end});
    text += part;
    i = end;
  }
  if (spans != nullptr) *spans = std::move(found);
  return text;
}

}  // namespace nibu::internal
