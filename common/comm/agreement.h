// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"

namespace tandem {

// Runs `attempt` on every rank. Where it throws on any, the first failure by rank is thrown on all,
// its kind kept and its reach all ranks, and a lost peer only where nothing else failed: nobody is
// left waiting for a rank that gave up. Collective.
void attempt_together(Bootstrap& bootstrap, const std::function<void()>& attempt);

// The same among ranks that exchange texts in another way: takes this rank's, gives all by rank.
using AllGatherTexts = std::function<std::vector<std::string>(const std::string& mine)>;
void attempt_together(const AllGatherTexts& exchange, const std::function<void()>& attempt);

}  // namespace tandem
