// SPDX-License-Identifier: Apache-2.0
//
// Parts of this program that are scripts of Python.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::cli {

struct PythonScript {
  std::filesystem::path file;
  std::vector<std::string> words{};  // its arguments
  std::string python{};              // runs the script where PATH has no python3
};

// Runs the script and returns what it wrote to stdout. Throws the error that the script told in its
// last line on stderr, a usage error by exit status 2.
[[nodiscard]] std::string output_of_script(const PythonScript& script);

// A script of PyTorch's side, tools/torch: beside this program, or in the source tree that the
// program was built from. Throws a usage error where none is there.
[[nodiscard]] std::filesystem::path torch_script(const std::string& name);

}  // namespace tandem::cli
