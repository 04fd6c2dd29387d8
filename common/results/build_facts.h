// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Written by the build, see cmake/BuildFacts.cmake: private to results.
namespace tandem::results {

[[nodiscard]] std::string built_by();  // compiler and build type: "GNU 12.2.0, Release"
// "commit 0123456789ab", with "-changed" after local changes.
[[nodiscard]] std::string built_from();

}  // namespace tandem::results
