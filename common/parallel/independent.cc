// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/independent.h"

namespace tandem {

std::vector<Device*> devices_of(Platform& platform) {
  std::vector<Device*> devices;
  for (int i = 0; i < platform.device_count(); ++i) devices.push_back(&platform.device(i));
  return devices;
}

IndependentThreads::IndependentThreads(Platform& platform, const Model& model,
                                       const TrainingOptions& options, int micro_batches)
    : interpreters_(options.interpreter, platform.device_count()),
      threads_(platform.make_threads(devices_of(platform), ThreadLife::kKept)) {
  const int count = platform.device_count();
  for (int i = 0; i < count; ++i) {
    devices_.push_back(std::make_unique<Single>(platform, platform.device(i), model,
                                                share_of_batch(options.global_batch, i, count),
                                                options, micro_batches, &interpreters_.worker(i)));
  }
}

void IndependentThreads::step() {
  interpreters_.fork();
  threads_->run([this](int i) { devices_[static_cast<std::size_t>(i)]->step(); });
  interpreters_.join();
}

void IndependentThreads::synchronize() {
  for (const auto& device : devices_) device->synchronize();
}

std::vector<DeviceTimes> IndependentThreads::collect_phases() {
  std::vector<DeviceTimes> all;
  for (const auto& device : devices_) all.push_back(device->collect_phases().front());
  return all;
}

}  // namespace tandem
