// Tests of the reader of gzip files: bytes inflate to what they were, and never to more than the
// limit.
#include "models/files/gzip.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/archives.h"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using testing::Gzip;
using ::testing::HasSubstr;

absl::StatusOr<std::string> Inflate(const std::string& bytes, uint64_t most = kMostInflated) {
  return InflateFile(*FileBytes::InMemory("m.gz", bytes), most);
}

TEST(Gzip, InflatesWholeStreamsAndTheirFront) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&text, i, " ");
  for (const std::string& plain : {std::string(), std::string("a"), text}) {
    EXPECT_EQ(*Inflate(Gzip(plain)), plain);
    EXPECT_EQ(*Inflate(Gzip(plain) + Gzip("more")), plain + "more");
    EXPECT_EQ(FrontOf(Gzip(plain), 7), plain.substr(0, 7));
    EXPECT_EQ(FrontOf(plain, 7), plain.substr(0, 7));
    EXPECT_EQ(FrontOf(Gzip(plain), text.size() + 1), plain);
  }
}

TEST(Gzip, OpensFilesOfBothKinds) {
  const testing::TempFolder folder;
  testing::WriteFile(folder / "m.gz", Gzip("weights"));
  testing::WriteFile(folder / "m", "weights");
  for (const char* name : {"m", "m.gz"}) {
    const auto file = OpenInflated(folder / name);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->bytes(), "weights");
    EXPECT_EQ((*file)->path(), folder / name);
  }
  EXPECT_EQ(OpenInflated(folder / "no").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WithoutGz("a/b.bin.gz"), "a/b.bin");
  EXPECT_EQ(WithoutGz("a/b.bin"), "a/b.bin");
}

TEST(Gzip, RefusesDamage) {
  const std::string whole = Gzip("weights weights weights");
  for (size_t size = 2; size < whole.size(); ++size) {
    const auto inflated = Inflate(whole.substr(0, size));
    EXPECT_THAT(std::string(inflated.status().message()), HasSubstr("m.gz: compressed by gzip, "));
    EXPECT_LE(FrontOf(whole.substr(0, size), 100).size(), 23u);
  }
  // These bytes are the checksum and the length.
  for (size_t at = whole.size() - 8; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    EXPECT_EQ(Inflate(damaged).status().code(), absl::StatusCode::kInvalidArgument) << at;
  }
  EXPECT_THAT(std::string(Inflate(whole + "x").status().message()),
              HasSubstr("with other data behind"));
}

// A small file that inflates to 100 MB is refused.
TEST(Gzip, RefusesBombs) {
  const std::string bomb = Gzip(std::string(100'000'000, 'x'));
  EXPECT_LT(bomb.size(), 200'000u);
  const auto inflated = Inflate(bomb, 1'000'000);
  EXPECT_EQ(inflated.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(inflated.status().message(),
            "m.gz: it inflates to more than 1000000 bytes; run gunzip on it and on the files "
            "beside it");
  EXPECT_EQ(Inflate(Gzip("12345"), 4).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Inflate(Gzip("123") + Gzip("45"), 4).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*Inflate(Gzip("1234"), 4), "1234");
  EXPECT_EQ(FrontOf(bomb, 3), "xxx");
}

}  // namespace
}  // namespace nibu::internal
