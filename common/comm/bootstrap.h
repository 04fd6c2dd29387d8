// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tandem {

// Ranks that exchange texts, outside the timed path. Calls are collective: every rank makes the
// same calls in the same order, from one thread per rank.
class RankExchange : boost::noncopyable {
 public:
  virtual ~RankExchange() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Every rank's text, by rank.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& mine) = 0;
};

// How the ranks of a job find each other and exchange a few bytes before they have a communicator:
// rank numbers, names of shared memory, whether every rank succeeded.
class Bootstrap : public RankExchange {
 public:
  // The job's number of each rank of this bootstrap, for messages. Where this bootstrap is a part
  // of another, rank() and size() count within the part.
  [[nodiscard]] virtual const std::vector<int>& job_ranks() const = 0;

  // True where ranks are threads of one process, so that an address of one rank is valid on all.
  [[nodiscard]] virtual bool shares_address_space() const = 0;

  // A bootstrap of the ranks that give the same colour, in the order of their ranks here. The new
  // bootstrap is independent of this one and of the other colours, and ends before this one does.
  [[nodiscard]] virtual std::unique_ptr<Bootstrap> split(int colour) = 0;

  // Ends the whole job where this rank cannot go on while other ranks would wait for it.
  virtual void abort(int exit_code) = 0;
};

// The meeting place of the ranks of one process, each on a thread of its own. Outlives the ranks'
// bootstraps.
class RankGroup : boost::noncopyable {
 public:
  virtual ~RankGroup() = default;

  // To be called once by each rank, on its thread.
  [[nodiscard]] virtual std::unique_ptr<Bootstrap> join(int rank) = 0;

  // Makes all present and future exchanges fail soon.
  virtual void abort() = 0;
};

// Runs `attempt` on every rank. Where `attempt` throws on any rank, every rank throws the first
// failure by rank, with its kind and with the reach all ranks; a lost peer is thrown only where
// nothing else failed. So no rank is left waiting for a rank that gave up. Collective.
void attempt_together(RankExchange& ranks, const std::function<void()>& attempt);

void barrier(Bootstrap& bootstrap);

// The job's number of this rank.
[[nodiscard]] int own_job_rank(const Bootstrap& bootstrap);

// The job ranks of a whole job: 0 .. size - 1.
[[nodiscard]] std::vector<int> all_job_ranks(int size);

// The job's numbers of the ranks that give this colour. Collective.
[[nodiscard]] std::vector<int> job_ranks_of_part(Bootstrap& bootstrap, int colour);

[[nodiscard]] std::string broadcast(Bootstrap& bootstrap, const std::string& value, int root);

// The number of ranks of the job and the number of this rank, as a launcher (mpirun of Open MPI or
// MPICH, or Slurm's srun) announces them in the environment, before or without MPI. 1 and 0 without
// a launcher.
[[nodiscard]] int announced_ranks();
[[nodiscard]] int announced_rank();

// Throws a usage error where srun started several ranks without a way by which MPI would find the
// others: MPI's own message on ending the process would not say what to do.
void check_ranks_can_meet();

}  // namespace tandem
