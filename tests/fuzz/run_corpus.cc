// Stands in for libFuzzer where there is none. It runs LLVMFuzzerTestOneInput on every file of the
// given folders, and on copies that are cut short or have a byte changed (with a fixed seed).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void RunDamaged(const std::string& whole) {
  constexpr int kRounds = 300;
  std::mt19937 random(1);
  for (int i = 0; i < kRounds; ++i) {
    std::string damaged = whole;
    const size_t at = std::uniform_int_distribution<size_t>(0, whole.size() - 1)(random);
    if (i % 4 == 3) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(random());
    }
    Run(damaged);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(in)),
                              std::istreambuf_iterator<char>());
      Run(bytes);
      if (!bytes.empty()) RunDamaged(bytes);
      ++files;
    }
  }
  std::printf("%d seeds\n", files);
  return files > 0 ? 0 : 1;
}
