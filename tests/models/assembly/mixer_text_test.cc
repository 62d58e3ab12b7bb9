// Tests of the text form of mechanisms: reading and writing it, and which texts are refused.
#include "models/assembly/mixer_text.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/attention/spec.h"

namespace nibu::internal {
namespace {

TEST(MixerTextTest, TextIsReadAndWritten) {
  for (const std::string text : {"full",
                                 "full:tile=64",
                                 "full:score=dot",
                                 "full:score=concat",
                                 "full:dense=1",
                                 "full:score=concat,dense=1",
                                 "causal",
                                 "window:width=64",
                                 "window:width=3,score=general",
                                 "local_m:width=4",
                                 "local_m:width=4,ratio=130",
                                 "local_p:width=4",
                                 "local_p:width=4,score=concat",
                                 "shifted:width=8",
                                 "shifted:width=8,bias=1",
                                 "block_grid:width=8",
                                 "block_grid:width=8,bias=1,both=1",
                                 "bigbird",
                                 "bigbird:window=3,global=2,random=1,block=4,seed=9",
                                 "lsh",
                                 "lsh:bucket=8",
                                 "mean:reduction=2",
                                 "reduction:reduction=2",
                                 "factorized",
                                 "factorized:kernel=7",
                                 "deformable:reduction=2",
                                 "pool",
                                 "pool:width=5"}) {
    EXPECT_EQ(Spec(text).ToText(), text);
  }
  EXPECT_EQ(Spec("window:64").ToText(), "window:width=64");
  EXPECT_EQ(Spec("local_m:64").ToText(), "local_m:width=64");
  EXPECT_EQ(Spec("lsh:16,rounds=2").ToText(), "lsh:bucket=16,rounds=2");
  const auto several = ParseMixers("window:64;full;pool", "x");
  ASSERT_TRUE(several.ok());
  EXPECT_EQ(MixersToText(*several), "window:width=64;full;pool");
  EXPECT_TRUE(ParseMixers("", "x")->empty());
}

TEST(MixerTextTest, WhatMakesNoSenseIsRefused) {
  const std::pair<const char*, const char*> wrong[] = {
      {"nope", "there are full, local_m, local_p, mean, reduction"},
      {"", "no such mechanism"},
      {"window", "it needs width"},
      {"window:", "it needs width"},
      {"window:x", "width must be a number"},
      {"window:-1", "width must be 0 to"},
      {"window:-2", "width must be 0 to"},
      {"window:1,2", "width is given twice"},
      {"window:width=1,2", "width is given twice"},
      {"full:dense=1,dense=0", "dense is given twice"},
      {"window:99999999999", "width must be a number"},
      {"window:3,height=2", "no \"height=2\" here; it has width, score, dense"},
      {"full:tile=0", "tile must be 16 to 256"},
      {"full:tile=272", "tile must be 16 to 256"},
      {"full:tile=40", "tile must be a multiple of 16"},
      {"causal:tile=64", "here"},
      {"full:tile=64,dense=1", "only full attention has a tile"},
      {"local_m:3,ratio=0", "ratio must be 1 to 10000"},
      {"local_m", "it needs width"},
      {"shifted:4,bias=2", "bias must be 0 to 1"},
      {"block_grid:4,both=2", "both must be 0 to 1"},
      {"factorized:4", "kernel must be odd"},
      {"full:score=cosine", "score must be one of"},
      {"lsh:score=dot", "here"},
      {"lsh:0", "bucket must be 1 to"},
      {"lsh:seed=-1", "seed must be 0 to"},
      {"shifted:1", "width must be 2 to"},
      {"bigbird:random=65", "random must be 0 to 64"},
      {"pool:2", "width must be odd"},
      {"deformable:2,kernel=4", "kernel must be odd"}};
  for (const auto& [text, message] : wrong) {
    const auto spec = ParseMixer(text, "cross_attention");
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_NE(spec.status().message().find(message), std::string::npos) << spec.status();
    EXPECT_EQ(spec.status().message().find("cross_attention \""), 0U) << spec.status();
  }
  EXPECT_FALSE(ParseMixers("full;", "x").ok());
  MixerSpec spec = Spec("lsh");
  spec.score = Score::kDot;
  EXPECT_FALSE(spec.Validate("x").ok());
  spec = Spec("lsh");
  spec.dense = true;
  EXPECT_FALSE(spec.Validate("x").ok());
  spec = Spec("window:3");
  spec.mechanism = WindowAttention{-1};
  EXPECT_FALSE(spec.Validate("x").ok());
}

}  // namespace
}  // namespace nibu::internal
