// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/parallel/chunk_rule.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/tensor/shape.h"
#include "dp/output_device.h"

namespace tandem::dp {

// Pieces of the replicas' outputs to the output device, and pieces of their gradient back: torch's
// Gather and its backward.
class Gather {
 public:
  // `outputs[i]` is the shape of replica i's output. All outlive this.
  Gather(OutputDevice& target, const std::vector<Replica*>& replicas,
         const std::vector<Shape>& outputs);

  // What replica i's stream has made by here is ready to be gathered.
  void offer(int replica);

  // Enqueues on the output device: each replica's piece into its slice, in replica order;
  // dispatches a call per piece.
  void enqueue(const std::vector<Span<float>>& from, Interpreter& caller);

  // Enqueues on the replicas' streams, after what the output device has done by here: each pulls
  // its slice of gradient().
  void scatter_back(const std::vector<Span<float>>& to, Interpreter& caller);

  [[nodiscard]] Span<float> gathered() { return gathered_->as<float>(); }
  [[nodiscard]] Span<float> gradient() { return gradient_->as<float>(); }

 private:
  OutputDevice& target_;
  const std::vector<Replica*> replicas_;
  const std::vector<Piece> slices_;  // in elements of the gathered tensor
  const std::unique_ptr<Buffer> gathered_;
  const std::unique_ptr<Buffer> gradient_;
  std::vector<std::unique_ptr<Event>> ready_;  // per replica
  const std::unique_ptr<Event> gradient_ready_;
};

// The shape of what comes of gathering `outputs` along dimension 0. Scalars come to a vector, which
// torch warns of. Throws a failure where outputs differ in any other dimension.
[[nodiscard]] Shape gathered_shape(const std::vector<Shape>& outputs);

[[nodiscard]] std::string scalars_warning();

}  // namespace tandem::dp
