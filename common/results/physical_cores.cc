// SPDX-License-Identifier: Apache-2.0
#include "common/results/physical_cores.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "common/results/system_files.h"

namespace tandem::results {
namespace {

// The key of a core. All threads of a core show the same thread list, which no other core shows.
// Without that list the key is the package and the core's number, which may repeat between dies.
std::string core_of(int cpu, const std::filesystem::path& system) {
  const std::filesystem::path topology = system / fmt::format("cpu{}", cpu) / "topology";
  const std::string siblings = first_line((topology / "thread_siblings_list").string());
  if (!siblings.empty()) return siblings;
  const std::string core = first_line((topology / "core_id").string());
  const std::string package = first_line((topology / "physical_package_id").string());
  return core.empty() || package.empty() ? "" : fmt::format("package {} core {}", package, core);
}

}  // namespace

int physical_cores(const std::vector<int>& cpus, const std::filesystem::path& system) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const std::string core = core_of(cpu, system);
    if (core.empty()) return static_cast<int>(cpus.size());
    cores.insert(core);
  }
  return static_cast<int>(cores.size());
}

}  // namespace tandem::results
