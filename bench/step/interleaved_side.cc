// SPDX-License-Identifier: Apache-2.0
#include "bench/step/interleaved_side.h"

#include <algorithm>

#include "bench/step/strategy_factory.h"

namespace tandem::bench {

InterleavedSide::InterleavedSide(Place& place, const StepOptions& options, const Model& model,
                                 const Variant& variant)
    : strategy_(make_strategy(place, options.place.launch, model, variant)),
      sampler_(*strategy_, *place.communicator, std::max(1, options.free_running),
               clocks_of(place)) {}

void InterleavedSide::warm_up(const StepOptions& options) {
  static_cast<void>(sampler_.warm_up(options.warmup_steps, options.warmup_time));
}

void InterleavedSide::end_round() {
  seconds_.push_back(current_ / 2);
  current_ = 0;
  forget_times(*strategy_);  // marks are read after each sample in a timed run too
}

}  // namespace tandem::bench
