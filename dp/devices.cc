// SPDX-License-Identifier: Apache-2.0
#include "dp/devices.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace tandem::dp {

namespace {

constexpr double kLeastShare = 0.75;

using Measure = std::function<double(const DeviceStrength&)>;

std::optional<std::string> imbalance_by(const std::vector<DeviceStrength>& devices,
                                        const char* what, const Measure& measure) {
  const auto [weak, strong] =
      std::minmax_element(devices.begin(), devices.end(),
                          [&](const auto& a, const auto& b) { return measure(a) < measure(b); });
  if (measure(*weak) >= kLeastShare * measure(*strong)) return std::nullopt;
  return fmt::format(
      "there is an imbalance between your devices: device {} has less than 75 % of the {} of "
      "device {}; you may want to leave it out with --device-ids",
      weak->index, what, strong->index);
}

}  // namespace

std::vector<Device*> devices_named(Platform& platform, const DataParallelOptions& options) {
  std::vector<int> ids = options.device_ids;
  if (ids.empty()) {
    ids.resize(static_cast<std::size_t>(platform.device_count()));
    std::iota(ids.begin(), ids.end(), 0);
  }
  std::vector<Device*> devices;
  std::set<int> seen;
  for (const int id : ids) {
    devices.push_back(&device_named(platform, id, "--device-ids"));
    if (seen.insert(id).second) continue;
    fail(ErrorKind::kUsage, "--device-ids: device {} is named twice: name each once", id);
  }
  return devices;
}

Device& device_named(Platform& platform, int index, const char* option) {
  if (index >= 0 && index < platform.device_count()) return platform.device(index);
  fail(ErrorKind::kUsage, "{}: there is no device {}: use 0 to {}", option, index,
       platform.device_count() - 1);
}

std::optional<std::string> imbalance_warning(const std::vector<DeviceStrength>& devices) {
  if (auto warning = imbalance_by(devices, "memory", [](const DeviceStrength& device) {
        return static_cast<double>(device.memory.value);
      })) {
    return warning;
  }
  return imbalance_by(devices, "multiprocessors", [](const DeviceStrength& device) {
    return static_cast<double>(device.multiprocessors);
  });
}

std::vector<DeviceStrength> strengths_of(const std::vector<Device*>& devices) {
  std::vector<DeviceStrength> strengths;
  for (const Device* const device : devices) {
    strengths.push_back(
        {device->id().index, device->memory().capacity, device->multiprocessor_count()});
  }
  return strengths;
}

OutputDevice::OutputDevice(Device& device, const std::vector<Replica*>& replicas,
                           const PhaseOptions& phases)
    : device_(device) {
  for (Replica* const replica : replicas) {
    if (&replica->device() == &device) replica_ = replica;
  }
  if (replica_ != nullptr) return;
  own_.emplace(device, phases);
}

OutputDevice::OwnResources::OwnResources(Device& device, const PhaseOptions& phases)
    : operations(make_operations(device)),
      timer(device, phases),
      stream(device.make_stream(StreamPriority::kNormal)) {}

}  // namespace tandem::dp
