// SPDX-License-Identifier: Apache-2.0
#include "tests/trace/stand_in_cupti.h"

#include <cupti.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t kMostUsed = 4096;  // of a buffer: more than one is needed soon

struct Library {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<CUpti_ActivityKind> enabled;
  std::map<std::string, CUptiResult> refused;
  std::map<void*, std::uint32_t> streams;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t dropped = 0;
  int delivered = 0;
  std::atomic<std::uint32_t> calls{0};
};

Library& library() {
  static Library* const one = new Library;
  return *one;
}

thread_local std::vector<std::uint64_t>* ids = nullptr;

CUptiResult result_of(const std::string& function) {
  const auto found = library().refused.find(function);
  if (found != library().refused.end()) return found->second;
  const char* const refused = std::getenv("STAND_IN_CUPTI_REFUSES");
  if (function == "cuptiActivityEnable" && refused != nullptr) {
    return static_cast<CUptiResult>(std::atoi(refused));
  }
  return CUPTI_SUCCESS;
}

void deliver() {
  Library& l = library();
  if (l.buffer == nullptr) return;
  ++l.delivered;
  l.complete(nullptr, 0, std::exchange(l.buffer, nullptr), l.size, l.used);
}

template <class Activity>
void write(const Activity& activity) {
  Library& l = library();
  if (!l.enabled.contains(activity.kind)) return;
  if (l.buffer != nullptr && l.used + sizeof activity > std::min(l.size, kMostUsed)) deliver();
  if (l.buffer == nullptr) {
    std::size_t records = 0;
    l.request(&l.buffer, &l.size, &records);
    l.used = 0;
  }
  if (l.buffer == nullptr || l.size < sizeof activity) {
    ++l.dropped;
    return;
  }
  std::memcpy(l.buffer + l.used, &activity, sizeof activity);
  l.used += sizeof activity;
}

std::size_t size_of(const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    default:
      return sizeof(CUpti_ActivityKernel9);
  }
}

std::uint32_t number_of(void* stream) {
  Library& l = library();
  return l.streams.try_emplace(stream, static_cast<std::uint32_t>(l.streams.size()) + 7)
      .first->second;
}

template <class Activity>
Activity made(CUpti_ActivityKind kind, const StandInWork& work) {
  Activity activity;
  std::memset(&activity, 0, sizeof activity);
  activity.kind = kind;
  activity.start = work.begin;
  activity.end = work.end;
  activity.deviceId = static_cast<std::uint32_t>(work.gpu);
  activity.streamId = number_of(work.stream);
  activity.correlationId = work.correlation;
  return activity;
}

}  // namespace

extern "C" {

std::uint64_t stand_in_cupti_now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

std::uint32_t stand_in_cupti_call() {
  Library& l = library();
  const std::lock_guard lock(l.mutex);
  const std::uint32_t correlation = ++l.calls;
  if (!l.enabled.contains(CUPTI_ACTIVITY_KIND_RUNTIME)) return correlation;
  if (ids != nullptr && !ids->empty()) {
    CUpti_ActivityExternalCorrelation mark{};
    mark.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    mark.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    mark.externalId = ids->back();
    mark.correlationId = correlation;
    write(mark);
  }
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.correlationId = correlation;
  write(call);
  return correlation;
}

void stand_in_cupti_ran(const StandInWork* work) {
  const std::lock_guard lock(library().mutex);
  const std::string function = work->function;
  if (function == "cudaMemcpyAsync") {
    auto copy = made<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, *work);
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    copy.bytes = 512;
    return write(copy);
  }
  if (function == "cudaMemcpyPeerAsync") {
    auto copy = made<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, *work);
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    copy.bytes = 1024;
    return write(copy);
  }
  if (function == "cudaMemsetAsync") {
    auto set = made<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, *work);
    set.bytes = 2048;
    return write(set);
  }
  auto kernel = made<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, *work);
  // CUPTI keeps names as long as the process lives.
  static std::set<std::string>* const names = new std::set<std::string>;
  kernel.name = names->insert(function).first->c_str();
  write(kernel);
}

void stand_in_cupti_refuse(const char* function, int result) {
  library().refused[function] = static_cast<CUptiResult>(result);
}
void stand_in_cupti_drop(std::uint64_t records) { library().dropped += records; }
int stand_in_cupti_enabled() { return static_cast<int>(library().enabled.size()); }
int stand_in_cupti_buffers() { return library().delivered; }

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(library().mutex);
  library().request = request;
  library().complete = complete;
  return result_of("cuptiActivityRegisterCallbacks");
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(library().mutex);
  const CUptiResult result = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                 ? result_of("cuptiActivityEnable")
                                 : CUPTI_SUCCESS;
  if (result == CUPTI_SUCCESS) library().enabled.insert(kind);
  return result;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(library().mutex);
  library().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  const std::lock_guard lock(library().mutex);
  deliver();
  return result_of("cuptiActivityFlushAll");
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) +
         size_of(**record);
  }
  if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = std::exchange(library().dropped, 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                   std::uint64_t id) {
  if (ids == nullptr) ids = new std::vector<std::uint64_t>;
  ids->push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                  std::uint64_t* id) {
  if (ids == nullptr || ids->empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  *id = ids->back();
  ids->pop_back();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = stand_in_cupti_now();
  return result_of("cuptiGetTimestamp");
}

CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* number) {
  const std::lock_guard lock(library().mutex);
  *number = number_of(stream);
  return result_of("cuptiGetStreamIdEx");
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    default:
      *text = "CUPTI_ERROR_OTHER";
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
