// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include "common/base/this_process.h"

namespace tandem::test {
namespace {

TEST(HostNameTest, IsThatOfTheKernel) {
  utsname system{};
  ASSERT_EQ(uname(&system), 0);
  EXPECT_EQ(host_name(), system.nodename);
}

}  // namespace
}  // namespace tandem::test
