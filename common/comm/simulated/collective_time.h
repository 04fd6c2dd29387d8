// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/hardware/description.h"
#include "common/runtime/link_model.h"

namespace tandem::simulated {

// The link by which the ranks of a node exchange data in collectives: the one between peers, or to
// the host where there is none.
[[nodiscard]] LinkModel collective_link(const NodeDescription& node);

// The time of a collective among `ranks`, once all are there: that of a ring, of a chain for
// broadcast and reduce, and of the root's port for scatter and gather (runtime/link_model.h).
// Throws a usage error for a message, which is no collective.
[[nodiscard]] Nanoseconds collective_time(const LinkModel& link, const CollectiveRequest& request,
                                          int ranks);

}  // namespace tandem::simulated
