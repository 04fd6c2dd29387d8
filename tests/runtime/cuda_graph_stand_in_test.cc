// SPDX-License-Identifier: Apache-2.0
//
// Captures and replays of the CUDA classes, on the stand-in: what a graph does, and what spoils it.
#include <cstring>

#include "common/runtime/copy.h"
#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "tests/runtime/runtime_contract.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::testing {
namespace {

class CudaGraphOnStandIn : public ::testing::Test {
 protected:
  CudaGraphOnStandIn() {
    stand_in::reset(1);
    platform_ = cuda::make_cuda_platform({});
    main_ = device().make_stream(StreamPriority::kNormal);
    side_ = device().make_stream(StreamPriority::kHigh);
    forked_ = device().make_event();
    joined_ = device().make_event();
  }

  void TearDown() override {
    graph_.reset();
    forked_.reset();
    joined_.reset();
    main_.reset();
    side_.reset();
    platform_.reset();
    EXPECT_EQ(stand_in::living(), 0) << "handles, graphs or memory were left behind";
  }

  [[nodiscard]] Device& device() { return platform_->device(0); }

  // Notes `number` where it is in the order of what ran.
  void note(Stream& stream, int number) {
    stand_in::launch(cuda::cuda_stream(stream).get(), [this, number] { ran_.push_back(number); });
  }

  void replay() {
    ran_.clear();
    graph_->replay(*main_);
    main_->synchronize();
  }

  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Stream> main_;
  std::unique_ptr<Stream> side_;
  std::unique_ptr<Event> forked_;
  std::unique_ptr<Event> joined_;
  std::unique_ptr<StreamGraph> graph_;
  std::vector<int> ran_;
};

TEST_F(CudaGraphOnStandIn, WhatIsCaptured_RunsInEachReplay_AndNotBefore) {
  graph_ = main_->capture([&] {
    note(*main_, 1);
    note(*main_, 2);
  });
  main_->synchronize();
  EXPECT_EQ(ran_, std::vector<int>{});
  for (int i = 0; i < 2; ++i) {
    replay();
    EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
  }
}

TEST_F(CudaGraphOnStandIn, ForkedStreams_KeepTheOrderThatEventsGiveThem) {
  graph_ = main_->capture([&] {
    note(*main_, 1);
    main_->record(*forked_);
    side_->wait(*forked_);
    note(*side_, 2);
    side_->record(*joined_);
    main_->wait(*joined_);
    note(*main_, 3);
  });
  replay();
  EXPECT_EQ(ran_, (std::vector<int>{1, 2, 3}));
}

// What the stand-in is for: without a wait the later node comes first.
TEST_F(CudaGraphOnStandIn, MissingWait_ShowsInTheOrder) {
  graph_ = main_->capture([&] {
    main_->record(*forked_);
    side_->wait(*forked_);
    note(*side_, 1);
    side_->record(*joined_);
    note(*main_, 2);
    main_->wait(*joined_);
  });
  replay();
  EXPECT_EQ(ran_, (std::vector<int>{2, 1}));
}

TEST_F(CudaGraphOnStandIn, Replays_ReadWhatThePinnedMemoryHoldsByThen) {
  const auto host = platform_->allocate_host(Bytes{4});
  const auto there = device().allocate(Bytes{4});
  const auto back = platform_->allocate_host(Bytes{4});
  graph_ = main_->capture([&] {
    enqueue_copy_bytes(*main_, there->bytes(), host->bytes());
    enqueue_copy_bytes(*main_, back->bytes(), there->bytes());
  });
  for (const int value : {7, 11}) {
    std::memset(host->bytes().data(), value, 4);
    replay();
    EXPECT_EQ(static_cast<int>(back->bytes().data()[3]), value);
  }
}

TEST_F(CudaGraphOnStandIn, TimedEvents_TellTheTimesOfTheLatestReplay) {
  const auto start = device().make_timed_event();
  const auto end = device().make_timed_event();
  graph_ = main_->capture([&] {
    main_->record(*start);
    note(*main_, 1);
    main_->record(*end);
  });
  const auto before = device().make_timed_event();
  for (int i = 0; i < 2; ++i) {
    main_->record(*before);
    replay();
    EXPECT_GE(*end - *start, Nanoseconds{0});
    EXPECT_GE(*start - *before, Nanoseconds{0}) << "of an earlier replay";
  }
}

TEST_F(CudaGraphOnStandIn, PlantedDelay_IsPartOfTheGraph) {
  graph_ = main_->capture([&] { main_->delay(Nanoseconds{1}); });
  for (int i = 0; i < 2; ++i) replay();
  EXPECT_EQ(stand_in::calls("cudaLaunchHostFunc"), 1);
}

TEST_F(CudaGraphOnStandIn, AfterACapture_StreamsQueueWorkAsBefore) {
  graph_ = main_->capture([&] {
    main_->record(*forked_);
    side_->wait(*forked_);
    side_->record(*joined_);
    main_->wait(*joined_);
  });
  note(*side_, 1);
  side_->synchronize();
  note(*main_, 2);
  main_->synchronize();
  EXPECT_EQ(ran_, (std::vector<int>{1, 2}));
}

TEST_F(CudaGraphOnStandIn, LaunchThatFails_NamesTheCall) {
  graph_ = main_->capture([&] { note(*main_, 1); });
  stand_in::fail_next("cudaGraphLaunch", cudaErrorInvalidValue);
  EXPECT_TRUE(mentions(error_of([&] { graph_->replay(*main_); }), "cudaGraphLaunch on GPU 0"));
}

TEST_F(CudaGraphOnStandIn, InstantiationThatFails_LeavesNothingBehind) {
  stand_in::fail_next("cudaGraphInstantiate", cudaErrorMemoryAllocation);
  const Error error = error_of([&] { graph_ = main_->capture([&] { note(*main_, 1); }); });
  EXPECT_TRUE(mentions(error, "cudaGraphInstantiate on GPU 0")) << error.what();
}

// ---- what spoils a capture ----

class SpoiledCapture : public CudaGraphOnStandIn {
 protected:
  // `enqueue` spoils it; what is said, after a look at what became of the streams.
  Error spoiled_by(const std::function<void()>& enqueue) {
    const Error error = error_of([&] { graph_ = main_->capture(enqueue); });
    EXPECT_EQ(error.kind(), ErrorKind::kFailure);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    for (Stream* const stream : {main_.get(), side_.get()}) {
      EXPECT_STREQ(error_of([&] { stream->synchronize(); }).what(), error.what());
      note(*stream, 1);  // CUDA's stream itself is none the worse
    }
    EXPECT_EQ(stand_in::last_error(), cudaSuccess);
    return error;
  }
};

TEST_F(SpoiledCapture, ByAnAllocation_NamesIt_AndFailsTheStreams) {
  const Error error = spoiled_by([&] { static_cast<void>(device().allocate(kib(1))); });
  EXPECT_TRUE(mentions(error,
                       "no CUDA graph could be captured on GPU 0: cudaMalloc spoiled it "
                       "(cudaMalloc on GPU 0: cudaErrorStreamCaptureUnsupported"))
      << error.what();
}

TEST_F(SpoiledCapture, ByPinnedMemory_NamesIt) {
  EXPECT_TRUE(mentions(spoiled_by([&] { static_cast<void>(platform_->allocate_host(kib(1))); }),
                       "cudaHostAlloc spoiled it"));
}

TEST_F(SpoiledCapture, ByAWaitOfTheHost_NamesIt) {
  EXPECT_TRUE(mentions(spoiled_by([&] { main_->synchronize(); }), "cudaStreamSynchronize spoiled"));
}

TEST_F(SpoiledCapture, ByALookAtTheStream_NamesIt) {
  EXPECT_TRUE(mentions(spoiled_by([&] { static_cast<void>(main_->is_done()); }),
                       "cudaStreamQuery spoiled it"));
}

TEST_F(SpoiledCapture, ByALookAtACapturedEvent_NamesIt) {
  const Error error = spoiled_by([&] {
    main_->record(*forked_);
    static_cast<void>(forked_->is_done());
  });
  EXPECT_TRUE(mentions(error,
                       "cudaEventQuery spoiled it (cudaEventQuery on GPU 0: "
                       "cudaErrorCapturedEvent"))
      << error.what();
}

TEST_F(SpoiledCapture, ByAWaitForWorkOutsideOfIt_NamesIt) {
  side_->record(*forked_);
  const Error error = spoiled_by([&] { main_->wait(*forked_); });
  EXPECT_TRUE(mentions(error, "cudaStreamWaitEvent spoiled it")) << error.what();
}

TEST_F(SpoiledCapture, ByACopyOfPageableMemory_NamesIt) {
  const auto there = device().allocate(Bytes{4});
  std::vector<std::byte> pageable(4);
  const Error error = spoiled_by([&] {
    enqueue_copy_bytes(*main_, there->bytes(),
                       ConstByteSpan(pageable.data(), 4, {Backend::kHost, DeviceId::kHostMemory}));
  });
  EXPECT_TRUE(mentions(error, "cudaMemcpyAsync spoiled it")) << error.what();
}

TEST_F(SpoiledCapture, ByAStreamThatIsNotJoined_SaysSo) {
  const Error error = spoiled_by([&] {
    main_->record(*forked_);
    side_->wait(*forked_);
    note(*side_, 1);
  });
  EXPECT_TRUE(mentions(error, "cudaStreamEndCapture on GPU 0: cudaErrorStreamCaptureUnjoined"))
      << error.what();
}

// A library may keep the error of its call to itself: Tandem's first call after it is named.
TEST_F(SpoiledCapture, ByACallThatTellsNobody_NamesTheFirstThatFindsOut) {
  const Error error = spoiled_by([&] {
    void* data = nullptr;
    static_cast<void>(cudaMalloc(&data, 1));
    static_cast<void>(cudaGetLastError());
    main_->record(*forked_);
    static_cast<void>(device().allocate(kib(1)));  // is not blamed
  });
  EXPECT_TRUE(mentions(error, "cudaEventRecord spoiled it")) << error.what();
}

TEST_F(SpoiledCapture, ByAnErrorOfTheCallers_IsThatError) {
  const Error error = spoiled_by([] { fail(ErrorKind::kFailure, "on purpose"); });
  EXPECT_STREQ(error.what(), "on purpose");
}

// As a communicator's watching thread does.
TEST_F(CudaGraphOnStandIn, AnotherThread_MayAskForEventsMeanwhile) {
  main_->record(*forked_);
  graph_ = main_->capture([&] {
    note(*main_, 1);
    std::thread([&] { static_cast<void>(forked_->is_done()); }).join();
  });
  replay();
  EXPECT_EQ(ran_, std::vector<int>{1});
}

TEST_F(CudaGraphOnStandIn, CaptureWithinACapture_IsALogicError) {
  const auto other = device().make_stream(StreamPriority::kNormal);
  const Error error =
      error_of([&] { graph_ = main_->capture([&] { static_cast<void>(other->capture([] {})); }); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
}

}  // namespace
}  // namespace tandem::testing
