// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/sweep/plan.h"

namespace tandem::cli {

// PyTorch's counterpart of step_bench: tools/torch/step_twin in a python that has torch.
struct TorchTwin {
  std::string python;            // path or name, as exec finds it
  std::filesystem::path script;  // step_twin
  std::string name;              // implementation of the cells, "torch-2.15.0"
  // Variables "NAME=value" that torch's processes get beside those of every launch.
  std::vector<std::string> environment{};
};

// The value of --with-torch that leaves torch out.
inline constexpr std::string_view kNoTorch = "off";

// `python` is the value of --with-torch, not empty. Returns nothing, with one line on stderr that
// says why, where that python has no torch that is fit to be measured on that back end or launches
// would run on another machine: the sweep goes on without torch. Throws a usage error where there
// is no such program, except for the usual "python3".
[[nodiscard]] std::optional<TorchTwin> find_torch_twin(const std::string& python,
                                                       const LaunchSite& site,
                                                       const std::string& backend);

// The back end of a torch that takes steps but is not measured, however slow it is.
inline constexpr const char* kUnmeasured = "";

// The same where torch is what is measured: throws a usage error in place of going on without.
[[nodiscard]] TorchTwin needed_torch_twin(const std::string& python, const LaunchSite& site,
                                          const std::string& backend);

// A question to torch's side, which may take minutes.
struct TwinQuestion {
  std::vector<std::string> words;  // step_twin's arguments
  std::string what;                // in messages
  std::filesystem::path log;       // receives what torch's side prints
  std::chrono::seconds patience;
};

// Runs torch's side until it ends. Throws Interrupted.
[[nodiscard]] ChildResult ask_torch(const TorchTwin& twin, const TwinQuestion& question,
                                    const Interrupts& interrupts);

// Whether torch has the cell's strategy and options, whatever the machine.
[[nodiscard]] bool has_torch_counterpart(const results::Cell& cell);

// Why torch does not measure the cell on the host; empty on GPUs, and where torch does.
[[nodiscard]] std::string why_not_of_torch(const results::Cell& cell, bool is_host);

// Which cells get twins: all, or those of dp and ddp alone.
enum class TorchCells { kAll, kPairs };

// Adds the twin of every such cell that torch can measure, in the order of the cells; cells that
// torch cannot measure are dropped with a reason where all were to have one.
void add_torch_cells(PlannedCells& planned, const std::string& name, bool is_host,
                     TorchCells which);

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
