// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step_options.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

// Throws a usage error on all ranks where any was started with other options than rank 0, as a
// launcher may do: it would call other collectives. Only rank 0 writes files, so they may differ.
// Collective.
void check_same_options(Bootstrap& bootstrap, const StepOptions& options);

}  // namespace tandem::bench
