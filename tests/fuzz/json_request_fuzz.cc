// Fuzzes the reader of --input_format=jsonl. The input is a line. The beginning of its output must
// be JSON whatever the line is, and fields that are copied may not change.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tools/cli/json_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view line(reinterpret_cast<const char*>(data), size);
  const nibu::internal::JsonRequest request = nibu::internal::ReadJsonRequest(line, 3, {});
  const auto parse = [](absl::string_view json) {
    return nlohmann::json::parse(nibu::internal::WithoutHugeNumbers(json), nullptr,
                                 /*allow_exceptions=*/false);
  };
  const auto output = parse(absl::StrCat("{", request.members, "}"));
  if (!output.is_object() || output.size() != request.copied.size() + 1) std::abort();
  const auto input = parse(line);
  for (const std::string& name : request.copied) {
    if (output.at(name) != input.at(name)) std::abort();
    (void)nibu::internal::MisspelledOption(name);
  }
  return 0;
}
