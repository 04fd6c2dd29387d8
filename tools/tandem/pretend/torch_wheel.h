// SPDX-License-Identifier: Apache-2.0
//
// The torch that a Python would import: versions and place, told without importing it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace tandem::cli {

struct TorchWheel {
  std::string python;
  std::string version;                            // "2.15.0"
  std::string cuda;                               // "13.2"; empty: built without CUDA
  std::filesystem::path folder{};                 // .../site-packages/torch
  std::map<std::string, std::string> packages{};  // nvidia-cudnn-cu13 -> 9.26.0.51
};

// Throws a usage error where there is no such Python, or no torch in it.
[[nodiscard]] TorchWheel find_torch_wheel(const std::string& python);

// The answer of the Python as the wheel; throws a usage error where it names no torch.
[[nodiscard]] TorchWheel parse_torch_wheel(const std::string& python, std::string_view answer);

// 13 of "13.2"; 0 where the wheel has no CUDA.
[[nodiscard]] int cuda_major(const TorchWheel& wheel);

// "runtime=13020,blas=130401,dnn=92600,nccl=23007": what the wheel's own libraries would tell.
[[nodiscard]] std::string library_versions(const TorchWheel& wheel);

// The Python that a command is run by: the command itself, or what the first line of the script
// names. Throws a usage error where neither is a Python.
[[nodiscard]] std::string python_of(const std::string& program);

}  // namespace tandem::cli
