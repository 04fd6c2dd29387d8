// SPDX-License-Identifier: Apache-2.0
//
// Workload files as step_bench's --model takes them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/step/step_options.h"
#include "common/model/model.h"
#include "common/model/workload.h"

namespace tandem::bench {

// The file's workload; nothing for a model's name. Throws usage errors where the file holds no
// workload.
[[nodiscard]] std::optional<Workload> read_workload(const std::string& model);

// The model that the options name. Throws usage errors where there is no such name or file, or
// where options of images are given to a model of none.
[[nodiscard]] std::unique_ptr<Model> make_model_for(const StepOptions& options);

}  // namespace tandem::bench
