// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "common/kernels/operations.h"

namespace tandem {

// AdamUpdate's factors of one step: made in double, then rounded, as torch does.
struct AdamFactors {
  explicit AdamFactors(const AdamUpdate& op)
      : first_gain(static_cast<float>(1 - op.beta1)),
        second_decay(static_cast<float>(op.beta2)),
        second_gain(static_cast<float>(1 - op.beta2)),
        step_size(static_cast<float>(op.learning_rate / correction(op.beta1, op.step))),
        second_root(static_cast<float>(std::sqrt(correction(op.beta2, op.step)))),
        epsilon(static_cast<float>(op.epsilon)) {}

  static double correction(double beta, std::int64_t step) {
    return 1 - std::pow(beta, static_cast<double>(step));
  }

  float first_gain;
  float second_decay;
  float second_gain;
  float step_size;
  float second_root;  // sqrt(1 - beta2^t)
  float epsilon;
};

}  // namespace tandem
