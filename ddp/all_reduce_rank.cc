// SPDX-License-Identifier: Apache-2.0
#include "ddp/all_reduce_rank.h"

#include "common/base/error.h"
#include "ddp/communication_hook.h"
#include "ddp/state_sync.h"

namespace tandem::ddp {

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

}  // namespace

AllReduceRank::AllReduceRank(Device& device, const Model& model, std::int64_t samples,
                             Communicator& communicator, Interpreter& interpreter,
                             const TrainingOptions& options, const ReducerOptions& reducer)
    : communicator_(communicator),
      interpreter_(interpreter),
      loss_(device.allocate(bytes_of<float>(1))),
      optimizer_(make_optimizer(device, update_count(model.layout(), reducer), options.optimizer)),
      replica_(device, model, MicroBatches::size(samples, reducer.micro_batches), options,
               MicroBatches::output_type(reducer.micro_batches)),
      micro_batches_(replica_, model.layout(), reducer.micro_batches, loss_->as<float>()) {
  verify_same_parameters(communicator_, model.layout());
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
  HookedGradients hooked(replica_, *reducer_);
  micro_batches_.train(inputs, targets, reducer_->gradients(), hooked, interpreter_);
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
