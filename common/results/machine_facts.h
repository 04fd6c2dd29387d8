// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/launch_record.h"

namespace tandem::results {

// The CPU's facts as this process sees them: physical cores inside its affinity mask, not the
// machine's. Of the environment a named list only, so that no secret leaves the machine. Filled by
// the program that measures: bound_cores, ping_pong_ns and the libraries that it uses.
[[nodiscard]] MachineFacts gather_machine_facts();

}  // namespace tandem::results
