// SPDX-License-Identifier: Apache-2.0
#include "common/flight/flight_recorder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "common/base/error.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest() {
    std::string name = testing::TempDir() + "flight.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~FlightRecorderTest() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path file(int rank) const { return flight_file(folder_, rank); }
  [[nodiscard]] static FlightRecorder::Identity rank(int number) {
    return {.rank = number, .world = 3, .phases = {"start", "forward", "backward", "idle"}};
  }
  [[nodiscard]] FlightRecord read(int number) const { return *read_flight_record(file(number)); }

  fs::path folder_;
};

TEST_F(FlightRecorderTest, Record_HoldsWhoItIs) {
  const FlightRecorder recorder(file(2), rank(2));
  const FlightRecord record = read(2);
  EXPECT_EQ(record.rank, 2);
  EXPECT_EQ(record.world, 3);
  EXPECT_EQ(record.pid, ::getpid());
  EXPECT_FALSE(record.host.empty());
  EXPECT_EQ(to_string(record.place()), "step 0, phase start");
  EXPECT_FALSE(record.ended || record.failure);
}

TEST_F(FlightRecorderTest, Collectives_AreFollowedFromQueueToEnd) {
  FlightRecorder recorder(file(0), rank(0));
  recorder.collective_enqueued(1, "broadcast", 64);
  recorder.collective_enqueued(2, "all_reduce", 4 << 20);
  EXPECT_EQ(read(0).in_hand(), nullptr);
  recorder.collective_started(1, "broadcast", 64);
  recorder.collective_finished(1);
  recorder.collective_started(2, "all_reduce", 4 << 20);
  const FlightRecord record = read(0);
  ASSERT_NE(record.in_hand(), nullptr);
  EXPECT_EQ(to_string(*record.in_hand()), "all_reduce #2 (4.0 MiB)");
  EXPECT_EQ(record.finished, 1U);
  ASSERT_NE(record.find(1), nullptr);
  EXPECT_LE(record.find(1)->enqueued, record.find(1)->started);
  EXPECT_LE(record.find(1)->started, record.find(1)->finished);
}

TEST_F(FlightRecorderTest, Ring_KeepsWhatRuns_HoweverFarTheCallerIsAhead) {
  FlightRecorder recorder(file(0), rank(0));
  for (std::uint64_t i = 1; i <= 3 * FlightPage::kRing; ++i) {
    recorder.collective_enqueued(i, "all_reduce", static_cast<std::int64_t>(i));
  }
  recorder.collective_started(5, "reduce_scatter", 55);
  const FlightRecord record = read(0);
  EXPECT_EQ(record.collectives.size(), FlightPage::kRing);
  ASSERT_NE(record.in_hand(), nullptr);
  EXPECT_EQ(to_string(*record.in_hand()), "reduce_scatter #5 (55 B)");
}

TEST_F(FlightRecorderTest, Place_IsTheDevices_ButForWhatIsThrownWhileAStepIsEnqueued) {
  FlightRecorder recorder(file(0), rank(0));
  recorder.enqueued(12, 2);
  EXPECT_EQ(to_string(read(0).place()), "step 12, phase backward");  // no device reports
  recorder.reached(12, 1);
  EXPECT_EQ(to_string(read(0).place()), "step 12, phase forward");
  recorder.failed(Error(ErrorKind::kFailure, "a bad weight"));
  EXPECT_EQ(to_string(read(0).place()), "step 12, phase backward");
  recorder.enqueued(12, 3);  // all was enqueued: the device met it
  EXPECT_EQ(to_string(read(0).place()), "step 12, phase forward");
}

TEST_F(FlightRecorderTest, FirstFailure_Counts) {
  FlightRecorder recorder(file(0), rank(0));
  recorder.failed(Error(PeerFailure{.kind = PeerFailure::Kind::kAborted}, std::string(5000, 'x')));
  recorder.failed(Error(ErrorKind::kFailure, "later"));
  const FlightRecord record = read(0);
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(record.failure->text, std::string(FlightPage::kErrorBytes - 1, 'x'));
  EXPECT_EQ(record.failure->kind, FailureKind::kAborted);
  EXPECT_FALSE(record.failure->is_own());
  EXPECT_GT(record.failure->at, 0);
}

TEST_F(FlightRecorderTest, FailureBetweenRanks_KeepsWhomAndInWhatItWaited) {
  FlightRecorder recorder(file(0), rank(0));
  recorder.failed(Error(PeerFailure{.kind = PeerFailure::Kind::kWaited,
                                    .awaited = {1, 2},
                                    .waited = std::chrono::seconds(3),
                                    .call = "all_reduce",
                                    .sequence = 35},
                        "in vain"));
  recorder.ends_job();
  const FlightRecord record = read(0);
  ASSERT_TRUE(record.failure);
  EXPECT_EQ(record.failure->kind, FailureKind::kWaited);
  EXPECT_EQ(record.failure->awaited, (std::vector<int>{1, 2}));
  EXPECT_EQ(record.failure->waited, 3'000'000'000);
  EXPECT_EQ(record.failure->call, "all_reduce");
  EXPECT_EQ(record.failure->sequence, 35U);
  EXPECT_GE(record.ended_job, record.failure->at);
}

TEST_F(FlightRecorderTest, OwnFailures_AreToldFromThoseBetweenRanks) {
  FlightRecorder memory(file(0), rank(0));
  memory.failed(Error(ErrorKind::kOutOfMemory, "no room"));
  EXPECT_EQ(read(0).failure->kind, FailureKind::kOutOfMemory);
  FlightRecorder own(file(1), rank(1));
  own.failed(Error(ErrorKind::kLogic, "a bug"));
  EXPECT_EQ(read(1).failure->kind, FailureKind::kOwn);
  FlightRecorder other(file(2), rank(2));
  other.failed(Error(ErrorKind::kCommunication, "something"));
  EXPECT_EQ(read(2).failure->kind, FailureKind::kOther);
}

TEST_F(FlightRecorderTest, PagesOfAnotherVersion_AreSaidToBe) {
  { const FlightRecorder recorder(file(1), rank(1)); }
  EXPECT_EQ(foreign_flight_records(folder_), "");
  std::fstream page(file(1), std::ios::binary | std::ios::in | std::ios::out);
  page.seekp(offsetof(FlightPage, version));
  page.put(static_cast<char>(FlightPage::kVersion + 1));
  page.close();
  EXPECT_FALSE(read_flight_record(file(1)));
  EXPECT_NE(foreign_flight_records(folder_).find(
                fmt::format("are of version {}", FlightPage::kVersion + 1)),
            std::string::npos);
}

TEST_F(FlightRecorderTest, KilledProcess_LeavesItsRecord) {
  const pid_t child = ::fork();
  if (child == 0) {
    FlightRecorder recorder(file(1), rank(1));
    recorder.enqueued(7, 2);
    recorder.reached(7, 1);
    recorder.collective_enqueued(3, "all_reduce", 1 << 20);
    recorder.collective_started(3, "all_reduce", 1 << 20);
    ::raise(SIGKILL);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state));
  const std::vector<FlightRecord> records = read_flight_records(folder_);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(describe(records[0]),
            fmt::format("rank 1 (pid {} on {}) was in step 7, phase forward; all_reduce #3 (1.0 "
                        "MiB) started, not finished",
                        child, records[0].host));
}

TEST_F(FlightRecorderTest, StoppedProcess_IsSeenByWhoGivesUpWaiting) {
  const pid_t child = ::fork();
  if (child == 0) {
    const FlightRecorder recorder(file(1), rank(1));
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(state));
  const auto stopped_at_failure = [&](int number, const Error& error) {
    FlightRecorder recorder(file(number), rank(number));
    recorder.failed(error);
    return read(number).failure->stopped;
  };
  const PeerFailure waited{.kind = PeerFailure::Kind::kWaited};
  EXPECT_EQ(stopped_at_failure(0, Error(waited, "in vain")), std::vector<int>{1});
  EXPECT_EQ(stopped_at_failure(2, Error(ErrorKind::kFailure, "a bad weight")), std::vector<int>{});
  ::kill(child, SIGCONT);
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  EXPECT_EQ(stopped_at_failure(0, Error(waited, "in vain")), std::vector<int>{});
}

TEST_F(FlightRecorderTest, CallerAndWorker_NoteAtOnce) {
  FlightRecorder recorder(file(0), rank(0));
  constexpr std::uint64_t kMany = 10'000;
  std::thread worker([&] {
    for (std::uint64_t i = 1; i <= kMany; ++i) {
      recorder.reached(static_cast<std::int64_t>(i), 1);
      recorder.collective_started(i, "all_reduce", 8);
      recorder.collective_finished(i);
    }
  });
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    recorder.enqueued(static_cast<std::int64_t>(i), 2);
    recorder.collective_enqueued(i, "all_reduce", 8);
  }
  worker.join();
  recorder.ended();
  const FlightRecord record = read(0);
  EXPECT_EQ(record.finished, kMany);
  EXPECT_TRUE(record.ended);
}

TEST_F(FlightRecorderTest, ForeignFiles_ArePassedOver) {
  const FlightRecorder recorder(file(1), rank(1));
  std::ofstream(file(0)) << "no record";
  std::ofstream(folder_ / "notes.txt") << "neither";
  ASSERT_EQ(read_flight_records(folder_).size(), 1U);
  EXPECT_TRUE(read_flight_records(folder_ / "absent").empty());
}

TEST_F(FlightRecorderTest, SecondOfTheSameRank_LeavesTheFirstItsOwnMemory) {
  FlightRecorder first(file(0), rank(0));
  const FlightRecorder second(file(0), {.rank = 0, .world = 1, .phases = {"start"}});
  first.ended();
  EXPECT_EQ(read(0).world, 1);
  EXPECT_FALSE(read(0).ended);
}

TEST_F(FlightRecorderTest, FileThatCannotBeMade_IsAFailure) {
  const Error error =
      test::error_of([&] { const FlightRecorder recorder("/proc/rank.0", rank(0)); });
  EXPECT_NE(std::string(error.what()).find("/proc/rank.0"), std::string::npos);
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
}

}  // namespace
}  // namespace tandem
