// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/model/model.h"

namespace tandem {

// The small models that users of DataParallel trip over.

// torch's Linear(10, 5).
[[nodiscard]] std::unique_ptr<Model> make_linear();

// Linear(10, 20) on each of a sample's 40 positions, like a layer on a padded sequence.
[[nodiscard]] std::unique_ptr<Model> make_padded();

// A parameter of the model's own, 100 in and 50 out, that is multiplied with no layer around it,
// then Linear(50, 50). The parameter is stored (out, in), as all weights are here.
[[nodiscard]] std::unique_ptr<Model> make_custom();

}  // namespace tandem
