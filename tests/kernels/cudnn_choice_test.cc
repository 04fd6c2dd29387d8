// SPDX-License-Identifier: Apache-2.0
//
// What the real cuDNN says to our graphs, where it is installed: from version 9.8 on it can be told
// of a GPU that is not there, and then suggests engines and makes plans for it. That shows that the
// graphs are sound and that each convolution can be had within its precision; not that it is right,
// nor how fast it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "common/kernels/cuda/convolutions.h"
#include "common/kernels/cuda/cudnn_session.h"

namespace tandem::cuda {
namespace {

constexpr Bytes kRoom = mib(32 * 1024);

// Headers of before 9.8 lack these.
constexpr auto kDeviceDescriptor = static_cast<cudnnBackendDescriptorType_t>(38);
constexpr auto kDeviceInWords = static_cast<cudnnBackendAttributeName_t>(2702);
constexpr auto kDeviceOfHeuristics = static_cast<cudnnBackendAttributeName_t>(204);
constexpr auto kDeviceOfPlan = static_cast<cudnnBackendAttributeName_t>(407);
constexpr std::size_t kOldest = 90800;

// As CUDA tells of an H100.
constexpr std::string_view kH100 = R"({
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "regsPerBlock": 65536, "multiProcessorCount": 132, "smClockRateKHz": 1980000,
  "memClockRateKHz": 2619000, "l2CacheSize": 52428800, "warpSize": 32,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "pciDeviceId": 0,
  "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0,
  "supportCoopLaunch": 1, "deviceVer": 900, "driverVer": 13000, "totalGlobalMem": 85000000000,
  "cudaDeviceId": 0, "deviceName": "NVIDIA H100 80GB HBM3"})";

// The library, and the GPU that it is told of in the place of a handle.
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

class CudnnChoiceTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const LoadedCudnn loaded = load_cudnn_from("libcudnn.so.9", real);
    if (loaded.api == nullptr) GTEST_SKIP() << loaded.trouble;
    if (real.get_version() < kOldest) GTEST_SKIP() << "cuDNN " << loaded.version;
    api_ = real;
    api_.set_attribute = &set_without_handle;
    gpu_ = std::make_unique<CudnnDescriptor>(real, kDeviceDescriptor);
    check_cudnn(real,
                real.set_attribute(gpu_->raw(), kDeviceInWords, CUDNN_TYPE_CHAR,
                                   static_cast<std::int64_t>(kH100.size()), kH100.data()),
                "describing a GPU");
    gpu_->finalize();
    described_gpu = gpu_->raw();
  }

  PlanChoice choose(const ConvolutionKey& key, Precision precision) {
    const ImageOptions how{.fp32_factors = precision == Precision::kFp32,
                           .channels_last = GetParam()};
    return choose_plan(api_, nullptr, convolution_graph(api_, nullptr, key, how),
                       {refused_notes(key.type, how), kRoom});
  }

  CudnnApi api_;
  std::unique_ptr<CudnnDescriptor> gpu_;
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

// tf32 is not told apart from fp32 by any type: by notes of the engines alone.
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

}  // namespace
}  // namespace tandem::cuda
