// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/base/known_names.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder, absent)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    if (!files.empty()) break;
  }
  std::ranges::sort(files);
  return files;
}

// Gives models that are files the names that cells have.
void find_model_files(Sweep& sweep, const std::string& read, const fs::path& folder) {
  std::map<std::string, std::string> names;  // by written name: each file is read once
  const auto find = [&](std::string& model) {
    const auto [place, is_new] = names.try_emplace(model);
    if (is_new) place->second = with_checksum(model, read, folder);
    model = name_in_results(place->second);
    if (checksummed_file(place->second)) sweep.model_files[model] = place->second;
  };
  for (SweepWorkload& workload : sweep.workloads) find(workload.model);
  for (std::vector<std::string>& series : sweep.model_series) {
    for (std::string& model : series) find(model);
  }
  for (Constraint& constraint : sweep.constraints) {
    for (Condition& condition : constraint.when) {
      if (condition.key != "model") continue;
      for (std::string& model : condition.any_of) find(model);
    }
  }
}

Sweep load_file(const fs::path& path, const SweepDevices& devices) {
  // A sweep of ten thousand workloads, each in its own line, has about as many bytes as the limit.
  const std::string text = read_whole({.path = path, .begins = "reading sweep ", .most = mib(1)});
  Sweep sweep = parse_sweep(text, path.string(), devices);
  find_model_files(sweep, "sweep " + path.string(), path.parent_path());
  return sweep;
}

}  // namespace

Sweep load_sweep(const std::string& name, const std::vector<fs::path>& folders,
                 const SweepDevices& devices) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    return load_file(name, devices);
  }
  for (const fs::path& folder : folders) {
    const fs::path path = folder / (name + ".json");
    if (fs::exists(path)) return load_file(path, devices);
  }
  std::vector<std::string> known;
  for (const fs::path& file : files_in(folders)) known.push_back(file.stem().string());
  const std::vector<std::string_view> views(known.begin(), known.end());
  fail(
      ErrorKind::kUsage,
      "sweep '{}' is unknown{}; known are {} (tandem list sweeps describes them), or give the path "
      "of a .json file",
      name, did_you_mean(name, views), fmt::join(known, ", "));
}

std::vector<std::pair<std::string, std::string>> list_sweeps(const std::vector<fs::path>& folders) {
  constexpr int kSomeDevices = 8;
  std::vector<std::pair<std::string, std::string>> list;
  for (const fs::path& file : files_in(folders)) {
    list.emplace_back(file.stem().string(), load_file(file, {.all = kSomeDevices}).description);
  }
  return list;
}

}  // namespace tandem::cli
