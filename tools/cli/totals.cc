// Adds up results, and prints their warnings in order.
#include "tools/cli/totals.h"

#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cli/flags.h"

namespace nibu::internal {

void Totals::Add(uint64_t index, uint64_t line, const absl::StatusOr<nibu::Result>& result) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++lines;
  const auto name = [line] { return absl::StrCat("line ", line + 1, ": "); };
  if (result.ok()) {
    source_tokens += result->source_tokens;
    target_tokens += result->target_tokens;
    too_long += result->too_long ? 1 : 0;
    if (result->scored_whole && (scored_whole++ == 0 || line < first_scored_whole)) {
      first_scored_whole = line;
    }
  } else {
    failed_units_.insert(index);
  }
  if (!result.ok() && (failed++ == 0 || line < first_failed)) {
    const bool is_long = absl::IsOutOfRange(result.status());
    first_failed = line;
    first_failure = absl::StrCat(name(), result.status().message(),
                                 is_long ? "; raise --max_input_length, or split it" : "");
  }
  std::string warning;
  if (result.ok() && !result->hypotheses.empty()) {
    const nibu::Hypothesis& best = result->hypotheses[0];
    for (size_t i = 0; i < warned.size(); ++i) warned[i] += best.warnings[i] ? 1 : 0;
    if (best.warnings.any()) {
      warning = absl::StrCat(name(), absl::StrJoin(WarningNames(best.warnings), ", "));
    }
    log_prob += static_cast<double>(best.log_prob);
    scored_tokens += best.tokens.size();
  }
  PrintWaiting(index, std::move(warning));
}

void Totals::AddEarlier(uint64_t units, uint64_t line) {
  if (units == 0) return;
  failed = failed_before_ = units;
  first_failed = line;
  first_failure = absl::StrCat("line ", line + 1, ", in an earlier run");
}

std::pair<uint64_t, uint64_t> Totals::FailedBefore(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex);
  while (!failed_units_.empty() && *failed_units_.begin() < index) {
    failed_units_.erase(failed_units_.begin());
    ++failed_before_;
  }
  return {failed_before_, first_failed};
}

void Totals::Skip(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex);
  PrintWaiting(index, "");
}

void Totals::PrintWaiting(uint64_t index, std::string warning) {
  if (!prints) return;
  ABSL_ASSERT(index >= printed_ && !waiting_.contains(index));
  waiting_[index] = std::move(warning);
  for (; !waiting_.empty() && waiting_.begin()->first == printed_; ++printed_) {
    const auto next = waiting_.begin();
    if (!next->second.empty()) PrintWarning(next->second);
    waiting_.erase(next);
  }
}

absl::Status Totals::Failure(const char* what) const {
  if (failed == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(failed, " line(s) could not be ", what, "; the first is ", first_failure));
}

}  // namespace nibu::internal
