// SPDX-License-Identifier: Apache-2.0
#include "bench/copies/copy_run.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/runtime/host/host_memory.h"

namespace tandem::bench {
namespace {

constexpr int kWarmups = 5;
constexpr int kMostCopies = 16;                                  // nvbandwidth's --loopCount
constexpr Seconds kLongestRow{0.005};                            // unless one copy takes longer
constexpr Nanoseconds kQueueing = std::chrono::milliseconds(1);  // for a row to be queued in
constexpr int kWays = 2;

std::int64_t elements_in(Bytes size) { return size.value / size_of(DType::kFloat32); }

bool lies_on_host(const Endpoint& endpoint, Backend backend) {
  return !endpoint.is_device() || backend == Backend::kHost;
}

// Host memory has no account of its own: a size that does not fit would make the kernel end the
// process.
void check_fits_host(Platform& platform, const CopyCase& measured) {
  int parts = 0;
  for (const Endpoint& endpoint : {measured.from, measured.to}) {
    if (lies_on_host(endpoint, platform.backend())) ++parts;
  }
  const Bytes needed = measured.bytes_moved() * parts;
  const Bytes left = host::available_memory();
  if (needed <= left) return;
  fail(ErrorKind::kOutOfMemory, "the host has too little memory: {} needed, {} left",
       to_string(needed), to_string(left));
}

// The device that enqueues a copy: the destination pulls, but a copy from a device into the host is
// pushed.
Device& copying_device(Platform& platform, const Endpoint& from, const Endpoint& to) {
  return platform.device(to.is_device() ? to.device : from.device);
}

class Measuring {
 public:
  Measuring(Platform& platform, const CopyCase& measured)
      : platform_(platform), measured_(measured) {
    check_fits_host(platform, measured);
    // The thread runs beside the stream that copies: waking another core would be charged to some
    // pairs alone.
    copying_device(platform, measured.from, measured.to).bind_this_thread();
    add(measured.from, measured.to);
    if (measured.ways == Ways::kBoth) add(measured.to, measured.from);
  }

  [[nodiscard]] CopyResult result(int samples) {
    for (const auto& way : ways_) way->load();
    static_cast<void>(timed());
    check();
    if (!found_.wrong.empty()) return found_;
    double least = timed();
    for (int i = 1; i < kWarmups; ++i) least = std::min(least, timed());
    const bool is_host = platform_.backend() == Backend::kHost;
    if (!is_host) found_.copies = copies_in_a_row(measured_, Seconds(least));
    for (int i = 0; i < samples; ++i) {
      (is_host ? found_.seconds : found_.host_seconds).push_back(timed());
      if (!is_host) found_.seconds.push_back(timed_on_devices());
    }
    check();
    return found_;
  }

 private:
  void add(const Endpoint& from, const Endpoint& to) {
    const int salt = static_cast<int>(ways_.size());
    ways_.push_back(std::make_unique<OneWayCopy>(platform_, from, to, measured_.size, salt));
  }

  [[nodiscard]] double timed() {
    const TimePoint start = Clock::now();
    for (const auto& way : ways_) way->enqueue();
    for (const auto& way : ways_) way->synchronize();
    return Seconds(Clock::now() - start).count();
  }

  // The longer time of both ways, which start together: the clocks of their devices are apart.
  [[nodiscard]] double timed_on_devices() {
    const TimePoint start = Clock::now() + kQueueing;
    ways_.front()->enqueue_timed(found_.copies, start);
    if (ways_.size() > 1) ways_.back()->enqueue_timed(found_.copies, *ways_.front());
    for (const auto& way : ways_) way->synchronize();
    Seconds longest{0};
    for (const auto& way : ways_) longest = std::max(longest, Seconds(way->timed()));
    return longest.count() / found_.copies;
  }

  void check() {
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const WrongElements findings = ways_[i]->check();
      found_.wrong_elements += findings.wrong;
      if (!findings.first || !found_.wrong.empty()) continue;
      const Backend backend = platform_.backend();
      found_.wrong = fmt::format(
          "a copy of {} from {} to {} left wrong elements: element {} is {}, not {}",
          to_string(measured_.size), name_of(i == 0 ? measured_.from : measured_.to, backend),
          name_of(i == 0 ? measured_.to : measured_.from, backend), findings.first->index,
          findings.first->got, findings.first->expected);
    }
  }

  Platform& platform_;
  const CopyCase& measured_;
  std::vector<std::unique_ptr<OneWayCopy>> ways_;
  CopyResult found_;
};

}  // namespace

EndpointMemory::EndpointMemory(Platform& platform, const Endpoint& endpoint, Bytes size) {
  if (endpoint.kind == Endpoint::Kind::kPageable) {
    pageable_.resize(static_cast<std::size_t>(size.value));
    elements_ = {pageable_.data(), elements_in(size), DType::kFloat32,
                 DeviceId{platform.backend(), DeviceId::kHostMemory}};
    return;
  }
  buffer_ = endpoint.is_device() ? platform.device(endpoint.device).allocate(size)
                                 : platform.allocate_host(size);
  const ByteSpan bytes = buffer_->bytes();
  elements_ = {bytes.data(), elements_in(size), DType::kFloat32, bytes.device()};
}

OneWayCopy::OneWayCopy(Platform& platform, const Endpoint& from, const Endpoint& to, Bytes size,
                       int salt)
    : pattern_(DType::kFloat32, kWays),
      salt_(salt),
      source_(platform, from, size),
      target_(platform, to, size),
      stream_(copying_device(platform, from, to).make_stream(StreamPriority::kNormal)),
      source_stream_(copying_device(platform, to, from).make_stream(StreamPriority::kNormal)),
      row_(copying_device(platform, from, to)),
      source_values_(platform, *source_stream_),
      target_values_(platform, *stream_) {}

void OneWayCopy::load() {
  source_values_.write(source_.elements(), 0,
                       [this](std::int64_t index) { return pattern_.value(salt_, index); });
  target_values_.write(target_.elements(), 0, [](std::int64_t) { return -1.0F; });
}

void OneWayCopy::enqueue() {
  enqueue_copy_bytes(*stream_, target_.elements().bytes(), source_.elements().bytes());
}

void OneWayCopy::enqueue_timed(int copies, TimePoint time) {
  // A single copy is not held: it is long, or of pageable memory, which the driver may stage on the
  // host before the stream goes on.
  if (copies > 1) stream_->start_after(time);
  enqueue_row(copies);
}

// One stream alone is held: cudaLaunchHostFunc may run the functions of two streams one after the
// other.
void OneWayCopy::enqueue_timed(int copies, const OneWayCopy& other) {
  if (copies > 1) stream_->wait(other.row_.begin());
  enqueue_row(copies);
}

void OneWayCopy::enqueue_row(int copies) {
  row_.around(*stream_, [&] {
    for (int i = 0; i < copies; ++i) enqueue();
  });
}

WrongElements OneWayCopy::check() {
  return target_values_.compare(
      target_.elements(), 0, [this](std::int64_t index) { return pattern_.value(salt_, index); });
}

int copies_in_a_row(const CopyCase& measured, Seconds of_one) {
  const bool waits = measured.from.kind == Endpoint::Kind::kPageable ||
                     measured.to.kind == Endpoint::Kind::kPageable;
  if (waits || of_one >= kLongestRow) return 1;
  if (of_one * kMostCopies <= kLongestRow) return kMostCopies;
  return static_cast<int>(kLongestRow / of_one);
}

CopyResult measure_copy(Platform& platform, const CopyCase& measured, int samples) {
  std::unique_ptr<Measuring> measuring;
  try {
    measuring = std::make_unique<Measuring>(platform, measured);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    CopyResult result;
    result.skipped = error.what();
    return result;
  }
  return measuring->result(samples);
}

}  // namespace tandem::bench
