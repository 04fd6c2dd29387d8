// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/model/model.h"

namespace tandem {

// mlp-tiny, mlp-small, mlp-base, mlp-large, mlp:LxW (L layers of W x W, such as mlp:4x1024), or one
// of the small models: linear, counter, padded, custom. Anything else is a usage error that lists
// them.
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& name);

}  // namespace tandem
