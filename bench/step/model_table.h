// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/model/model.h"

namespace tandem::bench {

// All models that have a name of their own, with their sizes, as a Markdown table: parameters, the
// parameters' bytes in fp32, floating-point operations of a sample's forward and backward, modules.
// The models that do not run on GPUs follow the table, with the reason. Where `own` is a workload
// file, the table's first row is that file.
[[nodiscard]] std::string model_table(const std::string& own = {});

// {"flops_per_sample":8.45e6,"parameters":1585162}: floating-point operations of a sample's forward
// and backward, and the number of trained parameters.
[[nodiscard]] std::string size_in_json(const Model& model);

}  // namespace tandem::bench
