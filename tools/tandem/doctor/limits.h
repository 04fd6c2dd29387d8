// SPDX-License-Identifier: Apache-2.0
//
// The settings for processes of this node: environment variables, memory, limits, and a job of
// Slurm.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

using Variables = std::map<std::string, std::string>;

// This process's environment variables.
[[nodiscard]] Variables gather_variables();

// Findings about the variables that change a measurement, or the behaviour of another library on
// this node. Only values of variables that the rules name are shown, since no such variable holds a
// secret.
[[nodiscard]] Findings judge_variables(const Variables& variables);

// All fields are in bytes. A field is absent where the system reports no value or no limit.
struct MemoryFacts {
  std::optional<double> total{};
  std::optional<double> available{};  // left by the system
  std::optional<double> limit{};      // limit of the tightest control group
  std::optional<double> used{};       // memory used in that group
  std::optional<double> swapped{};    // swapped out
};

[[nodiscard]] MemoryFacts gather_memory(const std::filesystem::path& root);

// Less than 2 GiB left is a warning: two devices of mlp-base with their parameters, gradients,
// momenta and buckets take half of 2 GiB. Less than 512 MiB is a problem: not even mlp-small's
// sweep is safe.
[[nodiscard]] Findings judge_memory(const MemoryFacts& facts);

struct LimitFacts {
  // The size of the file system /dev/shm, in bytes; absent where there is none.
  std::optional<double> shared_total{};
  std::optional<double> shared_free{};
  std::optional<double> locked{};      // memory that a process may lock, in bytes; absent: any
  std::optional<double> open_files{};  // open files of a process; absent: any
  std::string container{};             // "Docker", ...; empty: no container seen
};

// /dev/shm and the container's marks lie below `root`; the other limits are this process's.
[[nodiscard]] LimitFacts gather_limits(const std::filesystem::path& root,
                                       const Variables& variables);

// /dev/shm holds the memory of host devices, MPI's and NCCL's buffers between processes: 64 MiB is
// a container's default, and holds no model; below 1 GiB free is a warning. Memory is locked for
// network cards (RDMA); a default of some systems is 64 KiB, of others 8 MiB. 1024 open files are
// the usual limit, and enough for 64 ranks of a node.
[[nodiscard]] Findings judge_limits(const LimitFacts& facts);

// Judges the cores and GPUs that Slurm's variables grant against `cores` and `has_gpu`, the cores
// and GPUs found on this node.
[[nodiscard]] Findings judge_slurm(const Variables& variables, int cores, bool has_gpu);

}  // namespace tandem::doctor
