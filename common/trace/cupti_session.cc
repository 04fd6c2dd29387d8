// SPDX-License-Identifier: Apache-2.0
#include "common/trace/cupti_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/base/error.h"
#include "common/timeline/clocks.h"
#include "common/trace/cupti_api.h"
#include "common/trace/kernel_name.h"

namespace tandem::cupti {

// Takes what CUPTI hands over, on whichever thread: records on its own clock. Thread-safe.
class Receiver {
 public:
  // This process's receiver, never destroyed: a thread of CUPTI's may be inside the receiver as the
  // process ends.
  [[nodiscard]] static Receiver& of_process();

  // CUPTI's two callbacks, which know no object. Buffers are this program's.
  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
  static void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                   std::size_t size, std::size_t valid);

  // From here on buffers are read, with this; null: they are only freed. Forgets what it has.
  void use(const Api* api);

  // The records read, each after the mark that was pushed where it was enqueued.
  [[nodiscard]] CollectedRecords take();

 private:
  void read(std::uint8_t* buffer, std::size_t valid);
  void read(const CUpti_Activity& activity);
  // Adds a record of any kind, as all kinds have these fields.
  template <class Activity>
  void add(const Activity& activity, timeline::SliceKind kind, const std::string& name, Bytes size);
  const std::string& name_of(const char* linker_name);

  struct Correlated {
    Record record;
    std::uint32_t correlation = 0;  // with the call that enqueued it
  };

  std::mutex mutex_;  // of what follows
  const Api* api_ = nullptr;
  std::deque<Correlated> records_;
  std::unordered_map<std::uint32_t, std::uint64_t> marks_;  // by correlation
  std::unordered_map<std::string, std::string> names_;      // of kernels, by their linker names
  CollectedRecords collected_;                              // but its records
};

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
  collected_ = {};
}

CollectedRecords Receiver::take() {
  const std::lock_guard lock(mutex_);
  for (Correlated& one : records_) {
    const auto mark = marks_.find(one.correlation);
    if (mark != marks_.end()) one.record.behind = mark->second;
    collected_.records.push_back(std::move(one.record));
  }
  records_.clear();
  marks_.clear();
  std::ranges::stable_sort(collected_.records, {}, &Record::begin);
  return std::exchange(collected_, {});
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
    collected_.failure = refusal(*api_, "cuptiActivityGetNextRecord()", result);
  }
  std::size_t dropped = 0;  // since it was asked last
  if (api_->dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    collected_.dropped += static_cast<std::int64_t>(dropped);
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
    ++collected_.without_time;
    return;
  }
  records_.push_back({{.kind = kind,
                       .name = name,
                       .begin = time(activity.start),
                       .end = time(activity.end),
                       .gpu = static_cast<int>(activity.deviceId),
                       .stream = activity.streamId,
                       .size = size},
                      activity.correlationId});
}

const std::string& Receiver::name_of(const char* linker_name) {
  const std::string text = linker_name == nullptr ? "" : linker_name;
  const auto [known, is_new] = names_.try_emplace(text);
  if (is_new) known->second = kernel_name(text);
  return known->second;
}

namespace {

using timeline::ClockFit;
using timeline::ClockReading;

// Kernels as they run beside each other; and calls of both of CUDA's interfaces, since only these
// are handed over with the mark after which they were made.
constexpr std::pair<CUpti_ActivityKind, const char*> kKinds[] = {
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "EXTERNAL_CORRELATION"},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "RUNTIME"},
    {CUPTI_ACTIVITY_KIND_DRIVER, "DRIVER"},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "CONCURRENT_KERNEL"},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "MEMCPY"},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "MEMCPY2"},
    {CUPTI_ACTIVITY_KIND_MEMSET, "MEMSET"},
};

constexpr auto kMark = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
constexpr int kLooks = 51;

void check(const Api& api, CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) fail(ErrorKind::kFailure, "{}", refusal(api, call, result));
}

Nanoseconds cupti_time(const Api& api) {
  std::uint64_t stamp = 0;
  check(api, api.timestamp(&stamp), "cuptiGetTimestamp()");
  return Nanoseconds{static_cast<std::int64_t>(stamp)};
}

// The host's clock was read between two looks at CUPTI's.
ClockReading read_clock(const Api& api) {
  std::vector<timeline::RoundTrip> looks;
  for (int i = 0; i < kLooks; ++i) {
    timeline::RoundTrip look;
    look.asked = cupti_time(api);
    look.answered = Clock::now().time_since_epoch();
    look.heard = cupti_time(api);
    looks.push_back(look);
  }
  return timeline::best_of(looks);
}

}  // namespace

class Session::Attachment {
 public:
  explicit Attachment(const Api& api) : api_(api) {
    check(api_, api_.register_callbacks(&Receiver::give_buffer, &Receiver::take_buffer),
          "cuptiActivityRegisterCallbacks()");
    try {
      for (const auto& [kind, name] : kKinds) enable(kind, name);
      before_ = read_clock(api_);
    } catch (...) {
      disable();
      throw;
    }
  }
  ~Attachment() {
    disable();
    Receiver::of_process().use(nullptr);
  }

  [[nodiscard]] const Api& api() const { return api_; }

  void begin() {
    api_.flush_all(0);
    Receiver::of_process().use(&api_);
    before_ = read_clock(api_);
  }

  [[nodiscard]] CollectedRecords end() {
    const ClockFit fit(before_, read_clock(api_));
    disable();
    const CUptiResult flushed = api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    CollectedRecords collected = Receiver::of_process().take();
    if (flushed != CUPTI_SUCCESS) {
      collected.failure = refusal(api_, "cuptiActivityFlushAll()", flushed);
    }
    collected.clock_error = fit.error();
    for (Record& record : collected.records) {
      record.begin = fit.on_rank_0(record.begin);
      record.end = fit.on_rank_0(record.end);
    }
    return collected;
  }

 private:
  void enable(CUpti_ActivityKind kind, const char* name) {
    check(api_, api_.enable(kind), fmt::format("cuptiActivityEnable({})", name).c_str());
    ++enabled_;
  }

  void disable() {
    while (enabled_ > 0) api_.disable(kKinds[--enabled_].first);
  }

  const Api api_;
  std::size_t enabled_ = 0;  // of the kinds, from the first on
  ClockReading before_;
};

Session::Session(const std::vector<std::string>& libraries) {
  Api api;
  why_not_ = load_api(libraries, api);
  if (!why_not_.empty()) return;
  try {
    attachment_ = std::make_unique<Attachment>(api);
  } catch (const Error& error) {
    why_not_ = error.what();
  }
}

Session::~Session() = default;

void Session::begin() {
  if (!attachment_) return;
  try {
    attachment_->begin();
  } catch (const Error& error) {
    why_not_ = error.what();
    attachment_.reset();
  }
}

void Session::mark(std::uint64_t number) const {
  if (!attachment_) return;
  std::uint64_t before = 0;
  static_cast<void>(attachment_->api().pop_id(kMark, &before));  // none: the thread's first
  static_cast<void>(attachment_->api().push_id(kMark, number));
}

std::optional<std::uint32_t> Session::number_of(void* stream) const {
  std::uint32_t number = 0;
  if (!attachment_ || attachment_->api().stream_id(nullptr, static_cast<CUstream>(stream), 0,
                                                   &number) != CUPTI_SUCCESS) {
    return std::nullopt;
  }
  return number;
}

CollectedRecords Session::end() {
  CollectedRecords collected;
  if (!attachment_) return collected;
  try {
    collected = attachment_->end();
  } catch (const Error& error) {
    collected.failure = error.what();
  }
  attachment_.reset();
  return collected;
}

}  // namespace tandem::cupti
