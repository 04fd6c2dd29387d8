// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"

namespace tandem {

// The names of gpt2-nano, which is for tests, and of the published sizes gpt2-124m, gpt2-355m,
// gpt2-774m and gpt2-1558m (GPT-2's small, medium, large and XL).
[[nodiscard]] std::vector<std::string> gpt2_names();

// The GPT-2 of one of these names, with samples as long as its position table; or NAME:T, with
// samples of T tokens. Throws a usage error where the position table does not allow T; null for any
// other name.
[[nodiscard]] std::unique_ptr<Model> make_gpt2(const std::string& name);

}  // namespace tandem
