// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/neighbours.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/runtime/copy.h"

namespace tandem::bench {
namespace {

void run_step(Single& single, HeldStart& start) {
  start.run([&] { single.step(); });
  single.synchronize();
  static_cast<void>(single.collect_phases());
}

}  // namespace

Exchange::Exchange(Device& device, const Model& model)
    : time_(device),
      size_(bytes_of<float>(model.layout().parameter_count())),
      mine_(device.allocate(size_)),
      received_(device.allocate(size_)) {}

void Exchange::enqueue(Stream& stream) {
  time_.around(stream, [&] { enqueue_copy(stream, received_->as<float>(), mine_->as<float>()); });
}

// The first phase of the step.
void HeldStart::phase_begins(Device& /*device*/, Stream& stream, Phase /*phase*/) {
  if (std::exchange(is_held_, false)) gate_.emplace(stream);
}

Neighbours::Neighbours(Platform& platform, const Model& model, const TrainingOptions& options)
    : meeting_(platform.device_count()),
      seconds_(static_cast<std::size_t>(platform.device_count()) - 1) {
  for (int i = 1; i < platform.device_count(); ++i) {
    Device& device = platform.device(i);
    starts_.push_back(std::make_unique<HeldStart>());
    TrainingOptions held = options;
    held.phases.observers.push_back(starts_.back().get());
    steps_.push_back(
        std::make_unique<Single>(platform, device, model, Shard{0, options.global_batch}, held));
    exchanges_.push_back(std::make_unique<Exchange>(device, model));
    streams_.push_back(device.make_stream(StreamPriority::kNormal));
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Device& device = platform.device(static_cast<int>(i) + 1);
    threads_.emplace_back([this, &device, i] {
      device.bind_this_thread();
      run(i);
    });
  }
}

Neighbours::~Neighbours() {
  is_over_ = true;
  if (is_within_step_) meeting_.arrive_and_wait();  // the caller's step has failed
  if (is_in_step_) meeting_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

void Neighbours::begin_step() {
  is_within_step_ = true;
  meeting_.arrive_and_wait();
}

double Neighbours::end_step() {
  meeting_.arrive_and_wait();
  is_within_step_ = false;
  return *std::ranges::max_element(seconds_);
}

void Neighbours::run(std::size_t neighbour) {
  while (!is_in_step_) {
    if (is_over_) return;
    run_step(*steps_[neighbour], *starts_[neighbour]);
  }
  for (;;) {
    meeting_.arrive_and_wait();  // also at the end, where the caller comes once more
    if (is_over_) return;
    starts_[neighbour]->hold();
    const TimePoint start = Clock::now();
    run_step(*steps_[neighbour], *starts_[neighbour]);
    seconds_[neighbour] = Seconds(Clock::now() - start).count();
    meeting_.arrive_and_wait();
    exchanges_[neighbour]->enqueue(*streams_[neighbour]);
    streams_[neighbour]->synchronize();
  }
}

std::unique_ptr<Neighbours> start_neighbours(Platform* platform, const Model& model,
                                             const TrainingOptions& options) {
  if (platform == nullptr || platform->device_count() == 1) return nullptr;
  std::unique_ptr<Neighbours> neighbours;
  const auto error =
      capture_error([&] { neighbours = std::make_unique<Neighbours>(*platform, model, options); });
  if (error && error->kind() != ErrorKind::kOutOfMemory) throw Error(*error);
  return neighbours;
}

}  // namespace tandem::bench
