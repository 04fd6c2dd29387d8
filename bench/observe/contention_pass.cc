// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/contention_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iostream>

#include "bench/driver/abort_on_error.h"
#include "bench/driver/sampler.h"
#include "bench/observe/contention.h"
#include "bench/step/cell_facts.h"
#include "bench/step/strategy_factory.h"
#include "common/comm/bootstrap.h"
#include "common/comm/switched_communicator.h"
#include "common/results/files.h"

namespace tandem::bench {
namespace {

// Ranks that are threads have communicators of their own, which this factory makes.
ddp::RankCommunicator switched(const Variant& variant, const SwitchedCommunicator::Switch& is_on) {
  return [&variant, is_on](Bootstrap& bootstrap, Device& device) {
    auto other = variant.communicator ? variant.communicator(bootstrap, device)
                                      : make_communicator(Transport::kAuto, bootstrap, device,
                                                          {.deadline = variant.deadline});
    return std::make_unique<SwitchedCommunicator>(std::move(other), is_on);
  };
}

class MeasuredBlocks {
 public:
  MeasuredBlocks(Strategy& strategy, Place& place, const StepOptions& options,
                 std::atomic<bool>& is_on)
      : strategy_(strategy),
        sampler_(strategy, *place.communicator, std::max(1, options.free_running),
                 clocks_of(place)),
        is_on_(is_on) {
    static_cast<void>(sampler_.warm_up(options.warmup_steps, options.warmup_time));
  }

  // The first sample after the switch is dropped: the other setting left its caches and weights.
  void take(const ContentionPlan& plan, int index) {
    is_on_ = ContentionPlan::is_on(index);
    static_cast<void>(sampler_.sample());
    forget_times(strategy_);
    for (int i = 0; i < plan.samples; ++i) {
      static_cast<void>(sampler_.sample());
      books_.add_sample(strategy_);
    }
  }

  [[nodiscard]] const Books& books() const { return books_; }

 private:
  Strategy& strategy_;
  Sampler sampler_;
  std::atomic<bool>& is_on_;
  Books books_;
};

std::vector<DeviceBooks> take_blocks(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                                     const Model& model, const ContentionPlan& plan) {
  const auto is_on = std::make_shared<std::atomic<bool>>(true);
  if (options.place.launch == Launch::kProcesses) {
    place.communicator =
        std::make_unique<SwitchedCommunicator>(std::move(place.communicator), is_on);
  }
  Variant variant = options.variant;
  variant.communicator = switched(options.variant, is_on);
  const auto strategy =
      make_strategy_together(bootstrap, place, options.place.launch, model, variant);
  return aborting_on_error(
      place.farewell, [&] { abort(place); },
      [&] {
        MeasuredBlocks blocks(*strategy, place, options, *is_on);
        for (int index = 0; index < 2 * plan.pairs; ++index) blocks.take(plan, index);
        *is_on = true;
        return blocks.books().gather_phases(bootstrap);
      });
}

}  // namespace

void measure_contention(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                        const Model& model) {
  const ContentionPlan plan{.pairs = options.contention_pairs};
  const auto books = take_blocks(bootstrap, place, options, model, plan);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    const Contention found = contention_of(books, plan);
    results::replace_file(options.contention_file, to_json(found, cell_facts(place, options)));
    std::cout << '\n' << to_text(found) << std::flush;
    std::cerr << fmt::format("contention: {}\n", options.contention_file);
  });
}

}  // namespace tandem::bench
