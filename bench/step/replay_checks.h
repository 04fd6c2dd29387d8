// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step/step_flags.h"
#include "bench/step/step_options.h"

namespace tandem::bench {

// --cuda-graph=on: throws usage errors, each with its reason, for options that a replayed step
// cannot have. The strategy refuses what only an open device or communicator tells.
void check_replay(const StepFlags& flags, const Variant& variant, Launch launch);

}  // namespace tandem::bench
