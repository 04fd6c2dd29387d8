// SPDX-License-Identifier: Apache-2.0
//
// The contract on the host back end, and what only the host can show: work that throws, and delays.
#include <stdexcept>

#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"
#include "tests/runtime/work_contract.h"

namespace tandem::test {
namespace {

struct HostBackend {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    return host::make_host_platform(options);
  }
  static void enqueue(Stream& stream, std::function<void()> body) {
    host::host_stream(stream).enqueue({"a test's work", {}, std::move(body)});
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Host, RuntimeContract, HostBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, RuntimeContractOfData, HostBackend);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, RuntimeContractOfWork, HostBackend);

class HostFailure : public RuntimeContractOfWork<HostBackend> {
 protected:
  static void enqueue_failing(Stream& stream) {
    enqueue(stream, [] { fail(ErrorKind::kCommunication, "rank 1 is lost"); });
  }
};

TEST_F(HostFailure, SurfacesAtSynchronizeAndStays) {
  std::atomic<bool> later_ran = false;
  const auto s = stream();
  enqueue_failing(*s);
  enqueue(*s, [&] { later_ran = true; });
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { s->synchronize(); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_STREQ(error.what(), "rank 1 is lost");
  }
  EXPECT_EQ(error_of([&] { static_cast<void>(s->is_done()); }).kind(), ErrorKind::kCommunication);
  EXPECT_FALSE(later_ran);
}

TEST_F(HostFailure, OfAForeignException_NamesTheWork) {
  const auto s = stream();
  enqueue(*s, [] { throw std::runtime_error("odd"); });
  const Error error = error_of([&] { s->synchronize(); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_TRUE(mentions(error, "a test's work")) << error.what();
  EXPECT_TRUE(mentions(error, "odd")) << error.what();
}

TEST_F(HostFailure, ReachesTheStreamThatWaits_AndNoOther) {
  std::atomic<bool> ran = false;
  const auto failing = stream(0);
  const auto waiting = stream(1);
  const auto apart = stream(0);
  const auto event = device(0).make_event();
  enqueue_failing(*failing);
  failing->record(*event);
  waiting->wait(*event);
  enqueue(*waiting, [&] { ran = true; });
  const Error error = error_of([&] { waiting->synchronize(); });
  EXPECT_STREQ(error.what(), "rank 1 is lost");
  EXPECT_FALSE(ran);
  EXPECT_NO_THROW(apart->synchronize());
}

TEST_F(HostFailure, AfterTheRecord_LeavesTheWaiterAlone) {
  const auto failing = stream();
  const auto waiting = stream();
  const auto event = device(0).make_event();
  failing->record(*event);
  enqueue_failing(*failing);
  waiting->wait(*event);
  EXPECT_NO_THROW(waiting->synchronize());
  EXPECT_THROW(failing->synchronize(), Error);
}

TEST_F(HostFailure, OfPlacement_IsThrownAtTheCallAndTheStreamLives) {
  const auto s = stream(0);
  const auto elsewhere = device(1).allocate(Bytes{64});
  EXPECT_THROW(enqueue_zero_bytes(*s, elsewhere->bytes()), Error);
  EXPECT_NO_THROW(s->synchronize());
}

// Ten rounds of producer and consumer over one device buffer; the values that came out.
std::vector<int> ping_pong(const PlatformOptions& options, Nanoseconds& took) {
  const auto platform = host::make_host_platform(options);
  Device& device = platform->device(0);
  const auto put = device.make_stream(StreamPriority::kNormal);
  const auto take = device.make_stream(StreamPriority::kNormal);
  const auto box = device.allocate(Bytes{4});
  const auto host = platform->allocate_host(Bytes{80});
  const Span<int> words = host->as<int>();  // ten sources, then ten results
  const auto is_full = device.make_event();
  const auto is_empty = device.make_event();
  const TimePoint start = Clock::now();
  for (int i = 0; i < 10; ++i) {
    words.begin()[i] = i + 1;
    put->wait(*is_empty);
    enqueue_copy(*put, box->as<int>(), words.subspan(i, 1));
    put->record(*is_full);
    take->wait(*is_full);
    enqueue_copy(*take, words.subspan(10 + i, 1), box->as<int>());
    take->record(*is_empty);
  }
  take->synchronize();
  took = Clock::now() - start;
  return {words.begin() + 10, words.end()};
}

TEST(HostDelays, ChangeTheTimingButNotTheResults) {
  Nanoseconds plain{0};
  Nanoseconds delayed{0};
  const std::vector<int> expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(ping_pong({}, plain), expected);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    PlatformOptions options;
    options.debug.largest_delay = std::chrono::milliseconds(2);
    options.debug.delay_seed = seed;
    EXPECT_EQ(ping_pong(options, delayed), expected);
    // Twenty delays in a row, of 1 ms on average: 2 ms together are certain.
    EXPECT_GT(delayed, std::chrono::milliseconds(2));
  }
}

TEST(HostPlatform, RefusesMoreDevicesThanCores_UnlessAsked) {
  PlatformOptions options;
  options.devices = 2;
  options.cores = {0};
  const Error error =
      error_of([&] { static_cast<void>(make_platform(BackendChoice::kHost, options)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--oversubscribe")) << error.what();
  options.oversubscribe = true;
  EXPECT_TRUE(make_platform(BackendChoice::kHost, options)->oversubscribed());
}

}  // namespace
}  // namespace tandem::test
