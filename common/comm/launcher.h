// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

// What a launcher (the mpirun of Open MPI or of MPICH, or Slurm's srun) says of this process in the
// environment, before or without MPI: ranks of the job, and this one's. 1 and 0 where there is
// none.
[[nodiscard]] int announced_ranks();
[[nodiscard]] int announced_rank();

// Throws a usage error where srun started several ranks without a way by which MPI would find the
// others: MPI would end the process in words of its own.
void check_ranks_can_meet();

}  // namespace tandem
