// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/kernel_time.h"

#include <gtest/gtest.h>

#include "simulate/catalogue/catalogue.h"

namespace tandem {
namespace {

GpuDescription gpu_of(std::string_view machine) {
  return catalogued_hardware(machine, "--hardware").gpu;
}

double seconds(const GpuDescription& gpu, KernelKind kind, NumberType type, KernelLayout layout,
               std::array<std::int64_t, kMostKernelSizes> sizes) {
  return kernel_seconds(gpu, {.kind = kind, .type = type, .layout = layout, .sizes = sizes});
}

double product(const GpuDescription& gpu, NumberType type, std::int64_t rows, std::int64_t columns,
               std::int64_t depth) {
  const std::int64_t bytes = 2 * (rows * depth + depth * columns + rows * columns);
  return seconds(gpu, KernelKind::kProduct, type, KernelLayout::kNone,
                 {1, rows, columns, depth, bytes});
}

// 3 x 3 on images of 28 x 28, 64 of them.
double convolution(KernelLayout layout, std::int64_t channels, std::int64_t groups) {
  constexpr std::int64_t kPixels = 28 * 28;
  const std::int64_t bytes = 2 * 64 * kPixels * channels * 2;
  return seconds(gpu_of("rtx-3090-box"), KernelKind::kConvolution, NumberType::kFp16, layout,
                 {64, channels, channels, kPixels, kPixels, 9, groups, bytes});
}

TEST(KernelTime, OfNothing_IsTheLeast) {
  const GpuDescription gpu = gpu_of("dgx-a100");
  const double least = 1e-9 * static_cast<double>(gpu.least_time.value.count());
  EXPECT_DOUBLE_EQ(
      seconds(gpu, KernelKind::kPointwise, NumberType::kFp32, KernelLayout::kNone, {0, 1}),
      KernelCosts{}.floor * least);
}

TEST(KernelTime, OfBytes_GrowsWithThemAndFallsWithTheBandwidth) {
  const auto copying = [](std::string_view machine, std::int64_t bytes) {
    return seconds(gpu_of(machine), KernelKind::kCopy, NumberType::kFp32, KernelLayout::kNone,
                   {bytes, 2});
  };
  EXPECT_NEAR(copying("dgx-a100", 2'000'000'000) / copying("dgx-a100", 1'000'000'000), 2, 0.02);
  EXPECT_GT(copying("rtx-3090-box", 1'000'000'000), 1.5 * copying("dgx-a100", 1'000'000'000));
}

TEST(KernelTime, OfALargeProduct_IsNearThePeakAndOfANarrowOneFar) {
  const GpuDescription gpu = gpu_of("dgx-a100");
  const double large = product(gpu, NumberType::kBf16, 8192, 8192, 8192);
  const double peak = gpu.bf16->value * large / (2.0 * 8192 * 8192 * 8192);
  EXPECT_GT(peak, 0.9);
  EXPECT_LT(peak, 2);
  const double narrow = product(gpu, NumberType::kBf16, 8192, 8, 8192);
  EXPECT_GT(narrow, 2 * large * 8 / 8192);
}

TEST(KernelTime, OfATypeWithoutUnits_IsThatOfFp32) {
  const GpuDescription volta = gpu_of("dgx-1");
  ASSERT_FALSE(volta.tf32);
  EXPECT_GE(product(volta, NumberType::kTf32, 4096, 4096, 4096),
            0.5 * product(volta, NumberType::kFp32, 4096, 4096, 4096));
  EXPECT_GT(product(volta, NumberType::kFp32, 4096, 4096, 4096),
            4 * product(volta, NumberType::kFp16, 4096, 4096, 4096));
  ListedKernel listed{
      .kind = KernelKind::kProduct, .type = NumberType::kTf32, .sizes = {1, 8, 8, 8, 768}};
  EXPECT_TRUE(is_plain_product(volta, listed));
  EXPECT_FALSE(is_plain_product(gpu_of("dgx-a100"), listed));
  listed.type = NumberType::kFp32;
  EXPECT_TRUE(is_plain_product(gpu_of("dgx-a100"), listed));
  EXPECT_FALSE(is_plain_product(volta, {.kind = KernelKind::kPointwise, .sizes = {768}}));
}

TEST(KernelTime, OfAGroupedConvolution_DependsOnLayoutAndGroups) {
  const double first = convolution(KernelLayout::kFirst, 384, 6);
  EXPECT_GT(convolution(KernelLayout::kLast, 384, 6), 2 * first);
  EXPECT_LT(convolution(KernelLayout::kLast, 384, 8), convolution(KernelLayout::kLast, 384, 6));
  EXPECT_GT(first, convolution(KernelLayout::kFirst, 384, 1) / 6);
}

// Winograd's way has fewer products than there are terms; tensor cores compute each.
TEST(KernelTime, OfAPlainConvolution_IsShorterByFarWithAWindowOfThreeByThree) {
  const auto per_term = [](NumberType type, std::int64_t window) {
    return seconds(gpu_of("dgx-1"), KernelKind::kConvolution, type, KernelLayout::kFirst,
                   {64, 256, 256, 28 * 28, 28 * 28, window, 1, 1}) /
           static_cast<double>(window);
  };
  EXPECT_LT(per_term(NumberType::kFp32, 9), 0.5 * per_term(NumberType::kFp32, 25));
  EXPECT_GT(per_term(NumberType::kFp16, 9), 0.9 * per_term(NumberType::kFp16, 25));
}

TEST(KernelTime, OfAStridedCopy_IsLonger) {
  const GpuDescription gpu = gpu_of("dgx-h100");
  const auto copying = [&](KernelLayout layout) {
    return seconds(gpu, KernelKind::kCopy, NumberType::kFp16, layout, {1 << 28, 2});
  };
  EXPECT_GT(copying(KernelLayout::kStrided), 1.5 * copying(KernelLayout::kFirst));
}

}  // namespace
}  // namespace tandem
