// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

// Throws a usage error on all ranks where any rank was started with other options than rank 0, as a
// launcher may do: ranks with other options would call other collectives. Only rank 0 writes files,
// so the names of files may differ. Collective.
// Collective.
void check_same_options(Bootstrap& bootstrap, const StepOptions& options);

}  // namespace tandem::bench
