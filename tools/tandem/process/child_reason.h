// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tools/tandem/process/child_process.h"

namespace tandem::cli {

// Why a child did not do its work, in one line: the child's own words, or else how the child ended
// ("it did not end within 60 s", where `name` is "it").
[[nodiscard]] std::string reason_of(const ChildResult& result, std::string_view name,
                                    std::chrono::seconds deadline);

}  // namespace tandem::cli
