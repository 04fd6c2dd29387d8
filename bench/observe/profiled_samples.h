// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/units.h"
#include "common/runtime/span.h"
#include "common/trace/nvtx.h"

namespace tandem::bench {

// Calls by which this process signals to a profiler that the samples to capture begin and end.
struct ProfilerSwitch {
  std::function<void()> start{};  // absent: there is no profiler switch
  std::function<void()> stop{};
};

// CUDA's switch, cudaProfilerStart and cudaProfilerStop; empty for the host back end.
[[nodiscard]] ProfilerSwitch profiler_switch(Backend backend);

// A launch's samples as profilers are to see them: NVTX ranges "warm_up" and "sample" around the
// timed work, barriers and exchanges included. Where captures are asked for, only the first steady
// samples are captured: the switch is around them, and within the switch lies a range "capture".
class ProfiledSamples {
 public:
  // `samples` is the number of captured samples, 0: none. `domain` outlives this object; without a
  // domain there are no ranges.
  ProfiledSamples(const nvtx::Domain* domain, ProfilerSwitch profiler, int samples);

  void warm_up(const std::function<void()>& work);
  void sample(const std::function<void()>& work);

 private:
  // Runs `work` within a range, where there are ranges.
  void within(nvtx::Name name, std::int64_t payload, const std::function<void()>& work) const;
  void begin_capture();
  void end_capture();

  const nvtx::Domain* const domain_;
  const nvtx::Name warm_up_;
  const nvtx::Name sample_;
  const nvtx::Name capture_;
  const ProfilerSwitch switch_;
  const int captured_;
  int taken_ = 0;
};

}  // namespace tandem::bench
