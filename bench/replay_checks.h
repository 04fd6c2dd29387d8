// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step_flags.h"
#include "bench/step_options.h"

namespace tandem::bench {

// --cuda-graph=on: usage errors for what a replayed step cannot have, each with its reason. What
// only an open device or communicator tells, the strategy refuses.
void check_replay(const StepFlags& flags, const Variant& variant, Launch launch);

}  // namespace tandem::bench
