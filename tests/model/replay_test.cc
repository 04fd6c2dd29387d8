// SPDX-License-Identifier: Apache-2.0
#include "common/model/replay.h"

#include <gtest/gtest.h>

#include <numeric>

#include "common/parallel/replica.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"
#include "tests/support/workloads.h"

namespace tandem::test {
namespace {

std::int64_t rows_of(const ReplayPass& pass) {
  return std::accumulate(pass.rows.begin(), pass.rows.end(), std::int64_t{0});
}

TEST(ReplayPlanTest, ProductsHaveTheFlops_AndAreAsManyAsOperationsAreLeft) {
  const Workload workload = test::workload("by-flops");
  const auto plan = plan_replay(workload, 64);
  const ReplayPass& pass = plan[0].backward;  // of 5 operations, two tensors' and the activations'
  EXPECT_EQ(pass.rows.size(), 2U);
  const double flops = 2.0 * static_cast<double>(rows_of(pass) * pass.width * pass.width);
  EXPECT_NEAR(flops, 80000 * 64, 0.01 * 80000 * 64);
  EXPECT_TRUE(plan[0].moves_activations);
  EXPECT_EQ(rows_of(plan[1].forward), 0) << "of a layer without FLOPs";
}

TEST(ReplayPlanTest, WidthGrowsWithTheProduct_AndRowsStayWithinBounds) {
  EXPECT_EQ(product_width(0), kLeastProductWidth);
  EXPECT_EQ(product_width(2.0 * 64 * 64 * 64), 64);
  EXPECT_EQ(product_width(1e18), kLargestProductWidth);
  Workload workload = test::workload("by-flops");
  workload.layers[0].forward.flops = 1e13;
  const ReplayPass pass = plan_replay(workload, 1)[0].forward;
  EXPECT_GT(pass.rows.size(), 1U);
  for (const std::int64_t rows : pass.rows) EXPECT_LE(rows, kMostProductRows);
}

TEST(ReplayTest, Folding_CoversTheTensor) {
  for (const std::int64_t count : {1, 7, 1024, 1025, 2048, 5003}) {
    const FoldedTensor folded = fold(count, 3);
    EXPECT_EQ(folded.rows * folded.columns, count);
    EXPECT_LE(folded.columns, kMostFoldColumns);
    EXPECT_EQ(folded.first_row, 3);
  }
  EXPECT_EQ(fold(2048, 0).columns, 1024);
  EXPECT_EQ(fold(5003, 0).columns, 1) << "a prime number";
}

TEST(ReplayTest, Model_IsWhatTheFileSays) {
  const Replay replay(test::workload("by-flops"));
  EXPECT_EQ(replay.name(), "by-flops");
  EXPECT_EQ(replay.layout().parameter_count(), 16 * 8 + 16 + 4 * 16 + 4);
  EXPECT_EQ(replay.layout().segments()[0].name, "stem.weight");
  EXPECT_EQ(replay.layout().segments()[3].name, "head.bias");
  EXPECT_EQ(replay.buffers().parameter_count(), 16);
  EXPECT_DOUBLE_EQ(replay.flops_per_sample(), 150000);
  EXPECT_EQ(Replay(test::workload("tokens")).input_classes(), 10);
}

class ReadyOrder final : public GradientSink {
 public:
  void gradient_ready(int segment) override { segments.push_back(segment); }
  std::vector<int> segments;
};

// One forward, loss and backward on a host device.
struct Trial {
  Trial(const Model& model, std::int64_t batch, Precision precision = Precision::kFp32)
      : replica(platform->device(0), model, batch, {.precision = precision}),
        gradients(make_arena(platform->device(0), model.layout())),
        loss(platform->device(0).allocate(bytes_of<float>(1))),
        input(platform->device(0).allocate(bytes_of<float>(batch * model.input_width()))),
        target(
            platform->device(0).allocate(bytes_of<float>(batch * model.objective().target_width))) {
    replica.initialise(1, Distribution::kUniform);
    std::vector<float> values(static_cast<std::size_t>(batch * model.input_width()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 3);
    replica.stream().synchronize();
    put(platform->device(0), input->as<float>(), values);
    step();
  }

  void step() {
    replica.forward(input->as<float>(), interpreter);
    replica.compute_loss(target->as<float>(), loss->as<float>(1), interpreter);
    replica.backward(input->as<float>(), gradients.tensors, order);
    replica.stream().synchronize();
  }

  double value() {
    return read_back<float>(platform->device(0), Span<const float>(loss->as<float>(1)))[0];
  }
  std::vector<float> gradient(std::size_t segment) {
    return read_back<float>(platform->device(0), Span<const float>(gradients.tensors[segment]));
  }

  std::unique_ptr<Platform> platform = host_devices(1);
  Replica replica;
  Arena gradients;
  std::unique_ptr<Buffer> loss;
  std::unique_ptr<Buffer> input;
  std::unique_ptr<Buffer> target;
  Interpreter interpreter{DispatchCosts{}};
  ReadyOrder order;
};

TEST(ReplayTest, GradientsBecomeReady_InTheFilesOrder) {
  const Replay replay(test::workload("by-flops"));
  EXPECT_EQ(Trial(replay, 2).order.segments, (std::vector{3, 2, 0, 1}));
}

TEST(ReplayTest, CallsOfEachLayer_AreCharged) {
  const Replay replay(test::workload("by-flops"));
  Trial run(replay, 2);
  EXPECT_EQ(run.interpreter.calls(), 4 + 1 + 2 + 1) << "the layers', and the loss";
}

// What the loss loses over a small step along one parameter is what its gradient says.
TEST(ReplayTest, Gradients_AreThoseOfTheLoss) {
  for (const char* name : {"by-flops", "tokens"}) {
    const Replay replay(test::workload(name));
    Trial run(replay, 4);
    for (std::size_t segment = 0; segment < run.gradients.tensors.size(); ++segment) {
      const float gradient = run.gradient(segment).back();
      const Span<float> weight = run.replica.parameters().tensors[segment];
      auto values = read_back<float>(run.platform->device(0), Span<const float>(weight));
      const float before = values.back();
      constexpr float kStep = 0.25F;
      values.back() = before + kStep;
      put(run.platform->device(0), weight, values);
      run.step();
      const double above = run.value();
      values.back() = before - kStep;
      put(run.platform->device(0), weight, values);
      run.step();
      const double slope = (above - run.value()) / (2 * kStep);
      EXPECT_NE(gradient, 0) << name << ", tensor " << segment;
      EXPECT_NEAR(slope, gradient, 0.02 * std::abs(gradient) + 1e-6) << name << ' ' << segment;
      values.back() = before;
      put(run.platform->device(0), weight, values);
      run.step();
    }
  }
}

TEST(ReplayTest, EveryGradient_IsWrittenInFull) {
  const Replay replay(test::workload("by-flops"));
  Trial run(replay, 4);
  for (std::size_t segment = 0; segment < run.gradients.tensors.size(); ++segment) {
    for (const float value : run.gradient(segment)) EXPECT_NE(value, 0) << segment;
  }
}

}  // namespace
}  // namespace tandem::test
