// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/model/linear_stack.h"

namespace tandem {

// Linear layers with ReLU between them. widths[0] is the input, widths[i] the i-th layer's output;
// layer i holds weight (widths[i+1], widths[i]) and bias (widths[i+1]), registered in that order.
class Mlp final : public LinearStack {
 public:
  Mlp(std::string name, const std::vector<std::int64_t>& widths);
};

}  // namespace tandem
