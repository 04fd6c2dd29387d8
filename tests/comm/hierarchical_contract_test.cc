// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"

namespace tandem::test {

// Even nodes, and uneven ones.
INSTANTIATE_TEST_SUITE_P(Hierarchical, CommunicatorContract,
                         testing::Values(as_threads_of_nodes("nodes_of_2_and_2",
                                                             {"a", "a", "b", "b"}),
                                         as_threads_of_nodes("nodes_of_1_and_2", {"a", "b", "b"})),
                         name_of_setting);

}  // namespace tandem::test
