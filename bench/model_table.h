// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/model/model.h"

namespace tandem::bench {

// All models that have a name of their own, with their sizes, as the Markdown table that
// METHODOLOGY.md has as well: parameters, bytes of them in fp32, floating-point operations of a
// sample's forward and backward, modules; of a step in fp32 the operations (forward + loss +
// backward + update) and what the update reads and writes; behind it, those that do not run on
// GPUs, and why. Where `own` is a workload file, a row of it comes first.
[[nodiscard]] std::string model_table(const std::string& own = {});

// {"flops_per_sample":8.45e6,"parameters":1585162}: floating-point operations of a sample's forward
// and backward, trained numbers.
[[nodiscard]] std::string size_in_json(const Model& model);

}  // namespace tandem::bench
