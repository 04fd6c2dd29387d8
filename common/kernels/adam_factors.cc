// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/adam_factors.h"

#include <cmath>

#include "common/kernels/operations.h"

namespace tandem {
namespace {

double correction(double beta, std::int64_t step) {
  return 1 - std::pow(beta, static_cast<double>(step));
}

}  // namespace

AdamFactors::AdamFactors(const AdamUpdate& op)
    : kept(static_cast<float>(1 - op.learning_rate * op.decay)),
      first_gain(static_cast<float>(1 - op.beta1)),
      second_decay(static_cast<float>(op.beta2)),
      second_gain(static_cast<float>(1 - op.beta2)),
      step_size(static_cast<float>(op.learning_rate / correction(op.beta1, op.step))),
      second_root(static_cast<float>(std::sqrt(correction(op.beta2, op.step)))),
      epsilon(static_cast<float>(op.epsilon)) {}

}  // namespace tandem
