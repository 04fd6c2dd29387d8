// SPDX-License-Identifier: Apache-2.0
//
// What the communicator over NCCL does with trouble, in what order it calls, and when it takes and
// frees memory: on stand-ins for NCCL and for CUDA's runtime.
#include "common/comm/nccl/nccl_communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>

#include "common/comm/nccl/nccl_api.h"
#include "common/runtime/copy.h"
#include "tests/comm/fake_rank.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using Names = std::vector<std::string>;

// ---- the start ----

TEST_F(NcclCommunicatorTest, IdThatCannotBeMade_IsTheSameErrorOnAllRanks) {
  fake_nccl::fail_next("ncclGetUniqueId", ncclSystemError);
  for (const Error& error : errors_of_start(3, kPatient)) {
    EXPECT_EQ(error.kind(), ErrorKind::kFailure);
    EXPECT_TRUE(mentions(error,
                         "ncclGetUniqueId: text of the fake (ncclSystemError): last words "
                         "of the fake"))
        << error.what();
  }
}

TEST_F(NcclCommunicatorTest, StartThatFailsOnAllRanks_IsTheirError) {
  for (int rank = 0; rank < 3; ++rank) {
    fake_nccl::fail_next("ncclCommInitRank", ncclInvalidUsage, rank);
  }
  for (const Error& error : errors_of_start(3, {.deadline = std::chrono::hours(1)})) {
    EXPECT_TRUE(mentions(error, "ncclInvalidUsage")) << error.what();
    EXPECT_TRUE(mentions(error, "a GPU of its own")) << error.what();
  }
}

TEST_F(NcclCommunicatorTest, CallsThatDoNotBlock_AreRefusedWithTheVariable) {
  fake_nccl::fail_next("ncclCommInitRank", ncclInProgress, 0);
  for (const Error& error : errors_of_start(1, kPatient)) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(mentions(error, "unset NCCL_COMM_BLOCKING")) << error.what();
  }
}

// ---- lost, late and aborted ----

TEST_F(NcclCommunicatorTest, PeerThatDoesNotCome_IsAnErrorAtTheDeadline_NamingTheCollective) {
  on_ranks(2, kHasty, [](FakeRank& on) {
    if (on.rank() == 1) return;
    on.all_reduce();
    const Error error = on.error_at_wait();
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_TRUE(mentions(error, "rank 0 waited ")) << error.what();
    EXPECT_TRUE(mentions(error, "in all_reduce (#1, 16 B) for ranks that are lost or late"))
        << error.what();
  });
}

TEST_F(NcclCommunicatorTest, LongWorkBeforeACollective_IsNotWaitingForPeers) {
  on_ranks(2, kHasty, [](FakeRank& on) {
    on.stream->delay(2 * kShort);
    on.all_reduce();
    EXPECT_NO_THROW(on.stream->synchronize());
  });
}

TEST_F(NcclCommunicatorTest, AbortByOneRank_FreesThoseWhoWait_AndFailsLaterCalls) {
  on_ranks(3, kPatient, [](FakeRank& on) {
    if (on.rank() == 2) {
      on.communicator->abort();
    } else {
      on.all_reduce();
    }
    const auto is_told = [&on] {
      const Error error = on.error_at_wait();
      return error.kind() == ErrorKind::kCommunication &&
             mentions(error, "the communicator was aborted");
    };
    if (on.rank() != 2) {
      EXPECT_TRUE(is_told());
    }
    // The watching thread notices within milliseconds; until then a call may still be accepted.
    while (true) {
      try {
        on.stream->synchronize();
      } catch (const Error&) {
        break;
      }
      std::this_thread::yield();
    }
    on.all_reduce();
    EXPECT_TRUE(is_told());
    EXPECT_THROW(static_cast<void>(on.communicator->allocate(kib(1))), Error);
  });
}

TEST_F(NcclCommunicatorTest, LossOfAGpu_EndsTheOthersToo) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    if (on.rank() == 1) {
      stand_in::lose(1, cudaErrorIllegalAddress);
      EXPECT_TRUE(mentions(on.error_at_wait(), "cudaErrorIllegalAddress"));
      on.all_reduce();  // dropped, and the others are informed
    } else {
      on.all_reduce();
      EXPECT_EQ(on.error_at_wait().kind(), ErrorKind::kCommunication);
    }
  });
  stand_in::reset(2);
}

// ---- results ----

struct Mapped {
  ncclResult_t result;
  ErrorKind kind;
  const char* words;
};

class NcclResultTest : public NcclCommunicatorTest, public ::testing::WithParamInterface<Mapped> {};

TEST_P(NcclResultTest, FoundLater_FailsTheStreamWithItsMeaning) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    if (on.rank() == 0) {
      on.all_reduce();  // rank 1 will not come
      fake_nccl::set_async_error(0, GetParam().result);
    }
    if (on.rank() == 1) return;
    const Error error = on.error_at_wait();
    EXPECT_EQ(error.kind(), GetParam().kind);
    EXPECT_TRUE(mentions(error, "ncclCommGetAsyncError")) << error.what();
    EXPECT_TRUE(mentions(error, GetParam().words)) << error.what();
  });
}

TEST_P(NcclResultTest, FromACall_IsThrownWhereItIsABug_ElseFailsTheStream) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    if (on.rank() == 1) return;
    fake_nccl::fail_next("ncclAllReduce", GetParam().result, 0);
    const bool is_bug = GetParam().kind == ErrorKind::kLogic;
    const auto call = [&on] { on.all_reduce(); };
    const Error error = is_bug ? error_of(call) : (call(), on.error_at_wait());
    EXPECT_EQ(error.kind(), GetParam().kind);
    EXPECT_TRUE(mentions(error, "ncclAllReduce: text of the fake")) << error.what();
    EXPECT_TRUE(mentions(error, GetParam().words)) << error.what();
    EXPECT_EQ(mentions(error, "in all_reduce #1 (16 B)"), !is_bug) << error.what();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Results, NcclResultTest,
    ::testing::Values(Mapped{ncclUnhandledCudaError, ErrorKind::kFailure, "ncclUnhandledCudaError"},
                      Mapped{ncclSystemError, ErrorKind::kFailure, "/dev/shm"},
                      Mapped{ncclInternalError, ErrorKind::kFailure, "ncclInternalError"},
                      Mapped{ncclInvalidArgument, ErrorKind::kLogic, "ncclInvalidArgument"},
                      Mapped{ncclInvalidUsage, ErrorKind::kFailure, "a GPU of its own"},
                      Mapped{ncclRemoteError, ErrorKind::kCommunication, "another rank is lost"},
                      Mapped{ncclNumResults, ErrorKind::kFailure, "does not know"}));

// ---- order ----

TEST_F(NcclCommunicatorTest, EachRank_CallsInTheOrderOfEnqueuing_AcrossStreams) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    const auto other = on.device.make_stream(StreamPriority::kHigh);
    const auto done = on.device.make_event();
    on.communicator->broadcast(*on.stream, on.span().subspan(0, 1), 0);
    on.stream->record(*done);
    other->wait(*done);
    on.communicator->reduce(*other, on.span().subspan(0, 2), 1);
    other->record(*done);
    on.stream->wait(*done);
    on.communicator->all_reduce(*on.stream, on.span().subspan(0, 3), ReduceOp::kSum);
    on.stream->synchronize();
    EXPECT_EQ(fake_nccl::calls_of(on.rank()),
              (Names{"ncclBroadcast 1", "ncclReduce 2", "ncclAllReduce 3"}));
  });
}

// What is enqueued behind a collective must not get onto the stream before it.
TEST_F(NcclCommunicatorTest, WhatFollows_ComesBehindACallThatConnectsFirst) {
  fake_nccl::connect_at_first_call();
  on_ranks(2, kPatient, [](FakeRank& on) {
    const auto copy = on.device.allocate(bytes_of<float>(4));
    on.communicator->all_reduce(*on.stream, on.span(), ReduceOp::kAverage);
    enqueue_copy(*on.stream, copy->as<float>(), on.span());
    on.stream->synchronize();
    EXPECT_EQ(read_back<float>(on.device, copy->as<float>()), std::vector<float>(4, 1.5F));
  });
}

TEST_F(NcclCommunicatorTest, Average_IsNcclsSumScaledOnce_AlsoOf16Bits) {
  on_ranks(3, kPatient, [](FakeRank& on) {
    const Span<BFloat16> halves = on.values->as<BFloat16>(2);
    const std::vector<BFloat16> mine{BFloat16(1.0F), BFloat16(2.0F)};
    const auto stream = on.device.make_stream(StreamPriority::kNormal);
    enqueue_copy(*stream, halves, Span<const BFloat16>(mine.data(), 2, DeviceId{}));
    stream->synchronize();
    on.communicator->all_reduce(*on.stream, halves, ReduceOp::kAverage);
    on.stream->synchronize();
    // A third in bf16 is 0.33398, thrice of which is not 1.
    EXPECT_EQ(read_back<BFloat16>(on.device, halves), mine);
  });
}

// ---- groups ----

TEST_F(NcclCommunicatorTest, Group_IsEndedWhereItsCallsThrow) {
  const nccl::Api& api = fake_nccl::api();
  EXPECT_THROW(
      {
        const nccl::Group group(api);
        fail(ErrorKind::kFailure, "on the way");
      },
      Error);
  fake_nccl::fail_next("ncclGroupStart", ncclInternalError);
  EXPECT_THROW(nccl::Group group(api), Error);
}  // a group left open is a violation

TEST_F(NcclCommunicatorTest, SendThatFailsInAScatter_EndsItsGroup_AndAllRanks) {
  on_ranks(3, kPatient, [](FakeRank& on) {
    fake_nccl::fail_next("ncclSend", ncclInternalError, 0);
    const std::vector<Block> blocks{{0, 1}, {1, 1}, {2, 1}};
    const auto mine = on.span().subspan(3, 1);
    on.communicator->scatter(*on.stream, on.rank() == 0 ? on.span() : Span<float>{}, mine, blocks,
                             0);
    EXPECT_NE(on.error_at_wait().kind(), ErrorKind::kLogic);
    barrier(on.bootstrap);  // none goes while another may still wait for its end
  });
}

// One thread for all devices, as a team has it.
class NcclTogetherTest : public NcclCommunicatorTest {
 protected:
  void make(int ranks, const CommunicatorOptions& options) {
    open(ranks);
    group_ = std::make_unique<ThreadGroup>(ranks);
    all_.resize(static_cast<std::size_t>(ranks));
    run_ranks_as_threads(ranks, [&](Bootstrap& thread) {
      const auto i = static_cast<std::size_t>(thread.rank());
      bootstraps_.at(i) = group_->join(thread.rank());
      all_[i] =
          std::make_unique<FakeRank>(*bootstraps_.at(i), platform_->device(thread.rank()), options);
    });
    for (const auto& one : all_) ranks_.push_back(one->communicator.get());
  }
  void TearDown() override {
    run_ranks_as_threads(static_cast<int>(all_.size()), [&](Bootstrap& thread) {
      all_[static_cast<std::size_t>(thread.rank())].reset();
    });
    NcclCommunicatorTest::TearDown();
  }
  void broadcast_on_all() {
    nccl::call_together(fake_nccl::api(), ranks_, [this] {
      for (const auto& one : all_) one->communicator->broadcast(*one->stream, one->span(), 0);
    });
  }

  std::unique_ptr<ThreadGroup> group_;
  std::array<std::unique_ptr<Bootstrap>, 4> bootstraps_;
  std::vector<std::unique_ptr<FakeRank>> all_;
  std::vector<Communicator*> ranks_;
};

TEST_F(NcclTogetherTest, CallsOfOneThread_AreOne_AndWhatFollowsComesBehind) {
  fake_nccl::connect_at_first_call();  // one by one, the first would wait for ever
  make(3, kPatient);
  broadcast_on_all();
  for (const auto& one : all_) {
    one->stream->synchronize();
    EXPECT_EQ(read_back<float>(one->device, one->span()), std::vector<float>(4, 1.0F));
  }
}

TEST_F(NcclTogetherTest, GroupWhoseEndFails_FailsAllItsStreams) {
  make(2, kPatient);
  fake_nccl::fail_next("ncclGroupEnd", ncclUnhandledCudaError);
  broadcast_on_all();
  for (const auto& one : all_) {
    const Error error = one->error_at_wait();
    EXPECT_TRUE(mentions(error, "ncclGroupEnd") || mentions(error, "aborted")) << error.what();
  }
}

TEST_F(NcclTogetherTest, CallThatFailsWithin_FailsAllItsStreams_AndClosesTheGroup) {
  make(2, kPatient);
  fake_nccl::fail_next("ncclBroadcast", ncclInternalError, 1);
  broadcast_on_all();
  for (const auto& one : all_) EXPECT_THROW(one->stream->synchronize(), Error);
}

// NCCL's group holds the communicators that it has calls of, which an abort would free.
TEST_F(NcclTogetherTest, AbortWhileAGroupIsOpen_WaitsForItsEnd) {
  make(2, kPatient);
  nccl::call_together(fake_nccl::api(), ranks_, [this] {
    all_[0]->communicator->broadcast(*all_[0]->stream, all_[0]->span(), 0);
    all_[0]->communicator->abort();
    for (const auto& one : all_) {  // until its watching thread is about to abort
      while (!capture_error([&] { one->stream->synchronize(); })) std::this_thread::yield();
    }
    const TimePoint soon = Clock::now() + std::chrono::milliseconds(20);
    while (Clock::now() < soon) std::this_thread::yield();
    EXPECT_EQ(fake_nccl::calls_of(0), Names{"ncclBroadcast 4"});
  });
  for (const auto& one : all_) {
    EXPECT_EQ(one->error_at_wait().kind(), ErrorKind::kCommunication);
    one->communicator.reset();
  }
  EXPECT_EQ(fake_nccl::calls_of(0), (Names{"ncclBroadcast 4", "ncclCommAbort"}));
}

TEST_F(NcclTogetherTest, WhatItsCallsThrow_IsThrown_AndTheGroupIsClosed) {
  make(2, kPatient);
  EXPECT_EQ(error_of([&] {
              nccl::call_together(fake_nccl::api(), ranks_,
                                  [] { fail(ErrorKind::kUsage, "by the caller"); });
            }).kind(),
            ErrorKind::kUsage);
}

// ---- memory ----

TEST_F(NcclCommunicatorTest, Memory_IsTakenAndFreedOnlyWhileAllAreQuiet) {
  on_ranks(3, kPatient, [](FakeRank& on) {
    barrier(on.bootstrap);
    if (on.rank() == 0) fake_nccl::watch_memory();
    barrier(on.bootstrap);
    for (int round = 0; round < 20; ++round) {
      const auto buffer = on.communicator->allocate(kib(4));
      on.communicator->all_reduce(*on.stream, buffer->as<float>(), ReduceOp::kSum);
      if (round % 2 == 0) on.stream->synchronize();
      // Else it goes while the collective may run here and on other ranks.
      if (round % 2 == 1) {
        const auto next = on.communicator->allocate(kib(1));
        on.stream->synchronize();
      }
    }
  });
}

TEST_F(NcclCommunicatorTest, Memory_OfABufferThatWent_CountsUntilItIsFreed) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    const Bytes before = on.device.memory().used;
    on.communicator->allocate(mib(1)).reset();
    EXPECT_EQ(on.device.memory().used - before, mib(1));
    const auto next = on.communicator->allocate(kib(1));
    EXPECT_EQ(on.device.memory().used - before, kib(1));
  });
}

TEST_F(NcclCommunicatorTest, Memory_IsTheGpus_AsTorchHasIt) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    const auto buffer = on.communicator->allocate(kib(4));
    EXPECT_EQ(fake_nccl::calls_of(on.rank()), Names{});
  });
}

TEST_F(NcclCommunicatorTest, BufferThatOutlivesItsCommunicator_FreesItself) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    auto buffer = on.communicator->allocate(kib(4));
    on.communicator.reset();
    barrier(on.bootstrap);
    buffer.reset();
  });
}

// ---- the end ----

TEST_F(NcclCommunicatorTest, End_IsInGoodOrder_AfterWhatIsInFlight) {
  open(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    FakeRank on(bootstrap, platform_->device(bootstrap.rank()), kPatient);
    on.stream->delay(std::chrono::milliseconds(20));
    on.all_reduce();
    on.communicator.reset();
    EXPECT_EQ(fake_nccl::calls_of(on.rank()),
              (Names{"ncclAllReduce 4", "ncclCommFinalize", "ncclCommDestroy"}));
    EXPECT_NO_THROW(on.stream->synchronize());
  });
}

TEST_F(NcclCommunicatorTest, WorldOfOne_WaitsForNobody) {
  on_ranks(1, kHasty, [](FakeRank& on) {
    on.communicator->all_reduce(*on.stream, on.span(), ReduceOp::kAverage);
    on.stream->synchronize();
    EXPECT_EQ(read_back<float>(on.device, on.span()), std::vector<float>(4, 1.0F));
  });
}

TEST_F(NcclCommunicatorTest, MemoryOfAnotherDevice_IsALogicErrorThatNamesBoth) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    const Span<float> mine = on.span();
    const Span<float> elsewhere(mine.data(), mine.size(), {Backend::kCuda, 1 - on.rank()});
    const Error error = error_of([&] { on.communicator->broadcast(*on.stream, elsewhere, 0); });
    EXPECT_EQ(error.kind(), ErrorKind::kLogic);
    EXPECT_TRUE(mentions(error, "cuda:0") && mentions(error, "cuda:1")) << error.what();
  });
}

// ---- the library ----

TEST(NcclLibrary, ThatIsNotThere_SaysWhatToDo) {
  nccl::Api api;
  const nccl::LoadedApi loaded = nccl::load_api_from("libnccl_of_nobody.so.2", api);
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_NE(loaded.trouble.find("LD_LIBRARY_PATH"), std::string::npos) << loaded.trouble;
}

TEST(NcclLibrary, OfAnotherKind_NamesWhatItLacks) {
  nccl::Api api;
  const nccl::LoadedApi loaded = nccl::load_api_from("libm.so.6", api);
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_NE(loaded.trouble.find("has no ncclGetVersion"), std::string::npos) << loaded.trouble;
}

}  // namespace
}  // namespace tandem::test
