// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/clock.h"
#include "common/runtime/device_id.h"
#include "common/trace/nvtx.h"

namespace tandem::bench {

// How this process tells a profiler that what it is there for begins and ends.
struct ProfilerSwitch {
  std::function<void()> start{};  // absent: there is none
  std::function<void()> stop{};
};

// CUDA's, cudaProfilerStart and cudaProfilerStop; of the host back end none.
[[nodiscard]] ProfilerSwitch profiler_switch(Backend backend);

// A launch's samples as profilers are to see them: NVTX ranges "warm_up" and "sample" around what
// is timed, barriers and exchanges included, and of the first steady samples, where asked, only
// those captured: the switch around them, and within it a range "capture".
class ProfiledSamples {
 public:
  // `samples` of which are captured, 0: none. `domain` outlives this; absent: no ranges.
  ProfiledSamples(const nvtx::Domain* domain, ProfilerSwitch profiler, int samples);

  void warm_up(const std::function<void()>& work);
  void sample(const std::function<void()>& work);

 private:
  // Within a range, where there are any.
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
