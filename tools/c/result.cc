// Implements the functions of nibu/c.h that read results.

#include "absl/strings/str_join.h"
#include "tools/c/handles.h"

namespace nibu::internal {

void SetResult(Result result, nibu_result::Text* text) {
  for (const Hypothesis& hypothesis : result.hypotheses) {
    std::vector<size_t>& pairs = text->alignments.emplace_back();
    pairs.reserve(2 * hypothesis.alignment.size());
    for (const auto& [source, target] : hypothesis.alignment) {
      pairs.push_back(source);
      pairs.push_back(target);
    }
    text->warnings.push_back(absl::StrJoin(WarningNames(hypothesis.warnings), ","));
  }
  text->result = std::move(result);
}

}  // namespace nibu::internal

namespace {

using nibu::internal::HandOut;

const nibu_result::Text* TextAt(const nibu_result* result, size_t text) {
  return result == nullptr || text >= result->texts.size() ? nullptr : &result->texts[text];
}

// Returns the hypothesis, or null if there is none.
const nibu::Hypothesis* At(const nibu_result* result, size_t text, size_t hypothesis) {
  const nibu_result::Text* const found = TextAt(result, text);
  if (found == nullptr || hypothesis >= found->result.hypotheses.size()) return nullptr;
  return &found->result.hypotheses[hypothesis];
}

// Returns the contents of a vector, which may be null, and sets its size.
const float* HandOut(const std::vector<float>* values, size_t* count) {
  if (count != nullptr) *count = values == nullptr ? 0 : values->size();
  return values == nullptr ? nullptr : values->data();
}

}  // namespace

void nibu_result_free(nibu_result* result) { delete result; }

size_t nibu_result_count(const nibu_result* result) {
  return result == nullptr ? 0 : result->texts.size();
}

size_t nibu_result_hypothesis_count(const nibu_result* result, size_t text) {
  const nibu_result::Text* const found = TextAt(result, text);
  return found == nullptr ? 0 : found->result.hypotheses.size();
}

const char* nibu_result_text(const nibu_result* result, size_t text, size_t hypothesis,
                             size_t* length) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return HandOut(found == nullptr ? nullptr : &found->text, length);
}

float nibu_result_score(const nibu_result* result, size_t text, size_t hypothesis) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return found == nullptr ? 0 : found->score;
}

float nibu_result_log_prob(const nibu_result* result, size_t text, size_t hypothesis) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return found == nullptr ? 0 : found->log_prob;
}

int nibu_result_finished(const nibu_result* result, size_t text, size_t hypothesis) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return found != nullptr && found->finished ? 1 : 0;
}

const char* nibu_result_end_token(const nibu_result* result, size_t text, size_t hypothesis) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return HandOut(found == nullptr ? nullptr : &found->end_token, nullptr);
}

size_t nibu_result_token_count(const nibu_result* result, size_t text, size_t hypothesis) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return found == nullptr ? 0 : found->tokens.size();
}

const char* nibu_result_token(const nibu_result* result, size_t text, size_t hypothesis,
                              size_t token, size_t* length) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  const bool is_there = found != nullptr && token < found->tokens.size();
  return HandOut(is_there ? &found->tokens[token] : nullptr, length);
}

const float* nibu_result_token_scores(const nibu_result* result, size_t text, size_t hypothesis,
                                      size_t* count) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  return HandOut(found == nullptr ? nullptr : &found->token_scores, count);
}

const size_t* nibu_result_alignment(const nibu_result* result, size_t text, size_t hypothesis,
                                    size_t* pairs) {
  const bool is_there = At(result, text, hypothesis) != nullptr;
  const std::vector<size_t>* const found =
      is_there ? &result->texts[text].alignments[hypothesis] : nullptr;
  if (pairs != nullptr) *pairs = is_there ? found->size() / 2 : 0;
  return is_there ? found->data() : nullptr;
}

const float* nibu_result_attention(const nibu_result* result, size_t text, size_t hypothesis,
                                   size_t target, size_t* count) {
  const nibu::Hypothesis* const found = At(result, text, hypothesis);
  const bool is_there = found != nullptr && target < found->attention.size();
  return HandOut(is_there ? &found->attention[target] : nullptr, count);
}

const char* nibu_result_source_label(const nibu_result* result, size_t text, size_t source) {
  const nibu_result::Text* const found = TextAt(result, text);
  const bool is_there = found != nullptr && source < found->result.source_labels.size();
  return is_there ? found->result.source_labels[source].c_str() : nullptr;
}

const char* nibu_result_warnings(const nibu_result* result, size_t text, size_t hypothesis) {
  const bool is_there = At(result, text, hypothesis) != nullptr;
  return is_there ? result->texts[text].warnings[hypothesis].c_str() : nullptr;
}

const char* nibu_result_source_language(const nibu_result* result, size_t text) {
  const nibu_result::Text* const found = TextAt(result, text);
  return found == nullptr ? nullptr : found->result.source_language.c_str();
}

nibu_status nibu_result_json(const nibu_result* result, size_t text, char** json, size_t* length,
                             nibu_error** error) {
  return nibu::internal::Guard(error, [&] {
    if (length != nullptr) *length = 0;
    absl::Status status = nibu::internal::Clear(json, "json");
    if (!status.ok()) return status;
    if (result == nullptr) return nibu::internal::Missing("result");
    const nibu_result::Text* const found = TextAt(result, text);
    if (found == nullptr) return absl::OutOfRangeError("the result has no text of this index");
    return nibu::internal::CopyOut(
        result->is_scored ? nibu::ScoreToJson(found->result, text)
                          : nibu::ToJson(found->result, text, found->source, result->alignment),
        json, length);
  });
}
