// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

struct AdamUpdate;  // defined in operations.h

// AdamUpdate's factors of one step: made in double, then rounded, as torch does. The factors are
// apart from the operation, so that a GPU's kernels can hold them.
struct AdamFactors {
  explicit AdamFactors(const AdamUpdate& op);

  float kept;  // factor of the weight: 1 - learning_rate decay
  float first_gain;
  float second_decay;
  float second_gain;
  float step_size;
  float second_root;  // sqrt(1 - beta2^t)
  float epsilon;
};

}  // namespace tandem
