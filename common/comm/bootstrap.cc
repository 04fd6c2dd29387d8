// SPDX-License-Identifier: Apache-2.0
#include "common/comm/bootstrap.h"

#include <numeric>

#include "common/base/error.h"

namespace tandem {

void barrier(Bootstrap& bootstrap) { static_cast<void>(bootstrap.all_gather("")); }

int own_job_rank(const Bootstrap& bootstrap) {
  return bootstrap.job_ranks()[static_cast<std::size_t>(bootstrap.rank())];
}

std::vector<int> all_job_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<int> job_ranks_of_part(Bootstrap& bootstrap, int colour) {
  const std::string mine = std::to_string(colour);
  const std::vector<std::string> colours = bootstrap.all_gather(mine);
  std::vector<int> ranks;
  for (std::size_t peer = 0; peer < colours.size(); ++peer) {
    if (colours[peer] == mine) ranks.push_back(bootstrap.job_ranks()[peer]);
  }
  return ranks;
}

std::string broadcast(Bootstrap& bootstrap, const std::string& value, int root) {
  TANDEM_CHECK(root >= 0 && root < bootstrap.size(), "root {} of {} ranks", root, bootstrap.size());
  const bool mine = bootstrap.rank() == root;
  return bootstrap.all_gather(mine ? value : "")[static_cast<std::size_t>(root)];
}

}  // namespace tandem
