// Joins the translations of a line's parts, and turns attention into alignments.
//
// Each part is written by itself, with its prefix, its tags and its protected parts, before the
// texts are joined: the byte spans of tokens and the rows of attention are those of one search, and
// what stands between two parts was never read by the model. The score is computed anew from the
// sums, since a length that is normalized does not add up.
#include "tools/text/lines/join.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "engine/plan.h"
#include "tokenizer/unicode/characters.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {
namespace {

void ReplaceBreaks(std::string* text) { absl::StrReplaceAll({{"\n", " "}, {"\r", " "}}, text); }

bool StartsWord(absl::string_view piece) { return absl::StartsWith(piece, kWordMark); }

// Replaces the text of the prefix's tokens by the prefix as it was given, since the vocabulary may
// lack characters of it, and moves `spans` accordingly. Returns the bytes of the prefix that `text`
// begins with. A biased prefix is not replaced: the hypothesis may not have followed it.
size_t TakePrefix(const LinePlan& plan, const LinePart& part, std::string* text,
                  std::vector<TextSpan>* spans) {
  const absl::string_view given = absl::StripTrailingAsciiWhitespace(part.prefix);
  const size_t tokens = part.prefix_tokens;
  if (plan.decoding.prefix_bias_beta > 0 || tokens == 0 || tokens > spans->size()) {
    return absl::StartsWith(*text, given) ? given.size() : 0;
  }
  const size_t written = (*spans)[tokens - 1].end;
  text->replace(0, written, given.data(), given.size());
  for (TextSpan& span : *spans) {
    for (size_t* at : {&span.begin, &span.end}) {
      *at = *at < written ? std::min(*at, given.size()) : *at - written + given.size();
    }
  }
  return given.size();
}

// Returns the tokens at `spans` of a translation, each with the source piece that it attends to
// most.
std::vector<AlignedToken> AlignTokens(const EncodedText& source, absl::Span<const TextSpan> spans,
                                      const AttentionRows& attention) {
  std::vector<AlignedToken> aligned;
  aligned.reserve(spans.size());
  for (const TextSpan& span : spans) aligned.push_back({span, {0, 0}});
  for (const auto& [s, t] : HardAlignment(attention)) {
    if (t < aligned.size()) aligned[t].source = source.spans[source.front + s];
  }
  return aligned;
}

// Returns the text of a hypothesis of a part with the part's annotations, and adds to the warnings.
std::string Text(const LinePlan& plan, const LinePart& part, const SaidNumbers& said,
                 const Hypothesis& hypothesis, const AttentionRows& attention,
                 absl::Span<const std::string> tokens, Warnings* warnings) {
  const TextCoder& coder = plan.coder;
  const bool is_annotated = NeedsAlignment(part.marked);
  std::vector<TextSpan> spans;
  std::string text = coder.Text(tokens, is_annotated || !part.prefix.empty() ? &spans : nullptr);
  const size_t prefix = TakePrefix(plan, part, &text, &spans);
  // The source text that the model read: behind the language tokens, up to where it was truncated.
  const auto& [pieces, read, front] = part.source;
  const size_t begin = front < read.size() ? read[front].begin : read.back().end;
  const auto source = absl::string_view(part.marked.text).substr(begin, read.back().end - begin);
  const auto expected = static_cast<float>(pieces.size()) * plan.length_ratio;
  *warnings |= CheckTranslation(coder.ParseLine(source, /*split=*/true).text, expected, text,
                                hypothesis, said);
  ReplaceBreaks(&text);
  if (!is_annotated) return EscapeText(part.marked, text);
  bool has_emptied = false;
  text = PlaceAnnotations(part.marked, text, AlignTokens(part.source, spans, attention), prefix,
                          &has_emptied);
  if (has_emptied) warnings->set(Warning::kProtected);
  std::vector<std::string> protected_parts;
  for (const Annotation& annotation : part.marked.annotations) {
    if (annotation.replaces) {
      protected_parts.emplace_back(absl::StripAsciiWhitespace(annotation.before));
    }
  }
  if (!HasEachOnce(protected_parts, text)) warnings->set(Warning::kProtected);
  return text;
}

// Completes `joined`, whose alignment is one of pieces: turns that into words and adds the
// attention where the options ask for it.
void Align(const Options& options, const std::vector<std::string>& source, AttentionRows attention,
           nibu::Hypothesis* joined) {
  if (options.alignment == AlignmentKind::kNone) return;
  if (options.alignment_level == AlignmentLevel::kWords) {
    const std::vector<size_t> source_words = WordsOf(source);
    const std::vector<size_t> target_words = WordsOf(joined->tokens);
    joined->alignment = AlignWords(joined->alignment, source_words, target_words);
    if (options.alignment == AlignmentKind::kSoft) {
      attention = AttendWords(attention, source_words, target_words);
    }
  }
  if (options.alignment == AlignmentKind::kSoft) joined->attention = std::move(attention);
}

}  // namespace

std::string ReadTarget(const LinePlan& plan, const LinePart& part, const Hypothesis& hypothesis,
                       std::vector<AlignedToken>* aligned) {
  std::vector<TextSpan> spans;
  std::string text = plan.coder.Text(plan.coder.Tokens(hypothesis.tokens), &spans);
  ReplaceBreaks(&text);
  *aligned = AlignTokens(part.source, spans, AttentionOf(part.source, hypothesis, plan.frame));
  return text;
}

nibu::Hypothesis Join(const LinePlan& plan, const LineParts& line, size_t n) {
  const TextCoder& coder = plan.coder;
  const Options& options = plan.options;
  const std::string end = coder.Tokens({plan.eos})[0];
  nibu::Hypothesis joined;
  size_t length = 0;
  float coverage = 0;
  AttentionRows attention;
  std::vector<std::string> sources;
  bool is_first = true;
  for (const LinePart& part : line.parts) {
    const Hypothesis& hypothesis = part.hypotheses[n];
    const auto source = part.source.own();
    std::vector<std::string> tokens = coder.Tokens(hypothesis.tokens);
    const AttentionRows rows = AttentionOf(part.source, hypothesis, plan.frame);
    const bool has_end = hypothesis.end_token >= 0 && !line.is_scored;
    // Steps for each part: replace unknown tokens, make its text, shift its alignment behind those
    // of the parts before it, and append text, tokens and scores.
    if (options.replace_unknowns) {
      for (const auto& [s, t] : HardAlignment(rows)) {
        std::string& token = tokens[t];
        if (coder.IsUnknown(token)) token = source[s];
      }
    }
    const std::string text =
        Text(plan, part, line.said, hypothesis, rows, tokens, &joined.warnings);
    if (options.alignment != AlignmentKind::kNone) {
      AttentionRows told = options.return_ends
                               ? AttentionOf(part.source, hypothesis, plan.frame, /*ends=*/true)
                               : rows;
      for (const auto& [s, t] : HardAlignment(told)) {
        joined.alignment.emplace_back(sources.size() + s, joined.tokens.size() + t);
      }
      if (options.alignment == AlignmentKind::kSoft) {
        for (std::vector<float>& row : told) {  // its columns follow those of the parts before it
          row.insert(row.begin(), sources.size(), 0.0f);
          attention.push_back(std::move(row));
        }
      }
      sources.insert(sources.end(), source.begin(), source.end());
      if (options.return_ends) {
        sources.insert(sources.end(), plan.frame.source_suffix.size(), end);
      }
    }
    if (!part.untouched.empty()) {
      joined.text += part.untouched;
      is_first = true;
    }
    if (!text.empty()) {
      absl::StrAppend(&joined.text,
                      is_first ? part.before : BetweenTranslations(part.before, joined.text, text),
                      text);
      is_first = false;
    }
    if (line.is_scored) tokens.push_back(end);
    if (options.return_ends && has_end) tokens.push_back(coder.Tokens({hypothesis.end_token})[0]);
    // If the last score is that of the EOS, it has no token and is left out.
    joined.token_scores.insert(joined.token_scores.end(), hypothesis.token_scores.begin(),
                               hypothesis.token_scores.begin() + static_cast<long>(tokens.size()));
    std::move(tokens.begin(), tokens.end(), std::back_inserter(joined.tokens));
    joined.log_prob += hypothesis.log_prob;
    coverage += hypothesis.coverage;
    joined.finished = joined.finished && hypothesis.finished;
    joined.repetition = joined.repetition || hypothesis.repetition;
    joined.end_token = has_end ? coder.Tokens({hypothesis.end_token})[0] : "";
    length += hypothesis.token_scores.size();
  }
  // Rows of earlier parts end before the columns of later ones.
  for (std::vector<float>& row : attention) row.resize(sources.size());
  Align(options, sources, std::move(attention), &joined);
  joined.text += line.behind;
  if (line.values > 0) joined.text = PlaceValues(joined.text, line.values);
  if (line.has_messages) joined.warnings.set(Warning::kProtected);
  // The result is one line. A carriage return between sentences is no line end and stays.
  if (!line.is_marked) absl::StrReplaceAll({{"\n", " "}}, &joined.text);
  joined.score = HypothesisScore(plan.decoding, joined.log_prob, length) + coverage;
  joined.length = length;
  return joined;
}

std::vector<std::string> SourceLabels(const LinePlan& plan, const LineParts& line) {
  const Options& options = plan.options;
  std::vector<std::string> labels;
  if (options.alignment == AlignmentKind::kNone) return labels;
  std::vector<std::string> pieces;  // of all parts, as WordsOf needs them
  for (const LinePart& part : line.parts) {
    const auto own = part.source.own();
    pieces.insert(pieces.end(), own.begin(), own.end());
    for (size_t i = 0; i < own.size(); ++i) {
      const TextSpan span = part.source.spans[part.source.front + i];
      const auto protected_part = absl::c_find_if(part.marked.annotations, [&](const auto& each) {
        return each.replaces && each.span.begin < span.end && span.begin < each.span.end;
      });
      labels.push_back(protected_part == part.marked.annotations.end()
                           ? own[i]
                           : std::string(absl::StripAsciiWhitespace(protected_part->before)));
    }
    for (size_t i = 0; options.return_ends && i < plan.frame.source_suffix.size(); ++i) {
      labels.push_back(plan.coder.Tokens({plan.eos})[0]);
      pieces.push_back(labels.back());
    }
  }
  if (options.alignment_level == AlignmentLevel::kPieces) return labels;
  const std::vector<size_t> words = WordsOf(pieces);
  std::vector<std::string> joined(words.empty() ? 0 : words.back() + 1);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string& word = joined[words[i]];
    if (labels[i] != pieces[i]) {
      if (!absl::EndsWith(word, labels[i])) word += labels[i];  // once, whatever stands for it
      continue;
    }
    absl::string_view piece = labels[i];
    absl::ConsumePrefix(&piece, kWordMark);
    absl::ConsumeSuffix(&piece, "@@");
    absl::StrAppend(&word, piece);
  }
  return joined;
}

AttentionRows AttentionOf(const EncodedText& source, const Hypothesis& hypothesis,
                          const Frame& frame, bool ends) {
  // hypothesis.attention is [tokens and the end, source_prefix + pieces + source_suffix] (see
  // Frame).
  const size_t pieces = source.pieces.size();
  const size_t all = pieces + static_cast<size_t>(frame.source_extra());
  const size_t known = hypothesis.attention.size() / all;
  const size_t last = pieces + (ends ? frame.source_suffix.size() : 0);
  AttentionRows rows;
  for (size_t t = 0; t < (ends ? known : std::min(known, hypothesis.tokens.size())); ++t) {
    const float* row = hypothesis.attention.data() + t * all + frame.source_prefix.size();
    rows.emplace_back(row + source.front, row + last);
  }
  return rows;
}

std::vector<std::pair<size_t, size_t>> HardAlignment(const AttentionRows& attention) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t t = 0; t < attention.size(); ++t) {
    const auto most = std::max_element(attention[t].begin(), attention[t].end());
    if (most == attention[t].end()) continue;
    pairs.emplace_back(most - attention[t].begin(), t);
  }
  return pairs;
}

std::vector<size_t> WordsOf(absl::Span<const std::string> pieces) {
  const bool marks_starts = absl::c_any_of(pieces, StartsWord);
  std::vector<size_t> words;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool starts =
        i > 0 && (marks_starts ? StartsWord(pieces[i]) : !absl::EndsWith(pieces[i - 1], "@@"));
    words.push_back((i == 0 ? 0 : words.back()) + (starts ? 1 : 0));
  }
  return words;
}

std::vector<std::pair<size_t, size_t>> AlignWords(
    absl::Span<const std::pair<size_t, size_t>> pieces, absl::Span<const size_t> source_words,
    absl::Span<const size_t> target_words) {
  std::set<std::pair<size_t, size_t>> words;  // (target, source)
  for (const auto& [s, t] : pieces) {
    words.emplace(target_words[t], source_words[s]);
  }
  std::vector<std::pair<size_t, size_t>> pairs;
  pairs.reserve(words.size());
  for (const auto& [t, s] : words) pairs.emplace_back(s, t);
  return pairs;
}

AttentionRows AttendWords(const AttentionRows& pieces, absl::Span<const size_t> source_words,
                          absl::Span<const size_t> target_words) {
  const auto count = [](absl::Span<const size_t> words) {
    return words.empty() ? 0 : words.back() + 1;
  };
  AttentionRows words(count(target_words), std::vector<float>(count(source_words)));
  std::vector<float> counts(words.size());
  for (const size_t t : target_words) ++counts[t];
  for (size_t t = 0; t < pieces.size(); ++t) {
    const auto word = target_words[t];
    for (size_t s = 0; s < pieces[t].size(); ++s) {
      words[word][source_words[s]] += pieces[t][s] / counts[word];
    }
  }
  return words;
}

}  // namespace nibu::internal
