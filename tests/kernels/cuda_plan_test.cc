// SPDX-License-Identifier: Apache-2.0
//
// What is decided before anything runs on a GPU: plans of products, grids, packs.
#include <gtest/gtest.h>

#include <array>

#include "common/kernels/cuda/column_sums.cuh"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/elementwise.cuh"
#include "common/kernels/cuda/matrix_products.h"

namespace tandem::cuda {
namespace {

constexpr LinearShape kProduct{.batch = 2, .in = 3, .out = 5};

// Spans that are never read.
template <class T>
Span<T> some(std::int64_t count) {
  return {reinterpret_cast<T*>(std::uintptr_t{4096}), count, {Backend::kCuda, 0}};
}

LinearForward forward(Activation activation, bool biased) {
  return {.shape = kProduct,
          .x = some<const float>(6),
          .weight = some<const float>(15),
          .bias = biased ? ConstAnySpan(some<const float>(5)) : ConstAnySpan{},
          .y = some<float>(10),
          .activation = activation};
}

TEST(ProductPlan, EpilogueOfForward_IsBiasAndActivation) {
  EXPECT_EQ(plan_of(forward(Activation::kNone, false)).epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(plan_of(forward(Activation::kNone, true)).epilogue, CUBLASLT_EPILOGUE_BIAS);
  EXPECT_EQ(plan_of(forward(Activation::kRelu, false)).epilogue, CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(plan_of(forward(Activation::kRelu, true)).epilogue, CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_EQ(plan_of(forward(Activation::kGelu, false)).epilogue, CUBLASLT_EPILOGUE_GELU_AUX);
  EXPECT_EQ(plan_of(forward(Activation::kGelu, true)).epilogue, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
}

TEST(ProductPlan, WhatGeluIsGiven_IsTakenInWholePacksOnly) {
  LinearBackwardInput backward{.shape = kProduct, .dy = {}, .weight = {}, .dx = {}};
  EXPECT_EQ(plan_of(backward).epilogue, CUBLASLT_EPILOGUE_DEFAULT);
  backward.before = some<const float>(6);
  EXPECT_EQ(plan_of(backward).epilogue, CUBLASLT_EPILOGUE_DGELU);
  for (ProductPlan plan : {plan_of(forward(Activation::kGelu, true)), plan_of(backward)}) {
    EXPECT_TRUE(has_before(plan.epilogue));
    EXPECT_FALSE(has_epilogue(plan, 256));  // 5 columns of y, 3 of x
    plan.d.rows = 16;
    EXPECT_TRUE(has_epilogue(plan, 16));
    EXPECT_FALSE(has_epilogue(plan, 8));
  }
  EXPECT_TRUE(has_epilogue(plan_of(forward(Activation::kRelu, true)), 8));
}

// Row-major (rows, columns) lies as column-major (columns, rows); the epilogue's vector is as long
// as the result has rows.
TEST(ProductPlan, Forward_ComputesTheTransposeOfTheResult) {
  const ProductPlan plan = plan_of(forward(Activation::kNone, true));
  EXPECT_EQ(plan.a, (StoredMatrix{.rows = 3, .columns = 5, .transposed = true}));
  EXPECT_EQ(plan.b, (StoredMatrix{.rows = 3, .columns = 2}));
  EXPECT_EQ(plan.d, (StoredMatrix{.rows = 5, .columns = 2}));
}

TEST(ProductPlan, OfAParametersGradient_StepsOverPadding) {
  const ProductPlan plan = plan_of(
      LinearBackwardWeight{.shape = kProduct, .x = {}, .dy = {}, .dweight = {}, .padding = 3});
  EXPECT_EQ(plan.b, (StoredMatrix{.rows = 5, .columns = 2, .transposed = true, .stride = 8}));
  EXPECT_EQ(plan.d, (StoredMatrix{.rows = 3, .columns = 5}));
}

TEST(ProductPlan, ParametersGradients_AreFp32AlsoOfBf16) {
  const LinearBackwardWeight op{.shape = kProduct,
                                .x = some<const BFloat16>(6),
                                .dy = some<const BFloat16>(10),
                                .dweight = some<float>(15),
                                .dbias = some<float>(5)};
  const ProductPlan plan = plan_of(op);
  EXPECT_EQ(plan.a.type, DType::kBFloat16);
  EXPECT_EQ(plan.b.type, DType::kBFloat16);
  EXPECT_EQ(plan.d.type, DType::kFloat32);
  EXPECT_EQ(plan.epilogue, CUBLASLT_EPILOGUE_BGRADB);
  EXPECT_EQ(to_string(plan), "linear_backward_weight of 2 x 3 -> 5 in bf16");
}

TEST(ProductPlan, Tf32_IsForFp32OperandsAlone) {
  const ProductPlan fp32 = plan_of(forward(Activation::kNone, true));
  EXPECT_EQ(compute_type(fp32, Precision::kFp32), CUBLAS_COMPUTE_32F);
  EXPECT_EQ(compute_type(fp32, Precision::kTf32), CUBLAS_COMPUTE_32F_FAST_TF32);
  ProductPlan bf16 = fp32;
  bf16.a.type = DType::kBFloat16;
  EXPECT_EQ(compute_type(bf16, Precision::kTf32), CUBLAS_COMPUTE_32F);
}

TEST(ProductPlan, Fp16_IsALogicError) {
  EXPECT_THROW(static_cast<void>(cuda_type(DType::kFloat16)), Error);
}

TEST(Alignment, IsTheLargestPowerOfTwoUpTo256) {
  const auto at = [](std::uintptr_t address) {
    return alignment_of(reinterpret_cast<const void*>(address));
  };
  EXPECT_EQ(at(1024), 256U);
  EXPECT_EQ(at(1024 + 128), 128U);
  EXPECT_EQ(at(1024 + 4), 4U);
  EXPECT_EQ(at(1024 + 6), 2U);
  EXPECT_EQ(alignment_of(nullptr), 256U);
}

TEST(Alignment, OfABatch_IsThatOfEachOfItsMatrices) {
  const auto* const aligned = reinterpret_cast<const void*>(std::uintptr_t{1024});
  EXPECT_EQ(alignment_of(aligned, {.type = DType::kBFloat16, .apart = 64}), 128U);
  EXPECT_EQ(alignment_of(aligned, {.type = DType::kFloat32, .apart = 3}), 4U);
  EXPECT_EQ(alignment_of(aligned, {}), 256U);
}

TEST(Grid, OfSumsOverRows_KeepsAllThreadsBusyAndNoMore) {
  const Stretches few(1, {768, 1});
  EXPECT_EQ(few.parts(), 1);
  EXPECT_EQ(few.rows_of(0), 1);
  const Stretches images(std::int64_t{128} * 112 * 112, {64, 1});  // 8 packs, 32 rows side by side
  EXPECT_EQ(images.teams(), 8);
  EXPECT_EQ(images.rows_each, 7 * 32 * Stretches::kRowsOfThread);
  EXPECT_EQ(images.parts(), 896);
  EXPECT_EQ(images.rows_of(895), 1605632 - 895 * images.rows_each);
  const Stretches first(std::int64_t{128} * 112 * 112, {64, 112 * 112});
  EXPECT_EQ(first.teams(), 1);
  EXPECT_EQ(first.parts(), 16);
  EXPECT_EQ(norm_rows_each(1), kRowsAtOnce);
  EXPECT_EQ(norm_rows_each(8192), 32);
}

TEST(Grid, HasAThreadForEveryItem) {
  EXPECT_EQ(blocks_for(0, 4), 0);
  EXPECT_EQ(blocks_for(1, 4), 1);
  EXPECT_EQ(blocks_for(4 * kThreads, 4), 1);
  EXPECT_EQ(blocks_for(4 * kThreads + 1, 4), 2);
  EXPECT_EQ(blocks_for(std::int64_t{1} << 40, 1), std::int64_t{1} << 32);  // refused by the launch
}

// The elements that were visited, and how wide.
struct Recorder {
  std::array<int, 16>* width_at;

  template <int width>
  void at(std::int64_t i) const {
    for (int j = 0; j < width; ++j) (*width_at)[static_cast<std::size_t>(i + j)] += width;
  }
};

TEST(Visit, TakesWholePacksAndThenSingleElements) {
  std::array<int, 16> width_at{};
  for (std::int64_t thread = 0; thread < 8; ++thread) {
    visit<4>(thread, 10, Recorder{&width_at});
  }
  EXPECT_EQ(width_at, (std::array<int, 16>{4, 4, 4, 4, 4, 4, 4, 4, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(Packs, NeedEveryOperandAligned) {
  alignas(16) const std::array<float, 8> a{};
  alignas(16) const std::array<BFloat16, 8> b{};
  EXPECT_TRUE(are_packed(a.data(), a.data() + 4, b.data() + 4));
  EXPECT_FALSE(are_packed(a.data(), a.data() + 1));
  EXPECT_FALSE(are_packed(a.data(), b.data() + 2));
  EXPECT_TRUE(are_packed(a.data(), static_cast<const float*>(nullptr)));  // left out
}

TEST(FillBlocks, CoverAnyStretchOfTheSequence) {
  const auto blocks = [](std::int64_t count, std::uint64_t first) {
    return FillBlocks<Uniform>{nullptr, count, 1, first, 1}.blocks();
  };
  EXPECT_EQ(blocks(0, 3), 0);
  EXPECT_EQ(blocks(1, 3), 1);
  EXPECT_EQ(blocks(2, 3), 2);
  EXPECT_EQ(blocks(8, 0), 2);
  EXPECT_EQ(blocks(8, 1), 3);
}

TEST(Workspace, IsLargerFromHopperOn) {
  EXPECT_EQ(workspace_size(75), mib(4));
  EXPECT_EQ(workspace_size(89), mib(4));
  EXPECT_EQ(workspace_size(90), mib(32));
  EXPECT_EQ(workspace_size(120), mib(32));
}

}  // namespace
}  // namespace tandem::cuda
