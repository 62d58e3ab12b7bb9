// Tests of the parts of .nibu files: shortlists and tokens are written, read, and refused if cut.
#include "models/native/native_parts.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace nibu::internal {
namespace {

using ::testing::ElementsAre;

TEST(NativeParts, ShortlistsAreReadAsWritten) {
  Shortlist shortlist;
  shortlist.first = 1;
  shortlist.always = {4};
  shortlist.copy_source = true;
  shortlist.offsets = {0, 1, 1, 3};
  shortlist.ids = {2, 5, 6};
  shortlist.phrases[{1, 2}] = {7};
  shortlist.longest_phrase = 2;
  ModelConfig config;
  config.vocab_source = 3;
  config.vocab_target = 8;
  const std::string bytes = EncodeShortlist(shortlist);
  const auto read = DecodeShortlist(bytes, config);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->first, 1);
  EXPECT_TRUE((*read)->copy_source);
  EXPECT_THAT((*read)->always, ElementsAre(4));
  EXPECT_THAT((*read)->offsets, ElementsAre(0, 1, 1, 3));
  EXPECT_THAT((*read)->ids, ElementsAre(2, 5, 6));
  EXPECT_EQ((*read)->longest_phrase, 2);
  EXPECT_THAT((*read)->phrases.at({1, 2}), ElementsAre(7));
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(DecodeShortlist(bytes.substr(0, n), config).ok()) << n;
  }
  EXPECT_FALSE(DecodeShortlist(bytes + "0123", config).ok());
  config.vocab_target = 7;
  EXPECT_FALSE(DecodeShortlist(bytes, config).ok());
}

TEST(NativeParts, TokensAreReadAsWritten) {
  const std::vector<std::string> tokens = {"</s>", "", std::string("a\0b", 3), "▁x\n"};
  const std::string bytes = EncodeTokens(tokens);
  EXPECT_EQ(*DecodeTokens(bytes), tokens);
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(DecodeTokens(bytes.substr(0, n)).ok());
  EXPECT_FALSE(DecodeTokens(bytes + "x").ok());
}

}  // namespace
}  // namespace nibu::internal
