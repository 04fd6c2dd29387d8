// SPDX-License-Identifier: Apache-2.0
#include "common/trace/cupti_receiver.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/trace/kernel_name.h"

namespace tandem::cupti {
namespace {

using timeline::SliceKind;

constexpr std::size_t kBuffer = std::size_t{4} << 20;
constexpr std::size_t kAlignment = 8;  // as CUPTI wants it

// Newer headers and libraries have records that go on behind these, which begin alike: one source
// for all toolkits from 12.0 on.
using Kernel = CUpti_ActivityKernel9;
using Copy = CUpti_ActivityMemcpy5;
using PeerCopy = CUpti_ActivityMemcpyPtoP4;
using Set = CUpti_ActivityMemset4;

const char* name_of_copy(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy from host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "copy on device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "copy to peer";
    default:
      return "copy";
  }
}

template <class Activity>
const Activity& as(const CUpti_Activity& activity) {
  return reinterpret_cast<const Activity&>(activity);
}

Bytes bytes(std::uint64_t count) { return Bytes{static_cast<std::int64_t>(count)}; }
Nanoseconds time(std::uint64_t stamp) { return Nanoseconds{static_cast<std::int64_t>(stamp)}; }

}  // namespace

Receiver& Receiver::of_process() {
  static Receiver* const receiver = new Receiver;
  return *receiver;
}

void Receiver::give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBuffer));
  *size = *buffer == nullptr ? 0 : kBuffer;
  *records = 0;  // as many as it holds
}

void Receiver::take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                           std::size_t /*size*/, std::size_t valid) {
  of_process().read(buffer, valid);
  std::free(buffer);
}

void Receiver::use(const Api* api) {
  const std::lock_guard lock(mutex_);
  api_ = api;
  records_.clear();
  marks_.clear();
  names_.clear();
  harvest_ = {};
}

Harvest Receiver::take() {
  const std::lock_guard lock(mutex_);
  for (Correlated& one : records_) {
    const auto mark = marks_.find(one.correlation);
    if (mark != marks_.end()) one.record.behind = mark->second;
    harvest_.records.push_back(std::move(one.record));
  }
  records_.clear();
  marks_.clear();
  std::ranges::stable_sort(harvest_.records, {}, &Record::begin);
  return std::exchange(harvest_, {});
}

void Receiver::read(std::uint8_t* buffer, std::size_t valid) {
  const std::lock_guard lock(mutex_);
  if (api_ == nullptr || buffer == nullptr) return;
  CUpti_Activity* activity = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  while (valid > 0 && (result = api_->next_record(buffer, valid, &activity)) == CUPTI_SUCCESS) {
    read(*activity);
  }
  if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
    harvest_.failure = refusal(*api_, "cuptiActivityGetNextRecord()", result);
  }
  std::size_t dropped = 0;  // since it was asked last
  if (api_->dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    harvest_.dropped += static_cast<std::int64_t>(dropped);
  }
}

void Receiver::read(const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const Kernel& kernel = as<Kernel>(activity);
      return add(kernel, SliceKind::kKernel, name_of(kernel.name), Bytes{});
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const Copy& copy = as<Copy>(activity);
      return add(copy, SliceKind::kMemory, name_of_copy(copy.copyKind), bytes(copy.bytes));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const PeerCopy& copy = as<PeerCopy>(activity);
      return add(copy, SliceKind::kMemory, name_of_copy(copy.copyKind), bytes(copy.bytes));
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const Set& set = as<Set>(activity);
      return add(set, SliceKind::kMemory, "set", bytes(set.bytes));
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& mark = as<CUpti_ActivityExternalCorrelation>(activity);
      if (mark.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) {
        marks_[mark.correlationId] = mark.externalId;
      }
      return;
    }
    default:
      return;  // calls of CUDA's, without which there are no correlations
  }
}

template <class Activity>
void Receiver::add(const Activity& activity, SliceKind kind, const std::string& name, Bytes size) {
  if (activity.start == 0 || activity.end < activity.start) {
    ++harvest_.without_time;
    return;
  }
  records_.push_back({{.kind = kind,
                       .name = name,
                       .begin = time(activity.start),
                       .end = time(activity.end),
                       .gpu = static_cast<int>(activity.deviceId),
                       .stream = activity.streamId,
                       .graph_node = activity.graphNodeId,
                       .size = size},
                      activity.correlationId});
}

const std::string& Receiver::name_of(const char* linker_name) {
  const std::string text = linker_name == nullptr ? "" : linker_name;
  const auto [known, is_new] = names_.try_emplace(text);
  if (is_new) known->second = kernel_name(text);
  return known->second;
}

}  // namespace tandem::cupti
