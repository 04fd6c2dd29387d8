// SPDX-License-Identifier: Apache-2.0
#include "ddp/all_reduce_rank.h"

#include "common/base/error.h"
#include "ddp/communication_hook.h"
#include "ddp/state_sync.h"

namespace tandem::ddp {

// Adds up the gradients of a step's micro-batches, as torch's .grad does under no_sync: the first
// backward writes the sums, and each later backward writes to the accumulator, whose gradients are
// added one by one.
class GradientAccumulator final : public GradientSink {
 public:
  GradientAccumulator(Replica& replica, const ParameterLayout& layout)
      : replica_(replica), latest_(make_arena(replica.device(), layout)) {}

  // Gradients that a later backward writes, by segment.
  [[nodiscard]] const TensorList& latest() const { return latest_.tensors; }

  // Sets the sums that gradient_ready() adds to, and the sink that receives each sum. Both
  // outlive the backward.
  void add_to(const TensorList& sums, GradientSink& next) {
    sums_ = &sums;
    next_ = &next;
  }

  void gradient_ready(int segment) override {
    const auto index = static_cast<std::size_t>(segment);
    const Span<float> sum = (*sums_)[index];
    replica_.operations().enqueue(replica_.stream(),
                                  Add{.a = sum, .b = latest_.tensors[index], .sum = sum});
    next_->gradient_ready(segment);
  }

 private:
  Replica& replica_;
  const Arena latest_;
  const TensorList* sums_ = nullptr;
  GradientSink* next_ = nullptr;
};

namespace {

// Charges DDP's hook for each gradient, on autograd's thread, before the reducer gets it.
class HookedGradients final : public GradientSink {
 public:
  HookedGradients(Replica& replica, GradientSink& next) : replica_(replica), next_(next) {}

  void gradient_ready(int segment) override {
    dispatch(replica_.autograd(), replica_.stream(), DispatchKind::kDdpHook);
    next_.gradient_ready(segment);
  }

 private:
  Replica& replica_;
  GradientSink& next_;
};

// The number of elements that an update works on; a flat update runs over the arena's gaps as well.
std::int64_t update_count(const ParameterLayout& layout, const ReducerOptions& reducer) {
  return reducer.grads == GradsMode::kCopy ? layout.arena_count() : layout.parameter_count();
}

// The samples of one of a step's micro-batches.
std::int64_t micro_batch_size(std::int64_t samples, int micro_batches) {
  if (samples % micro_batches != 0) {
    fail(ErrorKind::kUsage,
         "{} micro-batches do not divide a rank's {} samples: gradients would not be those of the "
         "whole batch; use a number that does",
         micro_batches, samples);
  }
  return samples / micro_batches;
}

// Part `index` of `parts` equal parts.
Span<const float> part_of(Span<const float> all, int index, int parts) {
  const std::int64_t size = all.size() / parts;
  return all.subspan(index * size, size);
}

}  // namespace

AllReduceRank::AllReduceRank(Device& device, const Model& model, std::int64_t samples,
                             Communicator& communicator, Interpreter& interpreter,
                             const TrainingOptions& options, const ReducerOptions& reducer)
    : communicator_(communicator),
      interpreter_(interpreter),
      micro_batches_(reducer.micro_batches),
      loss_(device.allocate(bytes_of<float>(1))),
      optimizer_(make_optimizer(device, update_count(model.layout(), reducer), options.optimizer)),
      replica_(device, model, micro_batch_size(samples, reducer.micro_batches), options,
               reducer.micro_batches > 1 ? OutputType::kFp32 : OutputType::kLayers) {
  verify_same_parameters(communicator_, model.layout());
  if (micro_batches_ > 1) {
    accumulator_ = std::make_unique<GradientAccumulator>(replica_, model.layout());
  }
  reducer_ = std::make_unique<BucketReducer>(
      replica_, model.layout(), communicator_, reducer,
      make_communication_hook(reducer.compression, device, communicator_));
  replica_.prime(reducer_->gradients());
  // Ranks that are threads share a process: while some ranks wait in a collective on their GPUs,
  // another rank can neither allocate GPU memory nor load kernels.
  communicator_.barrier();
  // Each rank could make the same weights from the seed; DDP sends the weights, which keeps ranks
  // equal where weights come from elsewhere.
  if (communicator_.rank() == 0) replica_.initialise(options.seed, options.distribution);
  broadcast_state(communicator_, replica_);
  replica_.stream().synchronize();
}

AllReduceRank::~AllReduceRank() = default;

void AllReduceRank::train(Span<const float> inputs, Span<const float> targets) {
  reducer_->begin_step();
  broadcast_buffers();
  for (int i = 0; i < micro_batches_; ++i) {
    const Span<const float> part = part_of(inputs, i, micro_batches_);
    forward_and_loss(part, part_of(targets, i, micro_batches_));
    backward(part, i);
  }
  reducer_->finish();  // phases bucket_copy, exposed_comm
  update();
}

// Broadcasts rank 0's buffers before a forward that follows a synchronised backward, as torch's
// broadcast_buffers does.
void AllReduceRank::broadcast_buffers() {
  const Span<float> buffers = replica_.buffers().flat;
  if (buffers.empty()) return;
  replica_.timer().begin(replica_.stream(), Phase::kBuffers);
  replica_.timer().collective(replica_.stream(), "broadcast", buffers.size_bytes(),
                              [&] { communicator_.broadcast(replica_.stream(), buffers, 0); });
}

void AllReduceRank::forward_and_loss(Span<const float> inputs, Span<const float> targets) {
  Stream& stream = replica_.stream();
  replica_.timer().begin(stream, Phase::kForward);
  replica_.forward(inputs, interpreter_);
  replica_.timer().begin(stream, Phase::kLoss);
  replica_.compute_loss(targets, loss_->as<float>(), interpreter_);
  if (micro_batches_ == 1) return;
  // The usual loop divides the loss, so that the sum of gradients is that of the mean loss.
  dispatch(interpreter_, stream, DispatchKind::kOperation);
  const Span<float> gradient = replica_.output_gradient().as<float>();
  replica_.operations().enqueue(
      stream,
      Scale{.in = gradient, .out = gradient, .factor = 1.0F / static_cast<float>(micro_batches_)});
}

// The first micro-batch writes the sums, later micro-batches are added; the last one's gradients
// are reduced.
void AllReduceRank::backward(Span<const float> inputs, int micro_batch) {
  replica_.timer().begin(replica_.stream(), Phase::kBackward);
  const bool last = micro_batch == micro_batches_ - 1;
  IgnoreGradients nobody;
  HookedGradients hooked(replica_, *reducer_);
  GradientSink& sink = last ? static_cast<GradientSink&>(hooked) : nobody;
  replica_.begin_backward(interpreter_);
  if (micro_batch == 0) {
    replica_.backward(inputs, reducer_->gradients(), sink);
  } else {
    accumulator_->add_to(reducer_->gradients(), sink);
    replica_.backward(inputs, accumulator_->latest(), *accumulator_);
  }
  replica_.end_backward(interpreter_);
}

// Copies of gradients lie in one arena, as weights do, so that the update takes all as one tensor,
// as without a wrapper. Views lie in the order of the buckets, which is not that of the weights:
// the update takes a list of tensors.
void AllReduceRank::update() {
  Stream& stream = replica_.stream();
  Operations& operations = replica_.operations();
  const Arena& parameters = replica_.parameters();
  replica_.timer().begin(stream, Phase::kUpdate);
  dispatch(interpreter_, stream, DispatchKind::kOptimizer,
           static_cast<int>(parameters.tensors.size()));
  if (const auto flat = reducer_->flat_gradients()) {
    optimizer_->step(operations, stream, parameters.flat, *flat);
  } else {
    optimizer_->step(operations, stream, parameters.tensors, as_const(reducer_->gradients()));
  }
  replica_.timer().end_step(stream);
}

void AllReduceRank::synchronize() {
  // Synchronises both, whatever fails: no work of this rank may be running when the call returns.
  const auto error = capture_error([this] { replica_.stream().synchronize(); });
  const auto on_comm = capture_error([this] { reducer_->synchronize(); });
  throw_cause({error, on_comm});
}

}  // namespace tandem::ddp
