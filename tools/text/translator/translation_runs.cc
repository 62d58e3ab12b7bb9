// Joins runs of units when the unit between them comes.

#include "tools/text/translator/translation_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tokenizer/unicode/typesetting.h"

namespace nibu::internal {

void TranslationRuns::Append(const Run& more, Translations* joined) {
  const size_t count = more.joined.size();
  joined->resize(std::max(joined->size(), count), joined->back());
  for (size_t n = 0; n < joined->size(); ++n) {
    const std::string& right = more.joined[std::min(n, count - 1)];
    std::string& left = (*joined)[n];
    absl::string_view between;
    if (more.between.has_value() && !right.empty()) {
      between = BetweenTranslations(*more.between, left, right);
    }
    absl::StrAppend(&left, between, right);
  }
}

void TranslationRuns::Add(uint64_t unit, Translations translations,
                          std::optional<std::string> between) {
  ABSL_ASSERT(!translations.empty());
  auto next = runs_.lower_bound(unit);
  auto run = next == runs_.begin() ? runs_.end() : std::prev(next);
  ABSL_ASSERT(next == runs_.end() || next->first > unit);
  ABSL_ASSERT(run == runs_.end() || run->second.end <= unit);
  Run added = {unit + 1, std::move(translations), std::move(between)};
  if (run != runs_.end() && run->second.end == unit) {
    Append(added, &run->second.joined);
    run->second.end = unit + 1;
  } else {
    run = runs_.emplace_hint(next, unit, std::move(added));
  }
  // The next run is appended, not this one put in front of it: units mostly come in order, so that
  // later runs are short.
  if (next == runs_.end() || next->first != unit + 1) return;
  Append(next->second, &run->second.joined);
  run->second.end = next->second.end;
  runs_.erase(next);
}

TranslationRuns::Translations TranslationRuns::TakeAll() {
  if (runs_.empty()) return Translations(1);
  ABSL_ASSERT(runs_.size() == 1 && runs_.begin()->first == 0);
  return std::move(runs_.begin()->second.joined);
}

}  // namespace nibu::internal
