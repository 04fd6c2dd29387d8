// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"

namespace tandem {

// Runs `attempt` on every rank. Where `attempt` throws on any rank, every rank throws the first
// failure by rank, with its kind and with the reach all ranks; a lost peer is thrown only where
// nothing else failed. So no rank is left waiting for a rank that gave up. Collective.
void attempt_together(Bootstrap& bootstrap, const std::function<void()>& attempt);

// Runs `attempt` among ranks that exchange texts in another way: the exchange takes this rank's
// text and returns all texts by rank.
using AllGatherTexts = std::function<std::vector<std::string>(const std::string& mine)>;
void attempt_together(const AllGatherTexts& exchange, const std::function<void()>& attempt);

}  // namespace tandem
