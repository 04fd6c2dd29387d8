// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step/step_flags.h"
#include "bench/step/step_options.h"

namespace tandem::bench {

// One way to train, as the flags say; step_checks.h knows which flags go together. Throws usage
// errors.
[[nodiscard]] Variant variant_of(const StepFlags& flags);

// The first device of --device-ids. Throws a usage error where that entry is no device.
[[nodiscard]] int root_of(const StepFlags& flags);

}  // namespace tandem::bench
