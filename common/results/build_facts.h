// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Written by the build, see cmake/BuildFacts.cmake: private to results.
namespace tandem::results {

[[nodiscard]] std::string built_by();    // the compiler: "GNU 12.2.0, Release"
[[nodiscard]] std::string built_from();  // "commit 0123456789ab", "-changed" where it was

}  // namespace tandem::results
