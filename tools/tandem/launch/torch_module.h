// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

// What PyTorch's side says of a user's module before the first launch.
struct ModuleFacts {
  std::string name;            // in cells: "own.py:build#0123456789abcdef", by the file's content
  std::string unused;          // a parameter that a step gives no gradient; empty: all have one
  bool has_optimizer = false;  // the function returns an optimizer of its own
  std::string optimizer{};     // by its option, "adamw", or by its class, "RMSprop"
};

// Where and with how many samples the step is taken.
struct ModuleStep {
  std::int64_t batch = 1;
  std::string backend;  // a value of --backend
  // Where the module is written as a workload file; empty: nowhere.
  std::filesystem::path export_to{};
  std::chrono::seconds patience{};  // a step that takes longer fails
};

// Makes the module and takes one step of it on one device. `source` is FILE.py:FUNCTION or
// MODULE:FUNCTION. Throws the error that PyTorch's side says: a usage error where there is no such
// function, a failure where the function or the step fails.
[[nodiscard]] ModuleFacts facts_of_module(const TorchTwin& twin, const std::string& source,
                                          const ModuleStep& step, const Interrupts& interrupts);

// The file's name without its ending, or the last part of a module's name: "own" of
// "a/own.py:build".
[[nodiscard]] std::string short_name(const std::string& source);

// The source with the file's absolute path, of a file below `folder`; a module's name unchanged.
[[nodiscard]] std::string absolute_source(const std::string& source,
                                          const std::filesystem::path& folder);

}  // namespace tandem::cli
