// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/launch_record.h"

namespace tandem::results {

// The machine's facts as this process sees them: the physical cores inside its affinity mask, not
// all of the machine's, and only a fixed list of the environment, so that no secret leaves the
// machine. The measuring program fills bound_cores, ping_pong_ns and its libraries.
[[nodiscard]] MachineFacts gather_machine_facts();

}  // namespace tandem::results
