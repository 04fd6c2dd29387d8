// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

// Private to results: the place where a process runs, from files and variables below a root.
namespace tandem::results {

// The number of the machine's NUMA nodes; 0 where the system does not tell.
[[nodiscard]] int count_numa_nodes(const std::filesystem::path& root = "/");

// The active setting in transparent_hugepage/enabled; "" without that file.
[[nodiscard]] std::string huge_pages(const std::filesystem::path& root = "/");

// The container's kind: "docker", "podman", "apptainer", or the value of the variable `container`;
// "" where no container shows.
[[nodiscard]] std::string container(const std::filesystem::path& root = "/");

// The Slurm job from the variables SLURM_*: "4711, step 0, partition gpu, 2 nodes"; "" without a
// job.
[[nodiscard]] std::string slurm_job();

}  // namespace tandem::results
