// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "common/comm/bootstrap.h"

namespace tandem {

// Runs `attempt` on every rank. Where it throws on any, the first failure by rank is thrown on all,
// its kind kept and its reach all ranks, and a lost peer only where nothing else failed: nobody is
// left waiting for a rank that gave up. Collective.
void attempt_together(Bootstrap& bootstrap, const std::function<void()>& attempt);

}  // namespace tandem
