// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

struct AdamUpdate;  // operations.h

// AdamUpdate's factors of one step: made in double, then rounded, as torch does. Apart from the
// operation, so that kernels of a GPU can hold them.
struct AdamFactors {
  explicit AdamFactors(const AdamUpdate& op);

  float kept;  // of the weight: 1 - learning_rate decay
  float first_gain;
  float second_decay;
  float second_gain;
  float step_size;
  float second_root;  // sqrt(1 - beta2^t)
  float epsilon;
};

}  // namespace tandem
