// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/results/launch_record.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

// How long a launch measures: `min_time`, a text such as "500ms", and `min_samples` bound the
// samples.
struct SampleTime {
  std::string min_time;
  int min_samples = 0;
};

// The time that a launch of each cell needs, before any measurement: starting, making the model,
// warm-up and samples, at the FLOP/s of an ordinary core or GPU. Asks step_bench about each model,
// until there is an interrupt. `backend` is a value of --backend.
[[nodiscard]] std::vector<Seconds> expected_times(const std::vector<results::Cell>& cells,
                                                  const SampleTime& samples,
                                                  const std::string& backend,
                                                  const Launcher& launcher,
                                                  const Interrupts& interrupts);

// The expected time of one cell's launch, where the model's size is known. Pure.
[[nodiscard]] Seconds expected_time(const results::Cell& cell, const ModelWork& size,
                                    const SampleTime& samples, bool is_host);

}  // namespace tandem::cli
