// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// The strategy that `variant` names, on this rank's devices. Where ranks are processes the call is
// collective, and a failure on one rank is thrown on all ranks.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(Job& job, const Model& model,
                                                      const Variant& variant);

// make_strategy() on all ranks, collectively: where one rank cannot build its strategy, for want of
// memory say, all ranks throw that rank's error.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy_together(Bootstrap& bootstrap, Job& job,
                                                               const Model& model,
                                                               const Variant& variant);

}  // namespace tandem::bench
