// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/job.h"
#include "bench/step_options.h"
#include "common/model/model.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// The strategy that `variant` names, on this rank's devices. Collective where ranks are processes:
// a failure on one rank is thrown on all.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(Place& place, Launch launch,
                                                      const Model& model, const Variant& variant);

// The same on all ranks, collectively: where one cannot build its own, for want of memory say, all
// throw that reason.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy_together(Bootstrap& bootstrap, Place& place,
                                                               Launch launch, const Model& model,
                                                               const Variant& variant);

}  // namespace tandem::bench
