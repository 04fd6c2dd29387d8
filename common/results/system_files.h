// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tandem::results {

// The first line of a file of /proc or /sys, "" where the file cannot be read: a fact that the
// system does not tell is absent from the record and is no error.
[[nodiscard]] std::string first_line(const std::string& path);

// The value of the first "key : value" line of /proc/cpuinfo, "" where the key is missing.
[[nodiscard]] std::string cpuinfo_value(std::string_view key);

}  // namespace tandem::results
