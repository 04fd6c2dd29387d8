// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/model/workload.h"

namespace tandem {

// The newest version of the format that is read.
inline constexpr int kWorkloadVersion = 1;

// A workload from the text of its file (docs/workload-files.md). Any value that is missing,
// unknown, of another type, out of range or at odds with the rest is a usage error of one line,
// which begins with `source` and names the place in the document.
[[nodiscard]] Workload parse_workload(std::string_view text, const std::string& source);

}  // namespace tandem
