// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"

namespace tandem {

// All models that have a name of their own; docs/method/model-table.md lists them.
[[nodiscard]] std::vector<std::string> model_names();

// One of these models; mlp:LxW (L layers of W x W, such as mlp:4x1024); or a GPT-2 of shorter
// samples (gpt2.h, such as gpt2-124m:64). Any other name is a usage error that lists the
// models.
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& name);

}  // namespace tandem
