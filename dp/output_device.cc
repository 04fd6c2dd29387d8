// SPDX-License-Identifier: Apache-2.0
#include "dp/output_device.h"

namespace tandem::dp {

OutputDevice::OutputDevice(Device& device, const std::vector<Replica*>& replicas,
                           const PhaseOptions& phases)
    : device_(device) {
  for (Replica* const replica : replicas) {
    if (&replica->device() == &device) replica_ = replica;
  }
  if (replica_ != nullptr) return;
  own_.emplace(device, phases);
}

OutputDevice::Own::Own(Device& device, const PhaseOptions& phases)
    : operations(make_operations(device)),
      timer(device, phases),
      stream(device.make_stream(StreamPriority::kNormal)) {}

}  // namespace tandem::dp
