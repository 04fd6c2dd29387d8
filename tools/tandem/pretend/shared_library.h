// SPDX-License-Identifier: Apache-2.0
//
// The dynamic symbols of a shared library, read from its file: what it exports, what it takes from
// which other library, and which libraries it names. The library is not loaded.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::cli {

struct DynamicSymbol {
  std::string name;
  std::string version;  // "libcudart.so.13"; empty: none
};

struct SharedLibrary {
  std::vector<DynamicSymbol> exported;
  std::vector<DynamicSymbol> imported;
  std::vector<std::string> needed;  // sonames
};

// Throws a failure where the file is no shared library of a 64-bit little-endian machine.
[[nodiscard]] SharedLibrary read_shared_library(const std::filesystem::path& path);

}  // namespace tandem::cli
