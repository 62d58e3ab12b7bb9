// Tests of Folder: the same files are read from a directory and from zip archives.
#include "models/files/folder.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/archives.h"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using testing::TempFolder;
using testing::WriteFile;

Folder Zipped(const TempFolder& folder, const testing::Members& members, bool deflated,
              const std::string& name, const std::string& file = "a.zip") {
  const std::string path = folder / file;
  WriteFile(path, testing::Zip(members, deflated));
  auto archive = ZipArchive::Open(*FileBytes::Open(path));
  EXPECT_TRUE(archive.ok()) << archive.status();
  return Folder(path, std::make_shared<const ZipArchive>(*std::move(archive)), name);
}

TEST(Folder, OpensFilesByName) {
  const TempFolder temp;
  std::filesystem::create_directories(temp / "top/below");
  WriteFile(temp / "top/file", "above");
  WriteFile(temp / "top/below/file", "contents");
  const testing::Members members = {{"top/file", "above"}, {"top/below/file", "contents"}};
  const testing::Members bare = {{"file", "above"}, {"below/file", "contents"}};
  const std::vector<std::pair<Folder, std::string>> folders = {
      {Folder(temp / "top"), temp / "top"},
      {Zipped(temp, members, false, "top"), temp / "a.zip/top"},
      {Zipped(temp, members, true, "top", "b.zip"), temp / "b.zip/top"},
      {Zipped(temp, bare, true, "", "c.zip"), temp / "c.zip"}};
  for (const auto& [folder, path] : folders) {
    SCOPED_TRACE(path);
    EXPECT_EQ(folder.path(), path);
    const Folder below = folder.Below("below");
    EXPECT_EQ(below.path(), path + "/below");
    for (const auto& [place, bytes] : {std::pair(folder, "above"), {below, "contents"}}) {
      const auto file = place.Open("file");
      ASSERT_TRUE(file.ok()) << file.status();
      EXPECT_EQ((*file)->bytes(), bytes);
      EXPECT_EQ((*file)->path(), place.PathOf("file"));
      // The pages are read again from the file.
      (*file)->DropPages();
      EXPECT_EQ((*file)->bytes(), bytes);
    }
    for (const Folder& place : {below, folder.Below("none")}) {
      const absl::Status status = place.Open("other").status();
      EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
      EXPECT_EQ(status.message(), place.PathOf("other") + ": no such file");
    }
    EXPECT_FALSE(folder.Open("below").ok()) << "a folder is no file";
  }
}

// A member outlives its folder, even if the archive is removed or replaced meanwhile.
TEST(Folder, MembersKeepTheirArchive) {
  const TempFolder temp;
  for (const bool deflated : {false, true}) {
    const auto file = Zipped(temp, {{"file", "contents"}}, deflated, "").Open("file");
    ASSERT_TRUE(file.ok()) << file.status();
    std::filesystem::remove(temp / "a.zip");
    EXPECT_EQ((*file)->bytes(), "contents");
  }
}

}  // namespace
}  // namespace nibu::internal
