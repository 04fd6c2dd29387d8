// SPDX-License-Identifier: Apache-2.0
//
// The CUDA operations on stand-ins for CUDA's runtime, cuBLASLt and the device code: parity of all
// that runs on the host or is shared with it, and what happens when calls fail.
#include "common/kernels/cuda/cuda_operations.h"
#include "common/runtime/cuda/cuda_platform.h"
#include "tests/kernels/cuda_elementwise_parity.h"
#include "tests/kernels/cuda_product_parity.h"
#include "tests/kernels/stand_in_cublaslt.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::testing {
namespace {

struct StandIn {
  static constexpr LinearShape kLarge{.batch = 16, .in = 50, .out = 10};

  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    stand_in::reset(2);
    stand_in::cublaslt() = {};
    return cuda::make_cuda_platform(options);
  }
  static std::unique_ptr<Operations> make(Device& device, Precision precision) {
    return cuda::make_cuda_operations(device, precision);
  }
};

// A library that does no epilogue: what it leaves is done by own kernels.
struct StandInWithoutEpilogues : StandIn {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    auto platform = StandIn::open(options, unusable);
    stand_in::cublaslt().refused_epilogues = {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS,
                                              CUBLASLT_EPILOGUE_RELU_BIAS,
                                              CUBLASLT_EPILOGUE_BGRADB};
    return platform;
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, CudaElementwiseParity, StandIn);
using Libraries = ::testing::Types<StandIn, StandInWithoutEpilogues>;
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, CudaProductParity, Libraries);

class CudaOperationsOnStandIn : public CudaProductParity<StandIn> {
 protected:
  void TearDown() override {
    operations_.reset();
    stream_.reset();
    platform_.reset();
    EXPECT_EQ(stand_in::living(), 0) << "handles or memory were left behind";
    EXPECT_EQ(stand_in::cublaslt().handles, 0);
  }

  static Error error_of(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error was thrown";
    return Error(ErrorKind::kFailure, "none");
  }

  static void expect_mentions(const Error& error, std::string_view text) {
    EXPECT_NE(std::string_view(error.what()).find(text), std::string_view::npos) << error.what();
  }

  cuda::CudaOperations& own() { return static_cast<cuda::CudaOperations&>(operations()); }
};

TEST_F(CudaOperationsOnStandIn, SteadyStep_SearchesAllocatesAndWaitsForNothing) {
  auto twins = layer<float>({8, 4, 2}, Distribution::kUniform);
  run_twice(twins);
  const int searches = stand_in::cublaslt().searches;
  const int allocations = stand_in::calls("cudaMalloc");
  const int waits = stand_in::calls("cudaStreamSynchronize");
  for (int step = 0; step < 3; ++step) {
    operations().enqueue(stream(), twins.forward(Side::kDevice, Activation::kRelu, true));
    operations().enqueue(stream(), twins.backward_input(Side::kDevice));
    operations().enqueue(stream(), twins.backward_weight(Side::kDevice, true));
  }
  EXPECT_EQ(stand_in::cublaslt().searches, searches);
  EXPECT_EQ(stand_in::calls("cudaMalloc"), allocations);
  EXPECT_EQ(stand_in::calls("cudaStreamSynchronize"), waits);
  EXPECT_EQ(own().prepared_products(), 3);
  stream().synchronize();
}

TEST_F(CudaOperationsOnStandIn, AnotherShapeAlignmentOrEpilogue_IsPreparedAnew) {
  auto twins = layer<float>({8, 4, 2}, Distribution::kUniform);
  run(twins.forward(Side::kDevice, Activation::kRelu, true));
  run(twins.forward(Side::kDevice, Activation::kRelu, false));
  EXPECT_EQ(own().prepared_products(), 2);
  offset_ = 1;
  auto unaligned = layer<float>({8, 4, 2}, Distribution::kUniform);
  run(unaligned.forward(Side::kDevice, Activation::kRelu, true));
  auto wider = layer<float>({8, 4, 3}, Distribution::kUniform);
  run(wider.forward(Side::kDevice, Activation::kRelu, true));
  EXPECT_EQ(own().prepared_products(), 4);
}

TEST_F(CudaOperationsOnStandIn, Precision_IsWhatTheLibraryIsAskedFor) {
  auto twins = layer<float>({2, 3, 4}, Distribution::kUniform);
  auto narrow = layer<BFloat16>({2, 3, 4}, Distribution::kUniform);
  run(twins.backward_input(Side::kDevice));
  EXPECT_EQ(stand_in::cublaslt().last_compute, CUBLAS_COMPUTE_32F);
  ASSERT_TRUE(take(Precision::kTf32));
  run(twins.backward_input(Side::kDevice));
  EXPECT_EQ(stand_in::cublaslt().last_compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  ASSERT_TRUE(take(Precision::kBf16));
  run(narrow.backward_input(Side::kDevice));
  EXPECT_EQ(stand_in::cublaslt().last_compute, CUBLAS_COMPUTE_32F);
}

TEST_F(CudaOperationsOnStandIn, AGpuWithoutThatPrecision_IsAUsageError) {
  stand_in::set_compute_capability(75);
  PlatformOptions options;
  const auto older = cuda::make_cuda_platform(options);
  for (const Precision precision : {Precision::kTf32, Precision::kBf16}) {
    const Error error =
        error_of([&] { static_cast<void>(StandIn::make(older->device(0), precision)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    expect_mentions(error, "compute capability 7.5");
    expect_mentions(error, "--precision=fp32");
  }
  EXPECT_NO_THROW(StandIn::make(older->device(0), Precision::kFp32));
}

TEST_F(CudaOperationsOnStandIn, AProductThatTheLibraryHasNot_IsAnErrorThatNamesIt) {
  auto twins = layer<float>({8, 4, 2}, Distribution::kUniform);
  stand_in::cublaslt().refuses_all = true;
  const Error error = error_of([&] { run(twins.forward(Side::kDevice, Activation::kRelu, true)); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  expect_mentions(error, "cuBLASLt has no algorithm for linear_forward of 8 x 4 -> 2 in fp32");
  expect_mentions(error, "GPU 0");
}

TEST_F(CudaOperationsOnStandIn, AFailedProduct_NamesProductCallAndGpu) {
  auto twins = layer<float>({8, 4, 2}, Distribution::kUniform);
  for (const char* const call : {"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"}) {
    stand_in::cublaslt().failing = call;
    const Error error = error_of([&] { run(twins.backward_input(Side::kDevice)); });
    EXPECT_EQ(error.kind(), ErrorKind::kFailure);
    expect_mentions(error, "linear_backward_input of 8 x 4 -> 2 in fp32: " + std::string(call) +
                               " on GPU 0: CUBLAS_STATUS_EXECUTION_FAILED");
  }
  EXPECT_NO_THROW(run(twins.backward_input(Side::kDevice)));  // nothing was lost or kept
}

TEST_F(CudaOperationsOnStandIn, AFailedLaunch_NamesOperationAndGpu) {
  auto values = zeros(4);
  stand_in::fail_next("for_each", cudaErrorInvalidValue);
  const Error error =
      error_of([&] { run(AddScalar{.values = values.on(Side::kDevice), .constant = 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  expect_mentions(error, "add_scalar on GPU 0: cudaErrorInvalidValue");
}

TEST_F(CudaOperationsOnStandIn, OnALostGpu_SurfaceAtTheNextWait) {
  auto twins = layer<float>({8, 4, 2}, Distribution::kUniform);
  run_twice(twins);
  stand_in::lose(0, cudaErrorIllegalAddress);
  EXPECT_NO_THROW(operations().enqueue(stream(), twins.backward_input(Side::kDevice)));
  EXPECT_NO_THROW(operations().enqueue(stream(), twins.backward_input(Side::kDevice)));
  expect_mentions(error_of([&] { stream().synchronize(); }), "cudaErrorIllegalAddress");
}

TEST_F(CudaOperationsOnStandIn, AFailedCreation_LeavesNothingBehind) {
  const Bytes before = device().memory().used;
  stand_in::cublaslt().failing = "cublasLtCreate";
  stand_in::cublaslt().failure = CUBLAS_STATUS_ALLOC_FAILED;
  const Error error =
      error_of([&] { static_cast<void>(StandIn::make(device(), Precision::kFp32)); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  expect_mentions(error, "cublasLtCreate on GPU 0");
  EXPECT_EQ(device().memory().used, before);
}

TEST_F(CudaOperationsOnStandIn, TheirMemory_IsTheDevicesToCount) {
  const Bytes before = device().memory().used;
  const auto more = StandIn::make(device(), Precision::kFp32);
  EXPECT_EQ(device().memory().used.value - before.value, mib(32).value + kib(8).value);
}

TEST(CudaLibraryVersion, NamesTheLibrary) {
  EXPECT_EQ(cuda::cuda_library_version(), "cuBLASLt 13.1.0");
}

}  // namespace
}  // namespace tandem::testing
