// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/precision.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "common/base/error.h"
#include "common/kernels/host_support.h"
#include "common/kernels/operations.h"
#include "common/runtime/host/host_platform.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Function>
std::string usage_error_of(Function&& function) {
  const auto error = capture_error([&] { function(); });
  EXPECT_TRUE(!error || error->kind() == ErrorKind::kUsage);
  return error ? error->what() : "no error";
}

std::string refusal_of(Precision precision) {
  const auto platform = host::make_host_platform(PlatformOptions{});
  return usage_error_of(
      [&] { static_cast<void>(make_operations(platform->device(0), precision)); });
}

TEST(PrecisionTest, Tf32OnTheHost_IsRefused) {
  EXPECT_THAT(refusal_of(Precision::kTf32),
              AllOf(HasSubstr("--precision=tf32"), HasSubstr("use fp32 or bf16")));
}

TEST(PrecisionTest, Bf16OnTheHost_IsThereOrRefused) {
  const bool is_there = host_bf16_support() != Bf16Support::kNone;
  EXPECT_THAT(refusal_of(Precision::kBf16),
              HasSubstr(is_there ? "no error" : "--precision=bf16: oneDNN"));
}

// Run once more with the library held to an older CPU's instructions (CMakeLists.txt).
TEST(PrecisionTest, OnACpuWithoutKernels_Bf16IsRefused) {
  if (std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr) GTEST_SKIP() << "not held to an older CPU";
  EXPECT_EQ(host_bf16_support(), Bf16Support::kNone);
  EXPECT_THAT(refusal_of(Precision::kBf16),
              AllOf(HasSubstr("has no bf16 products for this CPU"), HasSubstr("avx2")));
}

}  // namespace
}  // namespace tandem
