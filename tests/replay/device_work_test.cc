// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/device_work.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/round_machine.h"

namespace tandem::replay {
namespace {

const GpuDescription kGpu = test::round_machine().gpu;  // 100 bytes, 1000 FLOP in a nanosecond

constexpr std::string_view kAddition =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEE";
constexpr std::string_view kHalfFill =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIN3c104HalfEEESt5arrayIPcLm"
    "1EEEE";
constexpr std::string_view kUpdate =
    "_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi2EEE";

std::int64_t time_of_launch(const KernelLaunch& launch) {
  return time_of(launch, kGpu).time.count();
}

TEST(DeviceWork, ElementwiseKernels_MoveTheirOperands) {
  EXPECT_EQ(time_of_launch({.kernel = kAddition, .elements = 1000}), 120);
  EXPECT_EQ(time_of_launch({.kernel = kHalfFill, .elements = 1000}), 20);
}

TEST(DeviceWork, KernelsOverLists_MoveWhatTheirBlocksMay) {
  EXPECT_EQ(time_of_launch({.kernel = kUpdate, .threads = 512, .blocks = 10}),
            (10 * 65536 * 3 * 4 + 50) / 100);
}

TEST(DeviceWork, OtherKernels_AreGuessedByTheirThreads) {
  const DeviceTime time =
      time_of(KernelLaunch{.kernel = "reduce", .threads = 32, .blocks = 10}, kGpu);
  EXPECT_EQ(time.time.count(), 102);  // 10,240 bytes
  EXPECT_FALSE(time.is_told);
}

TEST(DeviceWork, Products_RunAtThePeakOfTheirType) {
  const MatrixProduct product{.m = 1000, .n = 2000, .k = 3000, .batch = 2, .type = "f32"};
  EXPECT_EQ(time_of(product, kGpu).time.count(), std::int64_t{2 * 2 * 1000 * 2000} * 3000 / 1000);
  GpuDescription gpu = kGpu;
  gpu.fp16 = SourcedFigure<double>{10e12, "round"};
  EXPECT_EQ(time_of(MatrixProduct{1000, 2000, 3000, 1, "f16"}, gpu).time.count(), 1'200'000);
}

TEST(DeviceWork, Products_OfATypeWithoutAPeak_AreRefused) {
  const Error error = test::error_of([] { (void)time_of(MatrixProduct{1, 1, 1, 1, "f64"}, kGpu); });
  EXPECT_TRUE(test::mentions(error, "has no peak for products of f64")) << error.what();
}

LibraryCall one(LibraryOperation operation) { return {{std::move(operation)}}; }

TEST(DeviceWork, Convolutions_AreTheProductsOfTheirWindows) {
  LibraryOperation convolution{.name = "convolution-forward",
                               .type = "f32",
                               .x = {2, 4, 8, 8},
                               .w = {8, 4, 3, 3},
                               .y = {2, 8, 8, 8}};
  for (const char* const pass : {"forward", "backward-data", "backward-filter"}) {
    convolution.name = std::string("convolution-") + pass;
    EXPECT_EQ(time_of(one(convolution), "call", kGpu).time.count(), 74);  // 2 * 128 * 8 * 36 FLOP
  }
}

TEST(DeviceWork, AConvolutionWithoutAResult_HasNoTime) {
  const LibraryOperation empty{.name = "convolution-forward",
                               .type = "f32",
                               .x = {2, 4, 8, 8},
                               .w = {8, 4, 3, 3},
                               .y = {2, 0, 8, 8}};
  const Error error = test::error_of([&] { (void)time_of(one(empty), "call", kGpu); });
  EXPECT_TRUE(test::mentions(error, "tells no shapes")) << error.what();
}

TEST(DeviceWork, AConvolutionBeyondAllGpus_IsRefused) {
  const std::int64_t large = std::int64_t{1} << 39;
  const LibraryOperation operation{.name = "convolution-forward",
                                   .type = "f32",
                                   .x = {1, 1, large},
                                   .w = {large, 1},
                                   .y = {1, 1, large}};
  const Error error = test::error_of([&] { (void)time_of(one(operation), "call", kGpu); });
  EXPECT_TRUE(test::mentions(error, "which no GPU takes")) << error.what();
}

TEST(DeviceWork, Normalisations_MoveTheirImages) {
  const LibraryOperation forward{.name = "normalisation-forward", .type = "f32", .x = {2, 4, 8, 8}};
  EXPECT_EQ(time_of(one(forward), "call", kGpu).time.count(), 41);  // 2 * 4 * 512 bytes
}

TEST(DeviceWork, CallsWithoutShapes_AreRefused) {
  const Error error = test::error_of([] { (void)time_of(LibraryCall{}, "cudnnRNNForward", kGpu); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "cudnnRNNForward() tells no shapes")) << error.what();
}

}  // namespace
}  // namespace tandem::replay
