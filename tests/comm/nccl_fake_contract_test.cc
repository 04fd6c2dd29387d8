// SPDX-License-Identifier: Apache-2.0
//
// The contract over the stand-ins for NCCL and CUDA: with calls that are on their streams at once,
// with ones that NCCL is slow to put there, and with a library that has no memory of its own.
#include "tests/comm/communicator_contract.h"
#include "tests/comm/nccl_stand_in.h"

namespace tandem::test {
namespace {

ContractSetting on_fake(const std::string& name, int ranks, int looks, const nccl::Api& api) {
  return {fmt::format("{}_{}_ranks", name, ranks),
          [=, &api](const RankBody& body, const OptionsOfRank& options) {
            testing::stand_in::reset(ranks);
            fake_nccl::reset();
            fake_nccl::set_looks_in_progress(looks);
            {
              const auto platform = stand_in_gpus(ranks);
              run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
                Device& device = platform->device(bootstrap.rank());
                ContractRank rank(device,
                                  make_on_fake(bootstrap, device, options(bootstrap.rank()), api));
                body(rank);
                barrier(bootstrap);
              });
            }
            expect_clean();
          }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(FakeNccl, CommunicatorContract,
                         ::testing::Values(on_fake("at_once", 1, 0, fake_nccl::api()),
                                           on_fake("at_once", 2, 0, fake_nccl::api()),
                                           on_fake("at_once", 3, 0, fake_nccl::api()),
                                           on_fake("at_once", 8, 0, fake_nccl::api()),
                                           on_fake("in_progress", 3, 2, fake_nccl::api()),
                                           on_fake("without_memory", 2, 0,
                                                   fake_nccl::api_without_memory())),
                         name_of_setting);

}  // namespace tandem::test
