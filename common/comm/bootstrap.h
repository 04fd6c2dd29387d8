// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tandem {

// How the ranks of a job find each other and exchange a few bytes before they have a communicator:
// rank numbers, names of shared memory, whether every rank succeeded. Not for the timed path.
//
// Calls are collective: every rank makes the same calls in the same order, from one thread per
// rank.
class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // The job's number of each rank of this bootstrap, for messages. Where this bootstrap is a part
  // of another, rank() and size() count within the part.
  [[nodiscard]] virtual const std::vector<int>& job_ranks() const = 0;

  // True where ranks are threads of one process, so that an address of one rank is valid on all.
  [[nodiscard]] virtual bool shares_address_space() const = 0;

  // Every rank's text, by rank.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& mine) = 0;

  // A bootstrap of the ranks that give the same colour, in the order of their ranks here. The new
  // bootstrap is independent of this one and of the other colours, and ends before this one does.
  [[nodiscard]] virtual std::unique_ptr<Bootstrap> split(int colour) = 0;

  // Ends the whole job where this rank cannot go on while other ranks would wait for it.
  virtual void abort(int exit_code) = 0;
};

void barrier(Bootstrap& bootstrap);

// The job's number of this rank.
[[nodiscard]] int own_job_rank(const Bootstrap& bootstrap);

// The job ranks of a whole job: 0 .. size - 1.
[[nodiscard]] std::vector<int> all_job_ranks(int size);

// The job's numbers of the ranks that give this colour. Collective.
[[nodiscard]] std::vector<int> job_ranks_of_part(Bootstrap& bootstrap, int colour);

[[nodiscard]] std::string broadcast(Bootstrap& bootstrap, const std::string& value, int root);

}  // namespace tandem
