// SPDX-License-Identifier: Apache-2.0
//
// Ranks as threads, each with a stand-in GPU and a communicator over the stand-in for NCCL.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "common/comm/nccl/nccl_communicator.h"
#include "common/comm/thread_bootstrap.h"
#include "common/runtime/cuda/cuda_platform.h"
#include "tests/comm/fake_nccl.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::test {

[[nodiscard]] inline std::unique_ptr<Platform> stand_in_gpus(int count) {
  PlatformOptions options;
  options.devices = count;
  return cuda::make_cuda_platform(options);
}

[[nodiscard]] inline std::unique_ptr<Communicator> make_on_fake(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    const nccl::Api& api = fake_nccl::api()) {
  return std::make_unique<nccl::NcclCommunicator>(api, &fake_nccl::scale, bootstrap, device,
                                                  options);
}

// Nothing of the fakes may be left behind, and nobody may have done what NCCL forbids.
inline void expect_clean() {
  EXPECT_EQ(fake_nccl::violations(), std::vector<std::string>{});
  EXPECT_EQ(fake_nccl::living(), 0);
  EXPECT_EQ(stand_in::living(), 0) << "handles or memory were left behind";
}

}  // namespace tandem::test
