// Tests of the reader of zip archives: every form is read, damage and overlaps are refused.
#include "models/files/zip.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/archives.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::Zip;

absl::StatusOr<ZipArchive> Open(const std::string& bytes) {
  return ZipArchive::Open(FileBytes::InMemory("a.zip", bytes));
}

// Returns the bytes of a member, after a check of its checksum.
std::string Read(const ZipArchive& archive, const std::string& name) {
  const auto member = archive.members().find(name);
  if (member == archive.members().end()) return "no such member";
  absl::string_view bytes;
  const auto keep = archive.Read(member->second, true, &bytes);
  return keep.ok() ? std::string(bytes) : std::string(keep.status().message());
}

const std::string kLong(3'000'000, 'z');

TEST(Zip, ReadsEveryForm) {
  for (const bool deflated : {false, true}) {
    for (const bool large : {false, true}) {
      const absl::StatusOr<ZipArchive> archive =
          Open(Zip({{"a", "first"}, {"d/b", kLong}, {"empty", ""}}, deflated, large));
      ASSERT_TRUE(archive.ok()) << archive.status();
      EXPECT_EQ(archive->members().size(), 3u);
      EXPECT_EQ(Read(*archive, "a"), "first");
      EXPECT_EQ(Read(*archive, "d/b"), kLong);
      EXPECT_EQ(Read(*archive, "empty"), "");
    }
  }
  EXPECT_TRUE(Open(Zip({})).ok());
  EXPECT_TRUE(Open(Zip({{"a", "b"}}) + "").ok());
}

TEST(Zip, StoredMembersAreNotCopied) {
  const auto file = FileBytes::InMemory("a.zip", Zip({{"a", "first"}}));
  const absl::StatusOr<ZipArchive> archive = ZipArchive::Open(file);
  absl::string_view bytes;
  EXPECT_EQ(*archive->Read(archive->members().at("a"), false, &bytes), file);
  EXPECT_GE(bytes.data(), file->bytes().data());
}

TEST(Zip, ChecksumsAreChecked) {
  std::string bytes = Zip({{"a", "first"}});
  bytes[bytes.find("first")] = 'F';
  EXPECT_THAT(Read(*Open(bytes), "a"), HasSubstr("checksum"));
}

TEST(Zip, RefusesDamage) {
  const std::string good = Zip({{"a", "first"}, {"b", "second"}});
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(Open(good.substr(0, n)).ok()) << n;
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string damaged = good;
    damaged.replace(at, bytes.size(), bytes);
    return std::string(Open(damaged).status().message());
  };
  const size_t directory = good.find("PK\1\2");
  EXPECT_THAT(with(directory + 20, testing::Bytes<uint32_t>(1000)), HasSubstr("impossible size"));
  EXPECT_THAT(with(directory + 24, testing::Bytes<uint32_t>(4)), HasSubstr("impossible size"));
  EXPECT_THAT(with(directory + 42, testing::Bytes<uint32_t>(100000)), HasSubstr("outside"));
  EXPECT_THAT(with(directory + 42, testing::Bytes<uint32_t>(1)), HasSubstr("not where"));
  EXPECT_THAT(with(directory + 8, testing::Bytes<uint16_t>(1)), HasSubstr("encrypted"));
  EXPECT_THAT(with(directory + 10, testing::Bytes<uint16_t>(14)), HasSubstr("compressed in a way"));
  EXPECT_THAT(with(directory, "x"), HasSubstr("directory is damaged"));
  EXPECT_THAT(with(good.size() - 6, testing::Bytes<uint32_t>(1 << 30)), HasSubstr("outside"));
  EXPECT_THAT(std::string(Open(Zip({{"a", "1"}, {"a", "2"}})).status().message()),
              HasSubstr("\"a\" is there twice"));
}

TEST(Zip, RefusesOverlappingMembers) {
  std::string bytes = Zip({{"a", "PK"}, {"b", "second"}});
  // The first member is changed so that it reaches over the second one.
  const auto grown = testing::Bytes<uint32_t>(20);
  const size_t directory = bytes.find("PK\1\2");
  bytes.replace(directory + 20, 4, grown);
  bytes.replace(directory + 24, 4, grown);
  EXPECT_THAT(std::string(Open(bytes).status().message()), HasSubstr("overlap"));
}

TEST(Zip, SizesOfDeflatedMembersAreChecked) {
  std::string bytes = Zip({{"a", std::string(1000, 'x')}}, true);
  const size_t directory = bytes.find("PK\1\2");
  for (const uint32_t size : {999u, 1001u}) {
    bytes.replace(directory + 24, 4, testing::Bytes(size));
    EXPECT_THAT(Read(*Open(bytes), "a"), HasSubstr("inflated")) << size;
  }
  bytes.replace(directory + 24, 4, testing::Bytes<uint32_t>(0xfffffffe));
  EXPECT_THAT(std::string(Open(bytes).status().message()), HasSubstr("impossible size"));
}

}  // namespace
}  // namespace nibu::internal
