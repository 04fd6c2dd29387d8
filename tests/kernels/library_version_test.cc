// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/library_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(KernelLibraryVersion, NamesLibraryVersionAndInstructionSet) {
  EXPECT_THAT(kernel_library_version(), ::testing::MatchesRegex("oneDNN [0-9.]+, [a-z0-9_ ]+"));
}

}  // namespace
}  // namespace tandem
