// SPDX-License-Identifier: Apache-2.0
//
// Attention on GPUs by cuDNN's fused engines, on stand-ins for it, CUDA's runtime and cuBLASLt: the
// stand-in computes the graphs operation by operation, so that parity shows what they mean. Whether
// cuDNN knows their pattern is asked in cudnn_choice_test.cc; how it rounds shows on GPUs alone.
#include <fmt/format.h>

#include <array>

#include "common/base/rounding.h"
#include "tests/kernels/cuda_stand_in.h"
#include "tests/kernels/cuda_transformer_parity.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

// The stand-in without an engine for fused attention: products and softmax run, in bf16 too.
struct WithoutFusion : CudaStandIn {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string& unusable) {
    auto platform = CudaStandIn::open(options, unusable);
    stand_in::cudnn().refuses_graphs = true;
    return platform;
  }
};

using Attentions = ::testing::Types<CudaStandIn, WithoutFusion>;
INSTANTIATE_TYPED_TEST_SUITE_P(FusedOrNot, CudaTransformerParity, Attentions);

class FusedAttentionOnStandIn : public CudaTransformerParity<CudaStandIn> {
 protected:
  static constexpr AttentionShape kShape{.batch = 2, .positions = 9, .heads = 3, .head_width = 8};

  void SetUp() override {
    CudaTransformerParity<CudaStandIn>::SetUp();
    ASSERT_TRUE(take(Precision::kBf16));
  }

  void TearDown() override {
    operations_.reset();
    stream_.reset();
    platform_.reset();
    EXPECT_EQ(stand_in::living(), 0) << "handles or memory were left behind";
    EXPECT_EQ(stand_in::cudnn().handles, 0);
    EXPECT_EQ(stand_in::cudnn().descriptors, 0);
    stand_in::cudnn() = {};
  }

  template <class T>
  void run_both_ways(AttentionTwins<T>& twins) {
    run(twins.forward(Side::kDevice));
    run(twins.backward(Side::kDevice));
  }
  template <class T>
  std::string means_of(const AttentionShape& shape) {
    auto twins = attention<T>(shape);
    run_both_ways(twins);
    return operations().implementations().at("attention");
  }
};

TEST_F(FusedAttentionOnStandIn, OfBf16_IsCudnns) {
  EXPECT_TRUE(operations().implementations().empty());
  EXPECT_EQ(means_of<BFloat16>(kShape), "cuDNN 9.19.0, fused");
  EXPECT_EQ(stand_in::cudnn().executions, 2);
  EXPECT_EQ(stand_in::cublaslt().products, 0);
}

TEST_F(FusedAttentionOnStandIn, WhereItCannotBeHad_IsProducts_AndSaysWhyAndWhatThatCosts) {
  const auto otherwise = [](const std::string& reason) {
    return "products and softmax, since " + reason +
           "; a layer's scores go through memory, up to 1.9 KiB";
  };
  EXPECT_EQ(means_of<float>(kShape), otherwise("cuDNN's fused engines take 16-bit types only"));
  constexpr AttentionShape kNarrowHeads{.batch = 2, .positions = 9, .heads = 3, .head_width = 5};
  const std::string unaligned =
      otherwise("cuDNN's fused engines want operands and heads at multiples of 16 bytes");
  EXPECT_EQ(means_of<BFloat16>(kNarrowHeads), unaligned);
  offset_ = 1;
  EXPECT_EQ(means_of<BFloat16>(kShape), unaligned);
  offset_ = 0;
  stand_in::cudnn().refuses_graphs = true;
  EXPECT_EQ(means_of<BFloat16>(kShape),
            otherwise("cuDNN 9.19.0 has no fused forward for it: it suggests no engine"));
  EXPECT_EQ(stand_in::cudnn().executions, 0);
  stand_in::cudnn().trouble = "there is none";
  ASSERT_TRUE(take(Precision::kBf16));  // made anew
  EXPECT_EQ(means_of<BFloat16>(kShape), otherwise("there is none"));
}

TEST_F(FusedAttentionOnStandIn, VersionsThatAreWrong_AreRefused_ForTheShapesThatTheyGetWrong) {
  constexpr AttentionShape kWholeTiles{.batch = 1, .positions = 128, .heads = 1, .head_width = 8};
  struct Case {
    std::size_t version;
    AttentionShape shape;
    const char* reason;
  };
  for (const Case& one :
       {Case{91500, kShape, "wants positions at multiples of 128, and 9.15.1 does not"},
        Case{91500, kWholeTiles, ""}, Case{91501, kShape, ""}, Case{90000, kWholeTiles, ""},
        Case{91001, kWholeTiles, "has a wrong backward, and 9.10.2 has not"},
        Case{91002, kWholeTiles, ""}}) {
    stand_in::cudnn().version = one.version;
    ASSERT_TRUE(take(Precision::kBf16));
    const std::string means = means_of<BFloat16>(one.shape);
    EXPECT_EQ(means.ends_with("fused"), one.reason[0] == 0) << means;
    EXPECT_NE(means.find(one.reason), std::string::npos) << means;
  }
}

TEST_F(FusedAttentionOnStandIn, ThatLoadsAndCannotStart_IsDoneWithout_AndSaysWhy) {
  stand_in::cudnn() = {.failing = "cudnnCreate"};
  ASSERT_TRUE(take(Precision::kBf16));
  expect_attention_agrees<BFloat16>(kShape, share::of_attention(Precision::kBf16));
  const std::string means = operations().implementations().at("attention");
  EXPECT_TRUE(means.starts_with("products and softmax, since ")) << means;
  EXPECT_NE(means.find("cudnnCreate"), std::string::npos) << means;
  EXPECT_EQ(stand_in::cudnn().executions, 0);
}

TEST_F(FusedAttentionOnStandIn, EnginesThatAreNotDeterministic_AreNotTaken) {
  const stand_in::CudnnEngine changing{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}};
  stand_in::cudnn().engines = stand_in::cudnn().fallbacks = {changing};
  const std::string means = means_of<BFloat16>(kShape);
  EXPECT_NE(means.find("each of its engines does to numbers what is refused"), std::string::npos);
  ASSERT_TRUE(take(Precision::kBf16));  // chosen anew
  stand_in::cudnn().engines = {changing, {{}, 128}};
  EXPECT_EQ(means_of<BFloat16>(kShape), "cuDNN 9.19.0, fused");
  EXPECT_EQ(stand_in::cudnn().last_engine.workspace, 128);
}

// A batch that does not fit wants 4 GiB, twice what is allowed: half of its samples are tried next.
TEST_F(FusedAttentionOnStandIn, BeyondTheWorkspace_RunsOnSlices_OfTheSameBits) {
  for (const auto& [samples, fitting, slice] :
       {std::array{4, 2, 2}, std::array{5, 2, 2}, std::array{5, 1, 1}, std::array{3, 1, 1}}) {
    const AttentionShape shape{.batch = samples, .positions = 7, .heads = 4, .head_width = 8};
    stand_in::cudnn().engines = stand_in::cudnn().fallbacks = {{{}, 64}};
    ASSERT_TRUE(take(Precision::kBf16));
    auto whole = attention<BFloat16>(shape);
    run_both_ways(whole);
    stand_in::cudnn().engines = stand_in::cudnn().fallbacks = {{{}, 64, false, fitting}};
    stand_in::cudnn().executions = 0;
    ASSERT_TRUE(take(Precision::kBf16));
    auto sliced = attention<BFloat16>(shape);
    AttentionForward forward = sliced.forward(Side::kDevice);
    AttentionBackward backward = sliced.backward(Side::kDevice);
    forward.qkv = backward.qkv = whole.qkv.on(Side::kDevice);
    backward.dy = whole.dy.on(Side::kDevice);
    run(forward);
    run(backward);
    EXPECT_EQ(operations().implementations().at("attention"),
              fmt::format("cuDNN 9.19.0, fused, in slices of {} of {} samples", slice, samples));
    EXPECT_EQ(stand_in::cudnn().executions, 2 * ceil_div(samples, slice));
    EXPECT_EQ(sliced.y.of_device(), whole.y.of_device());
    EXPECT_EQ(sliced.log_sums.of_device(), whole.log_sums.of_device());
    EXPECT_EQ(sliced.dqkv.of_device(), whole.dqkv.of_device());
  }
}

// A sample has 27 log_sums here: four samples are the fewest whose log_sums fill whole 16 bytes.
TEST_F(FusedAttentionOnStandIn, Slices_BeginWhereEveryOperandIsAligned) {
  stand_in::cudnn().engines = stand_in::cudnn().fallbacks = {{{}, 64, false, 5}};
  EXPECT_EQ(means_of<BFloat16>({.batch = 10, .positions = 9, .heads = 3, .head_width = 8}),
            "cuDNN 9.19.0, fused, in slices of 4 of 10 samples");
  const std::string means =
      means_of<BFloat16>({.batch = 6, .positions = 9, .heads = 3, .head_width = 8});
  EXPECT_NE(means.find("an engine wants 4.0 GiB of workspace, and 2.0 GiB are allowed"),
            std::string::npos)
      << means;
}

TEST_F(FusedAttentionOnStandIn, AWorkspaceBeyondTheGpu_IsOutOfMemory_InOneLine) {
  stand_in::cudnn().engines = {{{}, gib(2).value}};
  auto twins = attention<BFloat16>(kShape);
  const Error error = error_of([&] { run(twins.forward(Side::kDevice)); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  const std::string words = error.what();
  EXPECT_NE(words.find("2.0 GiB asked"), std::string::npos) << words;
  EXPECT_EQ(words.find('\n'), std::string::npos) << words;
}

TEST_F(FusedAttentionOnStandIn, Forward_TakesWhatBackwardNeeds_SlicesToo) {
  stand_in::cudnn().engines = stand_in::cudnn().fallbacks = {{{}, 64, false, 1}};
  auto twins = attention<BFloat16>({.batch = 3, .positions = 8, .heads = 3, .head_width = 8});
  run(twins.forward(Side::kDevice));
  const int searches = stand_in::cudnn().searches;
  const int allocations = stand_in::calls("cudaMalloc");
  operations().enqueue(stream(), twins.backward(Side::kDevice));
  operations().enqueue(stream(), twins.forward(Side::kDevice));
  EXPECT_EQ(stand_in::cudnn().searches, searches);
  EXPECT_EQ(stand_in::calls("cudaMalloc"), allocations);
  stream().synchronize();
}

}  // namespace
}  // namespace tandem::test
