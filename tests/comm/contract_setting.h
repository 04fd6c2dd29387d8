// SPDX-License-Identifier: Apache-2.0
//
// Where the ranks of a contract's case run: as threads of the test, or as the processes that mpirun
// started.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "common/comm/thread_bootstrap.h"
#include "tests/comm/contract_rank.h"
#include "tests/comm/mpi_world.h"

namespace tandem::test {

constexpr int kMostRanks = 8;

using RankBody = std::function<void(ContractRank&)>;
using OptionsOfRank = std::function<CommunicatorOptions(int rank)>;

struct ContractSetting {
  std::string name;
  std::function<void(const RankBody& body, const OptionsOfRank& options)> run_with;

  // `body` on every rank; a communicator each, with the options of its rank.
  void run(
      const RankBody& body,
      const OptionsOfRank& options = [](int) { return CommunicatorOptions{}; }) const {
    run_with(body, options);
  }
};

inline void PrintTo(const ContractSetting& setting, std::ostream* out) { *out << setting.name; }

template <Transport kTransport>
[[nodiscard]] ContractSetting as_threads(int ranks) {
  static_assert(kTransport != Transport::kMpi, "the ranks of MPI are processes");
  return {fmt::format("{}_{}_threads", name_of(kTransport), ranks),
          [ranks](const RankBody& body, const OptionsOfRank& options) {
            const auto platform = host_devices(ranks);
            run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
              ContractRank rank(bootstrap, *platform, kTransport, options(bootstrap.rank()));
              body(rank);
              barrier(bootstrap);  // nobody's memory goes while others look at it
            });
          }};
}

[[nodiscard]] inline ContractSetting as_processes(Transport transport) {
  return {fmt::format("{}_processes", name_of(transport)),
          [transport](const RankBody& body, const OptionsOfRank& options) {
            const auto platform = host_devices(world().size());
            ContractRank rank(world(), *platform, transport, options(world().rank()));
            body(rank);
            barrier(world());
          }};
}

}  // namespace tandem::test
