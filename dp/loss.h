// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <vector>

#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/scatter.h"
#include "common/parallel/shards.h"
#include "dp/devices.h"
#include "dp/gather.h"

namespace tandem::dp {

// The parts that every place of the loss needs.
struct LossParts {
  OutputDevice& output_device;
  std::vector<Replica*> replicas;
  std::vector<Shard> shards;
  Objective objective{};
};

// The model's objective over the whole batch, and the way of the gradient back to the replicas: the
// part of a step that belongs to the training loop, and that torch users place on the root or
// inside the wrapped module. Methods are in the order of their calls in a step.
class Loss : boost::noncopyable {
 public:
  virtual ~Loss() = default;

  // Loads the targets that the training loop itself brings to the devices, behind the scatter of
  // the inputs.
  virtual void load_targets(Interpreter& caller) = 0;

  // Runs on replica i's stream, behind the replica's forward, in the replica's thread.
  virtual void finish_forward(int replica, Interpreter& worker) = 0;

  // gather() gathers the replicas' results on the output device; compute() computes the loss there.
  virtual void gather(Interpreter& caller) = 0;
  virtual void compute(Interpreter& caller) = 0;

  // Scatters the loss's gradient to the replicas' streams.
  virtual void scatter_gradient(Interpreter& caller) = 0;

  // Leaves the gradient of replica i's output, on that replica's stream.
  virtual void begin_backward(int replica) = 0;

  // The gathered results of the replicas, on the output device, and the loss of the whole batch;
  // synchronise first.
  [[nodiscard]] virtual ConstAnySpan gathered() = 0;
  [[nodiscard]] Span<const float> value() const { return loss_->as<float>(); }

 protected:
  explicit Loss(const LossParts& parts);

  OutputDevice& output_;
  const std::vector<Replica*> replicas_;
  const Objective objective_;
  const std::unique_ptr<Buffer> loss_;
};

// The targets of the whole batch, where the training loop holds them.
struct Targets {
  Span<const float> whole;
  InputPlace place = InputPlace::kHost;
};

enum class Shortcut { kTaken, kNotTaken };  // torch's for one device: there is nothing to gather

// The loss on the output device, over the gathered outputs. `targets` are copied to the output
// device in every step unless they lie there already; the caller waits for a copy out of pageable
// memory.
[[nodiscard]] std::unique_ptr<Loss> make_loss_on_root(const LossParts& parts,
                                                      const Targets& targets, Shortcut shortcut);

// The loss in each replica, over the replica's own shard; the scalars are gathered into a vector,
// and the loss is their mean weighted by the shards. A replica's targets are the tensor of index
// `target_tensor` among those that `scatter` brings.
[[nodiscard]] std::unique_ptr<Loss> make_loss_in_replicas(const LossParts& parts, Scatter& scatter,
                                                          int target_tensor);

}  // namespace tandem::dp
