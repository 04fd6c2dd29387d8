// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/profiled_samples.h"

#include <utility>

#include "common/runtime/cuda_module.h"

namespace tandem::bench {
namespace {

using nvtx::Category;

nvtx::Name registered(const nvtx::Domain* domain, const char* name) {
  return domain == nullptr ? nvtx::Name{} : domain->name(name);
}

}  // namespace

ProfilerSwitch profiler_switch(Backend backend) {
  if (backend != Backend::kCuda) return {};
  const CudaProfiling* const cuda = find_cuda_profiling();
  if (cuda == nullptr) return {};  // without the driver there is no CUDA back end either
  return {.start = cuda->start, .stop = cuda->stop};
}

ProfiledSamples::ProfiledSamples(const nvtx::Domain* domain, ProfilerSwitch profiler, int samples)
    : domain_(domain),
      warm_up_(registered(domain, "warm_up")),
      sample_(registered(domain, "sample")),
      capture_(registered(domain, "capture")),
      switch_(std::move(profiler)),
      captured_(samples) {}

void ProfiledSamples::within(nvtx::Name name, std::int64_t payload,
                             const std::function<void()>& work) const {
  if (domain_ == nullptr) return work();
  const nvtx::ScopedRange whole(*domain_, Category::kHarness, name, payload);
  work();
}

void ProfiledSamples::begin_capture() {
  if (switch_.start) switch_.start();
  if (domain_ != nullptr) domain_->push(Category::kHarness, capture_, captured_);
}

void ProfiledSamples::end_capture() {
  if (domain_ != nullptr) domain_->pop();
  if (switch_.stop) switch_.stop();
}

void ProfiledSamples::warm_up(const std::function<void()>& work) { within(warm_up_, 0, work); }

void ProfiledSamples::sample(const std::function<void()>& work) {
  if (taken_ == 0 && captured_ > 0) begin_capture();
  ++taken_;
  within(sample_, taken_, work);
  if (taken_ == captured_) end_capture();
}

}  // namespace tandem::bench
