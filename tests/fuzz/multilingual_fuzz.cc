// Fuzzes the readers of multilingual Hugging Face directories. The input is config.json,
// tokenizer_config.json, special_tokens_map.json, tokenizer.json, added_tokens.json and vocab.json,
// with NUL bytes between them. A file that is empty or behind the input's end does not exist.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/load_model.h"

namespace {

// Creates a directory with a SentencePiece model of three pieces and "a".
std::string MakeDirectory() {
  std::string path = (std::filesystem::temp_directory_path() / "nibu_fuzz_XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) abort();
  std::string model;
  for (const std::string piece : {"<unk>", "<s>", "</s>", "a"}) {
    model += {'\n', static_cast<char>(piece.size() + 2), '\n', static_cast<char>(piece.size())};
    model += piece;
  }
  std::ofstream(path + "/sentencepiece.bpe.model", std::ios::binary) << model;
  std::ofstream(path + "/spiece.model", std::ios::binary) << model;  // the name in T5's directories
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string& directory = *new std::string(MakeDirectory());
  static std::map<std::string, std::string>& there = *new std::map<std::string, std::string>();
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const std::vector<absl::string_view> parts = absl::StrSplit(input, '\0');
  size_t next = 0;
  for (const char* name : {"config.json", "tokenizer_config.json", "special_tokens_map.json",
                           "tokenizer.json", "added_tokens.json", "vocab.json"}) {
    const absl::string_view part = next < parts.size() ? parts[next++] : absl::string_view();
    std::string& before = there[name];
    if (part == before) continue;
    before = std::string(part);
    const std::string path = directory + "/" + name;
    if (part.empty()) {
      std::filesystem::remove(path);
    } else {
      std::ofstream(path, std::ios::binary | std::ios::trunc) << part;
    }
  }
  (void)nibu::internal::OpenModel(directory);
  return 0;
}
