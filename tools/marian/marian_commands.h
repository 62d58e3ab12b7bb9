// The two commands of nibu-marian.
#ifndef NIBU_TOOLS_MARIAN_MARIAN_COMMANDS_H_
#define NIBU_TOOLS_MARIAN_MARIAN_COMMANDS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"
#include "tools/cli/run_lines.h"
#include "tools/marian/marian_options.h"
#include "tools/marian/marian_output.h"

namespace nibu::internal {

// Translates the lines of the input, as marian-decoder does. Returns an error that names the first
// line that could not be translated, once all others are written.
absl::Status DecodeMarian(const MarianOptions& options, MarianLog* log, SignalWatcher* signals);

// Scores given translations, as marian-scorer does. Its errors are those of DecodeMarian.
absl::Status ScoreMarian(const MarianOptions& options, MarianLog* log, SignalWatcher* signals);

// The lines of a text, each with a second text that belongs to it: a translation, or its beginning.
class MarianInput {
 public:
  // Opens the files that the option `name` lists. `has_second`: there is a second text, in a file
  // of its own or, with --tsv, behind a tab. `out`: see OpenLines.
  static absl::StatusOr<MarianInput> Open(const MarianOptions& options, const char* name,
                                          bool has_second, const std::string& out);

  // The file from which units are read. Valid as long as this object.
  InputLines* first() { return &first_; }
  // Takes the second text of a line, whose first text stays in `line`. Returns InvalidArgument if
  // there is none. REQUIRES: lines come in order.
  absl::StatusOr<std::string> TakeSecond(std::string* line);
  // Returns whether the file of the second texts has more lines.
  bool HasMore();

 private:
  MarianInput(InputLines first, std::optional<InputLines> second, bool is_tsv, bool has_second)
      : first_(std::move(first)),
        second_(std::move(second)),
        is_tsv_(is_tsv),
        has_second_(has_second) {}

  InputLines first_;
  std::optional<InputLines> second_;
  bool is_tsv_;
  bool has_second_;
};

// Returns the path of --output as the other programs write it: "-" is standard output.
std::string MarianOutputPath(const MarianOptions& options);

// Runs the pipeline, whose output is compressed if the file's name ends in .gz. Returns the seconds
// that it took.
absl::StatusOr<double> RunMarianLines(const MarianOptions& options, InputLines* lines,
                                      Pipeline::Options pipeline,
                                      const nibu::Translator& translator, const SpeedOptions& speed,
                                      OutputFile* out, SignalWatcher* signals);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_MARIAN_MARIAN_COMMANDS_H_
