// SPDX-License-Identifier: Apache-2.0
#include "common/comm/bootstrap.h"

#include "common/base/check.h"

namespace tandem {

void barrier(Bootstrap& bootstrap) { static_cast<void>(bootstrap.all_gather("")); }

std::string broadcast(Bootstrap& bootstrap, const std::string& value, int root) {
  TANDEM_CHECK(root >= 0 && root < bootstrap.size(), "root {} of {} ranks", root, bootstrap.size());
  const bool mine = bootstrap.rank() == root;
  return bootstrap.all_gather(mine ? value : "")[static_cast<std::size_t>(root)];
}

}  // namespace tandem
