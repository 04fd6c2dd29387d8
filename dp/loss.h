// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/parallel/chunk_rule.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/scatter.h"
#include "dp/gather.h"
#include "dp/output_device.h"

namespace tandem::dp {

// The model's objective over the whole batch, and the way of its gradient back to the replicas:
// the part of a step that is the training loop's, and that torch users place on the root or inside
// the wrapped module. In the order of its calls in a step.
class Loss {
 public:
  Loss() = default;
  Loss(const Loss&) = delete;
  Loss& operator=(const Loss&) = delete;
  virtual ~Loss() = default;

  // What the training loop itself brings to the devices, behind the scatter of the inputs.
  virtual void load_targets(Interpreter& caller) = 0;

  // On replica i's stream, behind its forward, by its thread.
  virtual void finish_forward(int replica, Interpreter& worker) = 0;

  // On the output device: what the replicas made, gathered, and the loss of it.
  virtual void gather(Interpreter& caller) = 0;
  virtual void compute(Interpreter& caller) = 0;

  // To the replicas' streams.
  virtual void scatter_gradient(Interpreter& caller) = 0;

  // On replica i's stream: leaves the gradient of its output.
  virtual void begin_backward(int replica) = 0;

  // On the output device; synchronise first: what gather() made of what the replicas returned, and
  // the loss of the whole batch.
  [[nodiscard]] virtual Span<const float> gathered() = 0;
  [[nodiscard]] virtual Span<const float> value() const = 0;
};

// What every place of the loss needs.
struct LossParts {
  OutputDevice& output_device;
  std::vector<Replica*> replicas;
  std::vector<Piece> pieces;
  std::int64_t width = 0;  // of the model's output
  Objective objective{};
};

// On the output device, over the gathered outputs. `targets` are copied there in every step unless
// they are there already; out of pageable memory the caller waits for it. With torch's shortcut for
// one device there is nothing to gather.
enum class Shortcut { kTaken, kNotTaken };
struct Targets {
  Span<const float> whole;
  InputPlace place = InputPlace::kHost;
};
[[nodiscard]] std::unique_ptr<Loss> make_loss_on_root(const LossParts& parts,
                                                      const Targets& targets, Shortcut shortcut);

// In each replica, over its own piece; the scalars are gathered into a vector, and the loss is
// their mean weighted by the pieces. `scatter` brings each replica's targets as its tensor
// `target_tensor`.
[[nodiscard]] std::unique_ptr<Loss> make_loss_in_replicas(const LossParts& parts, Scatter& scatter,
                                                          int target_tensor);

}  // namespace tandem::dp
