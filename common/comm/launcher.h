// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

// What a launcher (the mpirun of Open MPI or of MPICH, or Slurm's srun) says of this process in the
// environment, before or without MPI: ranks of the job, and this one's. 1 and 0 where there is
// none.
[[nodiscard]] int announced_ranks();
[[nodiscard]] int announced_rank();

}  // namespace tandem
