// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

// The number of ranks of the job and the number of this rank, as a launcher (mpirun of Open MPI or
// MPICH, or Slurm's srun) announces them in the environment, before or without MPI. 1 and 0 without
// a launcher.
[[nodiscard]] int announced_ranks();
[[nodiscard]] int announced_rank();

// Throws a usage error where srun started several ranks without a way by which MPI would find the
// others: MPI's own message on ending the process would not say what to do.
void check_ranks_can_meet();

}  // namespace tandem
