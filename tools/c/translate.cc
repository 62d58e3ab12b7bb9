// Implements the blocking calls of nibu/c.h: submits all texts, and waits for the last of them.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/c/handles.h"

namespace {

using nibu::internal::Clear;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::RequestOf;
using nibu::internal::SetResult;

// The texts of a call, in the caller's arrays.
struct Texts {
  const char* const* texts;
  const size_t* lengths;

  absl::Status Check(size_t count, absl::string_view argument) const {
    if (count > 0 && texts == nullptr) return Missing(argument);
    for (size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr && (lengths == nullptr || lengths[i] > 0)) {
        return Missing(absl::StrCat(argument, "[", i, "]"));
      }
    }
    return absl::OkStatus();
  }
  std::vector<std::string> Copy(size_t count) const {
    std::vector<std::string> copies;
    copies.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      copies.emplace_back(lengths == nullptr ? nibu::internal::TextOf(texts[i])
                                             : nibu::internal::TextOf(texts[i], lengths[i]));
    }
    return copies;
  }
};

// `targets`: the translations to be scored, or null if texts are to be translated.
absl::Status TranslateAll(nibu_translator* translator, const nibu_plan* plan, const Texts& texts,
                          const Texts* targets, size_t count, const nibu_request* request,
                          nibu_result** result) {
  absl::Status status = Clear(result, "result");
  if (status.ok() && translator == nullptr) status = Missing("translator");
  if (status.ok()) plan = translator->PlanOf(plan);
  if (status.ok() && plan == nullptr) status = Missing("plan");
  if (status.ok()) status = texts.Check(count, "texts");
  if (status.ok() && targets != nullptr) status = targets->Check(count, "targets");
  if (!status.ok()) return status;
  auto made = std::make_unique<nibu_result>();
  made->alignment = plan->alignment;
  made->is_scored = targets != nullptr;
  const std::vector<std::string> all = texts.Copy(count);
  for (const std::string& text : all) made->texts.push_back({text});
  nibu::Translator& used = *translator->translator;
  auto results = targets == nullptr
                     ? used.Translate(all, plan->plan, RequestOf(request))
                     : used.Score(all, targets->Copy(count), plan->plan, RequestOf(request));
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < count; ++i) SetResult(std::move((*results)[i]), &made->texts[i]);
  *result = made.release();
  return absl::OkStatus();
}

}  // namespace

nibu_status nibu_translate(nibu_translator* translator, const nibu_plan* plan,
                           const char* const* texts, const size_t* lengths, size_t count,
                           const nibu_request* request, nibu_result** result, nibu_error** error) {
  return Guard(error, [&] {
    return TranslateAll(translator, plan, {texts, lengths}, nullptr, count, request, result);
  });
}

nibu_status nibu_score(nibu_translator* translator, const nibu_plan* plan, const char* const* texts,
                       const size_t* lengths, const char* const* targets,
                       const size_t* target_lengths, size_t count, const nibu_request* request,
                       nibu_result** result, nibu_error** error) {
  return Guard(error, [&] {
    const Texts scored = {targets, target_lengths};
    return TranslateAll(translator, plan, {texts, lengths}, &scored, count, request, result);
  });
}
