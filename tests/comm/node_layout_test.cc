// SPDX-License-Identifier: Apache-2.0
#include "common/comm/node_layout.h"

#include <gtest/gtest.h>

#include "common/comm/thread_bootstrap.h"

namespace tandem::test {
namespace {

using Ints = std::vector<int>;

NodeLayout layout_of(const std::vector<std::string>& hosts) {
  std::vector<NodeIdentity> ranks;
  for (const std::string& host : hosts) ranks.push_back({host, ""});
  return group_by_node(ranks);
}

TEST(NodeLayoutTest, Nodes_AreNumberedByTheirLowestRank) {
  const NodeLayout layout = layout_of({"b", "b", "a", "a"});
  EXPECT_EQ(layout.node_of_rank, (Ints{0, 0, 1, 1}));
  EXPECT_EQ(layout.hosts, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(layout.nodes(), 2);
}

TEST(NodeLayoutTest, DealtInTurn_LocalRanksCountTheOwnNodeAlone) {
  const NodeLayout layout = layout_of({"a", "b", "c", "a", "b", "a"});
  EXPECT_EQ(layout.ranks_of(0), (Ints{0, 3, 5}));
  EXPECT_EQ(layout.ranks_of(1), (Ints{1, 4}));
  Ints local;
  for (int rank = 0; rank < 6; ++rank) local.push_back(layout.local_rank(rank));
  EXPECT_EQ(local, (Ints{0, 0, 0, 1, 1, 2}));
}

TEST(NodeLayoutTest, OneName_ButMemoryThatIsNotShared_AreTwoNodes) {
  const NodeLayout layout = group_by_node({{"a", "boot 1"}, {"a", "boot 2"}, {"a", "boot 1"}});
  EXPECT_EQ(layout.node_of_rank, (Ints{0, 1, 0}));
  EXPECT_EQ(layout.hosts, (std::vector<std::string>{"a", "a"}));
}

TEST(NodeLayoutTest, RanksOfOneProcess_ShareItsNode) {
  run_ranks_as_threads(3, [](Bootstrap& bootstrap) {
    const NodeLayout layout = find_nodes(bootstrap);
    EXPECT_EQ(layout.node_of_rank, (Ints{0, 0, 0}));
    EXPECT_EQ(layout.hosts.front(), own_node().host);
  });
}

}  // namespace
}  // namespace tandem::test
