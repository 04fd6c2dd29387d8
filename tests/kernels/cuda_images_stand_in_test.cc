// SPDX-License-Identifier: Apache-2.0
//
// The operations on images on stand-ins for CUDA's runtime, cuDNN and the device code: parity,
// which engines are taken, and what happens where there is none or a call fails.
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/cudnn_graph.h"
#include "common/kernels/cuda/library_operations.h"
#include "tests/kernels/cuda_image_parity.h"
#include "tests/kernels/cuda_stand_in.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

struct StandInImages : CudaStandIn {
  static std::string lack_of_images() { return cuda::lack_of_convolutions(); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, CudaImageParity, StandInImages);

constexpr ImageOptions kFp32{.fp32_factors = true};
constexpr ConvolutionShape kConvolution{2, 8, 8, 8, 16, 3, 1, 1};

class CudaImagesOnStandIn : public CudaImageParity<StandInImages> {
 protected:
  void TearDown() override {
    operations_.reset();
    stream_.reset();
    platform_.reset();
    EXPECT_EQ(stand_in::living(), 0) << "handles or memory were left behind";
    EXPECT_EQ(stand_in::cudnn().handles, 0);
    EXPECT_EQ(stand_in::cudnn().descriptors, 0);
  }

  [[nodiscard]] static bool has_tensor_cores() {
    return std::ranges::count(stand_in::cudnn().last_engine.notes,
                              CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != 0;
  }

  std::string by() { return operations().implementations().at("convolutions"); }

  // Nothing else is kept.
  [[nodiscard]] static int plans() { return stand_in::cudnn().descriptors; }

  template <class Twins>
  void enqueue_step(Twins& twins) {
    operations().enqueue(stream(), twins.forward(Side::kDevice));
    operations().enqueue(stream(), twins.backward_input(Side::kDevice));
    operations().enqueue(stream(), twins.backward_weight(Side::kDevice));
  }
};

TEST_F(CudaImagesOnStandIn, Engines_AreTheFirstThatKeepToThePrecision) {
  auto twins = convolution<float>(kConvolution);
  run(twins.forward(Side::kDevice));  // as torch: tf32
  EXPECT_TRUE(has_tensor_cores());
  EXPECT_EQ(by(), "cuDNN 9.19.0, channels first, tf32");
  ASSERT_TRUE(take(Precision::kFp32, kFp32));
  run(twins.forward(Side::kDevice));
  EXPECT_FALSE(has_tensor_cores());
  EXPECT_EQ(stand_in::cudnn().last_engine.workspace, 1000);  // the fourth: without any note
  EXPECT_EQ(by(), "cuDNN 9.19.0, channels first, fp32");
  ASSERT_TRUE(take(Precision::kTf32));
  run(twins.forward(Side::kDevice));
  EXPECT_TRUE(has_tensor_cores());
  auto narrow = convolution<BFloat16>(kConvolution);
  ASSERT_TRUE(take(Precision::kBf16));
  run(narrow.forward(Side::kDevice));
  EXPECT_TRUE(has_tensor_cores());
  EXPECT_EQ(by(), "cuDNN 9.19.0, channels first, bf16");
}

// A Volta has no tf32, whatever is allowed.
TEST_F(CudaImagesOnStandIn, WithoutAnEngineOfTf32_AreFp32AndSayIt) {
  stand_in::cudnn().engines = {{}};
  auto twins = convolution<float>(kConvolution);
  run(twins.forward(Side::kDevice));
  EXPECT_EQ(by(), "cuDNN 9.19.0, channels first, fp32");
}

TEST_F(CudaImagesOnStandIn, AnEngineThatRefuses_IsPassedOver_ToTheLastToFallBackOn) {
  for (stand_in::CudnnEngine& engine : stand_in::cudnn().engines) engine.refuses = true;
  stand_in::cudnn().engines.push_back({.notes = {}, .workspace = mib(4096).value});
  stand_in::cudnn().fallbacks = {{.notes = {}, .workspace = 8, .refuses = true}, {{}, 24}};
  auto twins = convolution<float>(kConvolution);
  run_on_both([&](Side s) { return twins.forward(s); });
  EXPECT_EQ(stand_in::cudnn().last_engine.workspace, 24);
  expect_share(twins.y, 2e-6, "y");
}

// The best suggestions for images with channels first want more than half a gigabyte. Whether a GPU
// has as much left does not choose, so that ranks choose alike.
TEST_F(CudaImagesOnStandIn, AnEngine_MayHaveALargeWorkspace_WhichIsOutOfMemoryWhereItDoesNotFit) {
  auto twins = convolution<float>(kConvolution);
  stand_in::cudnn().engines = {{{}, gib(2).value + 1}, {{}, 24}};
  run_on_both([&](Side s) { return twins.forward(s); });
  EXPECT_EQ(stand_in::cudnn().last_engine.workspace, 24);
  ASSERT_TRUE(take(Precision::kTf32));  // chosen anew
  stand_in::cudnn().engines = {{{}, gib(2).value}, {{}, 24}};
  const Error error = error_of([&] { run(twins.forward(Side::kDevice)); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory) << error.what();
}

// A second workspace beside each that was too small would fill a GPU.
TEST_F(CudaImagesOnStandIn, AWorkspaceThatGrows_TakesThePlaceOfTheSmaller) {
  stand_in::cudnn().engines = {{{}, mib(1).value}};
  auto twins = convolution<float>(kConvolution);
  run(twins.forward(Side::kDevice));
  const std::int64_t before = device().memory().used.value;
  stand_in::cudnn().engines = {{{}, mib(2).value}};
  auto wider = convolution<float>({2, 8, 8, 8, 24, 3, 1, 1});
  const std::int64_t operands = device().memory().used.value - before;
  run(wider.forward(Side::kDevice));
  EXPECT_EQ(device().memory().used.value, before + operands + mib(1).value);
}

TEST_F(CudaImagesOnStandIn, WhereNoEngineDoes_TheErrorNamesConvolutionAndGpu) {
  ASSERT_TRUE(take(Precision::kFp32, kFp32));
  stand_in::cudnn().engines = {{{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 0}};
  stand_in::cudnn().fallbacks = {{.notes = {}, .workspace = 0, .refuses = true}};
  auto twins = convolution<float>(kConvolution);
  const Error error = error_of([&] { run(twins.forward(Side::kDevice)); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  for (const char* const said :
       {"cuDNN has no engine for convolution_forward of 2 x 8 x 8 x 8 -> 16, kernel 3, stride 1, "
        "in fp32",
        "GPU 0", "this engine does not do that"}) {
    EXPECT_TRUE(mentions(error, said)) << error.what();
  }
}

TEST_F(CudaImagesOnStandIn, Forward_PreparesBackward_WhichThenAllocatesNothing) {
  auto twins = convolution<BFloat16>(kConvolution);
  auto norm = batch_norm<BFloat16>({128, 16, 64});
  ASSERT_TRUE(take(Precision::kBf16));
  run(twins.forward(Side::kDevice));
  run(norm.forward(Side::kDevice, {}));
  EXPECT_EQ(plans(), 3);
  const int searches = stand_in::cudnn().searches;
  const int allocations = stand_in::calls("cudaMalloc");
  const int waits = stand_in::calls("cudaStreamSynchronize");
  for (int step = 0; step < 3; ++step) {
    enqueue_step(twins);
    operations().enqueue(stream(), norm.forward(Side::kDevice, {}));
    operations().enqueue(stream(), norm.backward(Side::kDevice, {}));
  }
  EXPECT_EQ(stand_in::cudnn().searches, searches);
  EXPECT_EQ(stand_in::calls("cudaMalloc"), allocations);
  EXPECT_EQ(stand_in::calls("cudaStreamSynchronize"), waits);
  EXPECT_EQ(plans(), 3);
  stream().synchronize();
}

TEST_F(CudaImagesOnStandIn, AnotherShapeOrAlignment_IsPreparedAnew) {
  auto twins = convolution<float>(kConvolution);
  run(twins.forward(Side::kDevice));
  offset_ = 1;
  auto unaligned = convolution<float>(kConvolution);
  run(unaligned.forward(Side::kDevice));
  EXPECT_EQ(plans(), 4);  // backward's stand ready
  run(unaligned.backward_input(Side::kDevice));
  EXPECT_EQ(plans(), 5);
  auto wider = convolution<float>({2, 8, 8, 8, 24, 3, 1, 1});
  run(wider.forward(Side::kDevice));
  EXPECT_EQ(plans(), 8);
}

TEST_F(CudaImagesOnStandIn, OfPictures_TheWeightsGradientAloneIsPrepared) {
  ASSERT_TRUE(take(Precision::kFp32, kFp32));
  auto twins = convolution<float>({1, 8, 8, 3, 8, 3, 1, 1});
  run(twins.forward(Side::kDevice));
  EXPECT_EQ(plans(), 2);
  run_on_both([&](Side s) { return twins.backward_input(s); });
  EXPECT_EQ(plans(), 3);
  expect_share(twins.dx, 2e-6, "dx");
}

TEST_F(CudaImagesOnStandIn, AFailedCall_NamesConvolutionCallAndGpu) {
  auto twins = convolution<float>(kConvolution);
  run(twins.forward(Side::kDevice));
  stand_in::cudnn().failing = "cudnnBackendExecute";
  const Error error = error_of([&] { run(twins.forward(Side::kDevice)); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_TRUE(mentions(error,
                       "convolution_forward of 2 x 8 x 8 x 8 -> 16, kernel 3, stride 1, in fp32 on "
                       "GPU 0: cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED (text of the "
                       "stand-in)"))
      << error.what();
  EXPECT_NO_THROW(run(twins.forward(Side::kDevice)));  // nothing was lost or kept
}

TEST_F(CudaImagesOnStandIn, OnALostGpu_SurfaceAtTheNextWait) {
  auto twins = convolution<float>(kConvolution);
  run(twins.forward(Side::kDevice));
  stand_in::lose(0, cudaErrorIllegalAddress);
  EXPECT_NO_THROW(enqueue_step(twins));
  const Error error = error_of([&] { stream().synchronize(); });
  EXPECT_TRUE(mentions(error, "cudaErrorIllegalAddress")) << error.what();
}

TEST_F(CudaImagesOnStandIn, CudnnThatDoesNotStart_IsAnErrorThatNamesGpuAndCall) {
  auto twins = convolution<float>(kConvolution);
  ASSERT_TRUE(take(Precision::kFp32));
  stand_in::cudnn().failing = "cudnnCreate";
  stand_in::cudnn().failure = CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
  const Error error = error_of([&] { run(twins.forward(Side::kDevice)); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_TRUE(mentions(error, "on GPU 0")) << error.what();
  EXPECT_TRUE(mentions(error, "cudnnCreate")) << error.what();
}

TEST_F(CudaImagesOnStandIn, WithoutTheLibrary_ThereAreNone_AndTheReasonIsTold) {
  EXPECT_EQ(cuda::lack_of_convolutions(), "");
  EXPECT_TRUE(cuda::cuda_library_version().ends_with(", cuBLASLt 13.1.0, cuDNN 9.19.0"));
  auto twins = convolution<float>(kConvolution);
  ASSERT_TRUE(take(Precision::kFp32));
  stand_in::cudnn().trouble = "libcudnn.so.9 does not load";
  EXPECT_TRUE(mentions(error_of([&] { run(twins.forward(Side::kDevice)); }), "does not load"));
  EXPECT_EQ(cuda::lack_of_convolutions(),
            "on GPUs convolutions are cuDNN's, and libcudnn.so.9 does not load");
  EXPECT_TRUE(cuda::cuda_library_version().ends_with(", cuBLASLt 13.1.0"));
}

TEST(CudnnLibrary, ThatIsNotThere_SaysWhatToInstall) {
  cuda::CudnnApi api;
  const cuda::LoadedCudnn loaded = cuda::load_cudnn_from("libno-such-cudnn.so.9", api);
  EXPECT_EQ(loaded.api, nullptr);
  for (const char* const said :
       {"libno-such-cudnn.so.9 does not load", "install cuDNN 9", "LD_LIBRARY_PATH"}) {
    EXPECT_NE(loaded.trouble.find(said), std::string::npos) << loaded.trouble;
  }
}

TEST(CudnnLibrary, ThatIsAnother_SaysWhatItLacks) {
  cuda::CudnnApi api;
  const cuda::LoadedCudnn loaded = cuda::load_cudnn_from("libm.so.6", api);
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_NE(loaded.trouble.find("libm.so.6 has no cudnnGetVersion"), std::string::npos)
      << loaded.trouble;
}

}  // namespace
}  // namespace tandem::test
