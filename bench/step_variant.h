// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step_flags.h"
#include "bench/step_options.h"

namespace tandem::bench {

// One way to train, as the flags say; of what the flags mean together, step_checks.h knows more.
// Throws usage errors.
[[nodiscard]] Variant variant_of(const StepFlags& flags);

// The first of --device-ids. Throws a usage error where that is no device.
[[nodiscard]] int root_of(const StepFlags& flags);

}  // namespace tandem::bench
