// SPDX-License-Identifier: Apache-2.0
#include "common/trace/gpu_activity.h"

#include <algorithm>

namespace tandem {
namespace {

TimelineMark ran(cupti::Record&& record, std::size_t stream) {
  return {.what = TimelineMark::What::kGpuRan,
          .stream = stream,
          .at = record.begin,
          .kind = record.kind,
          .name = std::move(record.name),
          .size = record.size,
          .end = record.end,
          .graph_node = record.graph_node};
}

}  // namespace

GpuActivity::GpuActivity(const std::vector<std::string>& libraries, const CudaProfiling* cuda)
    : session_(libraries), cuda_(cuda) {}

void GpuActivity::know(Stream& stream, std::size_t index) {
  const int device = stream.device().index;
  const std::lock_guard lock(mutex_);
  streams_[device] = std::max(streams_[device], index + 1);
  if (cuda_ == nullptr || stream.device().backend != Backend::kCuda) return;
  gpus_[device] = cuda_->gpu(stream);
  const auto number = session_.number_of(cuda_->native_stream(stream));
  if (number) places_[{gpus_[device], *number}] = {device, index};
}

std::uint64_t GpuActivity::mark(int device) {
  const std::lock_guard lock(mutex_);
  devices_.push_back(device);
  const std::uint64_t number = devices_.size();
  session_.mark(number);
  return number;
}

const int* GpuActivity::device_of(const cupti::Record& record) const {
  if (record.behind > 0 && record.behind <= devices_.size()) {
    const int& device = devices_[record.behind - 1];
    const auto gpu = gpus_.find(device);
    if (gpu != gpus_.end() && gpu->second == record.gpu) return &device;
  }
  const auto any = std::ranges::find(gpus_, record.gpu, [](const auto& one) { return one.second; });
  return any == gpus_.end() ? nullptr : &any->first;
}

const GpuActivity::Place* GpuActivity::place_of(const cupti::Record& record) {
  const Key key{record.gpu, record.stream};
  const auto known = places_.find(key);
  if (known != places_.end()) return &known->second;
  const int* const device = device_of(record);
  if (device == nullptr) return nullptr;
  return &places_.emplace(key, Place{*device, streams_[*device]++}).first->second;
}

GpuActivity::Told GpuActivity::end() {
  Told told;
  std::string why = session_.why_not();
  cupti::Harvest harvest = session_.end();
  if (why.empty()) why = harvest.failure;
  const std::lock_guard lock(mutex_);
  for (cupti::Record& record : harvest.records) {
    const Place* const place = place_of(record);
    if (!why.empty() || place == nullptr) continue;
    const std::uint64_t behind = record.behind;
    told.work[place->device].push_back({ran(std::move(record), place->stream), behind});
  }
  if (why.empty() && told.work.empty()) why = "CUPTI told of nothing that these GPUs ran";
  told.cuda_times = why.empty() ? "cupti" : "events, since " + why;
  told.clock_error = told.work.empty() ? Nanoseconds{0} : harvest.clock_error;
  told.lost = harvest.dropped + harvest.without_time;
  return told;
}

}  // namespace tandem
