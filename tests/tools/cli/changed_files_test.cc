// Tests of programs whose mapped files are cut short.
#include "tools/cli/changed_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {
namespace {

TEST(ChangedFilesDeathTest, TheMessageNamesTheFile) {
  const std::string path = absl::StrCat(testing::TempDir(), "/a model.nibu");
  std::ofstream(path) << std::string(100'000, 'x');
  const auto file = *FileBytes::Open(path);
  EXPECT_EXIT(
      {
        EndWhenMappedFilesShrink("nibu-test");
        if (truncate(path.c_str(), 1000) != 0) _exit(3);
        volatile char c = file->bytes()[90'000];
        static_cast<void>(c);
        _exit(4);
      },
      testing::ExitedWithCode(1),
      "^nibu-test: error: [^\n]*a model.nibu was changed while it was in use; replace a model with "
      "mv, not cp\n$");
}

TEST(ChangedFilesDeathTest, OtherSignalsEndTheProgramAsEver) {
  EXPECT_EXIT(
      {
        EndWhenMappedFilesShrink("nibu-test");
        raise(SIGBUS);
        _exit(4);
      },
      testing::KilledBySignal(SIGBUS), "^$");
}

}  // namespace
}  // namespace nibu::internal
