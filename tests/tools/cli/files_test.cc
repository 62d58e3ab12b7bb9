// Tests of compressed input, and of output files that appear when they are whole.
// Threads: the thread sanitizer runs this file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/tools/shell.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  FilesTest() : folder_(fs::path(testing::TempDir()) / absl::StrCat("nibu_files_", getpid())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FilesTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  // Reads a file with these bytes. Returns its lines, and the status at its end.
  std::pair<std::vector<std::string>, absl::Status> Read(const std::string& bytes) const {
    std::ofstream(Path("in"), std::ios::binary) << bytes;
    std::vector<std::string> lines;
    auto file = InputLines::Open(Path("in"));
    if (!file.ok()) return {lines, file.status()};
    for (std::string line;;) {
      const absl::StatusOr<bool> more = file->Next(&line);
      EXPECT_GE(file->progress(), 0);
      EXPECT_LE(file->progress(), 1);
      if (!more.ok() || !*more) return {lines, more.status()};
      lines.push_back(line);
    }
  }

  const fs::path folder_;
};

// Returns a gzip file of one member. `first`: gets the number of bytes after which the first text
// can be inflated, before `more` comes.
std::string Gzip(const std::string& text, const std::string& more = "", size_t* first = nullptr) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string bytes(text.size() + more.size() + 1000, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  for (const std::string* part : {&text, &more}) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part->data()));
    stream.avail_in = static_cast<uInt>(part->size());
    deflate(&stream, part == &text ? Z_SYNC_FLUSH : Z_FINISH);
    if (part == &text && first != nullptr) *first = stream.total_out;
  }
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

using Strings = std::vector<std::string>;

TEST_F(FilesTest, GzipOfSeveralMembers) {
  const auto [lines, status] =
      Read(Gzip("a\r\n\nb") + Gzip("") + Gzip("c\nlast") + std::string(700, '\0'));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(lines, Strings({"a", "", "bc", "last"}));
  EXPECT_EQ(Read(Gzip("")).first, Strings());
  // In the first file, the text is far longer than the bytes; in the second one it is not.
  const std::string longest(3'000'000, 'x');
  EXPECT_EQ(Read(Gzip(longest + "\n" + longest)).first, Strings({longest, longest}));
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 1664525u + 1013904223u;
    noise += static_cast<char>('!' + (state >> 24) % 90);
  }
  EXPECT_EQ(Read(Gzip(noise) + Gzip(noise)).first, Strings({noise + noise}));
}

TEST_F(FilesTest, GzipThatIsNotWhole) {
  Strings all;
  for (int i = 0; i < 200; ++i) all.push_back(absl::StrCat("line ", i * i * 7919 % 1000, " of it"));
  const std::string bytes = Gzip(absl::StrJoin(all, "\n"));
  ASSERT_EQ(Read(bytes).first, all);
  size_t most = 0;
  for (size_t n = 2; n < bytes.size(); ++n) {
    const auto [lines, status] = Read(bytes.substr(0, n));
    EXPECT_EQ(status.message(),
              absl::StrCat(Path("in"), ": ends within its gzip data; get the whole file"));
    ASSERT_LE(lines.size(), all.size());
    EXPECT_EQ(lines, Strings(all.begin(), all.begin() + static_cast<long>(lines.size()))) << n;
    most = std::max(most, lines.size());
  }
  EXPECT_EQ(most, all.size() - 1);
  // An error in the checksum or the length is found only after the lines.
  for (const size_t from_end : {size_t{8}, size_t{1}}) {
    std::string damaged = bytes;
    damaged[damaged.size() - from_end] ^= 1;
    const auto [lines, status] = Read(damaged);
    EXPECT_EQ(lines, Strings(all.begin(), all.end() - 1));
    EXPECT_TRUE(absl::StartsWith(status.message(), Path("in") + ": damaged gzip data (incorrect "))
        << status;
  }
  const auto [lines, status] = Read(bytes + "garbage");
  EXPECT_EQ(lines.size(), all.size() - 1);
  EXPECT_TRUE(absl::StrContains(status.message(), "damaged gzip data")) << status;
}

TEST_F(FilesTest, OtherCompressionIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> formats = {{"BZh91AY&SY", "bzip2"},
                                                                    {"BZh9\x17rE8P\x90", "bzip2"},
                                                                    {std::string("\xfd"
                                                                                 "7zXZ\0",
                                                                                 6),
                                                                     "xz"},
                                                                    {"\x28\xb5\x2f\xfd", "zstd"},
                                                                    {"\x04\x22\x4d\x18", "lz4"},
                                                                    {"PK\x03\x04", "zip"},
                                                                    {"7z\xbc\xaf\x27\x1c", "7z"}};
  for (const auto& [magic, name] : formats) {
    const auto [lines, status] = Read(magic + "...\n...");
    EXPECT_TRUE(lines.empty());
    EXPECT_TRUE(
        absl::StartsWith(status.message(), absl::StrCat(Path("in"), ": is compressed with ", name)))
        << status;
  }
}

TEST_F(FilesTest, TextThatBeginsAlikeIsText) {
  for (const std::string text : {"BZh", "BZh9", "BZh91AY&S", "BZh9 is\nnot", "P", "PK", "PK\x03 ok",
                                 "7z", "7z x", "\x1f", "\x1f a\nb", "(", "\x04", "\xfd"}) {
    const auto [lines, status] = Read(text);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(absl::StrJoin(lines, "\n"), text);
  }
}

// A pipe gives the lines that have arrived and does not wait for more.
TEST_F(FilesTest, PipesGiveWhatHasArrived) {
  size_t first = 0;
  const std::string bytes = Gzip("one\n", "two", &first);
  const std::vector<std::vector<std::string>> pieces = {
      {"one\n", "two"}, {"B\n", "BZh1"}, {bytes.substr(0, first), bytes.substr(first)}};
  for (const auto& parts : pieces) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    auto file = InputLines::Open(absl::StrCat("/dev/fd/", ends[0]));
    ASSERT_TRUE(file.ok());
    std::string line;
    Strings lines;
    for (const std::string& part : parts) {
      ASSERT_EQ(write(ends[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
      if (&part == &parts.back()) close(ends[1]);
      ASSERT_TRUE(*file->Next(&line));  // It would wait for ever if it needed the next part.
      lines.push_back(line);
    }
    EXPECT_EQ(lines[0], parts[0] == "B\n" ? "B" : "one");
    EXPECT_EQ(lines[1], parts[0] == "B\n" ? "BZh1" : "two");
    EXPECT_FALSE(*file->Next(&line));
    close(ends[0]);
  }
}

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST_F(FilesTest, AFileAppearsWhenItIsWhole) {
  const mode_t mask = umask(027);
  OutputFile fresh(Path("new"));
  ASSERT_TRUE(fresh.Open().ok());
  umask(mask);
  ASSERT_TRUE(WriteAll(fresh.fd(), "a\n").ok());
  EXPECT_FALSE(fs::exists(Path("new")));
  EXPECT_EQ(Names().size(), 1u);
  ASSERT_TRUE(fresh.Commit().ok());
  EXPECT_EQ(Names(), Strings({"new"}));
  EXPECT_EQ(ReadFile(Path("new")), "a\n");
  EXPECT_EQ(ModeOf(Path("new")), 0640u);
  EXPECT_EQ(fresh.Abandon(), "");  // It is too late.

  // An older file stays until the new one is whole, and its permissions are kept.
  ASSERT_EQ(chmod(Path("new").c_str(), 0604), 0);
  OutputFile again(Path("new"));
  ASSERT_TRUE(again.Open().ok());
  ASSERT_TRUE(WriteAll(again.fd(), "b\n").ok());
  EXPECT_EQ(ReadFile(Path("new")), "a\n");
  ASSERT_TRUE(again.Commit().ok());
  EXPECT_EQ(ReadFile(Path("new")), "b\n");
  EXPECT_EQ(ModeOf(Path("new")), 0604u);
  EXPECT_EQ(Names(), Strings({"new"}));
}

TEST_F(FilesTest, LinksStayLinks) {
  fs::create_directory(Path("d"));
  fs::create_symlink("../there", Path("d/link"));  // There is no such file yet.
  fs::create_symlink("d/link", Path("link"));
  for (const char* text : {"a\n", "b\n"}) {
    OutputFile file(Path("link"));
    ASSERT_TRUE(file.Open().ok());
    ASSERT_TRUE(WriteAll(file.fd(), text).ok());
    ASSERT_TRUE(file.Commit().ok());
    EXPECT_TRUE(fs::is_symlink(Path("link")) && fs::is_symlink(Path("d/link")));
    EXPECT_FALSE(fs::is_symlink(Path("there")));
    EXPECT_EQ(ReadFile(Path("there")), text);
  }
}

TEST_F(FilesTest, WhatIsAbandonedStaysBeside) {
  Strings places;
  for (const char* text : {"a\nb\nhalf of c", "a\n", "half"}) {
    OutputFile file(Path("x"));
    ASSERT_TRUE(file.Open().ok());
    ASSERT_TRUE(WriteAll(file.fd(), text).ok());
    const std::string place = file.Abandon();
    const size_t at = place.find(Path("x"));
    if (at == std::string::npos) {
      EXPECT_EQ(place, "");
      continue;
    }
    places.push_back(place.substr(at));
  }
  // The third text has no whole line.
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(Names().size(), 2u);
  EXPECT_EQ(ReadFile(places[0]), "a\nb\n");
  EXPECT_EQ(ReadFile(places[1]), "a\n");
}

TEST_F(FilesTest, DevicesAndDescriptorsAreWrittenDirectly) {
  const int fd = open(Path("x").c_str(), O_WRONLY | O_CREAT, 0666);
  ASSERT_GE(fd, 0);
  ASSERT_TRUE(WriteAll(fd, "a\n").ok());
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    OutputFile file(absl::StrCat(folder, fd));
    EXPECT_NE(file.direct(), "");
    ASSERT_TRUE(file.Open().ok());
    ASSERT_TRUE(WriteAll(file.fd(), "b\n").ok());
    EXPECT_TRUE(file.Commit().ok());
  }
  ASSERT_TRUE(WriteAll(fd, "c\n").ok());
  close(fd);
  EXPECT_EQ(ReadFile(Path("x")), "a\nb\nb\nc\n");
  OutputFile null("/dev/null");
  EXPECT_NE(null.direct(), "");
  EXPECT_TRUE(null.Open().ok());
  EXPECT_EQ(null.Abandon(), "");
  EXPECT_EQ(Names(), Strings({"x"}));
}

TEST_F(FilesTest, NamesThatCannotBeWritten) {
  fs::create_symlink("loop", Path("loop"));
  for (const auto& [name, part] :
       {std::pair(Path(""), "Is a directory"), std::pair(Path("new/"), "No such file"),
        std::pair(Path("no/x"), "no/x.tmp-"), std::pair(Path("loop"), "Too many levels")}) {
    const absl::Status status = OutputFile(name).Open();
    EXPECT_TRUE(absl::StartsWith(status.message(), name + ": cannot be written: ")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }
  EXPECT_TRUE(absl::StartsWith(OutputFile("").Open().message(), "--out is empty"));
}

TEST_F(FilesTest, AFileThatMayNotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions of files, which root does not have to heed";
  std::ofstream(Path("x")) << "a";
  ASSERT_EQ(chmod(Path("x").c_str(), 0444), 0);
  EXPECT_TRUE(absl::StrContains(OutputFile(Path("x")).Open().message(), "Permission denied"));
}

}  // namespace
}  // namespace nibu::internal
