// SPDX-License-Identifier: Apache-2.0
//
// torch's scatter and gather along the batch. Both know pieces (chunk_rule.h), not models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/parallel/chunk_rule.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/training_options.h"
#include "common/tensor/shape.h"
#include "dp/output_device.h"

namespace tandem::dp {

// A tensor of the whole batch that is cut along dimension 0: (batch, width).
struct BatchTensor {
  Span<const float> whole;
  std::int64_t width = 0;  // elements per sample
};

// Pieces of some tensors to the replicas' devices.
//
// From host memory each device copies its piece on a copy stream of its own, and its compute stream
// waits for that; from pageable memory the caller waits for each copy as well, which is how such
// copies behave. From a device's memory every replica pulls its piece on its compute stream, and
// the one on that device only views it.
class Scatter {
 public:
  // `pieces[i]` is replica i's. All outlive this.
  Scatter(const std::vector<Replica*>& replicas, const std::vector<Piece>& pieces,
          const std::vector<BatchTensor>& tensors, InputPlace place);
  ~Scatter();
  Scatter(const Scatter&) = delete;
  Scatter& operator=(const Scatter&) = delete;

  // Enqueues; dispatches a call per piece.
  void enqueue(Interpreter& caller);

  // Replica i's piece of a tensor, in the order of construction.
  [[nodiscard]] Span<const float> piece(int replica, int tensor) const;

  // Waits for the copy streams, whatever fails on them.
  void synchronize();

  // Replica i's stream has read its pieces by here: the next step may overwrite them.
  void release(int replica);

 private:
  struct Side;  // what one replica has

  void copy_from_host(Side& side, Interpreter& caller);
  void pull_from_device(Side& side, Interpreter& caller);

  const std::vector<BatchTensor> tensors_;
  const InputPlace place_;
  std::vector<std::unique_ptr<Side>> sides_;
};

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
