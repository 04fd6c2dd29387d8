// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/model/model.h"

namespace tandem::bench {

// All models that have a name of their own, with their sizes, in lines for stdout: parameters, the
// parameters' bytes in fp32, floating-point operations of a sample's forward and backward, modules.
// The models that do not run on GPUs follow, with the reason. Where `own` is a workload file, that
// file is the first.
[[nodiscard]] std::string model_list(const std::string& own = {});

// {"flops_per_sample":8.45e6,"parameters":1585162}: floating-point operations of a sample's forward
// and backward, and the number of trained parameters.
[[nodiscard]] std::string size_in_json(const Model& model);

}  // namespace tandem::bench
