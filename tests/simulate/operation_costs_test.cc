// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/operation_costs.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "simulate/cost/kernel_time.h"
#include "tests/support/errors.h"
#include "tests/support/round_machine.h"

namespace tandem {
namespace {

using test::error_of;
using test::mentions;

const std::vector<SizedTimes> kCurve{{100, {1e-6}}, {400, {4e-6}}, {1600, {8e-6}}};

double second_at(double size) { return seconds_at(kCurve, size)->seconds.front(); }
CostBasis basis_at(double size) { return seconds_at(kCurve, size)->basis; }

TEST(SecondsAt, AMeasuredSize_AreTheMeasuredOnes) {
  EXPECT_EQ(second_at(400), 4e-6);
  EXPECT_EQ(basis_at(400), CostBasis::kMeasured);
}

TEST(SecondsAt, BetweenTwoSizes_AreBetweenInLogarithms) {
  EXPECT_NEAR(second_at(200), 2e-6, 1e-15);               // proportional
  EXPECT_NEAR(second_at(800), 4e-6 * 1.41421356, 1e-13);  // as the root of the size
  EXPECT_EQ(basis_at(200), CostBasis::kInterpolated);
}

TEST(SecondsAt, BeyondTheEnds_GoOnWithTheirSlope_ForAFactorOfFour) {
  EXPECT_NEAR(second_at(6400), 16e-6, 1e-14);
  EXPECT_NEAR(second_at(25), 0.25e-6, 1e-15);
  EXPECT_EQ(basis_at(6400), CostBasis::kScaled);
  EXPECT_EQ(basis_at(25), CostBasis::kScaled);
  EXPECT_FALSE(seconds_at(kCurve, 6500));
  EXPECT_FALSE(seconds_at(kCurve, 24));
}

TEST(SecondsAt, BeyondTheEnds_AreNeitherFalling_NorSteeperThanProportional) {
  EXPECT_EQ(seconds_at({{100, {2e-6}}, {200, {1e-6}}}, 400)->seconds.front(), 1e-6);
  EXPECT_NEAR(seconds_at({{100, {1e-6}}, {200, {8e-6}}}, 400)->seconds.front(), 16e-6, 1e-14);
  EXPECT_NEAR(seconds_at({{100, {1e-6}}}, 300)->seconds.front(), 3e-6, 1e-15);
  EXPECT_FALSE(seconds_at({}, 100));
}

TEST(SecondsAt, KeepOccurrencesApart_WhereBothSizesHaveAsMany) {
  const auto apart = seconds_at({{100, {1e-6, 4e-6}}, {400, {4e-6, 16e-6}}}, 200)->seconds;
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_NEAR(apart[0], 2e-6, 1e-15);
  EXPECT_NEAR(apart[1], 8e-6, 1e-15);
  const auto together = seconds_at({{100, {1e-6, 3e-6}}, {400, {8e-6}}}, 200)->seconds;
  ASSERT_EQ(together.size(), 1U);
  EXPECT_NEAR(together[0], 4e-6, 1e-15);
}

TEST(CurveOf, IsByFlops_OrByBytesWithoutAny_InAscendingOrder) {
  const auto curve =
      curve_of({{.flops = 400, .bytes = 7, .seconds = {4}}, {.bytes = 100, .seconds = {1}}}, {});
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].size, 100);
  EXPECT_EQ(curve[1].size, 400);
}

TEST(CurveOf, OfEqualSizes_HasTheTimeAtTheNearestBatch) {
  const std::vector<MeasuredPoint> points{{.batch = 8, .bytes = 100, .seconds = {1}},
                                          {.batch = 32, .bytes = 100, .seconds = {3}}};
  const auto at = [&](std::int64_t batch) {
    const auto curve = curve_of(points, {.model = "", .batch = batch});
    EXPECT_EQ(curve.size(), 1U);
    return curve[0].seconds.front();
  };
  EXPECT_EQ(at(4), 1);
  EXPECT_EQ(at(15), 1);
  EXPECT_EQ(at(17), 3);
  EXPECT_EQ(at(32), 3);
}

TEST(CurveOf, WithOthersAtWork_HasTheTimesBesideThem_WhereThereAreAny) {
  const std::vector<MeasuredPoint> points{{.bytes = 100, .seconds = {1}, .beside_others = {{2}}},
                                          {.bytes = 200, .seconds = {3}}};
  const CalibratedSteps crowded{.model = "", .has_others = true};
  EXPECT_EQ(curve_of(points, {})[0].seconds.front(), 1);
  EXPECT_EQ(curve_of(points, crowded)[0].seconds.front(), 2);
  EXPECT_EQ(curve_of(points, crowded)[1].seconds.front(), 3);
}

class CalibratedCosts : public ::testing::Test {
 protected:
  CalibratedCosts() {
    MeasuredModel& model = calibration_.models["mlp"].emplace_back();
    model.operations["linear 2x3"] = {
        {.batch = 8, .flops = 1000, .bytes = 10, .seconds = {1e-6, 2e-6}},
        {.batch = 16, .flops = 4000, .bytes = 20, .seconds = {4e-6, 8e-6}}};
    calibration_.sizes["add"] = {{.bytes = 1000, .seconds = {1e-6}},
                                 {.bytes = 9000, .seconds = {9e-6}}};
    calibration_.collectives = {{"all_reduce", 2, 1000, 1e-5}, {"all_reduce", 2, 9000, 3e-5}};
  }

  OperationCosts costs(std::optional<GpuDescription> described = {},
                       const std::string& model = "mlp") {
    return {std::make_shared<const MachineCalibration>(calibration_),
            {.model = model},
            std::move(described)};
  }

  static AskedOperation linear(double flops) {
    return {.name = "linear", .key = "linear 2x3", .work = {flops, Bytes{10}}};
  }
  static AskedOperation add(std::int64_t bytes) {
    return {.name = "add", .key = "add, 3 operands", .work = {0, Bytes{bytes}}};
  }

  MachineCalibration calibration_;
};

TEST_F(CalibratedCosts, OfTheModelsStep_AreItsTimesInOrder) {
  const OperationCost cost = costs().cost_of(linear(1000));
  EXPECT_EQ(cost.times, (std::vector<Nanoseconds>{Nanoseconds{1000}, Nanoseconds{2000}}));
  EXPECT_EQ(cost.basis, CostBasis::kMeasured);
  const OperationCost between = costs().cost_of(linear(2000));
  EXPECT_EQ(between.times, (std::vector<Nanoseconds>{Nanoseconds{2000}, Nanoseconds{4000}}));
  EXPECT_EQ(between.basis, CostBasis::kInterpolated);
}

TEST_F(CalibratedCosts, OfOtherOperations_AreByTheirSize_AndSmallOnesCostTheLeast) {
  EXPECT_EQ(costs().cost_of(add(3000)).times.front(), Nanoseconds{3000});
  const OperationCost tiny = costs().cost_of(add(4));
  EXPECT_EQ(tiny.times.front(), Nanoseconds{1000});
  EXPECT_EQ(tiny.basis, CostBasis::kScaled);
}

TEST_F(CalibratedCosts, OfTheStep_ComeBeforeThoseBySize_UnlessTheseLieAround) {
  calibration_.models["mlp"].front().operations["add, 3 operands"] = {
      {.batch = 8, .bytes = 2000, .seconds = {7e-6}}};
  EXPECT_EQ(costs().cost_of(add(2000)).times.front(), Nanoseconds{7000});
  EXPECT_EQ(costs().cost_of(add(3000)).times.front(), Nanoseconds{3000});
}

TEST_F(CalibratedCosts, OfWhatWasNotMeasured_AreTheDescriptions_OrARefusalThatNamesIt) {
  const Error error = error_of([this] { static_cast<void>(costs().cost_of(linear(17000))); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "linear 2x3 of 1.7e+04 FLOPs")) << error.what();
  const ListedKernel copy{.kind = KernelKind::kCopy, .sizes = {1'000'000}};
  AskedOperation asked = linear(17000);
  asked.kernels = {copy, copy};
  const GpuDescription gpu = test::round_machine().gpu;
  const OperationCost cost = costs(gpu).cost_of(asked);
  EXPECT_EQ(cost.times.front(), 2 * kernel_time(gpu, copy));
  EXPECT_EQ(cost.basis, CostBasis::kDescribed);
}

TEST_F(CalibratedCosts, OfAnotherModel_AreRefused_NamingTheModelsThereAre) {
  const Error error = error_of([this] { static_cast<void>(costs({}, "gpt2-nano")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--calibration has no times of gpt2-nano, but of mlp"))
      << error.what();
}

TEST_F(CalibratedCosts, OfCollectives_AreByBytes_InProportionBeyond_WithTheRanksMeasured) {
  const OperationCosts all = costs();
  const auto time = [&](Bytes size, int ranks) {
    return all.cost_of_collective("all_reduce", size, ranks).value().time;
  };
  EXPECT_EQ(time(Bytes{1000}, 2), Nanoseconds{10'000});
  EXPECT_EQ(time(Bytes{8}, 4), Nanoseconds{10'000});
  EXPECT_EQ(time(Bytes{18'000}, 2), Nanoseconds{60'000});
  EXPECT_EQ(all.cost_of_collective("all_reduce", Bytes{8}, 4)->ranks, 2);
  EXPECT_FALSE(all.cost_of_collective("broadcast", Bytes{1000}, 2));
  EXPECT_FALSE(costs(test::round_machine().gpu).cost_of_collective("all_reduce", Bytes{1000}, 2));
}

}  // namespace
}  // namespace tandem
