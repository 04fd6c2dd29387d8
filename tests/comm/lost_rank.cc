// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/lost_rank.h"

#include <signal.h>

#include "tests/comm/contract_rank.h"

namespace tandem::test {

void lose_a_rank(Bootstrap& bootstrap, std::string_view how) {
  const auto colon = how.find(':');
  const std::string_view way = how.substr(0, colon);
  const Transport transport =
      how.substr(colon + 1) == "mpi" ? Transport::kMpi : Transport::kSharedMemory;
  const bool needs_deadline = way == "stopped" || way == "absent";
  const auto deadline = std::chrono::seconds(needs_deadline ? 1 : 60);
  const auto platform = host_devices(bootstrap.size());
  const ContractRank on(bootstrap, *platform, transport, {.deadline = deadline});
  const auto values = on.memory<float>(Memory::kAllocated, 1000);
  if (on.rank == 1) {
    if (way == "killed") raise(SIGKILL);
    if (way == "stopped") raise(SIGSTOP);
    if (way == "aborted") on.communicator->abort();
    barrier(bootstrap);  // which the others never reach
  }
  on.communicator->all_reduce(*on.stream, values.span(), ReduceOp::kSum);
  on.stream->synchronize();
}

}  // namespace tandem::test
