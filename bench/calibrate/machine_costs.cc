// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/machine_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "bench/calibrate/size_times.h"
#include "common/runtime/copy.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr Bytes kSmallCopy = kib(4);
constexpr Bytes kLargeCopy = mib(4);
constexpr Bytes kCopiedMemory = mib(16);  // that successive copies go through
constexpr int kThreadRuns = 300;
constexpr int kWakes = 100;  // of each of two streams in a row
constexpr int kWakeRows = 9;
constexpr double kMostBandwidth = 0.99e14;  // that a description may have
constexpr double kMostContention = 1;       // likewise

// A copy's time at two sizes. `copy(i, size)` enqueues the copy of tensor `i` of its memory.
CopyCosts speed_of(Device& device, Stream& stream, const std::function<void(int, Bytes)>& copy) {
  const double small = seconds_in_row(device, stream, [&](int i) { copy(i, kSmallCopy); });
  const double large = seconds_in_row(device, stream, [&](int i) { copy(i, kLargeCopy); });
  const double bytes = static_cast<double>(kLargeCopy.value - kSmallCopy.value);
  return {.latency = small, .bandwidth = bytes / std::max(large - small, 1e-9)};
}

Span<float> piece_of(Buffer& buffer, int i, Bytes size) {
  const std::int64_t count = size.value / static_cast<std::int64_t>(sizeof(float));
  const std::int64_t pieces = buffer.bytes().size() / size.value;
  return buffer.as<float>().subspan(i % pieces * count, count);
}

CopyCosts time_copies(Device& on, Buffer& from, Buffer& to) {
  const auto stream = on.make_stream(StreamPriority::kNormal);
  const auto speed = speed_of(on, *stream, [&](int i, Bytes size) {
    enqueue_copy(*stream, piece_of(to, i, size), piece_of(from, i, size));
  });
  stream->synchronize();
  return speed;
}

double median_of_runs(DeviceThreads& threads) {
  std::vector<double> seconds;
  for (int i = 0; i < kThreadRuns; ++i) {
    const TimePoint start = Clock::now();
    threads.run([](int) {});
    seconds.push_back(Seconds(Clock::now() - start).count());
  }
  return stats::median(seconds);
}

constexpr const char* kMeasured = "measured";

SourcedFigure<Nanoseconds> time_of(double seconds, const std::string& source = kMeasured) {
  return {Nanoseconds{std::llround(seconds * 1e9)}, source};
}

// No link is faster than the memory at its end.
LinkDescription link_of(const CopyCosts& copies, double most) {
  const double bandwidth = std::min({copies.bandwidth, most, kMostBandwidth});
  return {.bandwidth = {bandwidth, kMeasured}, .latency = time_of(copies.latency)};
}

GpuDescription gpu_of(const MachineFigures& figures) {
  GpuDescription gpu;
  gpu.name = figures.device;
  gpu.multiprocessors = {figures.multiprocessors, kMeasured};
  gpu.memory = {figures.memory, kMeasured};
  gpu.memory_bandwidth = {std::min(figures.memory_bandwidth, kMostBandwidth), kMeasured};
  const SourcedFigure<double> flops{figures.flops, kMeasured};
  gpu.fp32 = flops;
  if (figures.precision != "fp32") gpu.fp32.source = "assumed: not measured";
  if (figures.precision == "tf32") gpu.tf32 = flops;
  if (figures.precision == "bf16") gpu.bf16 = flops;
  gpu.product_share = {1, kMeasured};
  gpu.memory_share = {1, kMeasured};
  gpu.least_time = time_of(figures.least_time);
  gpu.contention =
      figures.contention
          ? SourcedFigure<double>{std::min(*figures.contention, kMostContention), kMeasured}
          : SourcedFigure<double>{0, "assumed: no collective ran beside operations"};
  return gpu;
}

}  // namespace

CopyCosts time_host_copies(Device& device) {
  const auto host = device.allocate_host(kCopiedMemory);
  const auto there = device.allocate(kCopiedMemory);
  return time_copies(device, *host, *there);
}

CopyCosts time_peer_copies(Device& from, Device& to) {
  const auto source = from.allocate(kCopiedMemory);
  const auto there = to.allocate(kCopiedMemory);
  return time_copies(to, *source, *there);
}

double time_stream_wake(Device& one, Device& other) {
  const auto here = one.make_stream(StreamPriority::kNormal);
  const auto there = other.make_stream(StreamPriority::kNormal);
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < kWakes; ++i) {
    events.push_back(one.make_event());
    events.push_back(other.make_event());
  }
  std::vector<double> seconds;
  for (int row = 0; row < kWakeRows; ++row) {
    EventPair whole(one);
    whole.around(*here, [&] {
      for (std::size_t i = 0; i < events.size(); i += 2) {
        here->record(*events[i]);
        there->wait(*events[i]);
        there->record(*events[i + 1]);
        here->wait(*events[i + 1]);
      }
    });
    here->synchronize();
    seconds.push_back(Seconds(whole.time()).count() / static_cast<double>(events.size()));
  }
  return stats::median(seconds);
}

ThreadCosts time_threads(Platform& platform) {
  std::vector<Device*> devices;
  for (int i = 0; i < platform.device_count(); ++i) devices.push_back(&platform.device(i));
  const auto kept = platform.make_threads(devices, ThreadLife::kKept);
  // A run of kept threads is their wake-up and the caller's.
  const double wake = median_of_runs(*kept) / 2;
  const auto fresh = platform.make_threads(devices, ThreadLife::kOneRun);
  const double run = median_of_runs(*fresh);
  return {.wake = wake, .start = std::max(0.0, run - wake) / static_cast<double>(devices.size())};
}

HardwareDescription description_of(const MachineFigures& figures) {
  constexpr int kMostDevices = 1024;
  HardwareDescription machine;
  machine.name = figures.name;
  machine.gpu = gpu_of(figures);
  machine.node.gpus = {
      kMostDevices,
      fmt::format("assumed: as many as are asked for; this machine has {}", figures.devices)};
  const double most = figures.memory_bandwidth;
  machine.node.host_link = link_of(figures.host_copies, most);
  if (figures.peer_copies) machine.node.peer_link = link_of(*figures.peer_copies, most);
  machine.host.launch = time_of(figures.launch, figures.launch_source);
  if (figures.stream_wake) machine.host.stream_wake = time_of(*figures.stream_wake);
  machine.host.wake = time_of(figures.threads.wake);
  machine.host.thread_start = time_of(figures.threads.start);
  return machine;
}

}  // namespace tandem::bench
