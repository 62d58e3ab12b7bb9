// BLEU and chrF of a translation, as sacreBLEU computes them by default.
#ifndef NIBU_TOOLS_BENCH_BLEU_H_
#define NIBU_TOOLS_BENCH_BLEU_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/cli/flags.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

// The lines of a text: a translation, or one of its references, line by line.
using TextLines = std::vector<std::string>;

// The orders of n-grams that BLEU counts.
constexpr size_t kBleuOrders = 4;

// Scores and precisions are in percent.
struct Quality {
  double bleu = 0;
  std::array<double, kBleuOrders> precisions = {};
  double brevity_penalty = 0;
  int64_t output_tokens = 0;
  int64_t reference_tokens = 0;  // of the references whose lengths are nearest
  double chrf = 0;
};

// Returns the tokens of a line, by the language-independent rules of mteval-v13a.pl, with blanks
// between them.
std::string Tokenize13a(absl::string_view line);

// Returns InvalidArgument if there are not equally many lines, or no reference.
absl::Status CheckReferences(const TextLines& output, const std::vector<TextLines>& references);

// Scores a translation against one or more references. BLEU (Papineni et al. 2002) is that of the
// WMT evaluations (Post 2018): the 13a tokens, with their case, n-grams up to 4 and, for each order
// without a match, the exponential smoothing of mteval-v13a.pl. chrF (Popovic 2015) is chrF2: the
// means of precision and recall of n-grams of 1 to 6 characters without white space, where recall
// counts twice. Returns the errors of CheckReferences.
absl::StatusOr<Quality> ScoreText(const TextLines& output,
                                  const std::vector<TextLines>& references);

// Reads the lines of a file. Returns the errors of InputLines.
absl::StatusOr<TextLines> ReadTextLines(const std::string& path);

// The options of nibu-bench bleu.
struct BleuOptions {
  bool json = false;
};
absl::Span<const OptionRow> BleuOptionRows();

// Runs nibu-bench bleu, which scores files. The first argument is "bleu".
absl::Status BenchBleu(int argc, char** argv);
// Returns the description of nibu-bench bleu with its options.
ProgramInfo BenchBleuProgram(BleuOptions* options);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_BENCH_BLEU_H_
