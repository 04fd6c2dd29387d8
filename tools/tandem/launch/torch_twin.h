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

// The cells that get twins: all, or those of dp and ddp alone.
enum class TorchCells { kAll, kPairs };

// Adds the twin of every such cell that torch can measure, in the order of the cells; cells that
// torch cannot measure are dropped with a reason where all were to have one.
void add_torch_cells(PlannedCells& planned, const std::string& name, bool is_host,
                     TorchCells which);

// The peaks of memory in a step of torch's wrappers, with as many samples of each device as the
// facts have. 0 where they were not asked for.
struct WrappedPeaks {
  std::int64_t dp_root = 0;    // on device 0, of two devices
  std::int64_t dp_other = 0;   // on the other
  std::int64_t dp_device = 0;  // what each device more adds on device 0
  std::int64_t ddp = 0;
};

// The answer of PyTorch's side about a user's module before the first launch.
struct ModuleFacts {
  std::string name;            // in cells: "own.py:build#0123456789abcdef", by the file's content
  std::string unused;          // a parameter that a step gives no gradient; empty: all have one
  bool has_optimizer = false;  // the function returns an optimizer of its own
  std::string optimizer{};     // by its option, "adamw", or by its class, "RMSprop"
  // An export also counts the kernels of a step, the tensors that a step gives no gradient, and the
  // values that it reads back from pretended GPUs, which computed none.
  std::int64_t kernels = 0;
  std::int64_t unused_tensors = 0;
  std::int64_t reads = 0;
  bool has_tf32 = false;  // among the types of the kernels
  // The peak of the device's memory in a step of `batch` samples, and what one sample more adds; 0
  // where the host took the step.
  std::int64_t peak_bytes = 0;
  std::int64_t sample_bytes = 0;
  std::int64_t batch = 0;
  WrappedPeaks wrapped{};
  std::string trouble{};  // why a wrapper of torch, or a pretended GPU, does not train it
};

// The device and the number of samples of the step.
struct ModuleStep {
  std::int64_t batch = 1;
  std::string backend;      // a value of --backend, or of pretended GPUs
  std::string precision{};  // empty: fp32
  // Where the module is written as a workload file; empty: nowhere.
  std::filesystem::path export_to{};
  std::chrono::seconds patience{};  // a step that takes longer fails
};

// The option of torch's ddp for a module with parameters that a step gives no gradient.
inline constexpr const char* kFindUnused = "find-unused-parameters";

// Says on stderr, for a module with such parameters, that ddp has this option.
void say_unused(const ModuleFacts& facts);

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
