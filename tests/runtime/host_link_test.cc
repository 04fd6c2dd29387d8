// SPDX-License-Identifier: Apache-2.0
//
// A modelled link on the running platform. How late the machine is cannot be foretold, so what is
// asserted are lower bounds and orders; the exact figures are those of the pure functions.
#include "common/runtime/host/host_link.h"

#include <gtest/gtest.h>

#include "common/runtime/copy.h"
#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"
#include "tests/support/errors.h"

namespace tandem::host {
namespace {

using std::chrono::milliseconds;
using test::error_of;

// 1 MB/s: a kB takes a millisecond.
constexpr LinkModel kLink{.latency = milliseconds(1), .bytes_per_second = 1e6};
constexpr Bytes kSize{9000};
constexpr Nanoseconds kTransfer = milliseconds(10);  // of kSize

class HostLinkTest : public testing::Test {
 protected:
  HostLinkTest() {
    for (int i = 0; i < 4; ++i) {
      streams_.push_back(device(i).make_stream(StreamPriority::kNormal));
      boxes_.push_back(device(i).allocate(kSize));
    }
  }
  Device& device(int index) { return platform_->device(index); }
  Stream& stream(int index) { return *streams_[static_cast<std::size_t>(index)]; }
  ByteSpan box(int index) { return boxes_[static_cast<std::size_t>(index)]->bytes(); }

  // Device `to` pulls from `from`.
  void pull(int to, int from) { enqueue_copy_bytes(stream(to), box(to), box(from)); }
  void compute(Stream& on, std::function<void()> body) {
    host_stream(on).enqueue({"compute", {}, std::move(body)});
  }

  const std::unique_ptr<Platform> platform_ = make_host_platform(
      {.devices = 4, .oversubscribe = true, .device_memory = {mib(1)}, .link = kLink});
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Buffer>> boxes_;
};

TEST_F(HostLinkTest, Transfer_EndsAtItsModelledEndForTheHost) {
  const TimePoint start = Clock::now();
  pull(1, 0);
  EXPECT_FALSE(stream(1).is_done());
  stream(1).synchronize();
  EXPECT_GE(Clock::now() - start, kTransfer);
  EXPECT_TRUE(stream(1).is_done());
}

TEST_F(HostLinkTest, FanOut_CostsThreeTransfersOnTheSendersPort) {
  const TimePoint start = Clock::now();
  for (const int to : {1, 2, 3}) pull(to, 0);
  for (const int to : {1, 2, 3}) stream(to).synchronize();
  EXPECT_GE(Clock::now() - start, 3 * kTransfer);
}

TEST_F(HostLinkTest, TreeOfCopies_ChainsAtModelledEnds) {
  const auto arrived = device(1).make_event();
  const TimePoint start = Clock::now();
  pull(1, 0);
  stream(1).record(*arrived);
  stream(3).wait(*arrived);
  pull(2, 0);  // at the same time as the next one, by other ports
  pull(3, 1);
  stream(3).synchronize();
  EXPECT_GE(Clock::now() - start, 2 * kTransfer);
}

TEST_F(HostLinkTest, TimedEvents_CarryModelledEnds) {
  const auto before = device(1).make_timed_event();
  const auto after = device(1).make_timed_event();
  pull(1, 0);
  stream(1).record(*before);
  for (int i = 0; i < 3; ++i) pull(1, 0);
  stream(1).record(*after);
  stream(1).synchronize();
  EXPECT_GE(*after - *before, 3 * kTransfer);
}

// What waits for an hour of modelled transfer does not end within the test's time limit.
class SlowLinkTest : public testing::Test {
 protected:
  std::unique_ptr<Stream> stream(int index) {
    return platform_->device(index).make_stream(StreamPriority::kNormal);
  }
  const std::unique_ptr<Platform> platform_ = make_host_platform(
      {.devices = 2,
       .oversubscribe = true,
       .device_memory = {mib(1)},
       .link = LinkModel{.latency = std::chrono::hours(1), .bytes_per_second = 1e9}});
  const std::unique_ptr<Buffer> here_ = platform_->device(0).allocate(kSize);
  const std::unique_ptr<Buffer> there_ = platform_->device(1).allocate(kSize);
  const std::unique_ptr<Event> arrived_ = platform_->device(0).make_event();
};

TEST_F(SlowLinkTest, Transfer_OverlapsWithComputeOnAnotherStream) {
  const auto transfers = stream(0);
  const auto computes = stream(0);
  bool computed = false;
  enqueue_copy_bytes(*transfers, here_->bytes(), there_->bytes());
  transfers->record(*arrived_);
  host_stream(*computes).enqueue({"compute", {}, [&computed] { computed = true; }});
  computes->synchronize();
  EXPECT_TRUE(computed);
  EXPECT_FALSE(arrived_->is_done());
}

TEST_F(SlowLinkTest, NobodySleepsInATransferOrAWait) {
  const auto transfers = stream(0);
  const auto waits = stream(1);
  enqueue_copy_bytes(*transfers, here_->bytes(), there_->bytes());
  transfers->record(*arrived_);
  waits->wait(*arrived_);
  enqueue_copy_bytes(*waits, there_->bytes(), here_->bytes());
  EXPECT_FALSE(waits->is_done());  // and the streams end, which takes until their queues are empty
}

TEST_F(SlowLinkTest, CopiesWithinADevice_CrossNoLink) {
  const auto twin = platform_->device(0).allocate(kSize);
  const auto copies = stream(0);
  enqueue_copy_bytes(*copies, twin->bytes(), here_->bytes());
  copies->synchronize();
  EXPECT_TRUE(copies->is_done());
}

TEST_F(SlowLinkTest, HostMemory_LiesAcrossTheLink) {
  const auto host = platform_->allocate_host(kSize);
  const auto copies = stream(0);
  enqueue_copy_bytes(*copies, here_->bytes(), host->bytes());
  copies->record(*arrived_);
  EXPECT_FALSE(arrived_->is_done());
  EXPECT_FALSE(copies->is_done());
}

TEST_F(HostLinkTest, ComputeBehindATransfer_StartsAtItsModelledEnd) {
  TimePoint began;
  const TimePoint start = Clock::now();
  pull(1, 0);
  compute(stream(1), [&] { began = Clock::now(); });
  stream(1).synchronize();
  EXPECT_GE(began - start, kTransfer);
}

TEST_F(HostLinkTest, ComputeBehindAWaitForATransfer_StartsAtItsModelledEnd) {
  const auto arrived = device(1).make_event();
  TimePoint began;
  const TimePoint start = Clock::now();
  pull(1, 0);
  stream(1).record(*arrived);
  stream(2).wait(*arrived);
  compute(stream(2), [&] { began = Clock::now(); });
  stream(2).synchronize();
  EXPECT_GE(began - start, kTransfer);
}

TEST_F(HostLinkTest, Bytes_ArriveAsTheyWereSent) {
  const auto host = platform_->allocate_host(kSize);
  host->as<int>().begin()[7] = 42;
  const auto back = platform_->allocate_host(kSize);
  enqueue_copy_bytes(stream(0), box(0), host->bytes());
  const auto sent = device(0).make_event();
  stream(0).record(*sent);
  stream(1).wait(*sent);
  pull(1, 0);
  enqueue_copy_bytes(stream(1), back->bytes(), box(1));
  stream(1).synchronize();
  EXPECT_EQ(back->as<int>().begin()[7], 42);
}

TEST_F(HostLinkTest, LinkFasterThanTheMachine_IsLate_OnceToBeTaken) {
  const LinkModel far_too_fast{.latency = Nanoseconds{0}, .bytes_per_second = 1e18};
  const auto platform =
      make_host_platform({.devices = 2, .oversubscribe = true, .link = far_too_fast});
  const auto from = platform->device(0).allocate(mib(4));
  const auto to = platform->device(1).allocate(mib(4));
  const auto stream = platform->device(1).make_stream(StreamPriority::kNormal);
  enqueue_copy_bytes(*stream, to->bytes(), from->bytes());
  stream->synchronize();
  EXPECT_GT(platform->take_lateness().on_path, Nanoseconds{0});
  EXPECT_EQ(platform->take_lateness().on_path, Nanoseconds{0});
}

TEST(HostLinkAccountTest, Lateness_AddsUpAlongThePath_AndStartsAgainWithTheStep) {
  HostLink link(kLink, std::make_shared<LinkPorts>());
  const auto late_by_an_hour = [&link](const ModelledTime& before) {
    ModelledTime end = link.ready(before, TimePoint{});
    end.at = Clock::now() - std::chrono::hours(1);
    return link.settle(end);
  };
  const ModelledTime first = late_by_an_hour({});
  EXPECT_GE(first.lateness, std::chrono::hours(1));
  const ModelledTime second = late_by_an_hour(first);
  EXPECT_GE(second.lateness, std::chrono::hours(2));
  EXPECT_EQ(link.take_lateness().on_path, second.lateness);
  EXPECT_LT(late_by_an_hour(second).lateness, std::chrono::hours(2));
}

TEST(HostLinkAccountTest, WorkThatTheHostEnqueuesLater_IsAsLateAsWhatTheHostSaw) {
  HostLink link(kLink, std::make_shared<LinkPorts>());
  const TimePoint later = TimePoint{} + milliseconds(5);
  link.seen_by_host({TimePoint{}, milliseconds(3), 0});
  EXPECT_EQ(link.ready({}, later).lateness, milliseconds(3));
  EXPECT_EQ(link.ready({later, milliseconds(1), 0}, TimePoint{}).lateness, milliseconds(1));
  static_cast<void>(link.take_lateness());
  EXPECT_EQ(link.ready({}, later).lateness, Nanoseconds{0});
}

TEST(HostLinkAccountTest, Merge_TakesTheLatersLateness) {
  const TimePoint later = TimePoint{} + milliseconds(5);
  ModelledTime time{TimePoint{}, milliseconds(3), 0};
  time.merge({later, milliseconds(1), 0});
  EXPECT_EQ(time.at, later);
  EXPECT_EQ(time.lateness, milliseconds(1));
  time.merge({TimePoint{}, milliseconds(9), 0});
  EXPECT_EQ(time.lateness, milliseconds(1));
}

TEST(HostLinkAccountTest, TransferThatIsInTime_EndsByTheModelAndIsNotLate) {
  HostLink link(kLink, std::make_shared<LinkPorts>());
  ModelledTime end;
  end.at = Clock::now() + std::chrono::hours(1);
  EXPECT_EQ(link.settle(end).at, end.at);
  EXPECT_EQ(link.take_lateness().on_path, Nanoseconds{0});
}

TEST(HostPlatformLinkTest, PlatformsThatShareTheirPorts_CompeteForThem) {
  const auto ports = std::make_shared<LinkPorts>();
  const PlatformOptions options{
      .devices = 2, .oversubscribe = true, .link = kLink, .link_ports = ports};
  const TimePoint start = Clock::now();
  for (int i = 0; i < 2; ++i) {
    const auto platform = make_host_platform(options);
    const auto from = platform->device(0).allocate(kSize);
    const auto to = platform->device(1).allocate(kSize);
    const auto stream = platform->device(1).make_stream(StreamPriority::kNormal);
    enqueue_copy_bytes(*stream, to->bytes(), from->bytes());
  }
  EXPECT_GE(ports->of({Backend::kHost, 0}).egress_free,
            Nanoseconds((start + 2 * kTransfer).time_since_epoch()).count());
}

TEST(HostPlatformLinkTest, WithoutALink_NothingIsLate) {
  const auto platform = make_host_platform({});
  EXPECT_EQ(platform->take_lateness().on_path, Nanoseconds{0});
}

TEST(HostPlatformLinkTest, MoreDevicesThanALinkTakes_AreAUsageError) {
  const Error error = error_of([] {
    static_cast<void>(make_host_platform(
        {.devices = 65, .oversubscribe = true, .device_memory = {mib(1)}, .link = kLink}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "at most 64")) << error.what();
}

TEST(HostPlatformMemoryTest, Capacities_AreOneForEachOrOnePerDevice) {
  PlatformOptions options{.devices = 2, .oversubscribe = true, .device_memory = {mib(3)}};
  EXPECT_EQ(make_host_platform(options)->device(1).memory().capacity, mib(3));
  options.device_memory = {mib(3), mib(5)};
  EXPECT_EQ(make_host_platform(options)->device(0).memory().capacity, mib(3));
  EXPECT_EQ(make_host_platform(options)->device(1).memory().capacity, mib(5));
  options.device_memory = {mib(3), mib(5), mib(7)};
  const Error error = error_of([&] { static_cast<void>(make_host_platform(options)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "--device-memory: 3 sizes for 2 devices")) << error.what();
}

}  // namespace
}  // namespace tandem::host
