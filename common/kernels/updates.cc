// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/updates.h"

#include <cmath>

#include "common/base/vector_clones.h"

namespace tandem::host {

namespace {

TANDEM_VECTOR_CLONES
void sgd_update(std::int64_t count, const float* gradient, float* velocity, float* weight,
                float learning_rate, float momentum) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    const float v = momentum * velocity[i] + gradient[i];
    velocity[i] = v;
    weight[i] -= learning_rate * v;
  }
}

TANDEM_VECTOR_CLONES
void adam_update(std::int64_t count, const float* gradient, float* first, float* second,
                 float* weight, const AdamFactors f) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    const float m = first[i] + f.first_gain * (gradient[i] - first[i]);
    const float v = f.second_decay * second[i] + f.second_gain * gradient[i] * gradient[i];
    first[i] = m;
    second[i] = v;
    weight[i] = f.kept * weight[i] - f.step_size * m / (std::sqrt(v) / f.second_root + f.epsilon);
  }
}

}  // namespace

void run(const SgdUpdate& op) {
  for (const SgdUpdate::Tensor& t : op.tensors) {
    sgd_update(t.weight.size(), t.gradient.data(), t.velocity.data(), t.weight.data(),
               op.learning_rate, op.momentum);
  }
}

void run(const AdamUpdate& op) {
  AdamClock& clock = clock_of(op);
  advance(clock, op.rates);
  for (const AdamUpdate::Tensor& t : op.tensors) {
    adam_update(t.weight.size(), t.gradient.data(), t.first.data(), t.second.data(),
                t.weight.data(), clock.factors);
  }
}

}  // namespace tandem::host
