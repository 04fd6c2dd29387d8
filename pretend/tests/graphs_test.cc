// SPDX-License-Identifier: Apache-2.0
//
// Captured streams and graphs: what a capture keeps, what a launch does, and CUDA's errors.
#include <array>
#include <string>
#include <vector>

#include "pretend/tests/pretended.h"

namespace tandem::test::pretended {
namespace {

constexpr int kGlobal = 0;   // cudaStreamCaptureModeGlobal
constexpr int kRelaxed = 2;  // cudaStreamCaptureModeRelaxed
constexpr int kUnsupported = 900;
constexpr int kInvalidated = 901;
constexpr int kUnjoined = 904;
constexpr int kIsolation = 905;
constexpr int kCapturedEvent = 907;

class PretendedCaptures : public ::testing::Test {
 protected:
  void SetUp() override {
    from_ = device_memory(0, 64);
    to_ = device_memory(0, 64);
    for (void** stream : {&stream_, &other_}) {
      EXPECT_EQ(cudart("cudaStreamCreateWithFlags", stream, 1U), 0);
    }
    EXPECT_EQ(cudart("cudaEventCreateWithFlags", &event_, 2U), 0);
  }

  void begin(int mode = kGlobal) { EXPECT_EQ(cudart("cudaStreamBeginCapture", stream_, mode), 0); }
  int end() { return cudart("cudaStreamEndCapture", stream_, &graph_); }
  void copy(void* stream) {
    EXPECT_EQ(
        cudart("cudaMemcpyAsync", to_, static_cast<const void*>(from_), uint64_t{8}, 3, stream), 0);
  }
  int record(void* stream) { return cudart("cudaEventRecord", event_, stream); }
  int wait(void* stream) { return cudart("cudaStreamWaitEvent", stream, event_, 0U); }
  void instantiate() { EXPECT_EQ(cudart("cudaGraphInstantiate", &exec_, graph_, uint64_t{0}), 0); }
  int launch(void* stream) { return cudart("cudaGraphLaunch", exec_, stream); }
  int status_of(void* stream) {
    int status = -1;
    EXPECT_EQ(cudart("cudaStreamIsCapturing", stream, &status), 0);
    return status;
  }

  void give(int64_t value) { to_device(from_, &value, 1); }
  int64_t got() {
    int64_t value = 0;
    from_device(&value, to_, 1);
    return value;
  }

  void* from_ = nullptr;
  void* to_ = nullptr;
  void* stream_ = nullptr;
  void* other_ = nullptr;
  void* event_ = nullptr;
  void* graph_ = nullptr;
  void* exec_ = nullptr;
};

TEST_F(PretendedCaptures, DoTheirCallsWhenLaunchedAndNotBefore) {
  give(1);
  copy(nullptr);
  begin();
  EXPECT_EQ(status_of(stream_), 1);
  EXPECT_EQ(status_of(other_), 0);
  give(2);  // on the default stream, which is not captured
  copy(stream_);
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(status_of(stream_), 0);
  instantiate();
  EXPECT_EQ(cudart("cudaGraphDestroy", graph_), 0);  // the instance lives on
  EXPECT_EQ(got(), 1);
  for (const int64_t value : {2, 3}) {
    give(value);
    EXPECT_EQ(launch(nullptr), 0);
    EXPECT_EQ(got(), value);
  }
  EXPECT_EQ(cudart("cudaGraphExecDestroy", exec_), 0);
}

TEST_F(PretendedCaptures, TakeInStreamsByEvents) {
  begin();
  EXPECT_EQ(record(stream_), 0);
  EXPECT_EQ(wait(other_), 0);
  EXPECT_EQ(status_of(other_), 1);
  copy(other_);
  EXPECT_EQ(record(other_), 0);
  EXPECT_EQ(wait(stream_), 0);
  EXPECT_EQ(end(), 0);
  uint64_t count = 0;
  EXPECT_EQ(cudart("cudaGraphGetNodes", graph_, static_cast<void**>(nullptr), &count), 0);
  std::vector<void*> nodes(count);
  std::vector<int> types(count);
  EXPECT_EQ(cudart("cudaGraphGetNodes", graph_, nodes.data(), &count), 0);
  for (size_t at = 0; at < count; ++at) {
    EXPECT_EQ(cudart("cudaGraphNodeGetType", nodes[at], &types[at]), 0);
  }
  EXPECT_EQ(types, (std::vector{7, 6, 1, 7, 6}));  // event, wait, copy, event, wait
  instantiate();
  give(5);
  EXPECT_EQ(launch(stream_), 0);
  EXPECT_EQ(got(), 5);
}

TEST_F(PretendedCaptures, NeedAllStreamsJoined) {
  begin();
  EXPECT_EQ(record(stream_), 0);
  EXPECT_EQ(wait(other_), 0);
  copy(other_);
  EXPECT_EQ(end(), kUnjoined);
  EXPECT_EQ(graph_, nullptr);
}

TEST_F(PretendedCaptures, LaunchedIntoACapture_ArePartsOfAnother) {
  begin();
  copy(stream_);
  EXPECT_EQ(end(), 0);
  instantiate();
  void* const inner = exec_;
  begin();
  EXPECT_EQ(launch(stream_), 0);
  EXPECT_EQ(end(), 0);
  instantiate();
  EXPECT_EQ(cudart("cudaGraphExecDestroy", inner), 0);
  give(6);
  EXPECT_NE(got(), 6);
  EXPECT_EQ(launch(nullptr), 0);
  EXPECT_EQ(got(), 6);
}

TEST_F(PretendedCaptures, HaveCollectivesOfAGroup) {
  std::array<void*, 2> ranks{};
  std::array<void*, 2> values{device_memory(0, 8), device_memory(1, 8)};
  const auto nccl = [](const char* name, auto... arguments) {
    return call("libnccl.so.2", name, arguments...);
  };
  EXPECT_EQ(nccl("ncclCommInitAll", ranks.data(), 2, static_cast<const int*>(nullptr)), 0);
  const int64_t one = 1;
  to_device(values[0], &one, 1);
  to_device(values[1], &one, 1);
  begin();
  EXPECT_EQ(nccl("ncclGroupStart"), 0);
  for (const size_t rank : {size_t{0}, size_t{1}}) {
    EXPECT_EQ(nccl("ncclAllReduce", static_cast<const void*>(values[rank]), values[rank],
                   uint64_t{1}, 4, 0, ranks[rank], stream_),
              0);
  }
  EXPECT_EQ(nccl("ncclGroupEnd"), 0);
  EXPECT_EQ(end(), 0);
  instantiate();
  for (const int64_t sum : {1, 2, 4}) {
    int64_t value = 0;
    from_device(&value, values[0], 1);
    EXPECT_EQ(value, sum);
    EXPECT_EQ(launch(stream_), 0);
  }
  EXPECT_EQ(cudart("cudaDeviceSynchronize"), 0);
}

TEST_F(PretendedCaptures, KeepObjectsOfTheProgram) {
  static int destroyed = 0;
  void* object = nullptr;
  void (*const destroy)(void*) = [](void*) { ++destroyed; };
  begin();
  copy(stream_);
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(cudart("cudaUserObjectCreate", &object, static_cast<void*>(nullptr), destroy, 1U, 1U),
            0);
  EXPECT_EQ(cudart("cudaGraphRetainUserObject", graph_, object, 1U, 1U), 0);
  instantiate();
  EXPECT_EQ(cudart("cudaGraphDestroy", graph_), 0);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cudart("cudaGraphExecDestroy", exec_), 0);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(PretendedCaptures, FailWhereTheHostWaitsForTheStream) {
  begin();
  EXPECT_EQ(cudart("cudaStreamSynchronize", stream_), kUnsupported);
  EXPECT_EQ(status_of(stream_), 2);
  EXPECT_EQ(end(), kInvalidated);
  begin();
  EXPECT_EQ(cudart("cudaSetDevice", 1), 0);
  EXPECT_EQ(cudart("cudaDeviceSynchronize"), 0) << "of another device";
  EXPECT_EQ(cudart("cudaSetDevice", 0), 0);
  EXPECT_EQ(cudart("cudaDeviceSynchronize"), kUnsupported);
  EXPECT_EQ(end(), kInvalidated);
}

TEST_F(PretendedCaptures, FailAtEventsOfTheOtherSide) {
  EXPECT_EQ(record(other_), 0);
  begin();
  EXPECT_EQ(wait(stream_), kIsolation);
  EXPECT_EQ(end(), kInvalidated);
  begin();
  EXPECT_EQ(record(stream_), 0);
  EXPECT_EQ(cudart("cudaEventQuery", event_), kCapturedEvent);
  EXPECT_EQ(end(), kInvalidated);
}

TEST_F(PretendedCaptures, ForbidUnsafeCallsByTheirMode) {
  void* memory = nullptr;
  begin();
  int mode = kRelaxed;
  EXPECT_EQ(cudart("cudaThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(mode, kGlobal);
  EXPECT_EQ(cudart("cudaMalloc", &memory, uint64_t{4096}), 0);
  EXPECT_EQ(cudart("cudaThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(cudart("cudaMalloc", &memory, uint64_t{4096}), kUnsupported);
  EXPECT_EQ(end(), kInvalidated);
  begin(kRelaxed);
  EXPECT_EQ(cudart("cudaMalloc", &memory, uint64_t{4096}), 0);
  EXPECT_EQ(end(), 0);
}

}  // namespace
}  // namespace tandem::test::pretended
