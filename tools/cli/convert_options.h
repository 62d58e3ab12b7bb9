// The options of nibu-convert that no other program has.
#ifndef NIBU_TOOLS_CLI_CONVERT_OPTIONS_H_
#define NIBU_TOOLS_CLI_CONVERT_OPTIONS_H_

#include <string>

#include "absl/types/span.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {

enum class Format { kAuto, kNibu, kSafetensors };
enum class StoredType { kAsItIs, kFloat32, kBFloat16, kInt8, kInt4 };

struct ConvertOptions {
  std::string config;
  std::string out;
  Format format = Format::kAuto;
  StoredType quantization = StoredType::kAsItIs;
  std::string target_vocabulary;
  std::string list_vocabulary;
};
absl::Span<const OptionRow> ConvertOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_CONVERT_OPTIONS_H_
