// SPDX-License-Identifier: Apache-2.0
//
// Ranks on real GPUs, through the module as programs load it. Where there are too few, or no NCCL,
// the case is skipped with the reason.
#pragma once

#include "common/comm/nccl_module.h"
#include "common/runtime/registry.h"
#include "tests/comm/contract_setting.h"

namespace tandem::test {

// Why `options` cannot be opened, or NCCL not be used; empty where both can.
[[nodiscard]] inline std::string why_no_nccl(const PlatformOptions& options, int gpus) {
  const BackendFacts facts = probe_backends(BackendChoice::kCuda, options);
  if (facts.cuda.state != CudaState::kUsable) return facts.cuda.detail;
  if (static_cast<int>(facts.cuda.gpus.size()) < gpus) {
    return fmt::format("needs {} GPUs", options.devices);
  }
  return probe_nccl().trouble;
}

[[nodiscard]] inline ContractSetting nccl_as_threads(int ranks) {
  return {fmt::format("nccl_{}_threads", ranks),
          [ranks](const RankBody& body, const OptionsOfRank& options) {
            PlatformOptions wanted;
            wanted.devices = ranks;
            if (const std::string why = why_no_nccl(wanted, ranks); !why.empty()) {
              GTEST_SKIP() << why;
            }
            const auto platform = open_platform(Backend::kCuda, wanted);
            run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
              platform->device(bootstrap.rank()).bind_this_thread();
              ContractRank rank(bootstrap, *platform, Transport::kNccl, options(bootstrap.rank()));
              body(rank);
              barrier(bootstrap);  // nobody's memory goes while others look at it
            });
          }};
}

[[nodiscard]] inline ContractSetting nccl_as_processes() {
  return {"nccl_processes", [](const RankBody& body, const OptionsOfRank& options) {
            PlatformOptions wanted;
            wanted.devices = world().size();
            wanted.own_device = world().rank();
            std::string why = why_no_nccl(wanted, 1);
            for (const std::string& theirs : world().all_gather(why)) {
              if (why.empty()) why = theirs;
            }
            if (!why.empty()) GTEST_SKIP() << why;
            const auto platform = open_platform(Backend::kCuda, wanted);
            platform->device(world().rank()).bind_this_thread();
            ContractRank rank(world(), *platform, Transport::kNccl, options(world().rank()));
            body(rank);
            barrier(world());
          }};
}

}  // namespace tandem::test
