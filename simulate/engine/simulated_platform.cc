// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_platform.h"

#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/comm/transports/simulated_transport.h"
#include "common/kernels/simulated_kernels.h"
#include "common/runtime/memory_account.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/engine/simulated_communicator.h"
#include "simulate/engine/simulated_operations.h"
#include "simulate/engine/simulated_stream.h"
#include "simulate/engine/simulated_threads.h"

namespace tandem::simulated {
namespace {

// Memory of the host, or of a device whose account it is charged to.
class SimulatedBuffer final : public Buffer {
 public:
  SimulatedBuffer(ByteSpan bytes, std::shared_ptr<MemoryAccount> account)
      : bytes_(bytes), account_(std::move(account)) {
    if (account_) account_->charge(bytes_.size_bytes());
  }
  ~SimulatedBuffer() override {
    if (account_) account_->release(bytes_.size_bytes());
  }

  [[nodiscard]] ByteSpan bytes() override { return bytes_; }

 private:
  const ByteSpan bytes_;
  const std::shared_ptr<MemoryAccount> account_;  // of the device, which it may outlive; or null
};

std::unique_ptr<Buffer> make_buffer(Simulation& simulation, Bytes size, int device,
                                    std::shared_ptr<MemoryAccount> account) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  const ByteSpan bytes(simulation.take_addresses(size), size.value, {Backend::kSimulated, device});
  return std::make_unique<SimulatedBuffer>(bytes, std::move(account));
}

class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(Simulation& simulation, int index, Bytes capacity)
      : simulation_(simulation),
        index_(index),
        account_(std::make_shared<MemoryAccount>(id(), capacity)) {}

  [[nodiscard]] DeviceId id() const override { return {Backend::kSimulated, index_}; }
  [[nodiscard]] std::string name() const override {
    return fmt::format("{}, simulated", simulation_.hardware().gpu.name);
  }
  // In the form of a GPU's PCI address and UUID, as each device is a GPU of its own.
  [[nodiscard]] std::string hardware() const override {
    return fmt::format("{:08X}:00:00.0 simulated", index_);
  }
  [[nodiscard]] int multiprocessor_count() const override {
    return simulation_.hardware().gpu.multiprocessors.value;
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return make_buffer(simulation_, size, index_, account_);
  }
  [[nodiscard]] MemoryUse memory() const override { return account_->use(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    return make_buffer(simulation_, size, DeviceId::kHostMemory, nullptr);
  }

  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority /*priority*/) override {
    return std::make_unique<SimulatedStream>(
        simulation_, id(), fmt::format("stream {} of {}", streams_++, to_string(id())));
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return make_timed_event(); }
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override {
    return std::make_unique<SimulatedEvent>(simulation_, id());
  }

  // The simulation says which host thread runs.
  void bind_this_thread() override {}

  [[nodiscard]] Simulation& simulation() { return simulation_; }

 private:
  Simulation& simulation_;
  const int index_;
  const std::shared_ptr<MemoryAccount> account_;
  int streams_ = 0;
};

// If ranks are processes, this process has one of the devices.
int devices_here(const PlatformOptions& options) {
  return options.own_device ? 1 : options.devices;
}

class SimulatedPlatform final : public Platform {
 public:
  SimulatedPlatform(const HardwareDescription& hardware, const PlatformOptions& options,
                    SimulationExtras extras)
      : simulation_(hardware, devices_here(options), std::move(extras)) {
    for (int i = 0; i < devices_here(options); ++i) {
      const Bytes capacity = asked_memory(options, i).value_or(hardware.gpu.memory.value);
      devices_.push_back(std::make_unique<SimulatedDevice>(simulation_, i, capacity));
    }
  }

  [[nodiscard]] Backend backend() const override { return Backend::kSimulated; }
  [[nodiscard]] int device_count() const override { return static_cast<int>(devices_.size()); }
  [[nodiscard]] Device& device(int index) override {
    TANDEM_CHECK(index >= 0 && index < device_count(), "device {} of {}", index, device_count());
    return *devices_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    return devices_.front()->allocate_host(size);
  }
  [[nodiscard]] TimePoint now() override { return TimePoint(simulation_.now()); }
  [[nodiscard]] bool holds_data() const override { return false; }
  [[nodiscard]] std::unique_ptr<DeviceThreads> make_threads(const std::vector<Device*>& devices,
                                                            ThreadLife life) override {
    return make_simulated_threads(simulation_, devices, life);
  }
  [[nodiscard]] bool oversubscribed() const override { return false; }

 private:
  Simulation simulation_;
  std::vector<std::unique_ptr<SimulatedDevice>> devices_;
};

// The interface of simulated devices for common/, beside the runtime's interfaces.
constexpr SimulatedTransport kTransport{
    .make_folded = make_folded_communicator,
    .make_of_thread = make_thread_communicator,
    .make_of_team = make_team_communicators,
    .make_ranks_in_turn = make_ranks_in_turn,
    .are_cores = [](Device& device) { return simulation_of(device).is_of_cores(); }};

constexpr SimulatedKernels kKernels{.make_operations = make_simulated_operations,
                                    .takes_listed = takes_listed,
                                    .enqueue_listed = enqueue_listed};

void check_devices(const HardwareDescription& hardware, const PlatformOptions& options) {
  TANDEM_CHECK(options.devices > 0, "{} devices", options.devices);
  if (options.own_device) return check_ranks(hardware, options.devices);
  const int gpus = hardware.node.gpus.value;
  if (options.devices <= gpus) return;
  fail(ErrorKind::kUsage,
       "--devices={}: the threads of a process are on one node, and one of the hardware {} has {} "
       "GPUs: use fewer",
       options.devices, hardware.name, gpus);
}

}  // namespace

void check_ranks(const HardwareDescription& hardware, int ranks) {
  const std::int64_t gpus = std::int64_t{hardware.node.gpus.value} * hardware.nodes();
  if (ranks <= gpus) return;
  fail(ErrorKind::kUsage,
       "--devices={}: the hardware {} has {} GPUs in all: use fewer, or describe a network of more "
       "nodes",
       ranks, hardware.name, gpus);
}

std::unique_ptr<Platform> make_simulated_platform(HardwareDescription hardware,
                                                  const PlatformOptions& options,
                                                  SimulationExtras extras) {
  register_simulated_kernels(kKernels);
  register_simulated_transport(kTransport);
  check_devices(hardware, options);
  check_device_memory(options);
  if (options.peer_access == PeerAccess::kOff) {
    hardware.node.peer_link.reset();
    hardware.node.nccl.reset();
  }
  return std::make_unique<SimulatedPlatform>(hardware, options, std::move(extras));
}

HardwareDescription described_hardware(const PlatformOptions& options) {
  if (options.hardware.empty()) {
    fail(ErrorKind::kUsage,
         "--backend=simulated: which hardware? give its name or the file that describes it, with "
         "step_bench's --hardware");
  }
  return find_hardware(options.hardware, "--hardware");
}

Simulation& simulation_of(Device& device) {
  TANDEM_CHECK(device.id().backend == Backend::kSimulated, "a simulation asked of {}",
               to_string(device.id()));
  return static_cast<SimulatedDevice&>(device).simulation();
}

}  // namespace tandem::simulated
