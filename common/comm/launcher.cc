// SPDX-License-Identifier: Apache-2.0
#include "common/comm/launcher.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>

#include "common/base/error.h"

namespace tandem {
namespace {

// The largest number that any of the variables holds; nothing where none is set.
std::optional<int> largest_of(std::initializer_list<const char*> variables) {
  std::optional<int> largest;
  for (const char* const variable : variables) {
    const char* const text = std::getenv(variable);
    if (text != nullptr) largest = std::max(largest.value_or(0), std::atoi(text));
  }
  return largest;
}

// A variable of srun's step, or `otherwise`. Ranks of an mpirun within an allocation see the step
// of mpirun's daemons, so the callers read mpirun's own variables first.
int of_step(const char* variable, int otherwise) {
  return largest_of({variable}).value_or(otherwise);
}

}  // namespace

int announced_ranks() {
  const auto ranks = largest_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  return std::max(1, ranks ? *ranks : of_step("SLURM_STEP_NUM_TASKS", 1));
}

int announced_rank() {
  const auto rank = largest_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  return rank ? *rank : of_step("SLURM_PROCID", 0);
}

void check_ranks_can_meet() {
  const bool has_way =
      largest_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}).has_value();
  const int tasks = of_step("SLURM_STEP_NUM_TASKS", 1);
  if (has_way || tasks < 2) return;
  fail(ErrorKind::kUsage,
       "srun started {} ranks without a way to find each other: use srun --mpi=pmix (srun "
       "--mpi=list says what there is)",
       tasks);
}

}  // namespace tandem
