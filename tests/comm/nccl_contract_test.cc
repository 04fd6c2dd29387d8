// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"
#include "tests/comm/gpu_setting.h"

namespace tandem::test {

INSTANTIATE_TEST_SUITE_P(Nccl, CommunicatorContract,
                         testing::Values(nccl_as_threads(1), nccl_as_threads(2), nccl_as_threads(4),
                                         nccl_as_threads(8)),
                         name_of_setting);

}  // namespace tandem::test
