// SPDX-License-Identifier: Apache-2.0
//
// Pretended GPUs: a command of Python runs on libraries that stand in for CUDA's, compute nothing
// and log what torch asks of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/tandem/pretend/torch_wheel.h"

namespace tandem::cli {

inline constexpr int kMostPretendedGpus = 64;

struct PretendOptions {
  int gpus = 8;
  std::string like = "a100";
  std::string log{};                 // each process writes LOG.PID; empty: no log
  std::filesystem::path root = "/";  // where a real GPU is looked for
  bool beside_gpu = false;           // also where there is a real GPU
  std::string python{};              // the Python with torch; empty: the command's
  std::vector<std::string> command{};
};

// The variables, as "NAME=value", that make torch of `options.python` see pretended GPUs: all that
// this process has, with those of the libraries. Throws a usage error where it cannot be: a real
// GPU, a torch without CUDA, or one whose functions are not known.
[[nodiscard]] std::vector<std::string> pretend_environment(const PretendOptions& options);

// The same without the variables that this process has and that stay as they are.
[[nodiscard]] std::vector<std::string> pretend_variables(const PretendOptions& options);

// Throws a usage error, with the mend, where no libraries can stand in for the wheel's.
void check_wheel(const TorchWheel& wheel);

// The variables for a wheel that was found and libraries that lie in `libraries`.
[[nodiscard]] std::vector<std::string> environment_for(const PretendOptions& options,
                                                       const TorchWheel& wheel,
                                                       const std::filesystem::path& libraries,
                                                       const std::vector<std::string>& environment);

// `tandem pretend`: replaces this process by the command. Returns only by an error.
[[noreturn]] void run_pretend(PretendOptions options);

}  // namespace tandem::cli
