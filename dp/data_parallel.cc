// SPDX-License-Identifier: Apache-2.0
//
// One step. Columns are devices, time runs down; every arrow is an event. Each device has a compute
// stream and, for scatter from host memory, a copy stream. The caller enqueues everything; threads
// are started for forward (torch's parallel_apply) and kept for backward (its autograd threads).
// Nobody waits for a device before the step is enqueued whole.
//
// With one device torch calls the model itself: no replicate, launch, gather or scatter_grad.
//
//              device 0                                device k
//   check      every parameter on device 0?
//   scatter    piece 0 (copy stream)                   piece k (copy stream)
//   replicate  flatten chunks ------- flat_ready ----> pull weights into the replica
//   launch     until its thread has begun                until its thread has begun
//   forward    forward(piece 0)                        forward(piece k)
//   gather     pull outputs <-------- output_ready --- (idle)
//   loss       mean over the whole batch
//   scatter_   own slice in place --- loss_ready ----> pull slice of the output gradient
//     grad
//              (idle until its thread is awake)        (idle until its thread is awake)
//   backward   backward                                backward
//   reduce     flatten; sum = 0 + 1 + .. + k <-------- flatten
//   update     optimizer, on device 0 alone            (idle until the next step)
//
// The reduction starts only when the last gradient of the last replica is there: all weights hang
// on one broadcast. Gradients are summed and never averaged, which is right because the loss is a
// mean over the whole batch; so pieces may be uneven.
#include "dp/data_parallel.h"

#include "common/base/capture_error.h"
#include "common/data/synthetic_batch.h"
#include "common/runtime/copy.h"

namespace tandem::dp {
namespace {

std::vector<Device*> devices_with_a_piece(Platform& platform, std::int64_t batch) {
  std::vector<Device*> devices;
  const std::vector<Piece> pieces = chunk_batch(batch, platform.device_count());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    devices.push_back(&platform.device(static_cast<int>(i)));
  }
  return devices;
}

Bytes floats(std::int64_t count) { return Bytes{count * static_cast<std::int64_t>(sizeof(float))}; }

// Rows first .. first + count of a matrix.
template <class T>
Span<T> rows(Span<T> matrix, const Piece& piece, std::int64_t width) {
  return matrix.subspan(piece.first * width, piece.count * width);
}

}  // namespace

struct DataParallel::Root {
  Root(Platform& platform, Device& device, const Model& model, const TrainingOptions& options)
      : place(options.input),
        host_batch(platform,
                   {.first = 0,
                    .count = options.global_batch,
                    .input_width = model.input_width(),
                    .target_width = model.output_width()},
                   options.seed, options.distribution),
        targets(device.allocate(host_batch.targets().bytes())),
        outputs(device.allocate(host_batch.targets().bytes())),
        output_gradients(device.allocate(host_batch.targets().bytes())),
        loss(device.allocate(floats(1))),
        loss_ready(device.make_event()) {
    if (place == InputPlace::kDevice) copy_in(device);
  }

  void copy_in(Device& device) {
    inputs = device.allocate(host_batch.inputs().bytes());
    const auto stream = device.make_stream(StreamPriority::kNormal);
    enqueue_copy(*stream, inputs->as<float>(), host_batch.inputs());
    enqueue_copy(*stream, targets->as<float>(), host_batch.targets());
    stream->synchronize();
  }

  const InputPlace place;
  const SyntheticBatch host_batch;
  std::unique_ptr<Buffer> inputs;  // only where the batch starts on the device
  const std::unique_ptr<Buffer> targets;
  const std::unique_ptr<Buffer> outputs;           // of the whole batch
  const std::unique_ptr<Buffer> output_gradients;  // of the whole batch
  const std::unique_ptr<Buffer> loss;
  const std::unique_ptr<Event> loss_ready;
};

struct DataParallel::Worker {
  Worker(Device& device, const Model& model, Piece share, const TrainingOptions& options)
      : piece(share),
        input_buffer(device.allocate(floats(share.count * model.input_width()))),
        input(input_buffer->as<float>()),
        gradients(make_arena(device, model.layout())),
        input_ready(device.make_event()),
        input_free(device.make_event()),
        output_ready(device.make_event()),
        replica(device, model, share.count, options.phases),
        copies(device.make_stream(StreamPriority::kNormal)) {}

  const Piece piece;
  const std::unique_ptr<Buffer> input_buffer;
  Span<const float> input;  // the piece on this device; on the root perhaps a view of its batch
  const Arena gradients;
  const std::unique_ptr<Event> input_ready;   // copies: the piece is in
  const std::unique_ptr<Event> input_free;    // compute: backward has read it
  const std::unique_ptr<Event> output_ready;  // compute: forward is done
  Replica replica;
  const std::unique_ptr<Stream> copies;
};

DataParallel::DataParallel(Platform& platform, const Model& model, const TrainingOptions& options)
    : model_(model),
      one_device_(platform.device_count() == 1),
      devices_(devices_with_a_piece(platform, options.global_batch)),
      root_(std::make_unique<Root>(platform, *devices_.front(), model, options)),
      autograd_threads_(std::make_unique<DeviceThreads>(devices_)) {
  const std::vector<Piece> pieces = chunk_batch(options.global_batch, platform.device_count());
  std::vector<Replica*> replicas;
  std::vector<Span<float>> gradients;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    workers_.push_back(std::make_unique<Worker>(*devices_[i], model, pieces[i], options));
    replicas.push_back(&workers_.back()->replica);
    gradients.push_back(workers_.back()->gradients.flat);
  }
  const ParameterLayout& layout = model.layout();
  broadcast_ = std::make_unique<CoalescedBroadcast>(replicas, layout, kTorchCoalescedChunk);
  reduction_ =
      std::make_unique<CoalescedReduction>(replicas, gradients, layout, kTorchCoalescedChunk);
  optimizer_ = make_optimizer(*devices_.front(), layout.arena_count(), options.optimizer);
  root_worker().replica.initialise(options.seed, options.distribution);
  root_worker().replica.stream().synchronize();
}

// Streams wait for each other's events across workers: all must be done before any goes.
DataParallel::~DataParallel() {
  for (const auto& worker : workers_) {
    static_cast<void>(capture_error([&] { worker->replica.stream().synchronize(); }));
    static_cast<void>(capture_error([&] { worker->copies->synchronize(); }));
  }
}

void DataParallel::step() {
  check_placement();
  scatter();
  if (!one_device_) broadcast_->enqueue();
  forward();
  if (!one_device_) gather();
  compute_loss();
  if (!one_device_) scatter_gradient();
  backward();
  reduction_->enqueue();
  update();
}

void DataParallel::begin_on_all(Phase phase) {
  for (const auto& worker : workers_) {
    worker->replica.timer().begin(worker->replica.stream(), phase);
  }
}

// As torch: a host loop over all parameters at every step.
void DataParallel::check_placement() {
  Replica& root = root_worker().replica;
  root.timer().begin(root.stream(), Phase::kCheck);
  for (std::size_t i = 0; i < root.parameters().tensors.size(); ++i) {
    const DeviceId found = root.parameters().tensors[i].device();
    if (found == devices_.front()->id()) continue;
    fail(ErrorKind::kLogic, "dp needs all parameters on {}, but {} is on {}: move the model there",
         to_string(devices_.front()->id()), model_.layout().segments()[i].name, to_string(found));
  }
}

// From host memory each device copies its piece on its copy stream. From device 0's memory the
// root's own piece is a view, and the others pull theirs on their compute streams.
void DataParallel::scatter() {
  const std::int64_t width = model_.input_width();
  for (const auto& worker : workers_) {
    Replica& replica = worker->replica;
    replica.timer().begin(replica.stream(), Phase::kScatter);
    const bool is_root = worker == workers_.front();
    if (root_->place == InputPlace::kDevice) {
      const Span<const float> source =
          rows(Span<const float>(root_->inputs->as<float>()), worker->piece, width);
      if (is_root) {
        worker->input = source;
      } else {
        enqueue_copy(replica.stream(), worker->input_buffer->as<float>(), source);
      }
      continue;
    }
    worker->copies->wait(*worker->input_free);  // of the step before
    enqueue_copy(*worker->copies, worker->input_buffer->as<float>(),
                 rows(root_->host_batch.inputs(), worker->piece, width));
    worker->copies->record(*worker->input_ready);
    if (is_root)
      enqueue_copy(replica.stream(), root_->targets->as<float>(), root_->host_batch.targets());
    replica.stream().wait(*worker->input_ready);
  }
}

void DataParallel::forward() {
  const auto forward_one = [this](int i) {
    Worker& worker = *workers_[static_cast<std::size_t>(i)];
    Replica& replica = worker.replica;
    replica.timer().begin(replica.stream(), Phase::kForward);
    replica.forward(worker.input);
    replica.stream().record(*worker.output_ready);
    replica.timer().begin(replica.stream(), Phase::kIdle);
  };
  if (devices_.size() == 1) return forward_one(0);
  begin_on_all(Phase::kLaunch);
  run_on_new_threads(devices_, forward_one);
}

void DataParallel::gather() {
  Replica& root = root_worker().replica;
  const std::int64_t width = model_.output_width();
  for (const auto& worker : workers_) {
    root.timer().begin(root.stream(), Phase::kIdle);
    root.stream().wait(*worker->output_ready);
    root.timer().begin(root.stream(), Phase::kGather);
    enqueue_copy(root.stream(), rows(root_->outputs->as<float>(), worker->piece, width),
                 worker->replica.output());
  }
}

void DataParallel::compute_loss() {
  Replica& root = root_worker().replica;
  root.timer().begin(root.stream(), Phase::kLoss);
  root.operations().enqueue(
      root.stream(),
      MseLoss{
          .prediction = one_device_ ? root.output() : root_->outputs->as<float>(),
          .target = root_->targets->as<float>(),
          .gradient = one_device_ ? root.output_gradient() : root_->output_gradients->as<float>(),
          .loss = root_->loss->as<float>()});
  root.stream().record(*root_->loss_ready);
}

void DataParallel::scatter_gradient() {
  const std::int64_t width = model_.output_width();
  for (const auto& worker : workers_) {
    Replica& replica = worker->replica;
    replica.stream().wait(*root_->loss_ready);
    replica.timer().begin(replica.stream(), Phase::kScatterGrad);
    enqueue_copy(replica.stream(), replica.output_gradient(),
                 rows(root_->output_gradients->as<float>(), worker->piece, width));
  }
}

void DataParallel::backward() {
  begin_on_all(Phase::kIdle);  // until its thread is awake
  autograd_threads_->run([this](int i) {
    Worker& worker = *workers_[static_cast<std::size_t>(i)];
    Replica& replica = worker.replica;
    IgnoreGradients nobody;  // one broadcast node holds them all: nothing can start early
    replica.timer().begin(replica.stream(), Phase::kBackward);
    replica.backward(worker.input, worker.gradients.tensors, nobody);
    replica.stream().record(*worker.input_free);
  });
}

void DataParallel::update() {
  Replica& root = root_worker().replica;
  root.timer().begin(root.stream(), Phase::kUpdate);
  optimizer_->step(root.operations(), root.stream(), root.parameters().flat, reduction_->sum());
  for (const auto& worker : workers_) worker->replica.timer().end_step(worker->replica.stream());
}

void DataParallel::synchronize() {
  for (const auto& worker : workers_) worker->replica.stream().synchronize();
}

TensorList DataParallel::weights() { return root_worker().replica.parameters().tensors; }

TensorList DataParallel::gradients() { return model_.layout().views(reduction_->sum()); }

std::vector<DeviceTimes> DataParallel::collect_phases() {
  std::vector<DeviceTimes> all;
  for (const auto& worker : workers_) {
    all.push_back({worker->replica.device().id().index, worker->replica.timer().collect()});
  }
  return all;
}

}  // namespace tandem::dp
