// Reads a sentence between two models, and multiplies the attention of both.
#include "tools/text/lines/pivot.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "tools/text/lines/line_reader.h"

namespace nibu::internal {
namespace {

// Returns the number of bytes that two spans share.
size_t Overlap(const TextSpan& a, const TextSpan& b) {
  const size_t begin = std::max(a.begin, b.begin);
  return std::max(begin, std::min(a.end, b.end)) - begin;
}

void AddScaled(const std::vector<float>& row, float scale, absl::Span<float> sum) {
  for (size_t i = 0; i < row.size(); ++i) sum[i] += scale * row[i];
}

// Returns PivotSentence::sources. The row of a piece is the mean of the attention of the first
// model's tokens that its bytes come from, weighted by bytes, or that of the nearest token.
AttentionRows SourcesOf(absl::Span<const TextSpan> pieces, absl::Span<const TextSpan> tokens,
                        const AttentionRows& attention) {
  AttentionRows rows;
  if (attention.empty()) return rows;
  size_t first = 0;  // the first token that ends behind the beginning of the piece
  for (const TextSpan& piece : pieces) {
    while (first + 1 < tokens.size() && tokens[first].end <= piece.begin) ++first;
    std::vector<float>& row = rows.emplace_back(attention[first].size());
    size_t covered = 0;
    for (size_t t = first; t < tokens.size() && tokens[t].begin < piece.end; ++t) {
      const size_t shared = Overlap(tokens[t], piece);
      covered += shared;
      AddScaled(attention[t], static_cast<float>(shared), absl::MakeSpan(row));
    }
    if (covered == 0) row = attention[first];
    for (float& weight : row) weight /= static_cast<float>(std::max<size_t>(covered, 1));
  }
  return rows;
}

// Appends a part's hypothesis to that of the parts before it, whose score of the EOS goes. `first`:
// the number of pieces of the parts before it. `columns`: the length of a row of attention.
void Append(const Hypothesis& added, const EncodedText& part, const Frame& frame, size_t first,
            const PivotSentence& sentence, size_t columns, Hypothesis* joined) {
  joined->token_scores.resize(joined->tokens.size());
  joined->tokens.insert(joined->tokens.end(), added.tokens.begin(), added.tokens.end());
  joined->token_scores.insert(joined->token_scores.end(), added.token_scores.begin(),
                              added.token_scores.end());
  joined->log_prob += added.log_prob;
  joined->coverage += added.coverage;
  joined->score += added.score;
  joined->finished = joined->finished && added.finished;
  joined->repetition = joined->repetition || added.repetition;
  joined->end_token = added.end_token;
  joined->met |= added.met;
  if (sentence.sources.empty()) return;
  for (const std::vector<float>& row : AttentionOf(part, added, frame)) {
    std::vector<float> composed(columns);
    for (size_t i = 0; i < row.size(); ++i) {
      AddScaled(sentence.sources[first + i], row[i],
                absl::MakeSpan(composed).subspan(frame.source_prefix.size()));
    }
    joined->attention.insert(joined->attention.end(), composed.begin(), composed.end());
  }
}

}  // namespace

absl::StatusOr<PivotSentence> ReadPivot(const PivotPlan& plan, const std::string& front,
                                        const EncodedText& source,
                                        const Hypothesis& translation) try {
  PivotSentence sentence;
  sentence.finished = translation.finished;
  sentence.repetition = translation.repetition;
  const TextCoder& first = plan.first.coder;
  const TextCoder& second = plan.second.coder;
  std::vector<TextSpan> spans;
  const std::string text = first.Text(first.Tokens(translation.tokens), &spans);
  TextCoder::Line line = second.ParseLine(front, /*split=*/true);
  line.text = text;
  NIBU_ASSIGN_OR_RETURN(const EncodedText coded, second.Encode(line, text));
  if (coded.own().empty()) return sentence;
  sentence.sources = SourcesOf(absl::MakeConstSpan(coded.spans).subspan(coded.front), spans,
                               AttentionOf({source.pieces, {}, 0}, translation, plan.first.frame));
  for (LinePart& part : CutPieces(coded, {text}, plan.second.limit)) {
    sentence.parts.push_back(std::move(part.source));
  }
  return sentence;
} catch (...) {
  return StatusOfException();
}

absl::StatusOr<std::vector<Hypothesis>> JoinPivot(
    const PivotPlan& plan, const EncodedText& source, const PivotSentence& sentence,
    const std::vector<std::vector<Hypothesis>>& parts) try {
  const Frame& frame = plan.second.frame;
  const size_t columns = source.pieces.size() + static_cast<size_t>(frame.source_extra());
  // The number of hypotheses. A part that has fewer of them repeats its last one, and a sentence
  // without text has as many as others, so that it does not cut theirs.
  size_t count = 1;
  if (parts.empty()) count = static_cast<size_t>(plan.second.decoding.num_hypotheses);
  for (const auto& hypotheses : parts) count = std::max(count, hypotheses.size());
  std::vector<Hypothesis> joined(count);
  for (size_t n = 0; n < count; ++n) {
    joined[n].finished = sentence.finished;
    joined[n].repetition = sentence.repetition;
    size_t first = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].empty()) {
        Append(parts[i][std::min(n, parts[i].size() - 1)], sentence.parts[i], frame, first,
               sentence, columns, &joined[n]);
      }
      first += sentence.parts[i].own().size();
    }
  }
  return joined;
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
