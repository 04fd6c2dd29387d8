// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem::results {

// Of the journal and of results.json's key `tandem`. Additions raise the minor number; a field
// that is renamed or removed raises the major one.
inline constexpr std::string_view kSchemaVersion = "1.7.0";

// Throws a failure that names `source` where the version is not one, or of a newer major number.
void check_schema_version(std::string_view version, std::string_view source);

}  // namespace tandem::results
