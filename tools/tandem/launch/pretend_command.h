// SPDX-License-Identifier: Apache-2.0
//
// Pretended GPUs: a command of Python runs on libraries that stand in for CUDA's, compute nothing
// and log what torch asks of them. The project in pretend/ has the libraries and what starts them.
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

inline constexpr int kMostPretendedGpus = 64;

struct PretendOptions {
  int gpus = 8;
  std::string like = "a100";
  std::string log{};        // each process writes LOG.PID; empty: no log
  bool beside_gpu = false;  // also where there is a real GPU
  std::string python{};     // the Python with torch; empty: the command's
  std::vector<std::string> command{};
};

// The variables, as "NAME=value", that make torch of `options.python` see pretended GPUs beside
// those of this process. Throws a usage error where it cannot be: a real GPU, a torch without CUDA,
// or one whose functions are not known.
[[nodiscard]] std::vector<std::string> pretend_variables(const PretendOptions& options);

// `tandem pretend`: replaces this process by the command. Returns only by an error.
[[noreturn]] void run_pretend(const PretendOptions& options);

}  // namespace tandem::cli
