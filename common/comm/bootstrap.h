// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tandem {

// How the ranks of a job find each other and exchange a few bytes before they have a communicator:
// who is who, names of shared memory, whether all went well. Not for the timed path.
//
// Calls are collective: every rank makes them, in the same order, from one thread per rank.
class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // The job's number of each rank here, for messages: where this is a part of another bootstrap's
  // ranks, the numbers above are the part's own.
  [[nodiscard]] virtual const std::vector<int>& job_ranks() const = 0;

  // True where ranks are threads of one process, so that an address of one is good for all.
  [[nodiscard]] virtual bool shares_address_space() const = 0;

  // Every rank's text, by rank.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& mine) = 0;

  // The ranks that give the same colour, among themselves and in their order here. Independent of
  // this bootstrap and of the other colours from then on; ends before this one does.
  [[nodiscard]] virtual std::unique_ptr<Bootstrap> split(int colour) = 0;

  // Ends the whole job where this rank cannot go on while others would wait for it.
  virtual void abort(int exit_code) = 0;
};

void barrier(Bootstrap& bootstrap);

// The job's number of this rank.
[[nodiscard]] int own_job_rank(const Bootstrap& bootstrap);

// 0 .. size - 1: the job ranks of a whole job.
[[nodiscard]] std::vector<int> all_job_ranks(int size);

// Of the ranks that give this colour. Collective.
[[nodiscard]] std::vector<int> job_ranks_of_part(Bootstrap& bootstrap, int colour);

[[nodiscard]] std::string broadcast(Bootstrap& bootstrap, const std::string& value, int root);

}  // namespace tandem
