// SPDX-License-Identifier: Apache-2.0
//
// The CUDA operations on stand-ins for CUDA's runtime, cuBLASLt and the device code: parity of all
// that runs on the host or is shared with it, and what happens when calls fail.
#include "common/kernels/cuda/attention.h"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "tests/kernels/cuda_elementwise_parity.h"
#include "tests/kernels/cuda_product_parity.h"
#include "tests/kernels/cuda_transformer_parity.h"
#include "tests/kernels/stand_in_cublaslt.h"
#include "tests/runtime/stand_in_cudart.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

struct StandIn {
  static constexpr LinearShape kLarge{.batch = 16, .in = 50, .out = 10};

  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    stand_in::reset(2);
    stand_in::cublaslt() = {};
    return cuda::make_cuda_platform(options);
  }
  static std::unique_ptr<Operations> make(Device& device, Precision precision,
                                          const ImageOptions& images = {}) {
    return cuda::make_cuda_operations(device, precision, images);
  }
};

// A library that does no epilogue: what it leaves is done by own kernels.
struct StandInWithoutEpilogues : StandIn {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    auto platform = StandIn::open(options, unusable);
    stand_in::cublaslt().refused_epilogues = {
        CUBLASLT_EPILOGUE_RELU,     CUBLASLT_EPILOGUE_BIAS,          CUBLASLT_EPILOGUE_RELU_BIAS,
        CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_BGRADB,
        CUBLASLT_EPILOGUE_DGELU};
    return platform;
  }
};

// One that suggests algorithms with epilogues that it then refuses.
struct StandInWithUnsoundEpilogues : StandIn {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    auto platform = StandInWithoutEpilogues::open(options, unusable);
    std::swap(stand_in::cublaslt().refused_epilogues, stand_in::cublaslt().unsound_epilogues);
    return platform;
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, CudaElementwiseParity, StandIn);
using Libraries = ::testing::Types<StandIn, StandInWithoutEpilogues, StandInWithUnsoundEpilogues>;
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, CudaProductParity, Libraries);
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, CudaTransformerParity, StandIn);

class CudaOperationsOnStandIn : public CudaProductParity<StandIn> {
 protected:
  void TearDown() override {
    operations_.reset();
    stream_.reset();
    platform_.reset();
    EXPECT_EQ(stand_in::living(), 0) << "handles or memory were left behind";
    EXPECT_EQ(stand_in::cublaslt().handles, 0);
  }

  static void expect_mentions(const Error& error, std::string_view text) {
    EXPECT_NE(std::string_view(error.what()).find(text), std::string_view::npos) << error.what();
  }
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
  stream().synchronize();
}

TEST_F(CudaOperationsOnStandIn, AnotherShapeAlignmentOrEpilogue_IsPreparedAnew) {
  auto twins = layer<float>({8, 4, 2}, Distribution::kUniform);
  run(twins.forward(Side::kDevice, Activation::kRelu, true));
  run(twins.forward(Side::kDevice, Activation::kRelu, false));
  EXPECT_EQ(stand_in::cublaslt().searches, 2);
  offset_ = 1;
  auto unaligned = layer<float>({8, 4, 2}, Distribution::kUniform);
  run(unaligned.forward(Side::kDevice, Activation::kRelu, true));
  auto wider = layer<float>({8, 4, 3}, Distribution::kUniform);
  run(wider.forward(Side::kDevice, Activation::kRelu, true));
  EXPECT_EQ(stand_in::cublaslt().searches, 4);
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
      error_of([&] { run(AddScalar{.tensors = {values.on(Side::kDevice)}, .constant = 1}); });
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

TEST_F(CudaOperationsOnStandIn, Gelu_IsTheLibrarysWhereColumnsAreWholePacks_ElseOwn) {
  auto whole = layer<float>({8, 4, 16}, Distribution::kUniform);
  run(whole.forward(Side::kDevice, Activation::kGelu, true));
  EXPECT_EQ(stand_in::cublaslt().last_epilogue, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  EXPECT_EQ(stand_in::calls("for_each"), 0);
  auto others = layer<float>({8, 4, 10}, Distribution::kUniform);
  run(others.forward(Side::kDevice, Activation::kGelu, true));
  EXPECT_EQ(stand_in::cublaslt().last_epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(stand_in::calls("for_each"), 1);
  auto into_whole = layer<float>({8, 16, 4}, Distribution::kUniform);
  run(into_whole.backward_through_gelu(Side::kDevice));
  EXPECT_EQ(stand_in::cublaslt().last_epilogue, CUBLASLT_EPILOGUE_DGELU);
  EXPECT_EQ(stand_in::calls("for_each"), 1);
  run(others.backward_through_gelu(Side::kDevice));
  EXPECT_EQ(stand_in::cublaslt().last_epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(stand_in::calls("for_each"), 2);
  offset_ = 2;  // 8 bytes: too little for what GELU is given
  auto unaligned = layer<float>({8, 4, 16}, Distribution::kUniform);
  run(unaligned.forward(Side::kDevice, Activation::kGelu, true));
  EXPECT_EQ(stand_in::cublaslt().last_epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(stand_in::calls("for_each"), 3);
}

// As torch's optimizers, which take lists of tensors.
TEST_F(CudaOperationsOnStandIn, AnUpdate_IsALaunchPerSomeNinetyTensors) {
  auto values = this->random(3 * 200);
  const auto launches_of = [&](int tensors) {
    SgdUpdate update{.learning_rate = 0.01F, .momentum = 0.9F};
    for (int i = 0; i < tensors; ++i) {
      const auto of = [&](int which) { return values.on(Side::kDevice).subspan(3 * i + which, 1); };
      update.tensors.push_back({of(0), of(1), of(2)});
    }
    const int before = stand_in::calls("for_each");
    run(update);
    return stand_in::calls("for_each") - before;
  };
  EXPECT_EQ(launches_of(90), 1);
  EXPECT_EQ(launches_of(200), 2);
}

// The 97 tensors of GPT-2 that products read.
TEST_F(CudaOperationsOnStandIn, ManyCasts_AreOneLaunch) {
  auto wide = this->random(97);
  auto narrow = this->zeros<BFloat16>(97);
  Convert casts;
  for (int i = 0; i < 97; ++i) {
    casts.tensors.push_back(
        {wide.on(Side::kDevice).subspan(i, 1), narrow.on(Side::kDevice).subspan(i, 1)});
  }
  run(casts);
  EXPECT_EQ(stand_in::calls("for_each"), 1);
}

class CudaAttentionOnStandIn : public CudaTransformerParity<StandIn> {
 protected:
  void expect_same_bits(bool of_samples, std::int64_t batches) {
    const AttentionShape shape =
        of_samples ? AttentionShape{5, 9, 3, 4} : AttentionShape{3, 9, 5, 4};
    auto twins = attention<float>(shape);
    run(twins.forward(Side::kDevice));
    run(twins.backward(Side::kDevice));
    const cuda::ScoreTiles tiles{.of_samples = of_samples,
                                 .batch = 2,
                                 .batches = batches,
                                 .stride = 16,
                                 .band = 4,
                                 .count = batches * 2 * 9 * 16};
    const auto scratch = device().allocate(scratch_size(tiles, DType::kFloat32));
    const auto workspace = device().allocate(mib(4));
    cuda::MatrixProducts products(cuda::cuda_device(device()).gpu(), Precision::kFp32,
                                  workspace->bytes());
    auto again = attention<float>(shape);
    const auto enqueue = [&](const auto& op) {
      run(Fill{.values = scratch->as<float>(), .constant = std::nanf("")});
      cuda::cuda_stream(stream()).enqueue("attention", [&](cudaStream_t on) {
        return cuda::enqueue_attention({on, products, tiles, scratch->bytes()}, op);
      });
      stream().synchronize();
    };
    AttentionForward forward = again.forward(Side::kDevice);
    AttentionBackward backward = again.backward(Side::kDevice);
    forward.qkv = backward.qkv = twins.qkv.on(Side::kDevice);
    backward.dy = twins.dy.on(Side::kDevice);
    enqueue(forward);
    enqueue(backward);
    EXPECT_EQ(again.y.of_device(), twins.y.of_device());
    EXPECT_EQ(again.log_sums.of_device(), twins.log_sums.of_device());
    EXPECT_EQ(again.dqkv.of_device(), twins.dqkv.of_device());
  }
};

// Batches of either kind, of which the last is smaller, several and one in memory at a time; bands
// of which the last is narrower. Scratch memory holds NaN where nothing was computed.
TEST_F(CudaAttentionOnStandIn, InBatchesAndBands_HasTheSameBitsAsInOne) {
  for (const bool of_samples : {false, true}) {
    for (const std::int64_t batches : {1, 2}) expect_same_bits(of_samples, batches);
  }
}

// As few products as strides allow, over the samples of a head where those are more.
TEST_F(CudaAttentionOnStandIn, AreBatchedOverSamplesOrHeads_WhicheverAreMore) {
  for (const AttentionShape& shape : {AttentionShape{7, 9, 2, 4}, AttentionShape{2, 9, 7, 4}}) {
    auto twins = attention<float>(shape);
    const int products = stand_in::cublaslt().products;
    const int kernels = stand_in::calls("for_each_row");
    run(twins.forward(Side::kDevice));
    EXPECT_EQ(stand_in::cublaslt().products - products, 2 * 2);
    EXPECT_EQ(stand_in::calls("for_each_row") - kernels, 1);
    run(twins.backward(Side::kDevice));
    EXPECT_EQ(stand_in::cublaslt().products - products, 7 * 2);
  }
}

TEST_F(CudaAttentionOnStandIn, SteadyStep_SearchesAllocatesAndWaitsForNothing) {
  auto twins = attention<BFloat16>({2, 9, 5, 4});
  ASSERT_TRUE(take(Precision::kBf16));
  run(twins.forward(Side::kDevice));
  run(twins.backward(Side::kDevice));
  const int searches = stand_in::cublaslt().searches;
  const int allocations = stand_in::calls("cudaMalloc");
  const int waits = stand_in::calls("cudaStreamSynchronize");
  operations().enqueue(stream(), twins.forward(Side::kDevice));
  operations().enqueue(stream(), twins.backward(Side::kDevice));
  EXPECT_EQ(stand_in::cublaslt().searches, searches);
  EXPECT_EQ(stand_in::calls("cudaMalloc"), allocations);
  EXPECT_EQ(stand_in::calls("cudaStreamSynchronize"), waits);
  stream().synchronize();
}

TEST(CudaLibraryVersion, NamesTheLibrary) {
  const std::string version = cuda::cuda_library_version();
  EXPECT_TRUE(version.starts_with("CUDA 13.")) << version;
  EXPECT_NE(version.find(", cuBLASLt 13.1.0"), std::string::npos) << version;
}

}  // namespace
}  // namespace tandem::test
