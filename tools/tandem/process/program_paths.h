// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::cli {

// Whether this user may run the file; a folder is no program.
[[nodiscard]] bool is_program(const std::filesystem::path& path);

// Whether some folder of PATH has a program of this name.
[[nodiscard]] bool is_in_path(const std::string& name);

// The folder of this program, whatever PATH and the working directory are.
[[nodiscard]] std::filesystem::path program_folder();

// The folders of named sweeps: beside the program (../share/tandem/sweeps), then in the source tree
// that the program was built from.
[[nodiscard]] std::vector<std::filesystem::path> sweep_folders();

// The folders of PyTorch's scripts: beside the program (../tools/torch), then in the source tree
// that the program was built from.
[[nodiscard]] std::vector<std::filesystem::path> torch_folders();

// `given`, or step_bench in the program's folder where `given` is empty. Throws a usage error where
// the file is missing.
[[nodiscard]] std::filesystem::path find_step_bench(const std::filesystem::path& given);

// The checksum of step_bench and of the CUDA module that it loads, which distinguishes a build from
// one made anew in the same folder. A starter in an archive of tools/bundle has that of what it
// starts.
[[nodiscard]] std::string checksum_of_programs(const std::filesystem::path& step_bench);

}  // namespace tandem::cli
