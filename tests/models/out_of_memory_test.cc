// Tests that a model opened while memory is short gives a status, never an exception.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/engine/memory_hooks.h"
#include "tests/models/tiny_ctranslate2.h"
#include "tests/paths.h"

namespace nibu::internal {
namespace {

using testing::TempFolder;

// The n-th allocation fails, for every n. The model has no JSON, as the library that parses it does
// not survive that.
TEST(OutOfMemory, AnyAllocation) {
  const TempFolder folder;
  testing::TinyCTranslate2 tiny(6, 1);
  tiny.target_vocabulary = "<unk>\n<s>\n</s>\nx\n";
  tiny.Write(folder);
  testing::WriteFile(folder / "README.md", "# Licence\n\nNone.\n");
  const std::string path = folder.path();
  int refused = 0;
  for (int64_t n = 1;; ++n) {
    FailAllocation(n);
    const absl::StatusOr<LoadedModel> loaded = LoadModel(path, ComputeType::kFloat32);
    if (!StopFailing()) {
      EXPECT_TRUE(loaded.ok()) << loaded.status();
      break;
    }
    refused += loaded.ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && !defined(ABSL_HAVE_THREAD_SANITIZER)
// Returns the size of this process's address space in bytes.
rlim_t AddressSpace() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// The memory that is left grows from none to as much as the model takes.
TEST(OutOfMemory, AnyLimit) {
  for (const char* name : {"t5", "m2m", "fairseq-new", "opennmt-2"}) {
    const std::string path = TestdataPath(name);
    ASSERT_TRUE(OpenModel(path).ok());
    int refused = 0;
    for (rlim_t bytes = 0;; bytes += 48 << 10) {
      const pid_t child = fork();
      if (child == 0) {
        const rlimit limit = {AddressSpace() + bytes, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
        _exit(OpenModel(path).ok() ? 0 : 1);
      }
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status))
          << name << " ended by signal " << WTERMSIG(status) << " with " << bytes << " bytes";
      if (WEXITSTATUS(status) == 0) break;
      ASSERT_EQ(WEXITSTATUS(status), 1);
      ++refused;
    }
    EXPECT_GT(refused, 10) << name;
  }
}
#endif

}  // namespace
}  // namespace nibu::internal
