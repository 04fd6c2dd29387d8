// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem::results {

// The schema version of the journal and of the key `tandem` in results.json. Additions raise the
// minor number; renaming or removing a field raises the major number.
inline constexpr std::string_view kSchemaVersion = "1.7.0";

// Throws a failure that names `source` where the text is no version, or has a newer major number.
void check_schema_version(std::string_view version, std::string_view source);

}  // namespace tandem::results
