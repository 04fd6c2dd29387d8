// SPDX-License-Identifier: Apache-2.0
//
// The contract over the stand-ins for NCCL and CUDA: with ranks that are connected from the start,
// and with ones that the first call connects.
#include "tests/comm/communicator_contract.h"
#include "tests/comm/nccl_stand_in.h"

namespace tandem::test {
namespace {

ContractSetting on_fake(const std::string& name, int ranks, bool connects) {
  return {fmt::format("{}_{}_ranks", name, ranks),
          [=](const RankBody& body, const OptionsOfRank& options) {
            stand_in::reset(ranks);
            fake_nccl::reset();
            if (connects) fake_nccl::connect_at_first_call();
            {
              const auto platform = stand_in_gpus(ranks);
              run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
                Device& device = platform->device(bootstrap.rank());
                ContractRank rank(device,
                                  make_on_fake(bootstrap, device, options(bootstrap.rank())));
                body(rank);
                barrier(bootstrap);
              });
            }
            expect_clean();
          }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(FakeNccl, CommunicatorContract,
                         ::testing::Values(on_fake("at_once", 1, false),
                                           on_fake("at_once", 2, false),
                                           on_fake("at_once", 3, false),
                                           on_fake("at_once", 8, false),
                                           on_fake("connects", 3, true)),
                         name_of_setting);

}  // namespace tandem::test
