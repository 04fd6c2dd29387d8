// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

// Where a process runs, as files and variables below a root tell: private to results.
namespace tandem::results {

// NUMA nodes of the machine; 0 where the system does not tell.
[[nodiscard]] int count_numa_nodes(const std::filesystem::path& root = "/");

// The chosen word of transparent_hugepage/enabled; "" without that file.
[[nodiscard]] std::string huge_pages(const std::filesystem::path& root = "/");

// "docker", "podman", "apptainer", or what the variable `container` says; "" where nothing shows.
[[nodiscard]] std::string container(const std::filesystem::path& root = "/");

// Of the variables SLURM_*: "4711, step 0, partition gpu, 2 nodes"; "" without a job.
[[nodiscard]] std::string slurm_job();

}  // namespace tandem::results
