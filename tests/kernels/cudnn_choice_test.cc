// SPDX-License-Identifier: Apache-2.0
//
// What the real cuDNN says to our graphs, where it is installed: from version 9.8 on it can be
// asked of a GPU that is not there, and then suggests engines and makes plans for it. That shows
// that the graphs are sound and that each convolution and attention can be had within its
// precision; not that it is right, nor how fast it is.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "common/kernels/cuda/convolutions.h"
#include "common/kernels/cuda/cudnn_attention.h"

namespace tandem::cuda {
namespace {

constexpr Bytes kRoom = mib(32 * 1024);

// Headers of before 9.8 lack these.
constexpr auto kDeviceDescriptor = static_cast<cudnnBackendDescriptorType_t>(38);
constexpr auto kDeviceInWords = static_cast<cudnnBackendAttributeName_t>(2702);
constexpr auto kDeviceOfHeuristics = static_cast<cudnnBackendAttributeName_t>(204);
constexpr auto kDeviceOfPlan = static_cast<cudnnBackendAttributeName_t>(407);
constexpr std::size_t kOldest = 90800;

struct GpuWords {
  const char* name;
  int capability, multiprocessors, clock, memory_clock, l2, shared;
};
constexpr GpuWords kH100{"NVIDIA H100 80GB HBM3", 900, 132, 1980000, 2619000, 52428800, 232448};
constexpr GpuWords kA100{"NVIDIA A100-SXM4-80GB", 800, 108, 1410000, 1593000, 41943040, 166912};

// As CUDA reports it.
std::string words_of(const GpuWords& gpu) {
  return fmt::format(R"({{
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "multiProcessorCount": {}, "smClockRateKHz": {},
  "memClockRateKHz": {}, "l2CacheSize": {}, "warpSize": 32,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": {},
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "pciDeviceId": 0,
  "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0,
  "supportCoopLaunch": 1, "deviceVer": {}, "driverVer": 13000, "totalGlobalMem": 85000000000,
  "cudaDeviceId": 0, "deviceName": "{}"}})",
                     gpu.multiprocessors, gpu.clock, gpu.memory_clock, gpu.l2, gpu.shared,
                     gpu.capability, gpu.name);
}

// The library, and the GPU that is described to it in the place of a handle.
CudnnApi real;
cudnnBackendDescriptor_t described_gpu = nullptr;

cudnnStatus_t set_without_handle(cudnnBackendDescriptor_t descriptor,
                                 cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                 std::int64_t count, const void* values) {
  const auto tell_gpu = [&](cudnnBackendAttributeName_t as) {
    return real.set_attribute(descriptor, as, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &described_gpu);
  };
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE) return tell_gpu(kDeviceOfPlan);
  if (name == CUDNN_ATTR_ENGINEHEUR_MODE) {
    const cudnnStatus_t status = tell_gpu(kDeviceOfHeuristics);
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return real.set_attribute(descriptor, name, type, count, values);
}

class DescribedGpuTest : public ::testing::Test {
 protected:
  void SetUp() override { describe(kH100); }

  void describe(const GpuWords& gpu) {
    // The engines that cuDNN compiles want a driver before there is a plan: this one stands in.
    ASSERT_NE(dlopen(TANDEM_STAND_IN_DRIVER, RTLD_NOW), nullptr) << dlerror();
    loaded_ = load_cudnn_from("libcudnn.so.9", real);
    if (loaded_.api == nullptr) GTEST_SKIP() << loaded_.trouble;
    if (real.get_version() < kOldest) GTEST_SKIP() << "cuDNN " << loaded_.version;
    api_ = real;
    api_.set_attribute = &set_without_handle;
    loaded_.api = &api_;
    const std::string words = words_of(gpu);
    gpu_ = std::make_unique<CudnnDescriptor>(real, kDeviceDescriptor);
    check_cudnn(real,
                real.set_attribute(gpu_->raw(), kDeviceInWords, CUDNN_TYPE_CHAR,
                                   static_cast<std::int64_t>(words.size()), words.data()),
                "describing a GPU");
    gpu_->finalize();
    described_gpu = gpu_->raw();
  }

  LoadedCudnn loaded_;
  CudnnApi api_;
  std::unique_ptr<CudnnDescriptor> gpu_;
};

class CudnnChoiceTest : public DescribedGpuTest, public ::testing::WithParamInterface<bool> {
 protected:
  PlanChoice choose(const ConvolutionKey& key, Precision precision) {
    const ImageOptions how{.fp32_factors = precision == Precision::kFp32,
                           .channels_last = GetParam()};
    return choose_plan(api_, nullptr, convolution_graph(api_, key, how),
                       {refused_notes(key.type, how), kRoom});
  }
};

INSTANTIATE_TEST_SUITE_P(Channels, CudnnChoiceTest, ::testing::Bool(), [](const auto& last) {
  return std::string(last.param ? "Last" : "First");
});

ConvolutionKey key_of(ConvolutionPass pass, const ConvolutionShape& shape, DType type) {
  return {.pass = pass, .shape = shape, .type = type, .result = type};
}

constexpr std::array kPasses{ConvolutionPass::kForward, ConvolutionPass::kBackwardInput,
                             ConvolutionPass::kBackwardWeight};

TEST_P(CudnnChoiceTest, EveryPassOfAResNets_CanBeHad_InEveryPrecision) {
  for (const ConvolutionShape& shape : {ConvolutionShape{32, 224, 224, 3, 64, 7, 2, 3},
                                        {32, 56, 56, 64, 64, 1, 1, 0},
                                        {32, 56, 56, 64, 64, 3, 1, 1},
                                        {32, 56, 56, 128, 128, 3, 2, 1},
                                        {32, 56, 56, 256, 512, 1, 2, 0},
                                        {32, 7, 7, 512, 2048, 1, 1, 0},
                                        {2, 16, 16, 3, 8, 7, 2, 3},
                                        {2, 4, 4, 8, 4, 1, 1, 0},
                                        {3, 5, 6, 3, 5, 3, 2, 1}}) {
    for (const ConvolutionPass pass : kPasses) {
      for (const Precision precision : kPrecisions) {
        const ConvolutionKey key = key_of(pass, shape, storage_of(precision));
        const PlanChoice choice = choose(key, precision);
        EXPECT_TRUE(choice.plan.has_value())
            << to_string(key) << ", " << name_of(precision) << ": " << choice.trouble;
      }
    }
  }
}

TEST_P(CudnnChoiceTest, OperandsThatLieAnyhow_CanBeHad) {
  for (const ConvolutionPass pass : kPasses) {
    for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
      ConvolutionKey key = key_of(pass, {4, 14, 14, 64, 64, 3, 1, 1}, type);
      key.image_alignment = key.filter_alignment = key.result_alignment = size_of(type);
      const PlanChoice choice = choose(key, Precision::kFp32);
      EXPECT_TRUE(choice.plan.has_value()) << to_string(key) << ": " << choice.trouble;
    }
  }
}

// tf32 does not differ from fp32 by any type: by notes of the engines alone.
TEST_P(CudnnChoiceTest, Fp32_IsNotTf32) {
  const auto has_tensor_cores = [&](Precision precision) {
    const ConvolutionKey key =
        key_of(ConvolutionPass::kForward, {32, 56, 56, 64, 64, 3, 1, 1}, DType::kFloat32);
    const PlanChoice choice = choose(key, precision);
    return choice.plan && choice.plan->tensor_cores;
  };
  EXPECT_FALSE(has_tensor_cores(Precision::kFp32));
  EXPECT_TRUE(has_tensor_cores(Precision::kTf32));
}

// Backward keeps the gradients of all scores in bf16: of up to 85 samples of GPT-2's smallest they
// fit in the workspace that it may have.
TEST_F(DescribedGpuTest, AttentionOfBf16_IsFused_InSlicesWhereTheBatchIsLarge) {
  const auto expect_fused = [&](const AttentionShape& shape, std::int64_t slice) {
    SCOPED_TRACE(fmt::format("{} samples of {} positions", shape.batch, shape.positions));
    const AttentionChoice choice = choose_attention(loaded_, nullptr, shape);
    const bool is_wrong = real.get_version() <= 91500 && shape.positions % 128 != 0;
    ASSERT_EQ(choice.trouble.empty(), !is_wrong) << choice.trouble;
    if (is_wrong) return;
    EXPECT_EQ(choice.slice, slice);
    EXPECT_EQ(choice.rest.has_value(), shape.batch % slice != 0);
    EXPECT_TRUE(choice.plans->forward.tensor_cores);
    EXPECT_TRUE(choice.plans->backward.tensor_cores);
    const std::int64_t scores = slice * shape.heads * shape.positions * shape.positions;
    EXPECT_GE(choice.workspace, Bytes{2 * scores});
    EXPECT_LE(choice.workspace, gib(2));
  };
  for (const GpuWords& gpu : {kH100, kA100}) {
    SCOPED_TRACE(gpu.name);
    describe(gpu);
    for (const AttentionShape& shape :
         {AttentionShape{8, 1024, 12, 64}, {1, 64, 2, 16}, {2, 17, 3, 8}}) {
      expect_fused(shape, shape.batch);
    }
  }
  expect_fused({97, 1024, 12, 64}, 49);
}

TEST_F(DescribedGpuTest, AttentionThatCannotBeHad_IsRefusedInCudnnsWords) {
  describe(kA100);
  const auto trouble = [&](const AttentionShape& shape) {
    return choose_attention(loaded_, nullptr, shape).trouble;
  };
  const std::string cudnn = "cuDNN " + loaded_.version;
  EXPECT_EQ(trouble({2, 128, 3, 4}), cudnn + " has no fused forward for it: it suggests no engine");
  EXPECT_EQ(trouble({1, 32768, 12, 64}),
            cudnn +
                " has no fused backward for it: an engine wants 24.0 GiB of workspace, and "
                "2.0 GiB are allowed");
}

}  // namespace
}  // namespace tandem::cuda
