// SPDX-License-Identifier: Apache-2.0
#include "common/comm/waited_in_vain.h"

#include <fmt/format.h>

#include "common/base/units.h"

namespace tandem {

std::string waited_in_vain(int rank, Nanoseconds waited, const CollectiveCall& call) {
  const std::string number = call.sequence > 0 ? fmt::format("#{}, ", call.sequence) : "";
  return fmt::format(
      "rank {} waited {} in {} ({}{}) for ranks that are lost or late: look at their output, or "
      "for one that was killed or stopped",
      rank, to_string(Seconds(waited)), call.name, number, to_string(call.size));
}

}  // namespace tandem
