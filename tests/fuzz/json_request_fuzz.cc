// Lines of JSON. The beginning of the output must be JSON whatever the line is, and what is copied
// may not change.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tools/cli/json_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view line(reinterpret_cast<const char*>(data), size);
  const nibu::internal::JsonRequest request = nibu::internal::ReadJsonRequest(line, 3, {});
  const auto output = nlohmann::json::parse(absl::StrCat("{", request.members, "}"), nullptr,
                                            /*allow_exceptions=*/false);
  if (!output.is_object() || output.size() != request.copied.size() + 1) std::abort();
  const auto input = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  for (const std::string& name : request.copied) {
    if (output.at(name) != input.at(name)) std::abort();
    (void)nibu::internal::MisspelledOption(name);
  }
  return 0;
}
