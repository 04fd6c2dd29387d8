// SPDX-License-Identifier: Apache-2.0
//
// A sweep of users' modules, which PyTorch alone trains: its axes from the command line, the names
// of its modules, and its cells.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/sweep/plan.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// The options of `tandem run` that go with --module.
struct ModuleOptions {
  std::string source{};              // FILE.py:FUNCTION or MODULE:FUNCTION; empty: a sweep is run
  std::string batch{};               // "16,64": samples over all devices
  std::string batch_per_device{};    // the same per device; one of the two
  std::vector<std::string> cells{};  // cells beside torch's strategies with its default options
};

// Torch's strategies on the module at 1, 2, 4, ... and `devices` devices; 0: not known. Throws a
// usage error for options without a meaning.
[[nodiscard]] Sweep module_sweep(const ModuleOptions& options, int devices);

// A sweep of Tandem's models, `like`, with the module in their place: its devices, launches, times,
// back end and budget, and of its strategies those that torch has. Throws a usage error for options
// without a meaning, and for a sweep that names modules of its own.
[[nodiscard]] Sweep with_module(Sweep like, const ModuleOptions& options);

// The facts about a module, by its source, with the smallest share of a device that the sweep has.
using AskAboutModule = std::function<ModuleFacts(const std::string& source, std::int64_t share)>;

// Names the sweep's modules as cells do, and returns the facts of each, in that order. Sources are
// files below `folder`, or modules that python finds.
std::vector<ModuleFacts> name_modules(Sweep& sweep, const std::filesystem::path& folder,
                                      const AskAboutModule& ask);

// Makes the cells those of the implementation, such as "torch-2.15.0"; drops, with a reason, those
// that torch cannot measure here. ddp looks for parameters without a gradient where a module has
// some, which is said on stderr.
void make_torch_cells(PlannedCells& planned, const std::string& implementation, bool is_host,
                      const std::vector<ModuleFacts>& modules);

}  // namespace tandem::cli
