// The options of Marian's decoder and scorer: their table, and the reading of command lines and
// YAML files in Marian's forms.
#ifndef NIBU_TOOLS_MARIAN_MARIAN_OPTIONS_H_
#define NIBU_TOOLS_MARIAN_MARIAN_OPTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

enum class MarianCommand { kDecode, kScore };

// Marian's options with their values. Those that nothing sets have Marian's defaults. Immutable
// once it is read; threads may share it.
class MarianOptions {
 public:
  // Reads a command line, without the names of program and command, and then the files of its
  // --config. Of several files, the later ones override the earlier ones, and the command line
  // overrides all. Values are checked against their types, so that the functions below cannot fail.
  // It is a UsageError if an option is unknown, refused or has a wrong value; others name the file
  // that cannot be read.
  static absl::StatusOr<MarianOptions> Read(MarianCommand command,
                                            absl::Span<const std::string> arguments);

  // Returns whether the command line or a file has set the option.
  bool WasGiven(absl::string_view name) const { return given_.find(name) != given_.end(); }

  // Return an option's values, its only value, or this as a truth value or number. A number is 1
  // for "true" and 0 for "false". An option that the command lacks has its default value. REQUIRES:
  // the table has the option; for the last three, it has the type bool, int or float.
  std::vector<std::string> List(absl::string_view name) const;
  std::string Text(absl::string_view name) const;
  bool IsOn(absl::string_view name) const { return Float(name) != 0; }
  int Int(absl::string_view name) const { return static_cast<int>(Float(name)); }
  double Float(absl::string_view name) const;

  // Returns the given options that mean nothing on a CPU or to nibu, in the table's order.
  std::vector<std::string> Ignored() const;

  // Returns "name: value" for each option that has a value, in the table's order, in YAML. `all`:
  // those with default values, too.
  std::vector<std::string> Yaml(bool all) const;

 private:
  explicit MarianOptions(MarianCommand command) : command_(command) {}

  MarianCommand command_;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
};

// Returns the options of both commands as rows for HelpText. Their functions are null.
absl::Span<const OptionRow> MarianOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_MARIAN_MARIAN_OPTIONS_H_
