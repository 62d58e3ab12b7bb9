// Reads the text that a benchmark translates, and has the one that comes with it.
#include "tools/bench/bench_text.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tokenizer/unicode/characters.h"
#include "tools/bench/bleu.h"
#include "tools/bench/sha256.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kLines =
#include "tools/bench/bundled_text.inc"
    ;

}  // namespace

absl::Status ReadBenchText(const BenchOptions& bench, BenchWorkload* workload) {
  TextLines& lines = workload->lines;
  workload->source_file = bench.src.empty() ? kBundledText : bench.src;
  if (bench.src.empty()) {
    lines = absl::StrSplit(absl::StripSuffix(kLines, "\n"), '\n');
  } else {
    NIBU_ASSIGN_OR_RETURN(lines, ReadTextLines(bench.src));
  }
  if (!bench.ref.empty()) {
    NIBU_ASSIGN_OR_RETURN(workload->references.emplace_back(), ReadTextLines(bench.ref));
    // Files that do not belong together are refused before anything is translated.
    if (lines.size() != workload->references[0].size()) {
      return Invalid(workload->source_file, " has ", lines.size(), " lines and ", bench.ref, " ",
                     workload->references[0].size(), "; they belong together line by line");
    }
    workload->reference_file = bench.ref;
  }
  if (bench.sentences > 0) {
    const size_t most = std::min(lines.size(), static_cast<size_t>(bench.sentences));
    lines.resize(most);
    for (TextLines& reference : workload->references) reference.resize(most);
  }
  if (absl::c_all_of(lines, [](const std::string& line) { return IsBlank(line); })) {
    return Invalid(workload->source_file, " has no text; give a file with a segment a line");
  }
  const auto hash = [](const TextLines& text) {
    return Sha256(absl::StrCat(absl::StrJoin(text, "\n"), "\n"));
  };
  workload->source_sha256 = hash(lines);
  if (!workload->references.empty()) workload->reference_sha256 = hash(workload->references[0]);
  return absl::OkStatus();
}

}  // namespace nibu::internal
