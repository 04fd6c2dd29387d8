// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernels/host_support.h"
#include "common/runtime/cuda_module.h"

namespace tandem {
namespace {

TEST(KernelLibraryVersion, NamesLibraryVersionAndInstructionSet) {
  EXPECT_THAT(kernel_library_version(), ::testing::MatchesRegex("oneDNN [0-9.]+, [a-z0-9_ ]+"));
  EXPECT_EQ(kernel_library_version(Backend::kHost), kernel_library_version());
}

TEST(KernelLibraryVersion, OnCuda_IsTheModules) {
  const LoadedCudaModule loaded = load_cuda_module();
  if (loaded.module == nullptr) GTEST_SKIP() << loaded.trouble.detail;
  EXPECT_THAT(kernel_library_version(Backend::kCuda),
              ::testing::MatchesRegex(
                  "CUDA [0-9]+\\.[0-9]+, cuBLASLt [0-9]+\\.[0-9]+\\.[0-9]+(, cuDNN [0-9.]+)?"));
}

}  // namespace
}  // namespace tandem
