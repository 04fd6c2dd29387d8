// SPDX-License-Identifier: Apache-2.0
#include "common/trace/cupti_session.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/error.h"
#include "common/timeline/clocks.h"
#include "common/trace/cupti_api.h"
#include "common/trace/cupti_receiver.h"

namespace tandem::cupti {
namespace {

using timeline::ClockFit;
using timeline::ClockReading;

// Kernels as they run beside each other; and calls of both of CUDA's interfaces, since only these
// are told with the mark behind which they were made.
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

  [[nodiscard]] Harvest end() {
    const ClockFit fit(before_, read_clock(api_));
    disable();
    const CUptiResult flushed = api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    Harvest harvest = Receiver::of_process().take();
    if (flushed != CUPTI_SUCCESS) {
      harvest.failure = refusal(api_, "cuptiActivityFlushAll()", flushed);
    }
    harvest.clock_error = fit.error();
    for (Record& record : harvest.records) {
      record.begin = fit.on_rank_0(record.begin);
      record.end = fit.on_rank_0(record.end);
    }
    return harvest;
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

Harvest Session::end() {
  Harvest harvest;
  if (!attachment_) return harvest;
  try {
    harvest = attachment_->end();
  } catch (const Error& error) {
    harvest.failure = error.what();
  }
  attachment_.reset();
  return harvest;
}

}  // namespace tandem::cupti
