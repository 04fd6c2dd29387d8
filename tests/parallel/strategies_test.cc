// SPDX-License-Identifier: Apache-2.0
//
// The same mathematics, whatever the strategy.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/kernels/host_support.h"
#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

constexpr std::int64_t kGlobalBatch = 16;

// More devices than cores where need be: the numbers do not depend on it.
Training exact_run(const std::string& strategy, int devices) {
  Training run{.strategy = strategy, .devices = devices, .training = exact_training(kGlobalBatch)};
  run.platform.oversubscribe = true;
  return run;
}

TEST(StrategiesTest, Dp_FirstGradientsEqualSinglesBitForBit) {
  const auto model = exact_model();
  const Outcome single = train(*model, exact_run("single", 1));
  for (const int devices : {1, 2, 4}) EXPECT_EQ(train(*model, exact_run("dp", devices)), single);
}

TEST(StrategiesTest, Ddp_FirstGradientsEqualSinglesBitForBit) {
  const auto model = exact_model();
  const Outcome single = train(*model, exact_run("single", 1));
  for (const int devices : {1, 2, 4}) {
    for (const ddp::GradsMode grads : {ddp::GradsMode::kCopy, ddp::GradsMode::kViews}) {
      Training run = exact_run("ddp", devices);
      run.reducer.grads = grads;
      EXPECT_EQ(train(*model, run), single);
    }
  }
}

TEST(StrategiesTest, Data_AreNotDegenerate) {
  const auto model = exact_model();
  const Outcome single = train(*model, exact_run("single", 1));
  for (const auto& gradient : single.gradients) {
    const auto nonzero =
        std::count_if(gradient.begin(), gradient.end(), [](float g) { return g != 0; });
    EXPECT_GT(nonzero, static_cast<std::ptrdiff_t>(gradient.size() / 4));
  }
}

// Sums of thirds are not exact, and uneven shards are summed in another order: to rounding only.
Training real_run(const std::string& strategy, int devices, std::int64_t batch) {
  Training run{.strategy = strategy, .devices = devices, .steps = 5};
  run.training.global_batch = batch;
  run.platform.oversubscribe = true;
  return run;
}

TEST(StrategiesTest, Dp_WithUnevenPieces_FollowsSingle) {
  const auto model = make_model("mlp-tiny");
  for (const int devices : {2, 3, 4}) {
    const Outcome dp = train(*model, real_run("dp", devices, 9));
    const Outcome single = train(*model, real_run("single", 1, 9));
    EXPECT_LT(relative_difference(single.weights, dp.weights), kStrategyTolerance);
    EXPECT_LT(relative_difference(single.gradients, dp.gradients), kStrategyTolerance);
  }
}

TEST(StrategiesTest, Dp_WithFewerSamplesThanDevices_FollowsSingle) {
  const auto model = make_model("mlp-tiny");
  for (const std::int64_t batch : {1, 2}) {
    const Outcome dp = train(*model, real_run("dp", 3, batch));
    const Outcome single = train(*model, real_run("single", 1, batch));
    EXPECT_LT(relative_difference(single.weights, dp.weights), kStrategyTolerance);
  }
}

struct DdpCase {
  int devices;
  ddp::GradsMode grads;
  ddp::Overlap overlap;
  Bytes cap;
};

class DdpTest : public testing::TestWithParam<DdpCase> {};

// Several buckets, rebuilt after the first step; three ranks on fewer cores.
TEST_P(DdpTest, OverSeveralSteps_FollowsSingle) {
  const auto model = make_model("mlp-tiny");
  Training run = real_run("ddp", GetParam().devices, 12);
  run.reducer = {.grads = GetParam().grads,
                 .overlap = GetParam().overlap,
                 .buckets = {.first = GetParam().cap, .rest = GetParam().cap}};
  const Outcome ddp = train(*model, run);
  const Outcome single = train(*model, real_run("single", 1, 12));
  EXPECT_LT(relative_difference(single.weights, ddp.weights), kStrategyTolerance);
  EXPECT_LT(relative_difference(single.gradients, ddp.gradients), kStrategyTolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Options, DdpTest,
    testing::Values(DdpCase{1, ddp::GradsMode::kCopy, ddp::Overlap::kOn, kib(64)},
                    DdpCase{2, ddp::GradsMode::kCopy, ddp::Overlap::kOn, kib(64)},
                    DdpCase{2, ddp::GradsMode::kViews, ddp::Overlap::kOn, kib(64)},
                    DdpCase{2, ddp::GradsMode::kViews, ddp::Overlap::kOff, mib(25)},
                    DdpCase{3, ddp::GradsMode::kCopy, ddp::Overlap::kOff, kib(64)},
                    DdpCase{3, ddp::GradsMode::kViews, ddp::Overlap::kOn, kib(16)}));

TEST(StrategiesTest, Ddp_RefusesABatchThatRanksDoNotDivide) {
  const auto model = exact_model();
  Training run = exact_run("ddp", 2);
  run.training.global_batch = 15;
  const Error error = test::error_of([&] { static_cast<void>(train(*model, run)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find("15"), std::string::npos);
}

// Squared error on continuous data; cross-entropy on ids.
std::vector<std::unique_ptr<Model>> models_of_both_kinds() {
  std::vector<std::unique_ptr<Model>> models;
  models.push_back(exact_model());
  models.push_back(make_model("gpt2-nano:4"));
  return models;
}

TEST(StrategiesTest, PlaceOfTheInput_ChangesNoNumber) {
  for (const auto& model : models_of_both_kinds()) {
    for (const std::string strategy : {"single", "dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
      Training run = exact_run(strategy, strategy == "single" ? 1 : 2);
      const Outcome from_host = train(*model, run);
      for (const InputPlace place : {InputPlace::kPageable, InputPlace::kDevice}) {
        run.training.input = place;
        EXPECT_EQ(train(*model, run), from_host) << strategy;
      }
    }
  }
}

TEST(StrategiesTest, SeededDelays_ChangeNoNumber) {
  for (const auto& model : models_of_both_kinds()) {
    for (const std::string strategy : {"single", "dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
      Training run = exact_run(strategy, strategy == "single" ? 1 : 2);
      run.steps = 3;
      const Outcome prompt = train(*model, run);
      run.platform.debug.largest_delay = std::chrono::microseconds(500);
      for (const std::uint64_t seed : {1U, 2U, 3U}) {
        run.platform.debug.delay_seed = seed;
        EXPECT_EQ(train(*model, run), prompt) << strategy << ", seed " << seed;
      }
    }
  }
}

std::vector<dp::DataParallelOptions> ways_of_dp() {
  return {{.threads = dp::Threads::kKept},
          {.replicate = dp::Grouping::kTensor},
          {.replicate = dp::Grouping::kFlat, .broadcast = dp::Order::kTree},
          {.loss = dp::LossPlace::kReplicas},
          {.reduce = dp::Order::kTree},
          {.broadcast = dp::Order::kCollective},
          {.replicate = dp::Grouping::kTensor,
           .broadcast = dp::Order::kCollective,
           .reduce = dp::Order::kCollective},
          {.device_ids = {1, 0}},
          {.device_ids = {1, 0}, .output_device = 0}};
}

// Whatever the option, the same mathematics: exact on small integers, shards are powers of two.
TEST(StrategiesTest, EveryWayOfDp_FirstGradientsEqualSinglesBitForBit) {
  const auto model = exact_model();
  const Outcome single = train(*model, exact_run("single", 1));
  for (const int devices : {2, 4}) {
    for (const dp::DataParallelOptions& way : ways_of_dp()) {
      Training run = exact_run("dp", devices);
      run.dp = way;
      EXPECT_EQ(train(*model, run), single);
    }
  }
}

// On host devices a collective adds in the devices' order, as the root does one after the other.
TEST(StrategiesTest, CollectivesOfDp_EqualItsCopiesBitForBit_OnAnyData) {
  const auto model = make_model("mlp-tiny");
  Training run = real_run("dp", 4, 10);
  run.dp = {.broadcast = dp::Order::kSequential, .reduce = dp::Order::kSequential};
  const Outcome copies = train(*model, run);
  run.dp = {.broadcast = dp::Order::kCollective, .reduce = dp::Order::kCollective};
  EXPECT_EQ(train(*model, run), copies);
  run.dp = {};  // as torch without NCCL
  EXPECT_EQ(train(*model, run), copies);
}

TEST(StrategiesTest, EveryWayOfDp_WithUnevenPieces_FollowsSingle) {
  const auto model = make_model("mlp-tiny");
  const Outcome single = train(*model, real_run("single", 1, 10));
  for (const dp::DataParallelOptions& way : ways_of_dp()) {
    Training run = real_run("dp", 4, 10);
    run.dp = way;
    const Outcome dp = train(*model, run);
    EXPECT_LT(relative_difference(single.weights, dp.weights), kStrategyTolerance);
    EXPECT_LT(relative_difference(single.gradients, dp.gradients), kStrategyTolerance);
  }
}

TEST(StrategiesTest, DdpReplicate_FirstGradientsEqualSinglesBitForBit) {
  const auto model = exact_model();
  const Outcome single = train(*model, exact_run("single", 1));
  for (const int devices : {1, 2, 4}) {
    EXPECT_EQ(train(*model, exact_run("ddp-replicate", devices)), single);
  }
}

TEST(StrategiesTest, DdpReplicate_WithUnevenPieces_FollowsSingle) {
  const auto model = make_model("mlp-tiny");
  const Outcome ranks = train(*model, real_run("ddp-replicate", 3, 10));
  const Outcome single = train(*model, real_run("single", 1, 10));
  EXPECT_LT(relative_difference(single.weights, ranks.weights), kStrategyTolerance);
}

TEST(StrategiesTest, DdpReplicate_RefusesABatchThatLeavesARankWithoutWork) {
  const auto model = exact_model();
  Training run = exact_run("ddp-replicate", 4);
  run.training.global_batch = 9;
  const Error error = test::error_of([&] { static_cast<void>(train(*model, run)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

// Places of the input, orders of the transfers, places of the loss, and where the outputs go: the
// root, another replica's device, one apart. Delays show a missing order as wrong numbers, here and
// to ThreadSanitizer.
std::vector<Training> all_combinations() {
  std::vector<Training> runs;
  for (const auto input : {InputPlace::kHost, InputPlace::kPageable, InputPlace::kDevice}) {
    for (const auto order : {dp::Order::kSequential, dp::Order::kTree, dp::Order::kCollective}) {
      for (const auto loss : {dp::LossPlace::kRoot, dp::LossPlace::kReplicas}) {
        for (const int output : {2, 0, 3}) {
          Training run = exact_run("dp", 4);
          run.steps = 2;
          run.training.input = input;
          run.dp = {.device_ids = {2, 0},
                    .output_device = output,
                    .broadcast = order,
                    .loss = loss,
                    .reduce = order};
          run.platform.debug.largest_delay = std::chrono::microseconds(200);
          runs.push_back(run);
        }
      }
    }
  }
  return runs;
}

TEST(StrategiesTest, EveryCombinationOfDp_FollowsSingle) {
  for (const char* name : {"mlp-tiny", "counter"}) {
    const auto model = make_model(name);
    Training alone = exact_run("single", 1);
    alone.steps = 2;
    const Outcome single = train(*model, alone);
    for (const Training& run : all_combinations()) {
      EXPECT_LT(relative_difference(single.weights, train(*model, run).weights),
                kStrategyTolerance);
    }
  }
}

struct CornerCase {
  int devices;
  ddp::GradsMode grads;
  ddp::Shards shards;
};

class DpAllReduceTest : public testing::TestWithParam<CornerCase> {};

// The same collective on the same shards: on any data, not only on exact ones.
TEST_P(DpAllReduceTest, EqualsDdpBitForBit_OverTenSteps) {
  const auto model = make_model("mlp-tiny");
  Training run = real_run("ddp", GetParam().devices, 16);
  run.steps = 10;
  run.reducer = {.grads = GetParam().grads, .buckets = {.first = kib(64), .rest = kib(64)}};
  const Outcome ddp = train(*model, run);
  run.strategy = "dp-allreduce";
  run.shards = GetParam().shards;
  EXPECT_EQ(train(*model, run), ddp);
}

INSTANTIATE_TEST_SUITE_P(
    Corners, DpAllReduceTest,
    testing::Values(CornerCase{2, ddp::GradsMode::kCopy, ddp::Shards::kOwn},
                    CornerCase{2, ddp::GradsMode::kViews, ddp::Shards::kScattered},
                    CornerCase{4, ddp::GradsMode::kCopy, ddp::Shards::kScattered},
                    CornerCase{4, ddp::GradsMode::kViews, ddp::Shards::kOwn}));

// It is about time.
TEST(StrategiesTest, ModelledInterpreter_ChangesNoNumber) {
  const auto model = exact_model();
  for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    Training run = exact_run(strategy, 2);
    const Outcome plain = train(*model, run);
    run.training.interpreter = {DispatchCosts::alike(std::chrono::microseconds(2)),
                                InterpreterLock::kOn};
    EXPECT_EQ(train(*model, run), plain) << strategy;
  }
}

class Bf16Strategies : public testing::Test {
 public:
  void SetUp() override {
    if (host_bf16_support() == Bf16Support::kNone) {
      GTEST_SKIP() << "the library has no bf16 products for this CPU";
    }
  }
};

Training in_bf16(Training run) {
  run.training.precision = Precision::kBf16;
  return run;
}

// Rows are independent, sums of whole numbers exact in fp32, and each is rounded once: shards of
// the batch come to the same bf16 numbers as the whole.
TEST_F(Bf16Strategies, FirstGradients_EqualSinglesBitForBit) {
  const auto model = exact_model();
  const Outcome single = train(*model, in_bf16(exact_run("single", 1)));
  for (const char* strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    for (const int devices : {1, 2, 4}) {
      EXPECT_EQ(train(*model, in_bf16(exact_run(strategy, devices))), single)
          << strategy << " on " << devices;
    }
  }
}

// A rank's mean is over its own share: the gradients that it computes on are N times the batch's,
// which is exact in any format for a power of two. For other N they round to other numbers of the
// format, and an activation near zero may be cut off by ReLU for one and not for the other: single
// elements may differ by much, tensors by little, and less along the reference.
void expect_close_in_bf16(const TensorValues& single, const TensorValues& other, int devices) {
  EXPECT_LT(relative_difference(single, other), devices == 3 ? 1 : 1e-2);
  EXPECT_LT(relative_distance(single, other), 1.0 / 8);
  EXPECT_LT(projection_error(single, other), 1.0 / 64);
}

TEST_F(Bf16Strategies, OverSeveralSteps_FollowSingle) {
  const auto model = make_model("mlp-tiny");
  const Outcome single = train(*model, in_bf16(real_run("single", 1, 12)));
  for (const char* strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    for (const int devices : {2, 3, 4}) {
      const Outcome other = train(*model, in_bf16(real_run(strategy, devices, 12)));
      SCOPED_TRACE(strategy);
      expect_close_in_bf16(single.weights, other.weights, devices);
      expect_close_in_bf16(single.gradients, other.gradients, devices);
    }
  }
}

}  // namespace
}  // namespace tandem::test
