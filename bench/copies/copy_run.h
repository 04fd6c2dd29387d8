// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/copies/copy_case.h"
#include "bench/device_values.h"
#include "bench/pattern.h"

namespace tandem::bench {

// Memory of either kind at an endpoint.
class EndpointMemory {
 public:
  // Throws out-of-memory.
  EndpointMemory(Platform& platform, const Endpoint& endpoint, Bytes size);

  [[nodiscard]] AnySpan elements() const { return elements_; }  // fp32

 private:
  std::unique_ptr<Buffer> buffer_;   // of a device, or pinned
  std::vector<std::byte> pageable_;  // else
  AnySpan elements_;
};

// One way of a case: its memory, its stream, and the check of what it left.
class OneWayCopy {
 public:
  // `salt` tells the data of several ways apart. The platform outlives this.
  OneWayCopy(Platform& platform, const Endpoint& from, const Endpoint& to, Bytes size, int salt);

  // The source with a pattern, the target with what it does not hold. Blocks.
  void load();

  void enqueue();
  void synchronize() { stream_->synchronize(); }

  // Looks at every element of the target. Blocks.
  [[nodiscard]] Findings check();

 private:
  const Pattern pattern_;
  const int salt_;
  EndpointMemory source_;
  EndpointMemory target_;
  std::unique_ptr<Stream> stream_;         // of the copy
  std::unique_ptr<Stream> source_stream_;  // of the source's device, to write it; else the same one
  DeviceValues source_values_;
  DeviceValues target_values_;
};

// What one case found.
struct CopyResult {
  std::string skipped;  // why it was not measured; empty: it was
  std::string wrong;    // the first wrong element, in words; empty: none is
  std::int64_t wrong_elements = 0;
  std::vector<double> seconds;  // by sample, from the call of the copy until it is waited for
  double lateness_seconds = 0;  // behind a modelled link, mean per sample
};

// Checks a copy, warms up, takes samples, checks what the last one left. Binds the calling thread
// to the device that copies.
[[nodiscard]] CopyResult measure_copy(Platform& platform, const CopyCase& measured, int samples);

}  // namespace tandem::bench
