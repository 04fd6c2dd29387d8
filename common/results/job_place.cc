// SPDX-License-Identifier: Apache-2.0
#include "common/results/job_place.h"

#include <cstdlib>
#include <system_error>

#include "common/results/system_files.h"

namespace tandem::results {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add(std::string& text, const std::string& before, const char* name, const std::string& after) {
  const std::string value = variable(name);
  if (!value.empty()) text.append(", ").append(before).append(value).append(after);
}

}  // namespace

int count_numa_nodes(const std::filesystem::path& root) {
  int count = 0;
  std::error_code absent;
  const std::filesystem::path folder = root / "sys/devices/system/node";
  while (std::filesystem::exists(folder / ("node" + std::to_string(count)), absent)) ++count;
  return count;
}

std::string huge_pages(const std::filesystem::path& root) {
  const std::string line = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return line.substr(open + 1, close - open - 1);
}

std::string container(const std::filesystem::path& root) {
  std::error_code absent;
  if (!variable("APPTAINER_NAME").empty() || !variable("SINGULARITY_NAME").empty()) {
    return "apptainer";
  }
  if (std::filesystem::exists(root / "run/.containerenv", absent)) return "podman";
  if (std::filesystem::exists(root / ".dockerenv", absent)) return "docker";
  return variable("container");
}

std::string slurm_job() {
  std::string text = variable("SLURM_JOB_ID");
  if (text.empty()) return text;
  add(text, "step ", "SLURM_STEP_ID", "");
  add(text, "partition ", "SLURM_JOB_PARTITION", "");
  add(text, "", "SLURM_JOB_NUM_NODES", " nodes");
  return text;
}

}  // namespace tandem::results
