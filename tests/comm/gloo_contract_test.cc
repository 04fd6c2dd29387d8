// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"

namespace tandem::test {

INSTANTIATE_TEST_SUITE_P(Gloo, CommunicatorContract,
                         testing::Values(as_threads<Transport::kGloo>(1),
                                         as_threads<Transport::kGloo>(2),
                                         as_threads<Transport::kGloo>(3),
                                         as_threads<Transport::kGloo>(4),
                                         as_threads<Transport::kGloo>(8)),
                         name_of_setting);

}  // namespace tandem::test
