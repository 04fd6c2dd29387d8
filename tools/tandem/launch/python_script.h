// SPDX-License-Identifier: Apache-2.0
//
// Parts of this program that are scripts of Python. One of them makes pretended GPUs: a command of
// Python runs on libraries that stand in for CUDA's, compute nothing and log what torch asks of
// them. The project in pretend/ has the libraries and what starts them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::cli {

struct PythonScript {
  std::filesystem::path file;
  std::vector<std::string> words{};  // its arguments
  std::string python{};              // runs the script where PATH has no python3
};

// Runs the script and returns what it wrote to stdout. Throws the error that the script printed in
// its last line on stderr, a usage error by exit status 2.
[[nodiscard]] std::string output_of_script(const PythonScript& script);

// A script of PyTorch's side, tools/torch: beside this program, or in the source tree that the
// program was built from. Throws a usage error where none is there.
[[nodiscard]] std::filesystem::path torch_script(const std::string& name);

inline constexpr int kMostPretendedGpus = 64;

struct PretendOptions {
  int gpus = 8;
  std::string like = "a100";
  std::string log{};                 // each process writes LOG.PID; empty: no log
  bool beside_gpu = false;           // also where there is a real GPU
  bool check = false;                // find ranks that wait for each other
  std::optional<double> patience{};  // of check, in seconds, for a rank that is late
  std::string python{};              // the Python with torch; empty: the command's
  std::vector<std::string> command{};
};

// The variables, as "NAME=value", that make torch of `options.python` see pretended GPUs beside
// those of this process. Throws a usage error where it cannot be: a real GPU, a torch without CUDA,
// or one whose functions are not known.
[[nodiscard]] std::vector<std::string> pretend_variables(const PretendOptions& options);

// `tandem pretend`: replaces this process by the command. Returns only by an error.
[[noreturn]] void run_pretend(const PretendOptions& options);

}  // namespace tandem::cli
