// SPDX-License-Identifier: Apache-2.0
//
// Communicators that move nothing between devices themselves: through the host, and of one rank.
// Their devices here are the host's, which they take as they take any.
#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/solo.h"
#include "common/comm/staged.h"
#include "tests/comm/communicator_contract.h"

namespace tandem::test {
namespace {

ContractSetting staged(int ranks) {
  return {fmt::format("staged_{}_threads", ranks),
          [ranks](const RankBody& body, const OptionsOfRank& options) {
            const auto platform = host_devices(ranks);
            run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
              Device& device = platform->device(bootstrap.rank());
              ContractRank rank(device, make_staged_communicator(
                                            bootstrap, device, options(bootstrap.rank()),
                                            [&](Device& host, const CommunicatorOptions& of_host) {
                                              return make_shared_memory_communicator(bootstrap,
                                                                                     host, of_host);
                                            }));
              body(rank);
              barrier(bootstrap);
            });
          }};
}

ContractSetting solo() {
  return {"solo", [](const RankBody& body, const OptionsOfRank& options) {
            const auto platform = host_devices(1);
            ContractRank rank(platform->device(0),
                              make_solo_communicator(platform->device(0), options(0)));
            body(rank);
          }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Staged, CommunicatorContract, testing::ValuesIn(of_each_size(staged)),
                         name_of_setting);
INSTANTIATE_TEST_SUITE_P(Solo, CommunicatorContract, testing::Values(solo()), name_of_setting);

}  // namespace tandem::test
