// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/copies/options.h"
#include "bench/driver/device_values.h"
#include "common/runtime/event_pair.h"

namespace tandem::bench {

// Memory at an endpoint, of a device or of the host.
class EndpointMemory {
 public:
  // Throws out-of-memory.
  EndpointMemory(Platform& platform, const Endpoint& endpoint, Bytes size);

  [[nodiscard]] AnySpan elements() const { return elements_; }  // fp32

 private:
  std::unique_ptr<Buffer> buffer_;   // device memory or pinned host memory
  std::vector<std::byte> pageable_;  // pageable host memory
  AnySpan elements_;
};

// One way of a case: the memory, the stream, and the check of the copied elements.
class OneWayCopy {
 public:
  // `salt` distinguishes the data of several ways. The platform outlives the copy.
  OneWayCopy(Platform& platform, const Endpoint& from, const Endpoint& to, Bytes size, int salt);

  // Writes the pattern to the source, and to the target values that the source does not hold.
  // Blocks.
  void load();

  void enqueue();
  void synchronize() { stream_->synchronize(); }

  // Enqueues `copies` between two timed events; none of several starts before `time`.
  void enqueue_timed(int copies, TimePoint time);
  // The same; none of several starts before the copies that `other` was given last.
  void enqueue_timed(int copies, const OneWayCopy& other);
  // The time between these events; synchronise first.
  [[nodiscard]] Nanoseconds timed() const { return row_.time(); }

  // Checks every element of the target. Blocks.
  [[nodiscard]] WrongElements check();

 private:
  void enqueue_row(int copies);

  const Pattern pattern_;
  const int salt_;
  EndpointMemory source_;
  EndpointMemory target_;
  std::unique_ptr<Stream> stream_;         // the stream that copies
  std::unique_ptr<Stream> source_stream_;  // writes the source; else the copy's stream
  EventPair row_;
  DeviceValues source_values_;
  DeviceValues target_values_;
};

// The findings of one case.
struct CopyResult {
  std::string skipped;  // why the case was not measured; empty: measured
  std::string wrong;    // the first wrong element, in words; empty: none
  std::int64_t wrong_elements = 0;
  // By sample: on GPUs the time between events around a row of queued copies, over their number; on
  // the host as host_seconds.
  std::vector<double> seconds;
  int copies = 1;  // in a row
  // By sample, of GPUs: a copy by the host's clock, from its call to the end of the wait.
  std::vector<double> host_seconds;
};

// How many copies are queued in a row: as many as nvbandwidth queues, fewer where one takes long
// enough that the row's ends do not matter. One where pageable memory makes the host wait for each.
[[nodiscard]] int copies_in_a_row(const CopyCase& measured, Seconds of_one);

// Checks a copy, warms up, takes samples, and checks the last sample's target. Binds the calling
// thread to the device that copies.
[[nodiscard]] CopyResult measure_copy(Platform& platform, const CopyCase& measured, int samples);

}  // namespace tandem::bench
