// SPDX-License-Identifier: Apache-2.0
#include "bench/job/gpu_share.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"

namespace tandem::bench {

int processes_on_gpu(Bootstrap& bootstrap, const NodeLayout& nodes, const std::string& gpu,
                     Sharing sharing) {
  std::vector<std::string> all;
  int rank = 0;
  for (const std::string& theirs : bootstrap.all_gather(gpu)) {
    all.push_back(theirs.empty() ? "" : fmt::format("{} {}", nodes.node_of(rank), theirs));
    ++rank;
  }
  for (auto first = all.begin(); sharing == Sharing::kRefused && first != all.end(); ++first) {
    const auto second = first->empty() ? all.end() : std::find(std::next(first), all.end(), *first);
    if (second == all.end()) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("ranks {} and {} share a GPU on {}: start as many ranks per node as it "
                            "has GPUs, name others with --gpus, or pass --oversubscribe",
                            first - all.begin(), second - all.begin(),
                            nodes.hosts[static_cast<std::size_t>(
                                nodes.node_of(static_cast<int>(first - all.begin())))]),
                Error::Reach::kAllRanks);
  }
  const std::string& mine = all[static_cast<std::size_t>(bootstrap.rank())];
  return mine.empty() ? 1 : static_cast<int>(std::count(all.begin(), all.end(), mine));
}

}  // namespace tandem::bench
