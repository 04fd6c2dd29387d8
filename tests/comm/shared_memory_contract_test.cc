// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"

namespace tandem::test {

INSTANTIATE_TEST_SUITE_P(SharedMemory, CommunicatorContract,
                         testing::ValuesIn(of_each_size(as_threads<Transport::kSharedMemory>)),
                         name_of_setting);

}  // namespace tandem::test
