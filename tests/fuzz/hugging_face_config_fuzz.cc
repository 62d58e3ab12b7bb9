// Fuzzes the reader of Marian's Hugging Face configurations. The input is config.json, a NUL byte,
// generation_config.json (may be absent), a NUL byte, and vocab.json (may be absent).
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/formats/hugging_face.h"
#include "models/vocabulary/vocabulary_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const std::vector<absl::string_view> parts = absl::StrSplit(input, '\0');
  const auto config = nibu::internal::ConfigFile::Parse(parts[0], "config.json");
  if (!config.ok()) return 0;
  nibu::internal::ConfigFile over;
  if (parts.size() > 1) {
    auto generation = nibu::internal::ConfigFile::Parse(parts[1], "generation_config.json");
    if (!generation.ok()) return 0;
    over = *std::move(generation);
  }
  const auto marian = nibu::internal::ReadHuggingFaceConfig(config->Under(over));
  if (!marian.ok()) return 0;
  (void)marian->model.Validate();
  if (parts.size() > 2) {
    const auto json = nibu::internal::ParseJson(parts[2], "vocab.json");
    if (json.ok())
      (void)nibu::internal::TokensById(*json, "vocab.json", marian->model.vocab_source, "config");
  }
  return 0;
}
