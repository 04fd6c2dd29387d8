// SPDX-License-Identifier: Apache-2.0
//
// Handles for MPI's calls, as objects that free them.
#pragma once

#include <mpi.h>

#include <boost/noncopyable.hpp>

#include "common/base/dtype.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/rank_exit.h"

namespace tandem {

// A communication error that names the function, where `code` is not success.
void check_mpi(int code, const char* function);

// An MPI communicator of its owner alone, which returns errors instead of ending the job.
class MpiComm : boost::noncopyable {
 public:
  // Makes an MPI communicator of the bootstrap's ranks, in the bootstrap's order. The constructor
  // and the destructor are collective among these ranks. Where MPI waits for a rank past
  // `deadline`, the process ends with a line that names the wait.
  MpiComm(Bootstrap& bootstrap, Nanoseconds deadline, const RankExit& rank_exit = {});
  ~MpiComm();

  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  [[nodiscard]] ExitGuard guard_against(const char* what) const;

  const int job_rank_;
  const Nanoseconds deadline_;
  const RankExit rank_exit_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// A type of elements and the sum for that type. fp32 uses MPI's own. A 16-bit type has a type of
// two bytes, and a sum computed in float and rounded to nearest at each addition of two operands.
struct MpiElement {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op sum = MPI_OP_NULL;
};

class MpiElements : boost::noncopyable {
 public:
  MpiElements();
  ~MpiElements();

  [[nodiscard]] MpiElement of(DType type) const;

 private:
  MpiElement bfloat16_;
  MpiElement float16_;
};

}  // namespace tandem
