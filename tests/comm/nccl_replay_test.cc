// SPDX-License-Identifier: Apache-2.0
//
// Collectives that are captured and replayed: on stand-ins for NCCL and for CUDA's runtime.
#include "common/runtime/copy.h"
#include "tests/comm/fake_rank.h"

namespace tandem::test {
namespace {

using Names = std::vector<std::string>;

// The all-reduce of each rank, captured; replayed as its strategy does it.
class CapturedAllReduce {
 public:
  explicit CapturedAllReduce(FakeRank& on)
      : on_(on), observer_(*on.communicator->capture_observer()) {
    observer_.capture_begins();
    graph_ = on.stream->capture([&] { on.all_reduce(); });
    observer_.capture_ends();
  }

  void replay() {
    observer_.replay_begins(*on_.stream);
    graph_->replay(*on_.stream);
    observer_.replay_ends(*on_.stream);
  }

 private:
  FakeRank& on_;
  CaptureObserver& observer_;
  std::unique_ptr<StreamGraph> graph_;
};

class NotingObserver final : public CollectiveObserver {
 public:
  void enqueued(const CollectiveCall& call) noexcept override { note("enqueued", call); }
  void started(const CollectiveCall& call) noexcept override { note("started", call); }
  void finished(const CollectiveCall& call) noexcept override { note("finished", call); }
  Names notes;

 private:
  void note(const char* what, const CollectiveCall& call) noexcept {
    notes.push_back(fmt::format("{} {} of {}", what, call.name, to_string(call.size)));
  }
};

TEST_F(NcclCommunicatorTest, Replays_AreWatchedAsOneCollective_AndTheCaptureAsNone) {
  NotingObserver observer;
  open(1);
  run_ranks_as_threads(1, [&](Bootstrap& bootstrap) {
    FakeRank on(bootstrap, platform_->device(0),
                {.deadline = kPatient.deadline, .observer = &observer});
    {
      CapturedAllReduce captured(on);
      on.stream->synchronize();
      EXPECT_EQ(observer.notes, Names{});
      captured.replay();
      on.stream->synchronize();
    }
    on.communicator.reset();  // waits until it has seen the end
  });
  EXPECT_EQ(observer.notes, (Names{"enqueued replay of 16 B", "started replay of 16 B",
                                   "finished replay of 16 B"}));
}

TEST_F(NcclCommunicatorTest, Replays_SumOverRanks_EachTime) {
  on_ranks(2, kPatient, [](FakeRank& on) {
    CapturedAllReduce captured(on);
    for (int i = 0; i < 3; ++i) captured.replay();
    on.stream->synchronize();
    EXPECT_EQ(read_back<float>(on.device, on.span()), std::vector<float>(4, 12));  // 3, 6, 12
  });
}

TEST_F(NcclCommunicatorTest, PeerThatDoesNotReplay_IsAnErrorAtTheDeadline) {
  on_ranks(2, kHasty, [](FakeRank& on) {
    CapturedAllReduce captured(on);
    captured.replay();
    on.stream->synchronize();
    if (on.rank() == 1) return;
    captured.replay();
    const Error error = on.error_at_wait();
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_TRUE(mentions(error, "in replay (#3, 16 B) for ranks that are lost or late"))
        << error.what();
  });
}

TEST_F(NcclCommunicatorTest, Fake_NoticesAnEndBeforeThatOfAGraph) {
  on_ranks(1, kPatient, [](FakeRank& on) {
    CapturedAllReduce captured(on);
    on.communicator.reset();
    EXPECT_EQ(fake_nccl::violations(), Names{"ncclCommDestroy before a graph of its calls"});
  });
  fake_nccl::reset();
}

}  // namespace
}  // namespace tandem::test
