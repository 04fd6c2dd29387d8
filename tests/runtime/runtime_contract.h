// SPDX-License-Identifier: Apache-2.0
//
// What every back end must hold to, as one typed suite. No sleeps: gates decide what may go on.
// Instantiate with INSTANTIATE_TYPED_TEST_SUITE_P(Name, RuntimeContract, BackEnd), where
// BackEnd::open(options, unusable) gives a platform, or none and the reason for skipping. What
// needs work of the test's own is in work_contract.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/copy.h"
#include "common/runtime/platform.h"
#include "tests/support/errors.h"

namespace tandem::test {

template <class E>
concept Subtractable = requires(const E& end, const E& start) {
  end - start;
};
static_assert(Subtractable<TimedEvent>);
static_assert(!Subtractable<Event>, "untimed events carry no time, so they must not subtract");

template <class Backend>
class RuntimeContract : public ::testing::Test {
 protected:
  void SetUp() override {
    PlatformOptions options;
    options.devices = 2;
    options.oversubscribe = true;
    options.device_memory = {mib(64)};
    std::string unusable;
    platform_ = Backend::open(options, unusable);
    if (!platform_) GTEST_SKIP() << unusable;
  }

  Device& device(int index) { return platform_->device(index); }
  std::unique_ptr<Stream> stream(int index = 0) {
    return device(index).make_stream(StreamPriority::kNormal);
  }

  std::unique_ptr<Platform> platform_;
};

// What needs memory with contents: a back end without it (Platform::holds_data) leaves this out.
template <class Backend>
class RuntimeContractOfData : public RuntimeContract<Backend> {
 protected:
  // Host memory filled with one value.
  std::unique_ptr<Buffer> filled(std::int64_t count, int value) {
    std::unique_ptr<Buffer> buffer = this->platform_->allocate_host(Bytes{count * 4});
    std::ranges::fill(buffer->as<int>(), value);
    return buffer;
  }

  // True where all of `buffer`, in host memory, is `value`.
  static bool all_are(Buffer& buffer, int value) {
    return std::ranges::all_of(buffer.as<int>(), [value](int x) { return x == value; });
  }
};

TYPED_TEST_SUITE_P(RuntimeContract);
TYPED_TEST_SUITE_P(RuntimeContractOfData);

// ---- memory ----

TYPED_TEST_P(RuntimeContract, Memory_CountsUsedPeakAndAllocations) {
  Device& device = this->device(1);
  EXPECT_EQ(device.memory().capacity, mib(64));
  EXPECT_EQ(device.memory().used, Bytes{0});
  {
    const auto first = device.allocate(mib(2));
    const auto second = device.allocate(mib(3));
    EXPECT_EQ(device.memory().used, mib(5));
  }
  EXPECT_EQ(device.memory().used, Bytes{0});
  EXPECT_EQ(device.memory().peak, mib(5));
  EXPECT_EQ(device.memory().allocations, 2);
  EXPECT_EQ(this->device(0).memory().peak, Bytes{0});
}

TYPED_TEST_P(RuntimeContract, Allocate_BeyondCapacity_NamesDeviceAskedAndLeft) {
  Device& device = this->device(1);
  const auto most = device.allocate(mib(60));
  const Error error = error_of([&] { static_cast<void>(device.allocate(mib(8))); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_TRUE(mentions(error, to_string(device.id()))) << error.what();
  EXPECT_TRUE(mentions(error, "8.0 MiB asked")) << error.what();
  EXPECT_TRUE(mentions(error, "4.0 MiB of 64.0 MiB left")) << error.what();
  EXPECT_EQ(device.memory().used, mib(60));
}

TYPED_TEST_P(RuntimeContract, Allocate_OfNothing_IsEmpty) {
  EXPECT_TRUE(this->device(0).allocate(Bytes{0})->bytes().empty());
  EXPECT_TRUE(this->platform_->allocate_host(Bytes{0})->bytes().empty());
  EXPECT_EQ(error_of([&] { static_cast<void>(this->device(0).allocate(Bytes{-1})); }).kind(),
            ErrorKind::kLogic);
}

TYPED_TEST_P(RuntimeContract, Buffers_CarryTheirDevice) {
  EXPECT_EQ(this->device(1).allocate(kib(1))->bytes().device(), this->device(1).id());
  EXPECT_TRUE(this->platform_->allocate_host(kib(1))->bytes().device().is_host_memory());
}

// ---- copies ----

TYPED_TEST_P(RuntimeContract, Copy_OfUnequalSizes_IsALogicError) {
  const auto s = this->stream();
  const auto small = this->device(0).allocate(Bytes{64});
  const auto large = this->device(0).allocate(Bytes{128});
  const Error error = error_of([&] { enqueue_copy_bytes(*s, small->bytes(), large->bytes()); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_TRUE(mentions(error, "128 bytes into 64")) << error.what();
}

TYPED_TEST_P(RuntimeContract, Copy_ThatMissesTheStreamsDevice_NamesBothDevices) {
  const auto s = this->stream(1);
  const auto one = this->device(0).allocate(Bytes{64});
  const auto two = this->device(0).allocate(Bytes{64});
  const Error error = error_of([&] { enqueue_copy_bytes(*s, one->bytes(), two->bytes()); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_TRUE(mentions(error, to_string(this->device(0).id()))) << error.what();
  EXPECT_TRUE(mentions(error, to_string(this->device(1).id()))) << error.what();
}

TYPED_TEST_P(RuntimeContract, Zero_OnAnotherDevice_NamesBothDevices) {
  const auto s = this->stream(1);
  const auto elsewhere = this->device(0).allocate(Bytes{64});
  const Error error = error_of([&] { enqueue_zero_bytes(*s, elsewhere->bytes()); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_TRUE(mentions(error, to_string(this->device(0).id()))) << error.what();
  EXPECT_TRUE(mentions(error, to_string(this->device(1).id()))) << error.what();
}

TYPED_TEST_P(RuntimeContract, StartAfter_HoldsBackWhatIsEnqueuedAfterIt) {
  const auto s = this->stream();
  const auto event = this->device(0).make_event();
  const TimePoint due = this->platform_->now() + std::chrono::milliseconds(20);
  s->start_after(due);
  s->record(*event);
  s->synchronize();
  EXPECT_GE(this->platform_->now(), due);
  EXPECT_TRUE(event->is_done());
}

TYPED_TEST_P(RuntimeContract, StartAfter_ATimeThatHasPassed_HoldsNobodyUp) {
  const auto s = this->stream();
  s->start_after(TimePoint{});
  s->synchronize();
  EXPECT_TRUE(s->is_done());
}

TYPED_TEST_P(RuntimeContract, Delay_LetsTimePassOnTheStream) {
  const auto s = this->stream();
  const TimePoint start = this->platform_->now();
  s->delay(std::chrono::milliseconds(10));
  s->delay(std::chrono::milliseconds(10));
  s->synchronize();
  EXPECT_GE(this->platform_->now() - start, std::chrono::milliseconds(20));
}

// ---- events ----

TYPED_TEST_P(RuntimeContract, UnrecordedEvent_IsDoneAndHoldsNobodyUp) {
  const auto never = this->device(0).make_event();
  const auto s = this->stream();
  EXPECT_TRUE(never->is_done());
  s->wait(*never);
  s->synchronize();
  EXPECT_TRUE(s->is_done());
}

TYPED_TEST_P(RuntimeContract, Event_OfSynchronizedWork_IsDone) {
  const auto event = this->device(1).make_event();
  const auto s = this->device(1).make_stream(StreamPriority::kHigh);
  const auto on_device = this->device(1).allocate(mib(1));
  enqueue_zero_bytes(*s, on_device->bytes());
  s->record(*event);
  s->synchronize();
  EXPECT_TRUE(event->is_done());
  EXPECT_TRUE(s->is_done());
}

TYPED_TEST_P(RuntimeContract, TimedEvents_GrowAndFitThePlatformsClock) {
  const auto on_device = this->device(0).allocate(mib(16));
  const auto s = this->stream();
  const auto start = this->device(0).make_timed_event();
  const auto middle = this->device(0).make_timed_event();
  const auto end = this->device(0).make_timed_event();
  const TimePoint before = this->platform_->now();
  s->record(*start);
  for (int i = 0; i < 4; ++i) enqueue_zero_bytes(*s, on_device->bytes());
  s->record(*middle);
  s->record(*end);
  s->synchronize();
  const Nanoseconds by_host = this->platform_->now() - before;
  EXPECT_GT((*middle - *start).count(), 0);
  EXPECT_GE((*end - *middle).count(), 0);
  EXPECT_GE(*end - *start, *middle - *start);
  EXPECT_LE(*end - *start, by_host + std::chrono::microseconds(10));  // the device clock's grain
}

TYPED_TEST_P(RuntimeContract, TimeOfAnUnrecordedEvent_IsALogicError) {
  const auto start = this->device(0).make_timed_event();
  const auto end = this->device(0).make_timed_event();
  const auto s = this->stream();
  s->record(*end);
  s->synchronize();
  EXPECT_EQ(error_of([&] { static_cast<void>(*end - *start); }).kind(), ErrorKind::kLogic);
}

TYPED_TEST_P(RuntimeContract, Platform_NamesItsDevices) {
  EXPECT_EQ(this->platform_->device_count(), 2);
  EXPECT_EQ(this->device(1).id(), (DeviceId{this->platform_->backend(), 1}));
  EXPECT_FALSE(this->device(1).name().empty());
  EXPECT_GE(this->device(1).multiprocessor_count(), 1);
  EXPECT_EQ(error_of([&] { static_cast<void>(this->device(2)); }).kind(), ErrorKind::kLogic);
}

// ---- contents ----

TYPED_TEST_P(RuntimeContractOfData, NewBuffers_AreZero) {
  const auto on_device = this->device(0).allocate(kib(64));
  const auto back = this->filled(16 * 1024, 7);
  const auto s = this->stream();
  enqueue_copy(*s, back->template as<int>(), on_device->template as<int>());
  s->synchronize();
  EXPECT_TRUE(this->all_are(*back, 0));
  EXPECT_TRUE(this->all_are(*this->platform_->allocate_host(kib(64)), 0));
}

TYPED_TEST_P(RuntimeContractOfData, Copy_AcrossDevicesAndBack_KeepsBytes) {
  const auto source = this->filled(100'003, 42);
  const auto result = this->filled(100'003, 0);
  const auto here = this->device(0).allocate(source->bytes().size_bytes());
  const auto there = this->device(1).allocate(source->bytes().size_bytes());
  const auto first = this->stream(0);
  const auto second = this->stream(1);
  const auto copied = this->device(0).make_event();
  enqueue_copy(*first, here->template as<int>(), source->template as<int>());
  first->record(*copied);
  second->wait(*copied);
  enqueue_copy(*second, there->template as<int>(), here->template as<int>());  // pulls
  enqueue_copy(*second, result->template as<int>(), there->template as<int>());
  second->synchronize();
  EXPECT_TRUE(this->all_are(*result, 42));
}

TYPED_TEST_P(RuntimeContractOfData, Stream_RunsCopiesAndZerosInOrder) {
  constexpr std::int64_t kCount = 1 << 18;
  const auto on_device = this->device(0).allocate(Bytes{kCount * 4});
  const auto source = this->filled(kCount, 5);
  const auto filled = this->filled(kCount, 1);
  const auto zeroed = this->filled(kCount, 1);
  const auto s = this->stream();
  enqueue_copy(*s, on_device->template as<int>(), source->template as<int>());
  enqueue_copy(*s, filled->template as<int>(), on_device->template as<int>());
  enqueue_zero(*s, on_device->template as<int>());
  enqueue_copy(*s, zeroed->template as<int>(), on_device->template as<int>());
  s->synchronize();
  EXPECT_TRUE(this->all_are(*filled, 5));
  EXPECT_TRUE(this->all_are(*zeroed, 0));
}

TYPED_TEST_P(RuntimeContractOfData, EventsPassedBackAndForth_OrderTwoStreams) {
  constexpr std::int64_t kCount = 1 << 16;
  const auto box = this->device(0).allocate(Bytes{kCount * 4});
  const auto put = this->stream();
  const auto take = this->stream();
  const auto is_full = this->device(0).make_event();
  const auto is_empty = this->device(0).make_event();
  std::vector<std::unique_ptr<Buffer>> sources;
  std::vector<std::unique_ptr<Buffer>> results;
  for (int i = 0; i < 8; ++i) {
    sources.push_back(this->filled(kCount, i + 1));
    results.push_back(this->filled(kCount, 0));
    put->wait(*is_empty);  // in the first round nothing was recorded: goes on
    enqueue_copy(*put, box->template as<int>(), sources.back()->template as<int>());
    put->record(*is_full);
    take->wait(*is_full);
    enqueue_copy(*take, results.back()->template as<int>(), box->template as<int>());
    take->record(*is_empty);
  }
  put->synchronize();
  take->synchronize();
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(this->all_are(*results[static_cast<std::size_t>(i)], i + 1)) << "round " << i;
  }
}

REGISTER_TYPED_TEST_SUITE_P(
    RuntimeContract, Memory_CountsUsedPeakAndAllocations,
    Allocate_BeyondCapacity_NamesDeviceAskedAndLeft, Allocate_OfNothing_IsEmpty,
    Buffers_CarryTheirDevice, Copy_OfUnequalSizes_IsALogicError,
    Copy_ThatMissesTheStreamsDevice_NamesBothDevices, Zero_OnAnotherDevice_NamesBothDevices,
    StartAfter_HoldsBackWhatIsEnqueuedAfterIt, StartAfter_ATimeThatHasPassed_HoldsNobodyUp,
    Delay_LetsTimePassOnTheStream, UnrecordedEvent_IsDoneAndHoldsNobodyUp,
    Event_OfSynchronizedWork_IsDone, TimedEvents_GrowAndFitThePlatformsClock,
    TimeOfAnUnrecordedEvent_IsALogicError, Platform_NamesItsDevices);

REGISTER_TYPED_TEST_SUITE_P(RuntimeContractOfData, NewBuffers_AreZero,
                            Copy_AcrossDevicesAndBack_KeepsBytes, Stream_RunsCopiesAndZerosInOrder,
                            EventsPassedBackAndForth_OrderTwoStreams);

}  // namespace tandem::test
