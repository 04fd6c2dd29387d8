// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/all_reduce_rank.h"

#include "common/base/capture_error.h"

namespace tandem {
namespace {

// A flat update runs over the arena's gaps as well.
std::int64_t update_count(const ParameterLayout& layout, GradsMode grads) {
  return grads == GradsMode::kCopy ? layout.arena_count() : layout.parameter_count();
}

}  // namespace

AllReduceRank::AllReduceRank(Device& device, const Model& model, std::int64_t samples,
                             Communicator& communicator, Interpreter& interpreter,
                             const TrainingOptions& options, const ReducerOptions& reducer)
    : communicator_(communicator),
      interpreter_(interpreter),
      loss_(device.allocate(bytes_of<float>(1))),
      optimizer_(
          make_optimizer(device, update_count(model.layout(), reducer.grads), options.optimizer)),
      replica_(device, model, samples, options.phases),
      reducer_(replica_, model.layout(), communicator, reducer) {
  // Each rank could make the same weights from the seed; sending them is what DDP does, and keeps
  // ranks equal where their weights come from elsewhere.
  if (communicator.rank() == 0) replica_.initialise(options.seed, options.distribution);
  communicator.broadcast(replica_.stream(), replica_.parameters().flat, 0);
  replica_.stream().synchronize();
}

void AllReduceRank::train(Span<const float> inputs, Span<const float> targets) {
  Stream& stream = replica_.stream();
  PhaseTimer& timer = replica_.timer();

  reducer_.begin_step();
  broadcast_buffers();
  timer.begin(stream, Phase::kForward);
  replica_.forward(inputs, interpreter_);
  timer.begin(stream, Phase::kLoss);
  replica_.compute_loss(targets, loss_->as<float>(), interpreter_);
  timer.begin(stream, Phase::kBackward);
  replica_.backward(inputs, reducer_.gradients(), reducer_);
  reducer_.finish();  // phases bucket_copy, exposed_comm
  timer.begin(stream, Phase::kUpdate);
  update();
  timer.end_step(stream);
}

// torch's broadcast_buffers: before every forward, all buffers from rank 0.
void AllReduceRank::broadcast_buffers() {
  const Span<float> buffers = replica_.buffers().flat;
  if (buffers.empty()) return;
  replica_.timer().begin(replica_.stream(), Phase::kBuffers);
  communicator_.broadcast(replica_.stream(), buffers, 0);
}

// Copies of gradients lie in one arena, as weights do: one operation, as without a wrapper. Views
// lie in the order of the buckets, which is not that of the weights: an operation per tensor.
void AllReduceRank::update() {
  Operations& operations = replica_.operations();
  const Arena& parameters = replica_.parameters();
  dispatch(interpreter_, replica_.stream(), static_cast<int>(parameters.tensors.size()));
  if (const auto flat = reducer_.flat_gradients()) {
    optimizer_->step(operations, replica_.stream(), parameters.flat, *flat);
  } else {
    optimizer_->step(operations, replica_.stream(), parameters.tensors,
                     as_const(reducer_.gradients()));
  }
}

void AllReduceRank::synchronize() {
  // Both, whatever fails: nothing of this rank's may be at work when this returns.
  const auto error = capture_error([this] { replica_.stream().synchronize(); });
  const auto on_comm = capture_error([this] { reducer_.synchronize(); });
  if (error) throw Error(*error);
  if (on_comm) throw Error(*on_comm);
}

}  // namespace tandem
