// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/results/launch_record.h"
#include "tools/tandem/interrupts.h"
#include "tools/tandem/launcher.h"

namespace tandem::cli {

// How long a launch measures: the samples that `min_time`, a text as "500ms", and `min_samples`
// ask for.
struct SampleTime {
  std::string min_time;
  int min_samples = 0;
};

// Of a launch of each cell, before anything was measured: starting, making the model, warm-up and
// samples, at FLOP/s that an ordinary core or GPU reaches. Asks step_bench about each model, until
// there is an interrupt. `backend` as --backend takes it.
[[nodiscard]] std::vector<Seconds> expected_times(const std::vector<results::Cell>& cells,
                                                  const SampleTime& samples,
                                                  const std::string& backend,
                                                  const Launcher& launcher,
                                                  const Interrupts& interrupts);

// The same of one cell, whose model's size is known. Pure.
[[nodiscard]] Seconds expected_time(const results::Cell& cell, const ModelWork& size,
                                    const SampleTime& samples, bool is_host);

}  // namespace tandem::cli
