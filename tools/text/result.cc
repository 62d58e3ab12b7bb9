// Writes results as JSON, and names warnings.

#include "nibu/result.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "models/files/float_json.h"

namespace nibu {
namespace {

using internal::FloatJson;

std::string Line(const FloatJson& json) {
  return json.dump(-1, ' ', false, FloatJson::error_handler_t::replace);
}

auto FieldsOf(const Hypothesis& h) {
  return std::tie(h.text, h.tokens, h.token_scores, h.log_prob, h.score, h.length, h.finished,
                  h.end_token, h.repetition, h.warnings, h.alignment, h.attention);
}

auto FieldsOf(const Result& r) {
  return std::tie(r.hypotheses, r.source_tokens, r.target_tokens, r.too_long, r.scored_whole,
                  r.source_language, r.source_labels, r.ends_open);
}

}  // namespace

bool operator==(const Hypothesis& a, const Hypothesis& b) { return FieldsOf(a) == FieldsOf(b); }
bool operator==(const Result& a, const Result& b) { return FieldsOf(a) == FieldsOf(b); }

std::vector<std::string> WarningNames(const Warnings& warnings) {
  std::vector<std::string> names;
  for (size_t i = 0; i < warnings.size(); ++i) {
    if (warnings[i]) names.emplace_back(kWarningNames[i]);
  }
  return names;
}

std::string ToJson(const Result& result, uint64_t id, absl::string_view source,
                   AlignmentKind alignment) {
  return ToJsonWith(absl::StrCat("\"id\":", id), result, source, alignment);
}

std::string ToJsonWith(absl::string_view members, const Result& result, absl::string_view source,
                       AlignmentKind alignment) {
  auto hypotheses = FloatJson::array();
  for (const Hypothesis& h : result.hypotheses) {
    hypotheses.push_back({{"text", h.text},
                          {"tokens", h.tokens},
                          {"score", h.score},
                          {"token_scores", h.token_scores}});
    FloatJson& last = hypotheses.back();
    if (alignment != AlignmentKind::kNone) last["alignment"] = h.alignment;
    if (alignment == AlignmentKind::kSoft) last["attention"] = h.attention;
    if (!h.finished) last["finished"] = false;
    if (h.repetition) last["repetition"] = true;
    if (h.warnings.any()) last["warnings"] = WarningNames(h.warnings);
  }
  FloatJson line = {{"source", std::string(source)}};
  if (!result.source_language.empty()) line["src_lang"] = result.source_language;
  line["hypotheses"] = std::move(hypotheses);
  return absl::StrCat("{", members, ",", Line(line).substr(1));
}

std::string ScoreToJson(const Result& result, uint64_t id) {
  if (result.hypotheses.empty()) return "";
  const Hypothesis& scored = result.hypotheses[0];
  FloatJson line = {{"id", id},
                    {"tokens", scored.tokens},
                    {"token_scores", scored.token_scores},
                    {"score", scored.score}};
  if (result.scored_whole) line["scored_whole"] = true;
  if (!result.source_language.empty()) line["src_lang"] = result.source_language;
  return Line(line);
}

}  // namespace nibu
