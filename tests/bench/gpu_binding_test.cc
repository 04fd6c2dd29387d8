// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "bench/job/node_share.h"
#include "common/base/error.h"
#include "common/base/system_files.h"
#include "common/comm/thread_bootstrap.h"
#include "common/runtime/host/cores.h"
#include "tests/support/errors.h"
#include "tests/support/fake_nvml.h"

namespace tandem::bench {
namespace {

using nvml::testing::fake;
using nvml::testing::fake_peer;
using nvml::testing::kAddress;
using nvml::testing::kPeerAddress;

std::unique_ptr<nvml::Nvml> no_nvml() { return nullptr; }

// Ranks that are threads here stand for processes: each asks for its own GPU.
class GpuBindingTest : public ::testing::Test {
 protected:
  void SetUp() override { nvml::testing::reset_fakes(); }
  [[nodiscard]] static NodeLayout one_node(int ranks) {
    return group_by_node(std::vector<NodeIdentity>(static_cast<std::size_t>(ranks), {"a", ""}));
  }

  const nvml::Api api_ = nvml::testing::fake_api();
  const std::vector<int> allowed_ = allowed_cpus();
  const std::string gpu_ = fmt::format("{} GPU-1", kAddress);
  const std::string peer_ = fmt::format("{} GPU-2", kPeerAddress);
};

TEST_F(GpuBindingTest, EachRank_GetsTheCpusNearItsGpu) {
  if (host::whole_cores(allowed_).size() < 2 || allowed_.back() >= 64) {
    GTEST_SKIP() << "needs two of the machine's first cores";
  }
  fake.cpus[0] = 1UL << allowed_.front();
  fake_peer.cpus[0] = 1UL << allowed_.back();
  fake.cpus[1] = fake_peer.cpus[1] = 0;
  fake_peer.nodes = 1;
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const bool is_first = bootstrap.rank() == 0;
    const FoundHosts found = find_near_hosts(bootstrap, one_node(2), {is_first ? gpu_ : peer_},
                                             [&] { return nvml::Nvml::open(api_); });
    const std::vector<NearHost>& hosts = found.hosts;
    EXPECT_EQ(found.warning, "");
    ASSERT_EQ(hosts.size(), 1U);
    const int wanted = is_first ? allowed_.front() : allowed_.back();
    EXPECT_NE(std::find(hosts[0].cpus.begin(), hosts[0].cpus.end(), wanted), hosts[0].cpus.end());
    EXPECT_LT(hosts[0].cpus.size(), allowed_.size());
    EXPECT_EQ(hosts[0].memory_node, is_first ? 1 : 0);
  });
}

// Whoever is near nothing that may be used takes its share of the whole.
TEST_F(GpuBindingTest, WithoutNvml_RanksShareTheCoresOfTheirNode) {
  std::vector<std::vector<int>> shares(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const auto [hosts, warning] = find_near_hosts(bootstrap, one_node(2), {gpu_}, no_nvml);
    EXPECT_FALSE(hosts.at(0).memory_node);
    EXPECT_THAT(warning, ::testing::HasSubstr("nothing is known to be near 2 of 2 devices"));
    shares[static_cast<std::size_t>(bootstrap.rank())] = hosts[0].cpus;
  });
  EXPECT_EQ(shares, host::share_cores(host::whole_cores(allowed_), {{}, {}}));
}

TEST_F(GpuBindingTest, RanksOfAnotherNode_TakeNothing) {
  const NodeLayout nodes = group_by_node({{"a", ""}, {"b", ""}});
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const FoundHosts found = find_near_hosts(bootstrap, nodes, {gpu_}, no_nvml);
    EXPECT_EQ(found.hosts.at(0).cpus, allowed_);
  });
}

TEST_F(GpuBindingTest, DevicesOfOneProcess_ShareTheirCores) {
  run_ranks_as_threads(1, [&](Bootstrap& bootstrap) {
    const FoundHosts found = find_near_hosts(bootstrap, one_node(1), {gpu_, peer_, gpu_}, no_nvml);
    std::vector<std::vector<int>> cpus;
    for (const NearHost& host : found.hosts) cpus.push_back(host.cpus);
    EXPECT_EQ(cpus, host::share_cores(host::whole_cores(allowed_), {{}, {}, {}}));
  });
}

// One rank cannot ask its system: without a word of it the others would wait for its cores.
TEST_F(GpuBindingTest, OneRankFails_AllAreTold) {
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const auto open_nvml = [&]() -> std::unique_ptr<nvml::Nvml> {
      if (bootstrap.rank() == 1) fail(ErrorKind::kFailure, "NVML broke");
      return nullptr;
    };
    const Error error = test::error_of(
        [&] { static_cast<void>(find_near_hosts(bootstrap, one_node(2), {gpu_}, open_nvml)); });
    EXPECT_THAT(error.what(), ::testing::HasSubstr("NVML broke"));
  });
}

}  // namespace
}  // namespace tandem::bench
