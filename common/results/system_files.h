// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tandem::results {

// First line of a file of /proc or /sys, "" where it cannot be read: a fact that the system does
// not tell is absent from the record, it is no error.
[[nodiscard]] std::string first_line(const std::string& path);

// Value of the first "key : value" line of /proc/cpuinfo, "" where there is none.
[[nodiscard]] std::string cpuinfo_value(std::string_view key);

}  // namespace tandem::results
