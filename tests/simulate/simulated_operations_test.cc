// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_operations.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/kernels/listed_kernel.h"
#include "common/model/replay.h"
#include "common/runtime/copy.h"
#include "dp/data_parallel.h"
#include "simulate/cost/kernel_time.h"
#include "tests/support/errors.h"
#include "tests/support/simulated_devices.h"
#include "tests/support/workloads.h"

namespace tandem::test {
namespace {

class SimulatedOperationsTest : public ::testing::Test {
 protected:
  void SetUp() override { machine_.gpu.memory.value = gib(64); }

  // The time of `op` on device 0 by operations of this precision.
  template <class Op>
  Nanoseconds time_of(const Op& op, Precision precision = Precision::kFp32,
                      const ImageOptions& images = {}) {
    const auto operations = make_operations(device(), precision, images);
    const auto stream = device().make_stream(StreamPriority::kNormal);
    const TimePoint start = platform_->now();
    operations->enqueue(*stream, op);
    stream->synchronize();
    return platform_->now() - start;
  }

  Platform& two_devices() {
    if (!platform_) platform_ = simulated_devices(2, machine_, std::move(extras_));
    return *platform_;
  }

  Device& device() { return two_devices().device(0); }

  Span<float> floats(std::int64_t count, int index = 0) {
    static_cast<void>(device());
    buffers_.push_back(platform_->device(index).allocate(bytes_of<float>(count)));
    return buffers_.back()->as<float>(count);
  }

  // A product of 2 * 500^3 FLOPs on 4 * 3 * 500^2 bytes.
  LinearBackwardInput product() {
    return {.shape = {.batch = 500, .in = 500, .out = 500},
            .dy = floats(500 * 500),
            .weight = floats(500 * 500),
            .dx = floats(500 * 500)};
  }

  // Costs by a calibration in which each point of `operations` is of a step.
  void calibrate(const MeasuredOperations& operations) {
    MachineCalibration calibration;
    calibration.models["a model"] = {{.batches = {}, .operations = operations}};
    extras_.costs.emplace(std::make_shared<const MachineCalibration>(calibration),
                          CalibratedSteps{.model = "a model"});
  }

  HardwareDescription machine_ = round_machine();
  simulated::SimulationExtras extras_{};
  std::unique_ptr<Platform> platform_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

TEST_F(SimulatedOperationsTest, AProductTakesTheTimeOfItsKernel_InEachPrecision) {
  machine_.gpu.tf32 = SourcedFigure<double>{5e12, "round"};
  ListedKernel kernel{.kind = KernelKind::kProduct, .sizes = {1, 500, 500, 500, 4 * 3 * 500 * 500}};
  EXPECT_EQ(time_of(product()), kernel_time(machine_.gpu, kernel));
  kernel.type = NumberType::kTf32;
  EXPECT_EQ(time_of(product(), Precision::kTf32), kernel_time(machine_.gpu, kernel));
}

TEST_F(SimulatedOperationsTest, WithoutThePrecision_AreAUsageErrorThatNamesIt) {
  const Error error = error_of([this] { static_cast<void>(time_of(product(), Precision::kBf16)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--precision=bf16")) << error.what();
  EXPECT_TRUE(mentions(error, "round GPU has fp32: take fp32")) << error.what();
}

TEST_F(SimulatedOperationsTest, WithoutThePrecision_NameFp16_WhichNoStepIsIn) {
  machine_.gpu.fp16 = SourcedFigure<double>{2e12, "round"};
  const Error error = error_of([this] { static_cast<void>(time_of(product(), Precision::kBf16)); });
  EXPECT_TRUE(mentions(error, "fp32, and fp16, which Tandem has not: take fp32")) << error.what();
}

// As torch's default: only with fp32 factors asked for do convolutions keep to fp32.
TEST_F(SimulatedOperationsTest, Fp32Convolutions_MayBeTf32) {
  machine_.gpu.tf32 = SourcedFigure<double>{5e12, "round"};
  const ConvolutionShape shape{.batch = 10, .height = 10, .width = 10, .in = 100, .out = 100};
  const std::int64_t count = shape.batch * 10 * 10 * 100;
  const ConvolutionForward op{
      .shape = shape, .x = floats(count), .weight = floats(100 * 100), .y = floats(count)};
  ListedKernel kernel{.kind = KernelKind::kConvolution,
                      .layout = KernelLayout::kFirst,
                      .sizes = {10, 100, 100, 100, 100, 1, 1, 4 * (2 * count + 100 * 100)}};
  const Nanoseconds in_fp32 = time_of(op, Precision::kFp32, {.fp32_factors = true});
  EXPECT_EQ(in_fp32, kernel_time(machine_.gpu, kernel));
  kernel.type = NumberType::kTf32;
  EXPECT_EQ(time_of(op), kernel_time(machine_.gpu, kernel));
}

TEST_F(SimulatedOperationsTest, WhatIsFusedTakesTheTimesOfTorchsKernels) {
  const auto moving = [this](KernelKind kind, std::int64_t bytes) {
    return kernel_time(machine_.gpu, {.kind = kind, .sizes = {bytes}});
  };
  const SgdUpdate update{
      .tensors = {
          {.gradient = floats(250'000), .velocity = floats(250'000), .weight = floats(250'000)}}};
  EXPECT_EQ(time_of(update),
            moving(KernelKind::kUpdate, 1'000'000) + 2 * moving(KernelKind::kUpdate, 2'000'000));
}

TEST_F(SimulatedOperationsTest, ACalibratedOperation_TakesItsTimesInTurn) {
  calibrate({{"linear_backward_input 500x500, 3 operands",
              {{.flops = 2 * 500 * 500 * 500, .bytes = 1, .seconds = {1.234567e-3, 2e-3}}}}});
  const auto operations = make_operations(device());
  const auto stream = device().make_stream(StreamPriority::kNormal);
  const LinearBackwardInput op = product();
  for (const std::int64_t expected : {1'234'567, 2'000'000, 1'234'567}) {
    const TimePoint start = platform_->now();
    operations->enqueue(*stream, op);
    stream->synchronize();
    EXPECT_EQ(platform_->now() - start, Nanoseconds{expected});
  }
  const auto path = simulated::simulation_of(device()).schedule().take_path_account();
  EXPECT_EQ(path.at(simulated::TimeOf::kMeasuredOperation), path.total());
  EXPECT_EQ(path.total(), Nanoseconds{2 * 1'234'567 + 2'000'000});
}

TEST_F(SimulatedOperationsTest, CalibratedCopiesAndZeroing_GoByTheirBytes) {
  calibrate({{"copy", {{.bytes = 4000, .seconds = {3e-6}}, {.bytes = 16'000, .seconds = {6e-6}}}},
             {"zero", {{.bytes = 4000, .seconds = {1e-6}}}}});
  const auto stream = device().make_stream(StreamPriority::kNormal);
  const TimePoint start = platform_->now();
  enqueue_copy(*stream, floats(4000), Span<const float>(floats(4000)));
  enqueue_zero(*stream, floats(1000));
  stream->synchronize();
  EXPECT_EQ(platform_->now() - start, Nanoseconds{6000 + 1000});
}

TEST_F(SimulatedOperationsTest, WithoutAMeasuredTime_AreAUsageErrorThatNamesTheOperation) {
  calibrate({});
  const Error error = error_of([this] { static_cast<void>(time_of(product())); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "linear_backward_input 500x500, 3 operands")) << error.what();
}

TEST_F(SimulatedOperationsTest, OnAnotherDevice_NameBothDevices) {
  const Error error = error_of(
      [this] { static_cast<void>(time_of(Fill{.values = floats(10, 1), .constant = 1})); });
  EXPECT_TRUE(mentions(error, "simulated:0")) << error.what();
  EXPECT_TRUE(mentions(error, "simulated:1")) << error.what();
}

TEST_F(SimulatedOperationsTest, ListedKernels_TakeTheirTimesAsOftenAsTheyCount) {
  ASSERT_TRUE(takes_listed_kernels(device()));
  const ListedKernel copy{
      .kind = KernelKind::kCopy, .sizes = {std::int64_t{1} << 30, 2}, .count = 3};
  const auto stream = device().make_stream(StreamPriority::kNormal);
  const TimePoint start = platform_->now();
  enqueue_listed(*stream, copy);
  stream->synchronize();
  EXPECT_EQ(platform_->now() - start, 3 * kernel_time(machine_.gpu, copy));
}

TEST_F(SimulatedOperationsTest, CalibratedDevices_TakeNoListedKernels) {
  calibrate({});
  EXPECT_FALSE(takes_listed_kernels(device()));
}

TEST_F(SimulatedOperationsTest, DataParallel_GathersTheTypeThatAListSays) {
  const Replay model(workload("listed"));
  dp::DataParallel strategy(two_devices(), model, {.global_batch = 6}, {});
  EXPECT_EQ(strategy.gathered().size_bytes(), Bytes{6 * 4 * 2});
  strategy.step();  // with the loss of 16-bit outputs, and their gradients back
  const auto divided = model.make_activations(device(), 3, Precision::kFp32, OutputType::kFp32);
  EXPECT_EQ(divided->output().size_bytes(), Bytes{3 * 4 * 4});
}

}  // namespace
}  // namespace tandem::test
