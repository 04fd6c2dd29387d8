// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace tandem::test {

// The calling thread's policy for new pages as the kernel has it (MPOL_DEFAULT is 0, MPOL_PREFERRED
// 1); -1 where a thread may not even ask.
inline int memory_policy() {
  int policy = -1;
  const long status = syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL);
  return status == 0 ? policy : -1;
}

}  // namespace tandem::test
