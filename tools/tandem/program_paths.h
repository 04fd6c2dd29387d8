// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::cli {

// Whether this user may run it; a folder is no program.
[[nodiscard]] bool is_program(const std::filesystem::path& path);

// Whether some folder of PATH has a program of this name.
[[nodiscard]] bool is_in_path(const std::string& name);

// The folder that this program was started from, whatever PATH and the working directory are.
[[nodiscard]] std::filesystem::path program_folder();

// Where named sweeps are looked up: beside the program (../share/tandem/sweeps), then in the
// source tree that it was built from.
[[nodiscard]] std::vector<std::filesystem::path> sweep_folders();

// Where PyTorch's side is: beside the program (../tools/torch), then in that source tree.
[[nodiscard]] std::vector<std::filesystem::path> torch_folders();

// `given`, or step_bench in the program's folder where that is empty. Throws a usage error where
// it is not there.
[[nodiscard]] std::filesystem::path find_step_bench(const std::filesystem::path& given);

}  // namespace tandem::cli
