// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/document.h"

namespace tandem::results {

// The machine's facts as this process sees them: the physical cores inside its affinity mask, not
// all of the machine's, and only a fixed list of the environment, so that no secret leaves the
// machine. The measuring program fills bound_cores, ping_pong_ns and its libraries.
[[nodiscard]] MachineFacts gather_machine_facts();

// The context of a run as this process sees it now.
[[nodiscard]] Context gather_context(const std::string& executable);

// The variables of an environment ("NAME=value" strings, the last one null) that change the
// measurement: NCCL_*, OMPI_MCA_*, OMP_*, CUDA_*, and a few by name, without those that mpirun and
// Tandem set for a launch. Other variables are left out and values that look like secrets are
// "(redacted)", so that no secret leaves the machine.
[[nodiscard]] std::map<std::string, std::string> named_variables(const char* const* environment);

// Whether a variable may hold a password, key or token, by its name or by its value.
[[nodiscard]] bool looks_secret(std::string_view name, std::string_view value);

// The number of physical cores that `cpus` (numbers of hardware threads) lie on, from
// <system>/cpu*/topology; the number of `cpus` where the system does not report it for each of
// them. The count equals the host back end's, which uses one hardware thread of each core.
[[nodiscard]] int physical_cores(const std::vector<int>& cpus,
                                 const std::filesystem::path& system = "/sys/devices/system/cpu");

// The place where a process runs, from files and variables below a root.

// The number of the machine's NUMA nodes; 0 where the system does not report it.
[[nodiscard]] int count_numa_nodes(const std::filesystem::path& root = "/");

// The active setting in transparent_hugepage/enabled; "" without that file.
[[nodiscard]] std::string huge_pages(const std::filesystem::path& root = "/");

// The container's kind: "docker", "podman", "apptainer", or the value of the variable `container`;
// "" where no container shows.
[[nodiscard]] std::string container(const std::filesystem::path& root = "/");

// The Slurm job from the variables SLURM_*: "4711, step 0, partition gpu, 2 nodes"; "" without a
// job.
[[nodiscard]] std::string slurm_job();

// Written by the build, see cmake/BuildFacts.cmake.
[[nodiscard]] std::string built_by();  // compiler and build type: "GNU 12.2.0, Release"
// "commit 0123456789ab", with "-changed" after local changes.
[[nodiscard]] std::string built_from();

}  // namespace tandem::results
