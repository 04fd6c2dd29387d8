// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/communicator_contract.h"
#include "tests/comm/gpu_setting.h"

namespace tandem::test {
namespace {

std::vector<ContractSetting> settings() {
  std::vector<ContractSetting> all;
  for (const Transport transport : {Transport::kSharedMemory, Transport::kMpi, Transport::kGloo}) {
    if (is_built_in(transport)) all.push_back(as_processes(transport));
  }
  all.push_back(nccl_as_processes());
  return all;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Processes, CommunicatorContract, testing::ValuesIn(settings()),
                         name_of_setting);

}  // namespace tandem::test
