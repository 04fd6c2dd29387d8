// SPDX-License-Identifier: Apache-2.0
//
// Workload files as step_bench's --model takes them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/model/workload.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// The file's workload; nothing for a model's name. Throws usage errors where the file holds no
// workload.
[[nodiscard]] std::optional<Workload> read_workload(const std::string& model);

// Throws usage errors where the options' model cannot be trained as the options say: no such name
// or file, a file of seconds alone for devices that are not simulated, a precision or a share of
// the batch at which the workload was not measured.
void check_model(const StepOptions& options);

// The model that the options name, which check_model() has accepted.
[[nodiscard]] std::unique_ptr<Model> make_model_for(const StepOptions& options);

// Where a simulation is of a workload file with seconds: has its operations take these. Throws a
// usage error where they are of another device than the one that is simulated and no --single-step
// says what they are shares of.
void take_workload_times(StepOptions& options);

// The seconds of a measured workload as a calibration has them, at each batch of the file: a pass's
// seconds are shared out evenly over its products (plan_replay), and its other operations take no
// time. Loss and update are not among them.
[[nodiscard]] MeasuredModel times_of_passes(const Workload& workload, Precision precision,
                                            const OptimizerOptions& optimizer);

}  // namespace tandem::bench
