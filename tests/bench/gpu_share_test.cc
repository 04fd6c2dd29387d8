// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/job/node_share.h"
#include "common/comm/thread_bootstrap.h"
#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

// Three ranks on `hosts`, each shown the GPU of its number.
void on_ranks(const std::vector<std::string>& hosts, const std::vector<std::string>& gpus,
              const std::function<void(Bootstrap&, const NodeLayout&, const std::string&)>& body) {
  std::vector<NodeIdentity> ranks;
  for (const std::string& host : hosts) ranks.push_back({host, ""});
  const NodeLayout nodes = group_by_node(ranks);
  run_ranks_as_threads(static_cast<int>(hosts.size()), [&](Bootstrap& bootstrap) {
    body(bootstrap, nodes, gpus[static_cast<std::size_t>(bootstrap.rank())]);
  });
}

TEST(GpuShareTest, RanksWithGpusOfTheirOwn_AreAlone) {
  on_ranks({"a", "a", "b"}, {"gpu 1", "gpu 2", "gpu 1"},
           [](Bootstrap& bootstrap, const NodeLayout& nodes, const std::string& gpu) {
             EXPECT_EQ(processes_on_gpu(bootstrap, nodes, gpu, Sharing::kRefused), 1);
           });
}

TEST(GpuShareTest, RanksOnTheHost_ShareNothing) {
  on_ranks({"a", "a"}, {"", ""},
           [](Bootstrap& bootstrap, const NodeLayout& nodes, const std::string& gpu) {
             EXPECT_EQ(processes_on_gpu(bootstrap, nodes, gpu, Sharing::kRefused), 1);
           });
}

// Whatever number each process knows the GPU by.
TEST(GpuShareTest, SharedGpu_IsAUsageErrorOnAllRanks_NamingTheTwo) {
  on_ranks({"a", "b", "b"}, {"gpu 1", "gpu 1", "gpu 1"},
           [](Bootstrap& bootstrap, const NodeLayout& nodes, const std::string& gpu) {
             const Error error = test::error_of([&] {
               static_cast<void>(processes_on_gpu(bootstrap, nodes, gpu, Sharing::kRefused));
             });
             EXPECT_EQ(error.kind(), ErrorKind::kUsage);
             EXPECT_EQ(error.reach(), Error::Reach::kAllRanks);
             EXPECT_TRUE(test::mentions(error, "ranks 1 and 2 share a GPU on b")) << error.what();
             EXPECT_TRUE(test::mentions(error, "--oversubscribe")) << error.what();
           });
}

TEST(GpuShareTest, SharedGpuThatIsAllowed_CountsItsProcesses) {
  on_ranks({"a", "a", "a"}, {"gpu 1", "gpu 2", "gpu 1"},
           [](Bootstrap& bootstrap, const NodeLayout& nodes, const std::string& gpu) {
             EXPECT_EQ(processes_on_gpu(bootstrap, nodes, gpu, Sharing::kAllowed),
                       bootstrap.rank() == 1 ? 1 : 2);
           });
}

}  // namespace
}  // namespace tandem::bench
