// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"

namespace tandem::test {

INSTANTIATE_TEST_SUITE_P(SharedMemory, CommunicatorContract,
                         testing::Values(as_threads<Transport::kSharedMemory>(1),
                                         as_threads<Transport::kSharedMemory>(2),
                                         as_threads<Transport::kSharedMemory>(3),
                                         as_threads<Transport::kSharedMemory>(4),
                                         as_threads<Transport::kSharedMemory>(5),
                                         as_threads<Transport::kSharedMemory>(6),
                                         as_threads<Transport::kSharedMemory>(7),
                                         as_threads<Transport::kSharedMemory>(8)),
                         name_of_setting);

}  // namespace tandem::test
