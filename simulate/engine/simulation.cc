// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/error.h"
#include "common/stats/estimate.h"

namespace tandem::simulated {
namespace {

// Beyond the addresses of a process, of 57 bits at most on x86-64 and of 52 on AArch64, which
// ignores the highest eight: room for 2^53 bytes in all that a process ever allocates.
constexpr std::uintptr_t kFirstAddress = (std::uintptr_t{1} << 58) + (std::uintptr_t{1} << 53);
constexpr std::uintptr_t kPastAddresses = kFirstAddress + (std::uintptr_t{1} << 53);
constexpr std::uintptr_t kAlignment = 512;  // as cudaMalloc's, at least

}  // namespace

CollectiveId Meeting::at(std::uint64_t sequence, Nanoseconds duration) {
  if (sequence > collectives_.size()) {
    collectives_.push_back(schedule_.add_collective({parts_, duration}));
  }
  return collectives_[sequence - 1];
}

Simulation::Simulation(HardwareDescription hardware, int devices, SimulationExtras extras)
    : hardware_(std::move(hardware)),
      devices_(devices),
      is_of_cores_(extras.of_cores),
      has_measured_links_(extras.has_measured_links),
      costs_(extras.costs ? std::move(*extras.costs) : OperationCosts(hardware_.gpu)),
      thread_(schedule_.add_lane("main thread")),
      next_address_(kFirstAddress) {
  for (int i = 0; i < devices_; ++i) {
    processors_.push_back(schedule_.add_processor(hardware_.gpu.contention.value));
  }
  add_ports();
  add_routes();
}

ProcessorId Simulation::processor(DeviceId device) const {
  return processors_.at(static_cast<std::size_t>(device.index));
}

// The mean of the largest of so many draws from a normal distribution, by Blom's approximation.
void Simulation::keep_pace_with(int ranks) {
  if (!hardware_.gpu.scatter || ranks == 1) return;
  const double latest = stats::normal_quantile((ranks - 0.375) / (ranks + 0.25));
  slowdown_ = 1 + hardware_.gpu.scatter->value * latest;
}

Nanoseconds Simulation::on_slowest(Nanoseconds mean) const {
  return Nanoseconds{std::llround(static_cast<double>(mean.count()) * slowdown_)};
}

TaskId Simulation::launch() { return schedule_.add(thread_, Pause{hardware_.host.launch.value}); }

int Simulation::device_of_thread() const {
  const auto found = devices_of_threads_.find(thread_);
  return found == devices_of_threads_.end() ? 0 : found->second;
}

Nanoseconds Simulation::wake_up() const {
  const auto& wake_up = hardware_.host.stream_wake;
  return wake_up ? wake_up->value : Nanoseconds{0};
}

void Simulation::hold(const Interpreter& interpreter, Nanoseconds duration) {
  auto found = locks_.find(&interpreter);
  if (found == locks_.end()) found = locks_.emplace(&interpreter, schedule_.add_lock()).first;
  schedule_.add(thread_, LockedCall{found->second, duration});
}

void Simulation::wait_for(TaskId task) { schedule_.add(thread_, Pause{}, task); }

Nanoseconds Simulation::now() { return schedule_.end_of(schedule_.last_of(thread_)); }

std::shared_ptr<Meeting> Simulation::next_meeting(DeviceId device, int parts) {
  const std::size_t number = meetings_of_[device.index]++;
  if (number == meetings_.size()) {
    meetings_.push_back(std::make_shared<Meeting>(schedule_, parts));
  }
  return meetings_.at(number);
}

std::byte* Simulation::take_addresses(Bytes size) {
  const std::uintptr_t address = next_address_;
  const auto pieces = (static_cast<std::uintptr_t>(size.value) + kAlignment - 1) / kAlignment;
  next_address_ += std::max<std::uintptr_t>(pieces, 1) * kAlignment;
  if (next_address_ > kPastAddresses) {
    fail(ErrorKind::kFailure, "this simulation has given out all addresses: simulate less at once");
  }
  return reinterpret_cast<std::byte*>(address);
}

bool Simulation::has_given(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) >= kFirstAddress;
}

const Simulation::Route& Simulation::route(DeviceId from, DeviceId to) const {
  return routes_.at({from.index, to.index});
}

void Simulation::add_ports() {
  const auto add = [this](const LinkDescription& link) {
    return schedule_.add_link(link.bandwidth.value);
  };
  const NodeDescription& node = hardware_.node;
  const bool is_staged = !node.peer_link && node.staged_link;
  for (int i = 0; i < devices_; ++i) {
    DevicePorts ports{add(node.host_link), add(node.host_link), {}, {}};
    ports.from_peers = ports.from_host;
    ports.to_peers = ports.to_host;
    if (node.peer_link || is_staged) {
      const LinkDescription& link = node.peer_link ? *node.peer_link : node.staged_link->one_way;
      ports.from_peers = add(link);
      ports.to_peers = add(link);
    }
    if (is_staged) ports.staging = schedule_.add_link(2 * node.staged_link->both_ways.value);
    ports_.push_back(ports);
  }
}

Path Simulation::path_between(const DevicePorts& from, const DevicePorts& to) const {
  if (!from.staging) return {from.to_peers, to.from_peers};
  return {from.to_peers, to.from_peers, from.to_host, to.from_host, *from.staging, *to.staging};
}

void Simulation::add_routes() {
  constexpr int kHost = DeviceId::kHostMemory;
  const NodeDescription& node = hardware_.node;
  const Nanoseconds to_host = node.host_link.latency.value;
  // Through the host's memory, data crosses two links, one after the other.
  Nanoseconds to_peer = 2 * to_host;
  if (node.staged_link) to_peer = node.staged_link->one_way.latency.value;
  if (node.peer_link) to_peer = node.peer_link->latency.value;
  for (int i = 0; i < devices_; ++i) {
    const DevicePorts& mine = ports_[static_cast<std::size_t>(i)];
    routes_[{kHost, i}] = {schedule_.add_path({mine.from_host}), to_host};
    routes_[{i, kHost}] = {schedule_.add_path({mine.to_host}), to_host};
    for (int j = 0; j < devices_; ++j) {
      if (j == i) continue;
      const DevicePorts& there = ports_[static_cast<std::size_t>(j)];
      routes_[{i, j}] = {schedule_.add_path(path_between(mine, there)), to_peer};
    }
  }
}

}  // namespace tandem::simulated
