// SPDX-License-Identifier: Apache-2.0
#include "ddp/bucket_reducer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "common/model/linear_stack.h"
#include "common/runtime/host/host_stream.h"
#include "tests/support/errors.h"
#include "tests/support/fake_communicator.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// Four segments: 0 and 2 are weights of 64 x 64 elements, 1 and 3 biases of 64.
constexpr std::int64_t kWeight = 64 * 64;
constexpr std::int64_t kBias = 64;
const std::vector<int> kBackward{3, 2, 1, 0};

// Every weight fills a bucket.
constexpr Bytes kCap{kWeight * 4};

// A device that notes which streams are made.
class NotingDevice final : public Device {
 public:
  explicit NotingDevice(Device& inner) : inner_(inner) {}

  [[nodiscard]] DeviceId id() const override { return inner_.id(); }
  [[nodiscard]] std::string name() const override { return inner_.name(); }
  [[nodiscard]] std::string hardware() const override { return inner_.hardware(); }
  [[nodiscard]] int multiprocessor_count() const override { return inner_.multiprocessor_count(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override {
    return inner_.allocate(size);
  }
  [[nodiscard]] MemoryUse memory() const override { return inner_.memory(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    return inner_.allocate_host(size);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority priority) override {
    made.push_back(priority);
    return inner_.make_stream(priority);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return inner_.make_event(); }
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override {
    return inner_.make_timed_event();
  }
  void bind_this_thread() override { inner_.bind_this_thread(); }

  std::vector<StreamPriority> made;

 private:
  Device& inner_;
};

class BucketReducerTest : public testing::Test {
 protected:
  ddp::BucketReducer& make(ddp::GradsMode grads = ddp::GradsMode::kCopy,
                           ddp::Overlap overlap = ddp::Overlap::kOn) {
    return make({.grads = grads, .overlap = overlap});
  }

  ddp::BucketReducer& make(ddp::ReducerOptions options,
                           std::unique_ptr<ddp::CommunicationHook> hook = nullptr) {
    options.buckets = {.first = kCap, .rest = kCap};
    reducer_ = std::make_unique<ddp::BucketReducer>(replica_, model_.layout(), communicator_,
                                                    options, std::move(hook));
    return *reducer_;
  }

  // One step whose gradients are ready in this order.
  void step(const std::vector<int>& order) {
    reducer_->begin_step();
    for (const int segment : order) reducer_->gradient_ready(segment);
    reducer_->finish();
    replica_.stream().synchronize();
    reducer_->synchronize();
  }

  // What was reduced since the last call, by size.
  std::vector<std::int64_t> reduced() {
    std::vector<std::int64_t> counts;
    for (const auto& call : communicator_.all_reduces()) counts.push_back(call.count);
    communicator_.forget_calls();
    return counts;
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  const Mlp model_{"four segments", {64, 64, 64}};
  Replica replica_{device_, model_, 1, TrainingOptions{.phases = {PhaseTiming::kOff}}};
  FakeCommunicator communicator_{device_, 1, 4};
  std::unique_ptr<ddp::BucketReducer> reducer_;
};

using Counts = std::vector<std::int64_t>;

TEST_F(BucketReducerTest, FirstStep_IsOneBucketOfEverything) {
  make();
  step(kBackward);
  EXPECT_EQ(reduced(), (Counts{2 * (kWeight + kBias)}));
  EXPECT_EQ(reducer_->bucket_sizes(), (std::vector<Bytes>{Bytes{8 * (kWeight + kBias)}}));
}

TEST_F(BucketReducerTest, SecondStep_IsRebuiltInReadyOrder) {
  make();
  step(kBackward);
  reduced();
  step(kBackward);
  EXPECT_EQ(reduced(), (Counts{kBias + kWeight, kBias + kWeight}));
  EXPECT_EQ(reducer_->bucket_sizes(), (std::vector<Bytes>(2, Bytes{4 * (kBias + kWeight)})));
}

TEST_F(BucketReducerTest, Rebuild_FollowsRankZerosOrder_NotThisRanks) {
  communicator_.let_root_gather("2 3 0 1");  // weights first: {2}, {3, 0}, {1}
  make();
  step(kBackward);
  reduced();
  step(kBackward);
  EXPECT_EQ(reduced(), (Counts{kWeight, kBias + kWeight, kBias}));
}

TEST_F(BucketReducerTest, Rebuild_HappensOnce) {
  make();
  step(kBackward);
  step(kBackward);
  reduced();
  step({0, 1, 2, 3});  // another order changes nothing any more
  EXPECT_EQ(reduced(), (Counts{kBias + kWeight, kBias + kWeight}));
}

TEST_F(BucketReducerTest, Buckets_AreLaunchedInIndexOrder_ThoughALaterOneFillsFirst) {
  communicator_.let_root_gather("2 3 0 1");
  make();
  step(kBackward);
  reducer_->begin_step();
  reduced();
  for (const int segment : {1, 0, 3}) reducer_->gradient_ready(segment);  // buckets 2 and 1
  EXPECT_EQ(reduced(), Counts{});
  reducer_->gradient_ready(2);  // bucket 0
  EXPECT_EQ(reduced(), (Counts{kWeight, kBias + kWeight, kBias}));
  reducer_->finish();
}

TEST_F(BucketReducerTest, OverlapOn_LaunchesAsSoonAsABucketIsFull) {
  make();
  step(kBackward);
  reducer_->begin_step();
  reduced();
  reducer_->gradient_ready(3);
  EXPECT_EQ(reduced().size(), 0U);
  reducer_->gradient_ready(2);
  EXPECT_EQ(reduced().size(), 1U);
  reducer_->gradient_ready(1);
  reducer_->gradient_ready(0);
  EXPECT_EQ(reduced().size(), 1U);
  reducer_->finish();
  EXPECT_EQ(reduced().size(), 0U);
}

TEST_F(BucketReducerTest, OverlapOff_LaunchesAllAtFinish) {
  make(ddp::GradsMode::kCopy, ddp::Overlap::kOff);
  step(kBackward);
  reducer_->begin_step();
  reduced();
  for (const int segment : kBackward) reducer_->gradient_ready(segment);
  EXPECT_EQ(reduced().size(), 0U);
  reducer_->finish();
  EXPECT_EQ(reduced().size(), 2U);
}

// The host has enqueued everything long before the device is there.
TEST_F(BucketReducerTest, OverlapOff_StartsNoAllReduceBeforeBackwardIsDone) {
  make(ddp::GradsMode::kViews, ddp::Overlap::kOff);
  step(kBackward);
  std::atomic<bool> backward_is_done = false;
  std::atomic<int> early = 0;
  communicator_.on_all_reduce([&](Stream& stream) {
    host::host_stream(stream).enqueue({"look", {}, [&] { early += backward_is_done ? 0 : 1; }});
  });
  reducer_->begin_step();
  for (const int segment : {3, 2}) reducer_->gradient_ready(segment);  // fills bucket 0
  replica_.stream().delay(std::chrono::milliseconds(20));
  host::host_stream(replica_.stream()).enqueue({"end", {}, [&] { backward_is_done = true; }});
  for (const int segment : {1, 0}) reducer_->gradient_ready(segment);
  reducer_->finish();
  replica_.stream().synchronize();
  reducer_->synchronize();
  EXPECT_EQ(early, 0);
}

TEST_F(BucketReducerTest, GradientGivenTwice_IsALogicError_AlsoBeforeItsBucketIsFull) {
  make();
  reducer_->begin_step();
  reducer_->gradient_ready(3);
  EXPECT_EQ(error_of([&] { reducer_->gradient_ready(3); }).kind(), ErrorKind::kLogic);
}

TEST_F(BucketReducerTest, GradientGivenTwice_AfterItsBucketWasLaunched_IsALogicError) {
  make();
  step(kBackward);
  reducer_->begin_step();
  for (const int segment : kBackward) reducer_->gradient_ready(segment);
  EXPECT_EQ(error_of([&] { reducer_->gradient_ready(0); }).kind(), ErrorKind::kLogic);
}

TEST_F(BucketReducerTest, MissingGradient_IsALogicErrorAtFinish) {
  make();
  reducer_->begin_step();
  for (const int segment : {3, 2, 1}) reducer_->gradient_ready(segment);
  const Error error = error_of([&] { reducer_->finish(); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_TRUE(mentions(error, "unfilled")) << error.what();
}

// Torch's default: divided on the way in, summed, copied back.
TEST_F(BucketReducerTest, Copies_AreDividedAndSummed) {
  make(ddp::GradsMode::kCopy);
  put(device_, reducer_->gradients()[1], std::vector<float>(kBias, 8));
  step(kBackward);
  EXPECT_EQ(read_back<float>(device_, reducer_->gradients()[1]), std::vector<float>(kBias, 2));
  EXPECT_EQ(communicator_.all_reduces().front().op, ReduceOp::kSum);
}

TEST_F(BucketReducerTest, Copies_LieApartFromTheBuckets_AndStayAtARebuild) {
  make(ddp::GradsMode::kCopy);
  const float* const before = reducer_->gradients()[1].data();
  step(kBackward);
  step(kBackward);
  EXPECT_EQ(reducer_->gradients()[1].data(), before);
  for (const auto& call : communicator_.all_reduces()) {
    EXPECT_TRUE(before < call.data || before >= call.data + call.count);
  }
}

TEST_F(BucketReducerTest, Views_AreTheBucketsMemory_AndAreAveragedByTheCollective) {
  make(ddp::GradsMode::kViews);
  for (int i = 0; i < 2; ++i) {  // as one bucket, and as rebuilt
    step(kBackward);
    const auto& first = communicator_.all_reduces().front();
    const Span<float> gradient = reducer_->gradients()[2];
    EXPECT_GE(gradient.data(), first.data);
    EXPECT_LE(gradient.data() + gradient.size(), first.data + first.count);
    EXPECT_EQ(first.op, ReduceOp::kAverage);
    communicator_.forget_calls();
  }
}

TEST_F(BucketReducerTest, StaticGraph_ReducesTheFirstStepAfterBackwardOnly) {
  make({.graph = ddp::Graph::kStatic});
  reducer_->begin_step();
  for (const int segment : kBackward) reducer_->gradient_ready(segment);
  EXPECT_EQ(reduced().size(), 0U);
  reducer_->finish();
  EXPECT_EQ(reduced().size(), 1U);
  reducer_->begin_step();
  for (const int segment : {3, 2}) reducer_->gradient_ready(segment);
  EXPECT_EQ(reduced().size(), 1U);
  for (const int segment : {1, 0}) reducer_->gradient_ready(segment);
  reducer_->finish();
}

// Notes what it is given.
class RecordingHook final : public ddp::CommunicationHook {
 public:
  explicit RecordingHook(std::vector<std::size_t>& reduced) : reduced_(reduced) {}
  void set_buckets(const std::vector<Span<float>>& buckets) override { buckets_ = buckets; }
  void reduce(Stream&, std::size_t index) override {
    ASSERT_LT(index, buckets_.size());
    reduced_.push_back(index);
  }

 private:
  std::vector<Span<float>> buckets_;
  std::vector<std::size_t>& reduced_;
};

TEST_F(BucketReducerTest, Hook_TakesTheBuckets_OfUndividedGradients_InPlaceOfAllReduces) {
  std::vector<std::size_t> hooked;
  make({}, std::make_unique<RecordingHook>(hooked));
  put(device_, reducer_->gradients()[1], std::vector<float>(kBias, 8));
  step(kBackward);
  step(kBackward);
  EXPECT_EQ(hooked, (std::vector<std::size_t>{0, 0, 1}));
  EXPECT_EQ(reduced(), Counts{});
  EXPECT_EQ(read_back<float>(device_, reducer_->gradients()[1]), std::vector<float>(kBias, 8));
}

TEST_F(BucketReducerTest, Collectives_AreTimedByBucket_OnceRebuilt) {
  TrainingOptions timed{};
  Replica replica(device_, model_, 1, timed);
  ddp::BucketReducer reducer(replica, model_.layout(), communicator_,
                             {.buckets = {.first = kCap, .rest = kCap}});
  for (int i = 0; i < 4; ++i) {
    reducer.begin_step();
    for (const int segment : kBackward) reducer.gradient_ready(segment);
    reducer.finish();
  }
  replica.stream().synchronize();
  reducer.synchronize();
  const std::vector<CollectiveTimes> times = reducer.collect_collectives();
  ASSERT_EQ(times.size(), 2U);
  for (const CollectiveTimes& bucket : times) {
    EXPECT_EQ(bucket.steps, 3);
    EXPECT_EQ(bucket.size, Bytes{4 * (kBias + kWeight)});
  }
}

class CountedPhases final : public StepObserver {
 public:
  void phase_begins(Device&, Stream&, Phase) override { ++count; }
  void step_ends(Device&, Stream&) override {}
  int count = 0;
};

// Marks per gradient would slow down ddp alone: 300 in a step of GPT-2, against 6 of single.
TEST_F(BucketReducerTest, Copies_AreMarkedByBucketAndNotByGradient) {
  CountedPhases phases;
  Replica replica(device_, model_, 1, {.phases = {.observers = {&phases}}});
  ddp::BucketReducer reducer(replica, model_.layout(), communicator_,
                             {.buckets = {.first = kCap, .rest = kCap}});
  int marks = 0;
  for (int i = 0; i < 2; ++i) {  // on one bucket, then on two
    phases.count = 0;
    reducer.begin_step();
    for (const int segment : kBackward) reducer.gradient_ready(segment);
    EXPECT_EQ(phases.count, 0);
    reducer.finish();
    marks = phases.count;
  }
  replica.stream().synchronize();
  reducer.synchronize();
  EXPECT_EQ(marks, 1 + 2 * 2);  // exposed_comm, and of each bucket bucket_copy and exposed_comm
}

TEST_F(BucketReducerTest, Destruction_WaitsForComputeThatUsesTheBuckets) {
  bool freed_in_use = false;
  make(ddp::GradsMode::kCopy);
  communicator_.on_free([&] { freed_in_use = freed_in_use || !replica_.stream().is_done(); });
  reducer_->begin_step();
  for (const int segment : kBackward) reducer_->gradient_ready(segment);
  // Holds up the copies out of the buckets that finish() enqueues.
  host::host_stream(replica_.stream()).enqueue_due([](TimePoint ready) {
    return ready + std::chrono::milliseconds(100);
  });
  reducer_->finish();
  reducer_.reset();
  EXPECT_FALSE(freed_in_use);
}

// torch's is of the pool of usual streams, unless its group is made with a high priority.
TEST_F(BucketReducerTest, StreamOfCollectives_HasThePriorityThatIsAskedFor) {
  NotingDevice device(device_);
  Replica replica(device, model_, 1, TrainingOptions{.phases = {PhaseTiming::kOff}});
  const auto last_made = [&](const ddp::ReducerOptions& options) {
    const ddp::BucketReducer reducer(replica, model_.layout(), communicator_, options);
    return device.made.back();
  };
  EXPECT_EQ(last_made({}), StreamPriority::kNormal);
  EXPECT_EQ(last_made({.priority = StreamPriority::kHigh}), StreamPriority::kHigh);
}

}  // namespace
}  // namespace tandem::test
