#include "tools/text/join.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tokenizer/between_sentences.h"
#include "tools/text/markup.h"
#include "tools/text/place.h"

namespace nibu {
namespace {

void ReplaceBreaks(std::string* text) { absl::StrReplaceAll({{"\n", " "}, {"\r", " "}}, text); }

}  // namespace

AttentionRows Joiner::Attention(const LinePart& part, const Hypothesis& hypothesis) const {
  const std::vector<std::string>& pieces = part.source.pieces;
  const Frame frame = options_.decoding.FrameFor(config_);
  const size_t skipped = pieces.size() - coder_.WithoutLanguage(pieces).size();
  const size_t all = pieces.size() + static_cast<size_t>(frame.source_extra());
  AttentionRows rows;
  for (size_t t = 0; t < hypothesis.attention.size() / all; ++t) {
    const auto row = hypothesis.attention.begin() + static_cast<long>(t * all);
    const auto text = row + static_cast<long>(frame.source_prefix.size());
    rows.emplace_back(text + static_cast<long>(skipped), text + static_cast<long>(pieces.size()));
  }
  return rows;
}

std::string Joiner::Text(const LinePart& part, const LineParts& line, const Hypothesis& hypothesis,
                         const AttentionRows& attention, absl::Span<const std::string> tokens,
                         Warnings* warnings) const {
  const bool carries = !part.marked.carried.empty();
  std::vector<TextSpan> spans;
  std::string text =
      carries ? coder_.Text(tokens, &spans) : coder_.Text(tokens, options_.tokenized);
  const std::vector<std::string>& pieces = part.source.pieces;
  const auto own = coder_.WithoutLanguage(pieces);
  const std::string source = RoughText(own, options_.tokenized);
  warnings->Add(
      Watch(coder_.Understand(source, /*split=*/true).text, pieces.size(), text, hypothesis));
  if (line.is_marked) ReplaceBreaks(&text);
  if (!carries) return EscapeText(part.marked, text);
  const size_t front = pieces.size() - own.size();
  std::vector<AlignedToken> aligned;
  aligned.reserve(spans.size());
  for (const TextSpan& span : spans) aligned.push_back({span, {0, 0}});
  for (const auto& [s, t] : HardAlignment(attention)) {
    if (static_cast<size_t>(t) >= aligned.size()) break;
    aligned[static_cast<size_t>(t)].source = part.source.spans[front + static_cast<size_t>(s)];
  }
  text = Place(part.marked, text, aligned);
  std::vector<std::string> protected_parts;
  for (const Carried& carried : part.marked.carried) {
    if (carried.replaces) {
      protected_parts.emplace_back(absl::StripAsciiWhitespace(carried.before));
    }
  }
  warnings->Add(Warning::kProtected, !HasEachOnce(protected_parts, text));
  return text;
}

void Joiner::ReplaceUnknowns(absl::Span<const std::string> source, const AttentionRows& attention,
                             std::vector<std::string>* tokens) const {
  for (const auto& [s, t] : HardAlignment(attention)) {
    std::string& token = (*tokens)[static_cast<size_t>(t)];
    if (coder_.IsUnknown(token)) token = source[static_cast<size_t>(s)];
  }
}

void Joiner::Align(const LineParts& line, const AttentionRows& attention,
                   TextHypothesis* joined) const {
  if (options_.alignment == AlignmentKind::kNone) return;
  joined->alignment = HardAlignment(attention);
  if (options_.alignment == AlignmentKind::kSoft) joined->attention = attention;
  if (!options_.align_words) return;
  std::vector<std::string> source;
  for (const LinePart& part : line.parts) {
    const auto text = coder_.WithoutLanguage(part.source.pieces);
    source.insert(source.end(), text.begin(), text.end());
  }
  const std::vector<int> source_words = WordsOf(source);
  const std::vector<int> target_words = WordsOf(joined->tokens);
  joined->alignment = AlignWords(joined->alignment, source_words, target_words);
  if (options_.alignment == AlignmentKind::kSoft) {
    joined->attention = AttendWords(attention, source_words, target_words);
  }
}

TextHypothesis Joiner::Join(const LineParts& line, size_t n) const {
  TextHypothesis joined;
  size_t length = 0;
  float coverage = 0;
  AttentionRows attention;
  size_t sources = 0;
  bool is_first = true;
  for (const LinePart& source_part : line.parts) {
    const Hypothesis& part = source_part.hypotheses[n];
    std::vector<std::string> tokens = coder_.Tokens(part.tokens);
    AttentionRows rows;
    if (!part.attention.empty()) rows = Attention(source_part, part);
    const auto source = coder_.WithoutLanguage(source_part.source.pieces);
    if (options_.replace_unknowns) ReplaceUnknowns(source, rows, &tokens);
    const std::string text = Text(source_part, line, part, rows, tokens, &joined.warnings);
    if (options_.decoding.return_attention) {
      for (std::vector<float>& row : rows) {  // beside those of the parts before it
        row.insert(row.begin(), sources, 0.0f);
        attention.push_back(std::move(row));
      }
      sources += source.size();
    }
    if (!source_part.untouched.empty()) {
      joined.text += source_part.untouched;
      is_first = true;
    }
    if (!text.empty()) {
      const absl::string_view between = source_part.before;
      absl::StrAppend(&joined.text,
                      is_first ? between : BetweenTranslations(between, joined.text, text), text);
      is_first = false;
    }
    if (line.is_scored) tokens.push_back(coder_.Tokens({config_.eos})[0]);
    // The score of the EOS, where there is one, has no token.
    joined.token_scores.insert(joined.token_scores.end(), part.token_scores.begin(),
                               part.token_scores.begin() + static_cast<long>(tokens.size()));
    std::move(tokens.begin(), tokens.end(), std::back_inserter(joined.tokens));
    joined.log_prob += part.log_prob;
    coverage += part.coverage;
    joined.finished = joined.finished && part.finished;
    joined.repetition = joined.repetition || part.repetition;
    length += part.token_scores.size();
  }
  for (std::vector<float>& row : attention) row.resize(sources);
  Align(line, attention, &joined);
  joined.text += line.behind;
  if (!line.is_marked) ReplaceBreaks(&joined.text);
  joined.score = HypothesisScore(options_.decoding, joined.log_prob, length) + coverage;
  return joined;
}

}  // namespace nibu
