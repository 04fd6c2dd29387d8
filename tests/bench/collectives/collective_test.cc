// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/collective.h"

#include <gtest/gtest.h>

#include "bench/collectives/measurement.h"

namespace tandem::bench {
namespace {

TEST(Collective, BusFactor_IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 8), 1.75);
  for (const Collective in_blocks : {Collective::kScatter, Collective::kGather}) {
    EXPECT_DOUBLE_EQ(bus_factor(in_blocks, 2), 0.5);
    EXPECT_DOUBLE_EQ(bus_factor(in_blocks, 4), 0.75);
  }
  for (const Collective whole : {Collective::kBroadcast, Collective::kReduce}) {
    EXPECT_DOUBLE_EQ(bus_factor(whole, 2), 1);
    EXPECT_DOUBLE_EQ(bus_factor(whole, 8), 1);
  }
}

TEST(Collective, Bandwidth_IsSizeOverTimeAndTheFactor) {
  const CollectiveCase measured{.collective = Collective::kAllReduce, .count = 1'000'000};
  const auto found = bandwidth(measured, 4, 0.002);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->algorithm, 2);  // 4 MB in 2 ms
  EXPECT_DOUBLE_EQ(found->bus, 3);
}

TEST(Collective, Bandwidth_OfAWorldOfOne_IsNone) {
  EXPECT_FALSE(bandwidth({.count = 1000}, 1, 0.001));
}

TEST(Collective, Name_SaysWhatIsExecuted) {
  CollectiveCase measured{.collective = Collective::kAllReduce, .count = 1 << 18};
  EXPECT_EQ(name_of(measured, 2), "all_reduce/ranks:2/bytes:1048576/fp32/in_place");
  measured.form = BufferUse::kOutOfPlace;
  measured.type = DType::kBFloat16;
  measured.op = ReduceOp::kSum;
  measured.calls = 20;
  EXPECT_EQ(name_of(measured, 3),
            "all_reduce/ranks:3/bytes:524288/bf16/out_of_place/sum/free-running:20");
}

TEST(Collective, NameOfOneForm_LeavesOutFormAndOperation) {
  const CollectiveCase measured{.collective = Collective::kBroadcast,
                                .form = BufferUse::kOnly,
                                .count = 256,
                                .op = ReduceOp::kSum};
  EXPECT_EQ(name_of(measured, 2), "broadcast/ranks:2/bytes:1024/fp32");
}

TEST(Collective, OnlyReductionsIntoTheirInput_CannotBeRepeated) {
  EXPECT_FALSE(is_repeatable({.collective = Collective::kReduce, .form = BufferUse::kOnly}));
  EXPECT_FALSE(is_repeatable({.form = BufferUse::kInPlace}));
  EXPECT_TRUE(is_repeatable({.form = BufferUse::kOutOfPlace}));
  EXPECT_TRUE(is_repeatable({.collective = Collective::kGather, .form = BufferUse::kOnly}));
}

TEST(Collective, SumsIntoTheirInput_Grow) {
  EXPECT_TRUE(grows({.collective = Collective::kReduce, .form = BufferUse::kOnly}));
  EXPECT_TRUE(grows({.collective = Collective::kAllReduce, .op = ReduceOp::kSum}));
  EXPECT_FALSE(grows({.collective = Collective::kAllReduce, .op = ReduceOp::kAverage}));
  EXPECT_FALSE(grows({.collective = Collective::kAllReduce,
                      .form = BufferUse::kOutOfPlace,
                      .op = ReduceOp::kSum}));
}

}  // namespace
}  // namespace tandem::bench
