// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/machine_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "bench/calibrate/size_times.h"
#include "bench/step/measured_peak.h"
#include "common/comm/transports/transport_registry.h"
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

constexpr int kCollectiveRows = 9;
constexpr Bytes kSmallestCollective = kib(1);
constexpr Bytes kLargestCollective = mib(16);
constexpr std::int64_t kCollectiveStep = 4;
constexpr Bytes kRowOfCollectives = mib(16);

constexpr std::int64_t kProductSize = 1024;
constexpr int kContentionPairs = 9;
constexpr Seconds kProductRow{0.02};  // long beside a collective

// One rank's calls of a collective of one size; the median seconds of one call.
template <class Enqueue>
double time_calls(Device& device, Stream& stream, Bytes size, const Enqueue& enqueue) {
  const auto calls =
      static_cast<int>(std::clamp<std::int64_t>(kRowOfCollectives.value / size.value, 4, 64));
  EventPair row(device);
  std::vector<double> seconds;
  for (int i = 0; i <= kCollectiveRows; ++i) {
    row.around(stream, [&] {
      for (int call = 0; call < calls; ++call) enqueue();
    });
    stream.synchronize();
    if (i > 0) seconds.push_back(Seconds(row.time()).count() / calls);
  }
  return stats::median(seconds);
}

// The collectives of one rank, which calls what all ranks call.
std::vector<MeasuredCollective> collectives_of(Bootstrap& bootstrap, Device& device) {
  const auto ranks = make_communicator(Transport::kAuto, bootstrap, device);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  std::vector<MeasuredCollective> all;
  for (Bytes size = kSmallestCollective; size <= kLargestCollective;
       size = size * kCollectiveStep) {
    const auto buffer = ranks->allocate(size);
    const Span<float> values = buffer->as<float>();
    enqueue_zero(*stream, values);
    const auto add = [&](const char* name, const auto& enqueue) {
      all.push_back({name, ranks->size(), size.value, time_calls(device, *stream, size, enqueue)});
    };
    add("all_reduce", [&] { ranks->all_reduce(*stream, values, ReduceOp::kSum); });
    add("broadcast", [&] { ranks->broadcast(*stream, values, 0); });
    stream->synchronize();
    ranks->barrier();  // nobody frees what others still read
  }
  return all;
}

// One rank that multiplies, alone and while all ranks reduce on other streams.
class ProductsBesideAllReduces {
 public:
  ProductsBesideAllReduces(Bootstrap& bootstrap, Device& device, Precision precision)
      : ranks_(make_communicator(Transport::kAuto, bootstrap, device)),
        compute_(device.make_stream(StreamPriority::kNormal)),
        communication_(device.make_stream(StreamPriority::kHigh)),
        operations_(make_operations(device, precision)),
        product_(device, *operations_, *compute_, storage_of(precision), kProductSize),
        buffer_(ranks_->allocate(kLargestCollective)),
        products_row_(device),
        reduces_row_(device) {
    enqueue_zero(*communication_, buffer_->as<float>());
    communication_->synchronize();
    static_cast<void>(seconds_of_products());  // the first launches
    products_ =
        most_of_all(static_cast<int>(std::ceil(kProductRow.count() / seconds_of_products())));
    static_cast<void>(seconds_of_reduce());
    reduces_ = most_of_all(
        static_cast<int>(std::ceil(2 * seconds_of_products() / seconds_of_reduce())) + 1);
  }

  // The share by which a row of products takes longer beside all-reduces: the median of pairs. An
  // all-reduce that ends first leaves the rest of the row alone, so twice the row's time is
  // reduced.
  [[nodiscard]] double share() {
    std::vector<double> shares;
    for (int pair = 0; pair < kContentionPairs; ++pair) {
      ranks_->barrier();
      const double alone = seconds_of_products();
      ranks_->barrier();
      enqueue_reduces();
      shares.push_back(seconds_of_products() / alone - 1);
      communication_->synchronize();
    }
    ranks_->barrier();  // nobody frees what others still read
    return stats::median(shares);
  }

 private:
  // Ranks call the same number of collectives.
  int most_of_all(int mine) {
    int most = mine;
    for (const std::string& text : ranks_->all_gather(std::to_string(mine))) {
      most = std::max(most, std::stoi(text));
    }
    return most;
  }

  double seconds_of_products() {
    products_row_.around(*compute_, [this] {
      for (int i = 0; i < products_; ++i) product_.enqueue();
    });
    compute_->synchronize();
    return std::max(1e-9, Seconds(products_row_.time()).count());
  }

  void enqueue_reduces() {
    for (int i = 0; i < reduces_; ++i) {
      ranks_->all_reduce(*communication_, buffer_->as<float>(), ReduceOp::kSum);
    }
  }

  double seconds_of_reduce() {
    reduces_row_.around(*communication_, [this] { enqueue_reduces(); });
    communication_->synchronize();
    return std::max(1e-9, Seconds(reduces_row_.time()).count());
  }

  const std::unique_ptr<Communicator> ranks_;
  const std::unique_ptr<Stream> compute_;
  const std::unique_ptr<Stream> communication_;
  const std::unique_ptr<Operations> operations_;
  SquareProduct product_;
  const std::unique_ptr<Buffer> buffer_;
  EventPair products_row_;
  EventPair reduces_row_;
  int products_ = 1;  // of a row
  int reduces_ = 1;
};

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

std::vector<MeasuredCollective> time_collectives(Platform& platform) {
  return on_each_device(platform, collectives_of).front();
}

double measure_contention_share(Platform& platform, Precision precision) {
  const std::vector<double> shares =
      on_each_device(platform, [precision](Bootstrap& ranks, Device& device) {
        return ProductsBesideAllReduces(ranks, device, precision).share();
      });
  return std::max(0.0, *std::ranges::max_element(shares));
}

}  // namespace tandem::bench
