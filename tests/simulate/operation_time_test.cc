// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "simulate/cost/operation_costs.h"
#include "tests/support/round_machine.h"

namespace tandem::test {
namespace {

class OperationTime : public ::testing::Test {
 protected:
  [[nodiscard]] Nanoseconds time(double flops, std::int64_t moved) const {
    return operation_time(gpu_, gpu_.fp32.value, {flops, Bytes{moved}});
  }

  GpuDescription gpu_ = round_machine().gpu;
};

TEST_F(OperationTime, IsThatOfTheProducts_OrOfTheBytes_WhicheverTakesLonger) {
  EXPECT_EQ(time(1e6, 1000), Nanoseconds{1000});
  EXPECT_EQ(time(1e3, 1'000'000), Nanoseconds{10'000});
}

TEST_F(OperationTime, GrowsAsLessOfThePeaksIsReached) {
  gpu_.product_share.value = 0.5;
  gpu_.memory_share.value = 0.8;
  EXPECT_EQ(time(1e6, 1000), Nanoseconds{2000});
  EXPECT_EQ(time(1e3, 1'000'000), Nanoseconds{12'500});
}

TEST_F(OperationTime, IsNeverBelowTheLeast) {
  gpu_.least_time.value = Nanoseconds{2500};
  EXPECT_EQ(time(1, 1), Nanoseconds{2500});
  EXPECT_EQ(memory_time(gpu_, Bytes{0}), Nanoseconds{2500});
}

// Shares of the round GPU, of 10 multiprocessors, whose tensor cores make 10,000 FLOP in a
// nanosecond.
class SharedOperationTime : public OperationTime {
 protected:
  void SetUp() override {
    const auto share = [](double value) { return SourcedFigure<double>{value, "round"}; };
    gpu_.bf16 = SourcedFigure<double>{kTensor, "round"};
    gpu_.shares = OperationShares{.product = share(0.5),
                                  .plain_product = share(0.8),
                                  .plain_convolution = share(1.0),
                                  .convolution = share(0.25),
                                  .attention = share(0.2),
                                  .normalisation = share(0.1),
                                  .tile = {128, "round"},
                                  .half_depth = {256, "round"}};
  }
  [[nodiscard]] Nanoseconds time_of(OperationKind kind, double peak, Bytes relaid = {}) const {
    return operation_time(gpu_, peak,
                          {.flops = 1e6, .moved = Bytes{1000}, .kind = kind, .relaid = relaid});
  }

  static constexpr double kTensor = 1e13;
};

TEST_F(SharedOperationTime, AreThoseOfTheKind_OnTensorCoresAndOffThem) {
  EXPECT_EQ(time_of(OperationKind::kProduct, kTensor), Nanoseconds{200});
  EXPECT_EQ(time_of(OperationKind::kProduct, 1e12), Nanoseconds{1250});
  EXPECT_EQ(time_of(OperationKind::kConvolution, kTensor), Nanoseconds{400});
  EXPECT_EQ(time_of(OperationKind::kConvolution, 1e12), Nanoseconds{1000});
  EXPECT_EQ(time_of(OperationKind::kAttention, kTensor), Nanoseconds{500});
  EXPECT_EQ(operation_time(gpu_, 1e12, {.moved = Bytes{10'000}}), Nanoseconds{100});
  EXPECT_EQ(
      operation_time(gpu_, 1e12, {.moved = Bytes{10'000}, .kind = OperationKind::kNormalisation}),
      Nanoseconds{1000});
}

TEST_F(SharedOperationTime, ProductsOnTensorCoresGoByWhatTheGpusBestReach) {
  gpu_.product_share.value = 0.8;
  EXPECT_EQ(time_of(OperationKind::kProduct, kTensor), Nanoseconds{250});
  EXPECT_EQ(time_of(OperationKind::kProduct, 1e12), Nanoseconds{1250});
  EXPECT_EQ(time_of(OperationKind::kAttention, kTensor), Nanoseconds{500});
}

TEST_F(SharedOperationTime, ImagesThatTensorCoresDoNotTake_AreCopiedAsWell) {
  EXPECT_EQ(time_of(OperationKind::kConvolution, kTensor, Bytes{10'000}), Nanoseconds{600});
  EXPECT_EQ(time_of(OperationKind::kConvolution, 1e12, Bytes{10'000}), Nanoseconds{1000});
}

TEST_F(SharedOperationTime, FallWithIdleMultiprocessorsAndShortSums) {
  const auto share = [this](std::int64_t rows, std::int64_t columns, std::int64_t depth,
                            double peak = kTensor) {
    return shape_share(gpu_, peak, {.rows = rows, .columns = columns, .depth = depth});
  };
  EXPECT_DOUBLE_EQ(share(1280, 128, 256), 0.5);            // ten tiles, half the depth
  EXPECT_DOUBLE_EQ(share(128, 128, 256), 0.05);            // one tile
  EXPECT_DOUBLE_EQ(share(1408, 128, 256), 0.5 * 0.55);     // eleven tiles in two waves
  EXPECT_DOUBLE_EQ(share(640, 8, 768), 0.75 * 0.5);        // narrow tiles count as well
  EXPECT_NEAR(share(128, 128, 40'960), 1, 0.01);           // a long sum is split in ten
  EXPECT_DOUBLE_EQ(share(1280, 128, 256, 1e12), 1 / 1.1);  // a tenth of the speed
  EXPECT_DOUBLE_EQ(shape_share(gpu_, kTensor, {}), 1);     // not told
  gpu_.shares.reset();
  EXPECT_DOUBLE_EQ(share(128, 128, 256), 1);
}

}  // namespace
}  // namespace tandem::test
