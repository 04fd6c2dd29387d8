// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transports/device_team.h"

#include <set>

#include "common/base/error.h"
#include "common/comm/nccl_module.h"
#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/transports/simulated_transport.h"
#include "common/runtime/device.h"

namespace tandem {
namespace {

// A call on host devices waits for no other call.
void one_after_the_other(const std::vector<Communicator*>&, const std::function<void()>& calls) {
  calls();
}

bool are_gpus(const std::vector<Device*>& devices) {
  return devices.front()->id().backend == Backend::kCuda;
}

bool are_simulated(const std::vector<Device*>& devices) {
  return devices.front()->id().backend == Backend::kSimulated;
}

std::unique_ptr<Communicator> make_rank(Bootstrap& bootstrap, Device& device,
                                        const CommunicatorOptions& options) {
  return device.id().backend == Backend::kCuda
             ? find_nccl_module()->make_communicator(bootstrap, device, options)
             : make_shared_memory_communicator(bootstrap, device, options);
}

CommunicatorOptions options_for(const Device& device, const DeviceTeam::OptionsOf& options_of) {
  return options_of ? options_of(device) : CommunicatorOptions{};
}

}  // namespace

TeamAnswer nccl_serves(const std::vector<Device*>& devices) {
  TANDEM_CHECK(!devices.empty(), "no devices");
  const bool are_cores = are_simulated(devices) ? simulated_transport().are_cores(*devices.front())
                                                : !are_gpus(devices);
  if (are_cores) return {false, "they are cores"};
  if (are_simulated(devices)) return {true, ""};
  std::set<std::string> gpus;
  for (const Device* const device : devices) {
    gpus.insert(pci_address_of(device->hardware()));  // NCCL takes all slices of a GPU for one GPU
  }
  if (gpus.size() < devices.size()) return {false, "they share GPUs, and NCCL wants one each"};
  const NcclProbe probe = probe_nccl();
  return {probe.usable, probe.trouble};
}

std::unique_ptr<RankGroup> make_rank_group(const std::vector<Device*>& devices,
                                           Nanoseconds deadline) {
  const int size = static_cast<int>(devices.size());
  if (are_simulated(devices)) return simulated_transport().make_ranks_in_turn(size);
  return std::make_unique<ThreadGroup>(size, deadline);
}

DeviceTeam::DeviceTeam(const std::vector<Device*>& devices, const OptionsOf& options_of)
    : group_(static_cast<int>(devices.size()), options_for(*devices.front(), options_of).deadline),
      bootstraps_(devices.size()),
      communicators_(devices.size()),
      together_(one_after_the_other) {
  if (are_gpus(devices)) {
    const TeamAnswer answer = nccl_serves(devices);
    if (!answer.possible) {
      fail(ErrorKind::kUsage,
           "no collectives between these devices: {}; let weights and gradients be copied",
           answer.reason);
    }
    together_ = find_nccl_module()->together;
  }
  if (are_simulated(devices)) {
    communicators_ = simulated_transport().make_of_team(devices, options_of);
  } else {
    make_on_threads(devices, options_of);
  }
  for (const auto& communicator : communicators_) ranks_.push_back(communicator.get());
}

void DeviceTeam::make_on_threads(const std::vector<Device*>& devices, const OptionsOf& options_of) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    bootstraps_[i] = group_.join(static_cast<int>(i));
  }
  on_threads([&](std::size_t i) {
    devices[i]->bind_this_thread();  // the library's own threads inherit the binding
    communicators_[i] =
        make_rank(*bootstraps_[i], *devices[i], options_for(*devices[i], options_of));
  });
}

// NCCL's communicators of a node end together, each on a thread of its own.
DeviceTeam::~DeviceTeam() {
  static_cast<void>(
      capture_error([this] { on_threads([this](std::size_t i) { communicators_[i].reset(); }); }));
}

// An error on one rank's thread ends the exchanges of the others.
void DeviceTeam::on_threads(const std::function<void(std::size_t)>& body) {
  run_ranks_as_threads(size(), [&](Bootstrap& thread) {
    const auto error = capture_error([&] { body(static_cast<std::size_t>(thread.rank())); });
    if (!error) return;
    group_.abort();
    throw Error(*error);
  });
}

void DeviceTeam::together(const std::function<void()>& calls) { together_(ranks_, calls); }

void DeviceTeam::abort() noexcept {
  for (Communicator* const rank : ranks_) rank->abort();
}

}  // namespace tandem
