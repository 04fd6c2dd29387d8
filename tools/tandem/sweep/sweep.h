// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/options/values.h"
#include "common/results/launch_record.h"

namespace tandem::cli {

// The precision of cells that name none.
inline constexpr std::string_view kUsualPrecision = options::Name("precision")->value.usual;

struct SweepWorkload {
  std::string model;       // as in cells; before load_sweep a file's model is as written
  std::int64_t batch = 0;  // samples per step, over all devices or per device
  std::string precision{kUsualPrecision};
  bool is_per_device = false;  // whether `batch` is per device
};

struct SweepStrategy {
  std::string strategy;                        // a name of common/options/strategies.h
  std::string launch;                          // "threads" or "processes"
  std::map<std::string, std::string> options;  // further options of step_bench, by name
};

// The files of models, with their checksums, as step_bench's --model takes them; the key is the
// model's name in cells.
using ModelFiles = std::map<std::string, std::string>;

// The functions that return users' modules, as step_twin's --module takes them; the key is the
// module's name in cells.
using ModuleSources = std::map<std::string, std::string>;

// One condition of a constraint on a cell. The condition holds where the cell's value is one of
// `any_of` (unless that list is empty), above `above` and below `below`.
struct Condition {
  // "strategy", "launch", "model", "devices", "batch", "batch_per_device", or an option's name.
  std::string key;
  std::vector<std::string> any_of;
  std::optional<double> above;
  std::optional<double> below;
};

// Cells that meet all conditions are not measured, for this reason.
struct Constraint {
  std::vector<Condition> when;
  std::string reason;
};

[[nodiscard]] bool holds(const Constraint& constraint, const results::Cell& cell);

// The axes of a sweep: every strategy at every device count on every workload, except the cells
// that its constraints drop.
struct Sweep {
  std::string name;
  std::string description;
  std::vector<SweepWorkload> workloads;
  std::vector<int> devices;
  std::vector<SweepStrategy> strategies;
  std::vector<Constraint> constraints{};
  // Lists of models, the smallest first: after one model is out of memory, the models after it are
  // not tried.
  std::vector<std::vector<std::string>> model_series{};
  ModelFiles model_files{};  // filled in by load_sweep
  // Whether the workloads are users' modules, which PyTorch alone trains; then a workload's model
  // is the function that returns the module, until name_modules() names it as cells do.
  bool is_of_modules = false;
  ModuleSources modules{};              // filled in by name_modules
  std::vector<std::string> left_out{};  // axes that a strategy does not have, a line each
  int launches = 6;
  std::string min_time = "500ms";  // the samples' time per launch, after warm-up
  int min_samples = 10;
  bool with_torch = false;  // PyTorch's own strategies are measured, too, unless it is not there
  // The back end of a run that names none, and the time that it takes at most; empty: none.
  std::string backend{};
  std::string budget{};
};

// The counts of devices that a sweep is read for.
struct SweepDevices {
  int all = 0;   // the count that "all" means; 0: not known
  int most = 0;  // larger counts that the sweep names are left out; 0: none is
};

// The counts 1, 2, 4, ... and `all`.
[[nodiscard]] std::vector<int> doubling(int all);

// Reads a sweep file, in which devices are numbers from 1, "all", "1..all" or "doubling" (1, 2, 4,
// ... and all). Usage errors name `source` and the key. Unknown keys are errors: a misspelt key
// would silently measure something else.
[[nodiscard]] Sweep parse_sweep(std::string_view text, const std::string& source,
                                const SweepDevices& devices = {});

// `name` is a path where it holds a slash or ends in .json, else a sweep of the first of `folders`
// that has the sweep. Throws a usage error that lists the known sweeps. Models that are workload
// files lie relative to the sweep's folder; the sweep names such a model as results name it.
[[nodiscard]] Sweep load_sweep(const std::string& name,
                               const std::vector<std::filesystem::path>& folders,
                               const SweepDevices& devices = {});

// The names and descriptions of the sweeps in the first of `folders` that has any, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> list_sweeps(
    const std::vector<std::filesystem::path>& folders);

// The place where a sweep measures. definition_of() writes everything that decides what is measured
// as canonical JSON: two runs may share a journal where their definitions are equal.
struct SweepPlace {
  std::string backend;
  bool oversubscribe = false;
  std::string site{};                  // text_of(LaunchSite)
  std::string torch{};                 // name of PyTorch's cells; empty: none
  bool torch_has_pairs_alone = false;  // those cells are dp's and ddp's
};
[[nodiscard]] std::string definition_of(const Sweep& sweep, const SweepPlace& place);

}  // namespace tandem::cli
