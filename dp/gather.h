// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "dp/devices.h"

namespace tandem::dp {

// Gathers pieces of the replicas' outputs on the output device, and scatters pieces of the gradient
// back: torch's Gather and its backward.
class Gather {
 public:
  // `counts[i]` is the number of elements of replica i's output, all of one type. Outputs are
  // gathered along dimension 0, in which alone they differ. All arguments outlive the gather.
  Gather(OutputDevice& target, const std::vector<Replica*>& replicas,
         const std::vector<std::int64_t>& counts, DType type = DType::kFloat32);

  // Marks the work of replica i's stream up to here as ready to be gathered.
  void offer(int replica);

  // Enqueues on the output device a copy of each replica's shard into its slice, in replica order;
  // dispatches a call per shard.
  void enqueue(const std::vector<AnySpan>& from, Interpreter& caller);

  // Enqueues on the replicas' streams, after the output device's work up to here: each replica
  // pulls its slice of gradient().
  void scatter_back(const std::vector<AnySpan>& to, Interpreter& caller);

  [[nodiscard]] AnySpan gathered() { return whole(*gathered_); }
  [[nodiscard]] AnySpan gradient() { return whole(*gradient_); }

 private:
  [[nodiscard]] AnySpan whole(Buffer& room) const;

  OutputDevice& target_;
  const std::vector<Replica*> replicas_;
  const DType type_;
  const std::vector<Shard> slices_;  // in elements of the gathered tensor
  const std::unique_ptr<Buffer> gathered_;
  const std::unique_ptr<Buffer> gradient_;
  std::vector<std::unique_ptr<Event>> ready_;  // per replica
  const std::unique_ptr<Event> gradient_ready_;
};

// torch's warning where scalars are gathered, which become a vector.
[[nodiscard]] std::string scalars_warning();

}  // namespace tandem::dp
