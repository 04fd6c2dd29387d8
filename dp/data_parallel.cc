// SPDX-License-Identifier: Apache-2.0
//
// One step with torch's defaults. Columns are devices, time runs down; every arrow is an event.
// Each device has a compute stream and, for scatter from host memory, a copy stream. The caller
// enqueues everything; threads are started for forward (torch's parallel_apply) and kept for
// backward (its autograd threads). Nobody waits for a device before the step is enqueued whole, but
// for copies out of pageable memory.
//
// With one device torch calls the module itself: no replicate, launch, gather or scatter_grad.
//
//              root: device_ids[0]                     device k
//   check      every parameter and buffer on the root?
//   scatter    shard 0 (copy stream), targets          shard k (copy stream)
//   replicate  flatten chunks ------- ready ---------> pull weights, then buffers, into the replica
//   launch     until its thread has begun                until its thread has begun
//   forward    forward(shard 0)                        forward(shard k)
//   gather     pull outputs <-------- ready ---------- (idle)
//   loss       mean over the whole batch
//   scatter_   own slice in place --- gradient_ready -> pull slice of the output gradient
//     grad
//              (idle until its thread is awake)        (idle until its thread is awake)
//   backward   backward                                backward
//   reduce     flatten; sum = 0 + 1 + .. + k <-------- flatten
//   update     optimizer, on the root alone            (idle until the next step)
//
// gather and loss are on the output device, which is the root unless the user chose another. The
// options (options.h) replace single boxes: who runs forward, how weights go out, where the loss
// is, how gradients come back.
//
// The reduction starts only when the last gradient of the last replica is there: all weights hang
// on one broadcast. Gradients are summed and never averaged, which is right because the loss is a
// mean over the whole batch; so shards may be uneven.
#include "dp/data_parallel.h"

#include "common/base/error.h"
#include "common/options/values.h"
#include "common/runtime/copy.h"
#include "dp/collective_transfers.h"

namespace tandem::dp {

namespace {

// The places of the scatter's tensors.
constexpr int kInputs = 0;
constexpr int kTargets = 1;

std::vector<Replica*> pointers(const std::vector<std::unique_ptr<Replica>>& replicas) {
  std::vector<Replica*> all;
  for (const auto& replica : replicas) all.push_back(replica.get());
  return all;
}

// Throws torch's error for a module off the root, with the remedy.
void check_on_root(DeviceId root, DeviceId found, const std::string& name) {
  if (found == root) return;
  fail(ErrorKind::kLogic,
       "module must have its parameters and buffers on {} (device_ids[0]) but found {} on {}: move "
       "the module there, or name its device first in --device-ids",
       to_string(root), name, to_string(found));
}

}  // namespace

DataParallel::DataParallel(Platform& platform, const Model& model, const TrainingOptions& options,
                           const DataParallelOptions& how)
    : model_(model),
      named_(devices_named(platform, how)),
      shards_(chunk_batch(options.global_batch, static_cast<int>(named_.size()))),
      devices_(named_.begin(), named_.begin() + static_cast<std::ptrdiff_t>(shards_.size())),
      one_device_(named_.size() == 1),
      broadcast_order_(resolved(how.broadcast, devices_)),
      reduce_order_(resolved(how.reduce, devices_)),
      interpreters_(options.interpreter, static_cast<int>(devices_.size())) {
  warn_of(how);
  build_replicas(options, how);
  build_transfers(platform, options, how);
  module_.buffers = root().state().buffers;
  root().initialise(options.seed, options.distribution);
  root().stream().synchronize();
  // torch moves the module itself only where there is a single device.
  if (how.model_device && !one_device_) {
    misplace_module(device_named(platform, *how.model_device, "model device"));
  }
}

std::map<std::string, std::string> DataParallel::resolved_options() const {
  std::map<std::string, std::string> all = replicas_.front()->implementations();
  if (one_device_) return all;  // with one device nothing is transferred
  const auto add = [&all](options::Name name, Order order) {
    all.emplace(name->name, options::choices_of(name)[static_cast<std::size_t>(order)]);
  };
  add("broadcast", broadcast_order_);
  add("reduce", reduce_order_);
  return all;
}

void DataParallel::warn_of(const DataParallelOptions& how) {
  if (const auto imbalance = imbalance_warning(strengths_of(named_)))
    warnings_.push_back(*imbalance);
  if (how.loss == LossPlace::kReplicas && !one_device_) warnings_.push_back(scalars_warning());
}

void DataParallel::build_replicas(const TrainingOptions& options, const DataParallelOptions& how) {
  const bool gathers = how.loss == LossPlace::kRoot && !one_device_;
  const bool is_cast = gathers && !model_.gathers_as_layers();
  const OutputType output_type = is_cast ? OutputType::kFp32 : OutputType::kLayers;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    gradients_.push_back(make_arena(*devices_[i], model_.layout()));
    replicas_.push_back(
        std::make_unique<Replica>(*devices_[i], model_, shards_[i].count, options, output_type));
    replicas_.back()->prime(gradients_.back().tensors);
  }
}

// The shortcut for one device returns the module's output on the module's device.
Device& DataParallel::output_device_of(Platform& platform, const DataParallelOptions& how) {
  if (!how.output_device) return root().device();
  Device& named = device_named(platform, *how.output_device, "--output-device");
  return one_device_ ? root().device() : named;
}

void DataParallel::build_transfers(Platform& platform, const TrainingOptions& options,
                                   const DataParallelOptions& how) {
  const std::vector<Replica*> replicas = pointers(replicas_);
  Device& output = output_device_of(platform, how);
  output_device_ = std::make_unique<OutputDevice>(output, replicas, options.phases);
  batch_ = std::make_unique<WholeBatch>(platform, model_, options, root().device(), output);

  // With one device a loss in the module and a loss behind it are the same.
  const bool in_replicas = how.loss == LossPlace::kReplicas && !one_device_;
  std::vector<BatchTensor> scattered{{batch_->inputs(), model_.input_width()}};
  if (in_replicas) scattered.push_back({batch_->targets(), model_.objective().target_width});
  scatter_ = std::make_unique<Scatter>(replicas, shards_, scattered, options.input);
  const bool meets = broadcast_order_ == Order::kCollective || reduce_order_ == Order::kCollective;
  if (meets) team_ = std::make_unique<DeviceTeam>(devices_, how.communicators);
  DataParallelOptions settled = how;
  settled.broadcast = broadcast_order_;
  replicate_ = std::make_unique<Replicate>(replicas, model_, settled, team_.get());
  parallel_apply_ = std::make_unique<ParallelApply>(platform, devices_, how.threads);
  const LossParts parts{*output_device_, replicas, shards_, model_.objective()};
  loss_ = in_replicas ? make_loss_in_replicas(parts, *scatter_, kTargets)
                      : make_loss_on_root(parts, {batch_->targets(), options.input},
                                          one_device_ ? Shortcut::kTaken : Shortcut::kNotTaken);
  autograd_threads_ = platform.make_threads(devices_, ThreadLife::kKept);

  Gradients gradients{replicas, {}};
  for (const Arena& arena : gradients_) gradients.arenas.push_back(arena.flat);
  reduce_ = make_reduce(gradients);
  optimizer_ = make_optimizer(root().device(), model_.layout().arena_count(), options.optimizer);
}

std::unique_ptr<ReduceToRoot> DataParallel::make_reduce(const Gradients& gradients) {
  switch (reduce_order_) {
    case Order::kTree:
      return make_tree_reduce(gradients);
    case Order::kCollective:
      return make_collective_reduce(*team_, gradients, model_.layout(), kTorchCoalescedChunk);
    case Order::kTorch:  // resolved
    case Order::kSequential:
      break;
  }
  return make_sequential_reduce(gradients, model_.layout(), kTorchCoalescedChunk);
}

void DataParallel::misplace_module(Device& device) {
  if (&device != &root().device()) misplaced_.emplace(make_arena(device, model_.layout()));
}

// Streams wait for each other's events across devices: the work of all devices must end before any
// device's objects are destroyed.
DataParallel::~DataParallel() {
  static_cast<void>(capture_error([this] { synchronize(); }));
}

void DataParallel::step() {
  try {
    enqueue_step();
  } catch (...) {
    abandon_step();
    throw;
  }
}

// A failed step leaves out the waits that order the next step, so that all enqueued work has to end
// first.
void DataParallel::abandon_step() {
  interpreters_.join();
  if (team_) team_->abort();  // no device waits for work that is not enqueued any more
  scatter_->synchronize();
  static_cast<void>(capture_error([this] { synchronize(); }));
  for (const auto& replica : replicas_) replica->timer().abandon_step(replica->stream());
  if (output_device_->is_apart()) output_device_->timer().abandon_step(output_device_->stream());
}

void DataParallel::enqueue_step() {
  check_placement();
  scatter_->enqueue(interpreters_.caller());
  loss_->load_targets(interpreters_.caller());
  if (!one_device_) replicate_->enqueue(module_, interpreters_.caller());
  forward();
  loss_->gather(interpreters_.caller());
  loss_->compute(interpreters_.caller());
  loss_->scatter_gradient(interpreters_.caller());
  backward();
  reduce_->enqueue();
  update();
  end_step();
}

void DataParallel::begin_on_all(Phase phase) {
  for (const auto& replica : replicas_) replica->timer().begin(replica->stream(), phase);
}

// Loops on the host over all parameters and buffers at every step, as torch does.
void DataParallel::check_placement() {
  root().timer().begin(root().stream(), Phase::kCheck);
  if (output_device_->is_apart()) output_device_->begin(Phase::kIdle);
  const TensorList& parameters = misplaced_ ? misplaced_->tensors : root().parameters().tensors;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    check_on_root(root().device().id(), parameters[i].device(), model_.layout().segments()[i].name);
  }
  for (std::size_t i = 0; i < module_.buffers.size(); ++i) {
    check_on_root(root().device().id(), module_.buffers[i].device(),
                  model_.buffers().segments()[i].name);
  }
}

void DataParallel::forward() {
  if (one_device_) return forward_in_replica(0, interpreters_.caller());
  if (parallel_apply_->uses_threads()) begin_on_all(Phase::kLaunch);
  interpreters_.fork();
  parallel_apply_->run([this](int i) { forward_in_replica(i, interpreters_.worker(i)); });
  interpreters_.join();
}

void DataParallel::forward_in_replica(int index, Interpreter& interpreter) {
  Replica& mine = replica(index);
  mine.timer().begin(mine.stream(), Phase::kForward);
  mine.forward(scatter_->shard(index, kInputs), interpreter);
  loss_->finish_forward(index, interpreter);
  mine.timer().begin(mine.stream(), Phase::kIdle);
}

// Autograd's nodes hold no interpreter: each device's thread has a time of its own, and the caller
// waits for all. scatter_gradient has charged for gather's node, and
// broadcast's node stands before the reduction.
void DataParallel::backward() {
  begin_on_all(Phase::kIdle);  // until the device's thread is awake
  for (const auto& replica : replicas_) replica->begin_backward(interpreters_.caller());
  autograd_threads_->run([this](int i) {
    Replica& mine = replica(i);
    IgnoreGradients nobody;  // one broadcast node holds all gradients: nothing can start early
    mine.timer().begin(mine.stream(), Phase::kBackward);
    loss_->begin_backward(i);
    mine.backward(scatter_->shard(i, kInputs), gradients_[static_cast<std::size_t>(i)].tensors,
                  nobody);
    scatter_->release(i);
  });
  for (const auto& replica : replicas_) replica->end_backward(interpreters_.caller());
  if (!one_device_) dispatch(interpreters_.caller(), root().stream(), DispatchKind::kCall);
}

void DataParallel::update() {
  root().timer().begin(root().stream(), Phase::kUpdate);
  dispatch(interpreters_.caller(), root().stream(), DispatchKind::kOptimizer,
           model_.layout().size());
  optimizer_->step(root().operations(), root().stream(), root().parameters().flat, reduce_->sum());
}

void DataParallel::end_step() {
  for (const auto& replica : replicas_) replica->timer().end_step(replica->stream());
  if (output_device_->is_apart()) output_device_->timer().end_step(output_device_->stream());
}

void DataParallel::synchronize() {
  std::vector<std::optional<Error>> errors;
  for (const auto& replica : replicas_) {
    errors.push_back(capture_error([&] { replica->stream().synchronize(); }));
  }
  errors.push_back(capture_error([this] { output_device_->stream().synchronize(); }));
  throw_cause(errors);
}

TensorList DataParallel::weights() { return root().parameters().tensors; }

TensorList DataParallel::gradients() { return model_.layout().views(reduce_->sum()); }

const ModuleState& DataParallel::module() { return one_device_ ? root().state() : module_; }

float DataParallel::loss() {
  return read_back<float>(output_device_->device(), loss_->value()).front();
}

std::vector<DeviceTimes> DataParallel::collect_phases() {
  std::vector<DeviceTimes> all;
  for (const auto& replica : replicas_) all.push_back(replica->collect_times());
  if (output_device_->is_apart()) {
    all.push_back({output_device_->device().id().index, output_device_->timer().collect()});
  }
  return all;
}

ParallelApply::ParallelApply(Platform& platform, const std::vector<Device*>& devices,
                             Threads threads)
    : devices_(devices) {
  if (!uses_threads()) return;
  threads_ = platform.make_threads(
      devices, threads == Threads::kKept ? ThreadLife::kKept : ThreadLife::kOneRun);
}

void ParallelApply::run(const std::function<void(int)>& body) {
  const auto named = [&](int replica) {
    const auto error = capture_error([&] { body(replica); });
    if (!error) return;
    throw error->reworded(fmt::format("caught in replica {} on {}: {}", replica,
                                      to_string(devices_[static_cast<std::size_t>(replica)]->id()),
                                      error->what()));
  };
  if (!uses_threads()) return named(0);
  threads_->run(named);
}

}  // namespace tandem::dp
