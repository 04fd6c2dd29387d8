// SPDX-License-Identifier: Apache-2.0
//
// Steps that are replayed as a CUDA graph, on GPUs through the module as programs load it: numbers
// as those of steps that are enqueued, bit for bit. Skipped, with the reason, where there is no
// GPU; on stand-ins for all that needs one it runs as step_graph_on_stand_in.
#include <gtest/gtest.h>

#include "common/comm/bootstrap.h"
#include "common/comm/nccl_module.h"
#include "common/comm/thread_bootstrap.h"
#include "common/comm/transports/transport_registry.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/runtime/registry.h"
#include "common/trace/timeline_recorder.h"
#include "ddp/distributed_data_parallel.h"
#include "tests/support/errors.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

constexpr int kSteps = StepGraph::kCapturedStep + 3;

// What a strategy came to after each step, beside what it keeps account of.
struct Course {
  std::vector<TensorValues> weights;
  std::vector<TensorValues> gradients;
  std::vector<PhaseTimes> phases;
  std::vector<std::vector<CollectiveTimes>> collectives;
  std::vector<std::int64_t> dispatches;  // of each step
};

Course train(Strategy& strategy, Platform& platform, int steps = kSteps) {
  Course course;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t before = strategy.dispatches();
    strategy.step();
    strategy.synchronize();
    course.dispatches.push_back(strategy.dispatches() - before);
    course.weights.push_back(values_of(platform, strategy.weights()));
    course.gradients.push_back(values_of(platform, strategy.gradients()));
    course.phases.push_back(strategy.collect_phases().front().times);
    const auto collectives = strategy.collect_collectives();
    course.collectives.push_back(collectives.empty() ? std::vector<CollectiveTimes>()
                                                     : collectives.front().collectives);
  }
  return course;
}

class StepGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PlatformOptions wanted;
    wanted.devices = 1;
    const BackendFacts facts = probe_backends(BackendChoice::kCuda, wanted);
    if (facts.cuda.state != CudaState::kUsable) GTEST_SKIP() << facts.cuda.detail;
  }

  static std::unique_ptr<Platform> open(int devices = 1) {
    PlatformOptions options;
    options.devices = devices;
    return open_platform(Backend::kCuda, options);
  }

  static TrainingOptions training(StepReplay replay) {
    TrainingOptions options;
    options.global_batch = 12;
    options.replay = replay;
    return options;
  }

  static Course train_single(const TrainingOptions& options) {
    const auto platform = open();
    const auto model = make_model("mlp:3x32");
    Single single(*platform, platform->device(0), *model, {0, options.global_batch}, options);
    return train(single, *platform);
  }

  static void expect_same_numbers(const TrainingOptions& replayed) {
    TrainingOptions enqueued = replayed;
    enqueued.replay = StepReplay::kOff;
    const Course one = train_single(replayed);
    const Course other = train_single(enqueued);
    EXPECT_EQ(one.weights, other.weights);
    EXPECT_EQ(one.gradients, other.gradients);
    EXPECT_NE(one.weights[kSteps - 1], one.weights[kSteps - 2]) << "a replay that trains nothing";
  }
};

TEST_F(StepGraphTest, Single_HasTheSameBits_InEachStep) {
  expect_same_numbers(training(StepReplay::kOn));
}

TEST_F(StepGraphTest, Single_HasTheSameBits_InBf16_AndFromDeviceMemory) {
  TrainingOptions options = training(StepReplay::kOn);
  options.precision = Precision::kBf16;
  options.input = InputPlace::kDevice;
  expect_same_numbers(options);
}

// Each replay counts its step, whose factors differ from those of the captured one.
TEST_F(StepGraphTest, AdamAndAdamW_HaveTheSameBits) {
  TrainingOptions options = training(StepReplay::kOn);
  for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
    options.optimizer.kind = kind;
    expect_same_numbers(options);
  }
}

TEST_F(StepGraphTest, WithoutPhases_HasTheSameBits) {
  TrainingOptions options = training(StepReplay::kOn);
  options.phases.timing = PhaseTiming::kOff;
  expect_same_numbers(options);
}

TEST_F(StepGraphTest, Phases_AreThoseOfEachReplay) {
  const Course course = train_single(training(StepReplay::kOn));
  for (const PhaseTimes& times : course.phases) {
    EXPECT_EQ(times.steps, 1);
    Nanoseconds sum{0};
    for (const Nanoseconds part : times.total) sum += part;
    EXPECT_EQ(sum, times.span);
    EXPECT_GT(times.of(Phase::kForward), Nanoseconds{0});
    EXPECT_GT(times.of(Phase::kBackward), Nanoseconds{0});
  }
}

TEST_F(StepGraphTest, PlantedDelay_IsMetInEachReplay) {
  TrainingOptions options = training(StepReplay::kOn);
  const Nanoseconds delay = std::chrono::milliseconds(2);
  options.phases.planted = PlantedDelay{.phase = Phase::kLoss, .delay = delay, .device = 0};
  for (const PhaseTimes& times : train_single(options).phases) {
    EXPECT_GE(times.of(Phase::kLoss), delay);
  }
}

TEST_F(StepGraphTest, AReplay_IsOneCall) {
  const Course course = train_single(training(StepReplay::kOn));
  EXPECT_GT(course.dispatches.front(), 1);
  EXPECT_EQ(course.dispatches.back(), 1);
}

class CountingObserver final : public StepObserver {
 public:
  void phase_begins(Device&, Stream&, Phase) override {}
  void step_ends(Device&, Stream&) override { ++steps; }
  int steps = 0;
};

TEST_F(StepGraphTest, Observers_AreToldOfTheEndOfEachStep_Once) {
  CountingObserver observer;
  TrainingOptions options = training(StepReplay::kOn);
  options.phases.observers = {&observer};
  static_cast<void>(train_single(options));
  EXPECT_EQ(observer.steps, kSteps);
}

// The step behind those that are enqueued and, where there are replays, captured.
timeline::Process traced_step(Platform& platform, TrainingOptions options) {
  TimelineRecorder recorder;
  options.phases.observers = {&recorder};
  const auto model = make_model("mlp:2x32");
  Single single(platform, platform.device(0), *model, {0, 12}, options);
  static_cast<void>(train(single, platform));
  recorder.start();
  single.step();
  single.synchronize();
  recorder.stop();
  return recorder.collect();
}

TEST_F(StepGraphTest, Timeline_IsOnTheHostsClock_WithinItsError) {
  const auto platform = open();
  const Nanoseconds before = Clock::now().time_since_epoch();
  const timeline::Process process = traced_step(*platform, training(StepReplay::kOff));
  const Nanoseconds after = Clock::now().time_since_epoch();
  EXPECT_GT(process.clock_error, Nanoseconds{0});
  ASSERT_FALSE(process.tracks.empty());
  const std::vector<timeline::Slice>& slices = process.tracks.front().slices;
  ASSERT_GT(slices.size(), 6U);
  EXPECT_EQ(slices.front().kind, timeline::SliceKind::kStep);
  for (const timeline::Slice& one : slices) {
    EXPECT_LE(before - process.clock_error, one.begin);
    EXPECT_LE(one.begin, one.end);
    EXPECT_LE(one.end, after + process.clock_error);
    EXPECT_LE(slices.front().begin, one.begin);
    EXPECT_LE(one.end, slices.front().end);
  }
}

TEST_F(StepGraphTest, Timeline_OfAReplay_IsOnePhase) {
  const auto platform = open();
  const timeline::Process process = traced_step(*platform, training(StepReplay::kOn));
  ASSERT_EQ(process.tracks.size(), 1U);
  ASSERT_EQ(process.tracks.front().slices.size(), 2U);
  EXPECT_EQ(process.tracks.front().slices[1].name, "replay");
}

TEST_F(StepGraphTest, ModelThatWritesAttributes_IsRefused_WhenItsStepIsCaptured) {
  const auto platform = open();
  const auto model = make_model("counter");
  Single single(*platform, platform->device(0), *model, {0, 12}, training(StepReplay::kOn));
  const Error error = error_of([&] { static_cast<void>(train(single, *platform)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "cannot replay a model that writes attributes")) << error.what();
}

TEST_F(StepGraphTest, CollectivesThroughTheHost_AreRefused) {
  const auto platform = open();
  const auto model = make_model("mlp:2x32");
  run_ranks_as_threads(1, [&](Bootstrap& bootstrap) {
    Device& device = platform->device(0);
    const auto staged = make_communicator(TransportChoice{Transport::kSharedMemory, Route::kStaged},
                                          bootstrap, device);
    const Error error = error_of([&] {
      ddp::DistributedDataParallel(*platform, device, *model, {*staged}, training(StepReplay::kOn),
                                   {});
    });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(mentions(error, "cannot replay collectives that go through the host"))
        << error.what();
  });
}

// ---- over NCCL, with ranks as threads ----

class DdpGraphTest : public StepGraphTest {
 protected:
  void SetUp() override {
    StepGraphTest::SetUp();
    if (IsSkipped()) return;
    const NcclProbe probe = probe_nccl();
    if (!probe.usable) GTEST_SKIP() << probe.trouble;
    PlatformOptions wanted;
    wanted.devices = 2;
    const BackendFacts facts = probe_backends(BackendChoice::kCuda, wanted);
    ranks_ = facts.cuda.gpus.size() < 2 ? 1 : 2;
  }

  [[nodiscard]] std::vector<Course> train_ranks(const ddp::ReducerOptions& reducer,
                                                StepReplay replay) const {
    const auto platform = open(ranks_);
    const auto model = make_model("mlp:3x32");
    std::vector<Course> courses(static_cast<std::size_t>(ranks_));
    run_ranks_as_threads(ranks_, [&](Bootstrap& bootstrap) {
      Device& device = platform->device(bootstrap.rank());
      device.bind_this_thread();
      const auto communicator = make_communicator(Transport::kNccl, bootstrap, device, {});
      {
        ddp::DistributedDataParallel ddp(*platform, device, *model, {*communicator},
                                         training(replay), reducer);
        courses[static_cast<std::size_t>(bootstrap.rank())] = train(ddp, *platform);
      }
      barrier(bootstrap);
    });
    return courses;
  }

  // Buckets of a layer or two, so that there are several.
  [[nodiscard]] static ddp::ReducerOptions small_buckets() {
    ddp::ReducerOptions reducer;
    reducer.buckets = {.first = kib(4), .rest = kib(4)};
    return reducer;
  }

  void expect_same_numbers(const ddp::ReducerOptions& reducer) const {
    const auto replayed = train_ranks(reducer, StepReplay::kOn);
    const auto enqueued = train_ranks(reducer, StepReplay::kOff);
    for (std::size_t rank = 0; rank < replayed.size(); ++rank) {
      EXPECT_EQ(replayed[rank].weights, enqueued[rank].weights) << "of rank " << rank;
      EXPECT_EQ(replayed[rank].gradients, enqueued[rank].gradients) << "of rank " << rank;
      EXPECT_EQ(replayed[rank].weights, replayed.front().weights) << "of rank " << rank;
    }
    EXPECT_NE(replayed.front().weights[kSteps - 1], replayed.front().weights[kSteps - 2]);
  }

  int ranks_ = 0;
};

TEST_F(DdpGraphTest, Ddp_HasTheSameBits_InEachStep) { expect_same_numbers(small_buckets()); }

TEST_F(DdpGraphTest, Views_HaveTheSameBits) {
  ddp::ReducerOptions reducer = small_buckets();
  reducer.grads = ddp::GradsMode::kViews;
  expect_same_numbers(reducer);
}

TEST_F(DdpGraphTest, WithoutOverlap_AndWithAStaticGraph_HasTheSameBits) {
  ddp::ReducerOptions reducer = small_buckets();
  reducer.overlap = ddp::Overlap::kOff;
  reducer.graph = ddp::Graph::kStatic;
  expect_same_numbers(reducer);
}

TEST_F(DdpGraphTest, MicroBatches_HaveTheSameBits) {
  ddp::ReducerOptions reducer = small_buckets();
  reducer.micro_batches = 3;
  expect_same_numbers(reducer);
}

TEST_F(DdpGraphTest, Compression_HasTheSameBits) {
  ddp::ReducerOptions reducer = small_buckets();
  reducer.compression = ddp::Compression::kBFloat16;
  expect_same_numbers(reducer);
}

TEST_F(DdpGraphTest, Collectives_AreTimedInEachReplay) {
  const auto courses = train_ranks(small_buckets(), StepReplay::kOn);
  for (const Course& course : courses) {
    const std::size_t buckets = course.collectives.back().size();
    EXPECT_GT(buckets, 1U);
    for (std::size_t step = StepGraph::kCapturedStep - 1; step < course.collectives.size();
         ++step) {
      ASSERT_EQ(course.collectives[step].size(), buckets);
      for (const CollectiveTimes& times : course.collectives[step]) {
        EXPECT_EQ(times.steps, 1);
        EXPECT_GT(times.size, Bytes{0});
        // One rank's collective may be nothing between two events, whose difference CUDA gives to
        // half a microsecond.
        EXPECT_GE(times.total, Nanoseconds{ranks_ > 1 ? 1 : 0});
      }
      EXPECT_EQ(course.phases[step].steps, 1);
    }
  }
}

// ---- what cannot be replayed, wherever it runs ----

TEST(ReplayRefusals, NameTheOptionAndTheReason) {
  TrainingOptions training{.global_batch = 8};
  training.replay = StepReplay::kOn;
  const auto refusal = [](const TrainingOptions& options) {
    const Error error = error_of([&] { check_replayable(options); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return std::string(error.what());
  };
  EXPECT_NO_THROW(check_replayable(training));
  TrainingOptions pageable = training;
  pageable.input = InputPlace::kPageable;
  EXPECT_NE(refusal(pageable).find("--input=pageable: the host waits"), std::string::npos);
  TrainingOptions dispatching = training;
  dispatching.interpreter.costs = DispatchCosts::alike(Nanoseconds{1});
  EXPECT_NE(refusal(dispatching).find("--dispatch-cost"), std::string::npos);
}

TEST(ReplayRefusals, HostDevices_HaveNoGraphs) {
  PlatformOptions options;
  const auto platform = open_platform(Backend::kHost, options);
  const auto model = make_model("mlp:2x32");
  TrainingOptions training{.global_batch = 8};
  training.replay = StepReplay::kOn;
  const Error error = error_of([&] {
    Single(*platform, platform->device(0), *model, Shard{0, 8}, training);
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "--cuda-graph=on needs the CUDA back end, and this is host: leave it out");
  const auto stream = platform->device(0).make_stream(StreamPriority::kNormal);
  EXPECT_EQ(error_of([&] { static_cast<void>(stream->capture([] {})); }).kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace tandem::test
