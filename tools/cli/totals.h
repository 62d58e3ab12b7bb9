// Counts lines, tokens, warnings and failures for reports.
#ifndef NIBU_TOOLS_CLI_TOTALS_H_
#define NIBU_TOOLS_CLI_TOTALS_H_

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "nibu/nibu.h"

namespace nibu::internal {

// Sums over all lines. Thread-safe.
struct Totals {
  explicit Totals(bool prints_warnings = false) : prints(prints_warnings) {}

  const bool prints;
  uint64_t lines = 0;
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  uint64_t too_long = 0;                                // lines that were translated nevertheless
  uint64_t scored_whole = 0;                            // see nibu::Result
  uint64_t first_scored_whole = 0;                      // the first line of these
  std::array<uint64_t, kWarningNames.size()> warned{};  // number of lines, by Warning
  uint64_t failed = 0;
  uint64_t first_failed = 0;  // line of the first unit that failed
  std::string first_failure;  // its line and message
  double log_prob = 0;        // sum over the best hypotheses
  // Tokens of the best hypotheses; for scored targets, with the ends of sentences.
  uint64_t scored_tokens = 0;

  // Says that the first unit has this index; to be called before the others, if it is not 0.
  void Begin(uint64_t index) { printed_ = index; }
  // Adds units that an earlier run could not translate; the first of them begins in a `line`.
  void AddEarlier(uint64_t units, uint64_t line);
  // Returns the number of units in front of an index that could not be translated, and the line in
  // which the first one that is known begins. The index is that of the last call, or a higher one.
  std::pair<uint64_t, uint64_t> FailedBefore(uint64_t index);
  // Adds a unit of text that begins in a `line` of the input; to be called once for each unit.
  // Prints its warnings, in the order of units, if `prints`.
  void Add(uint64_t index, uint64_t line, const absl::StatusOr<nibu::Result>& result);
  // Adds a unit that is copied; to be called in place of Add.
  void Skip(uint64_t index);
  // Returns an InternalError that names the first line that failed, or OK if there is none.
  absl::Status Failure(const char* what) const;

  std::mutex mutex;

 private:
  // Keeps a unit's warning (empty: none), and prints those of all units up to the first missing
  // one.
  void PrintWaiting(uint64_t index, std::string warning);

  std::map<uint64_t, std::string> waiting_;  // warnings to be printed, by index; may be empty
  std::set<uint64_t> failed_units_;          // those that FailedBefore has not counted yet
  uint64_t failed_before_ = 0;
  uint64_t printed_ = 0;  // index of the first unit whose warnings are not
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_TOTALS_H_
