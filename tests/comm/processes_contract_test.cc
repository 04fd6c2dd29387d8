// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"
#include "tests/comm/gpu_setting.h"

namespace tandem::test {

INSTANTIATE_TEST_SUITE_P(Processes, CommunicatorContract,
                         testing::Values(as_processes(Transport::kSharedMemory),
                                         as_processes(Transport::kMpi), nccl_as_processes()),
                         name_of_setting);

}  // namespace tandem::test
