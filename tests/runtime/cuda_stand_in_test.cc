// SPDX-License-Identifier: Apache-2.0
//
// The CUDA classes on the stand-in: the contract, and what happens when calls fail.
#include <cstdlib>
#include <latch>

#include "common/base/system_files.h"
#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda_module.h"
#include "common/runtime/host/cores.h"
#include "tests/runtime/memory_policy.h"
#include "tests/runtime/stand_in_cudart.h"
#include "tests/runtime/work_contract.h"

extern "C" const tandem::CudaProfiling* tandem_cuda_profiling_module();  // the module's entry

namespace tandem::test {
namespace {

template <int Gpus>
struct StandInBackend {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    stand_in::reset(Gpus);
    return cuda::make_cuda_platform(options);
  }
  static void enqueue(Stream& stream, std::function<void()> body) {
    stand_in::launch(cuda::cuda_stream(stream).get(), std::move(body));
  }
};

using Apart = StandInBackend<2>;    // a GPU for each of two devices
using Sharing = StandInBackend<1>;  // two devices on one GPU
using StandIns = ::testing::Types<Apart, Sharing>;
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, RuntimeContract, StandIns);
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, RuntimeContractOfData, StandIns);
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, RuntimeContractOfWork, StandIns);

class CudaOnStandIn : public RuntimeContractOfData<Apart> {
 protected:
  void TearDown() override {
    platform_.reset();
    EXPECT_EQ(stand_in::living(), 0) << "handles or memory were left behind";
  }
};

TEST_F(CudaOnStandIn, FailedCall_NamesCallGpuAndReason_AndIsForgotten) {
  const auto s = stream(1);
  const auto box = device(1).allocate(kib(1));
  stand_in::fail_next("cudaMemsetAsync", cudaErrorInvalidValue);
  const Error error = error_of([&] { enqueue_zero_bytes(*s, box->bytes()); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_TRUE(mentions(error, "cudaMemsetAsync on GPU 1: cudaErrorInvalidValue (text"))
      << error.what();
  EXPECT_EQ(stand_in::last_error(), cudaSuccess);
  EXPECT_NO_THROW(s->synchronize());  // nothing was lost
}

TEST_F(CudaOnStandIn, Profilers_AreToldOnce_OrTheReasonIs) {
  const CudaProfiling& profiling = *tandem_cuda_profiling_module();
  profiling.start();
  profiling.stop();
  EXPECT_EQ(stand_in::calls("cudaProfilerStart"), 1);
  EXPECT_EQ(stand_in::calls("cudaProfilerStop"), 1);
  stand_in::fail_next("cudaProfilerStart", cudaErrorInvalidValue);
  const Error error = error_of([&] { profiling.start(); });
  EXPECT_TRUE(mentions(error, "cudaProfilerStart(): cudaErrorInvalidValue")) << error.what();
  const auto s = stream(0);
  EXPECT_EQ(profiling.native_stream(*s), cuda::cuda_stream(*s).get());
  EXPECT_EQ(profiling.gpu(*s), cuda::cuda_stream(*s).gpu().ordinal());
}

TEST_F(CudaOnStandIn, LostGpu_FailsAllItsStreamsForGood_AndNoOthers) {
  const auto one = stream(0);
  const auto two = stream(0);
  const auto apart = stream(1);
  const auto box = device(0).allocate(kib(1));
  stand_in::lose(0, cudaErrorIllegalAddress);
  EXPECT_NO_THROW(enqueue_zero_bytes(*one, box->bytes()));  // dropped: it surfaces at the wait
  for (Stream* s : {one.get(), two.get()}) {
    for (int i = 0; i < 2; ++i) {
      const Error error = error_of([&] { s->synchronize(); });
      EXPECT_EQ(error.kind(), ErrorKind::kFailure);
      EXPECT_TRUE(mentions(error, "cudaMemsetAsync on GPU 0: cudaErrorIllegalAddress"))
          << error.what();
    }
    EXPECT_THROW(static_cast<void>(s->is_done()), Error);
  }
  EXPECT_NO_THROW(apart->synchronize());
  EXPECT_THROW(static_cast<void>(device(0).allocate(kib(1))), Error);
}

TEST_F(CudaOnStandIn, Event_RecordedOnAnotherDevicesStream_NamesBoth) {
  const auto s = stream(1);
  const auto event = device(0).make_event();
  const Error error = error_of([&] { s->record(*event); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_TRUE(mentions(error, "cuda:0")) << error.what();
  EXPECT_TRUE(mentions(error, "cuda:1")) << error.what();
}

TEST_F(CudaOnStandIn, TimesOfTwoDevices_DoNotSubtract) {
  const auto here = device(0).make_timed_event();
  const auto there = device(1).make_timed_event();
  const auto s = stream(0);
  const auto t = stream(1);
  s->record(*here);
  t->record(*there);
  s->synchronize();
  t->synchronize();
  EXPECT_EQ(error_of([&] { static_cast<void>(*there - *here); }).kind(), ErrorKind::kLogic);
}

TEST_F(CudaOnStandIn, FullGpu_IsOutOfMemory_AndLeavesTheAccountStraight) {
  stand_in::fail_next("cudaMalloc", cudaErrorMemoryAllocation);
  const Error error = error_of([&] { static_cast<void>(device(1).allocate(mib(2))); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_TRUE(mentions(error, "cuda:1 is out of memory: 2.0 MiB asked, 1.0 GiB left on its GPU"))
      << error.what();
  EXPECT_EQ(device(1).memory().used, Bytes{0});
}

TEST_F(CudaOnStandIn, PinnedMemoryThatIsRefused_IsOutOfMemory) {
  stand_in::fail_next("cudaHostAlloc", cudaErrorMemoryAllocation);
  const Error error = error_of([&] { static_cast<void>(platform_->allocate_host(mib(2))); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_TRUE(mentions(error, "2.0 MiB of pinned memory")) << error.what();
}

TEST_F(CudaOnStandIn, FailedZeroFill_FreesTheMemory) {
  stand_in::fail_next("cudaMemsetAsync", cudaErrorInvalidValue);
  EXPECT_THROW(static_cast<void>(device(0).allocate(mib(2))), Error);
  EXPECT_EQ(device(0).memory().used, Bytes{0});  // TearDown counts what is left
}

TEST_F(CudaOnStandIn, FailedCreation_LeavesNothingBehind) {
  stand_in::fail_next("cudaStreamCreateWithPriority", cudaErrorInvalidValue);
  EXPECT_THROW(stream(0), Error);
  stand_in::fail_next("cudaEventCreateWithFlags", cudaErrorInvalidValue);
  EXPECT_THROW(static_cast<void>(device(0).make_event()), Error);
}

TEST_F(CudaOnStandIn, FailureWhileCleaningUp_DoesNotThrow) {
  auto box = device(0).allocate(mib(2));
  stand_in::fail_next("cudaFree", cudaErrorInvalidValue);
  EXPECT_NO_THROW(box.reset());
  EXPECT_EQ(device(0).memory().used, Bytes{0});
}

TEST_F(CudaOnStandIn, PeerCopies_OnlyBetweenTwoGpus) {
  const auto s = stream(1);
  const auto here = device(1).allocate(kib(1));
  const auto also_here = device(1).allocate(kib(1));
  const auto there = device(0).allocate(kib(1));
  enqueue_copy_bytes(*s, here->bytes(), also_here->bytes());
  EXPECT_EQ(stand_in::calls("cudaMemcpyPeerAsync"), 0);
  enqueue_copy_bytes(*s, here->bytes(), there->bytes());
  EXPECT_EQ(stand_in::calls("cudaMemcpyPeerAsync"), 1);
  s->synchronize();
}

TEST_F(CudaOnStandIn, PeerAccess_IsEnabledBothWays_AndMayBeEnabledAlready) {
  EXPECT_EQ(stand_in::calls("cudaDeviceEnablePeerAccess"), 2);
  PlatformOptions options;
  options.devices = 2;
  const auto again = cuda::make_cuda_platform(options);
  EXPECT_EQ(stand_in::calls("cudaDeviceEnablePeerAccess"), 4);
  EXPECT_EQ(stand_in::last_error(), cudaSuccess);
}

TEST_F(CudaOnStandIn, BoundThread_GetsItsGpuBack) {
  int gpu = -1;
  std::thread([&] {
    device(1).bind_this_thread();
    const auto elsewhere = device(0).allocate(kib(1));
    cudaGetDevice(&gpu);
  }).join();
  EXPECT_EQ(gpu, 1);
}

TEST_F(CudaOnStandIn, UnboundThread_IsNotSentBackToGpu0) {
  int gpu = -1;
  std::thread([&] {
    const auto there = device(1).allocate(kib(1));
    cudaGetDevice(&gpu);
  }).join();
  EXPECT_EQ(gpu, 1);
}

TEST_F(CudaOnStandIn, StartAfter_ThatIsRefused_NamesTheCall) {
  const auto s = stream(1);
  stand_in::fail_next("cudaLaunchHostFunc", cudaErrorInvalidValue);
  const Error error = error_of([&] { s->start_after(Clock::now()); });
  EXPECT_TRUE(mentions(error, "cudaLaunchHostFunc on GPU 1")) << error.what();
}

TEST_F(CudaOnStandIn, Device_KnowsItsMultiprocessors) {
  EXPECT_EQ(device(1).multiprocessor_count(), 132);
}

TEST_F(CudaOnStandIn, EventOfAnotherBackEnd_IsALogicError) {
  class Stray final : public Event {
    [[nodiscard]] bool is_done() const override { return true; }
  };
  Stray stray;
  const auto s = stream(0);
  EXPECT_EQ(error_of([&] { s->record(stray); }).kind(), ErrorKind::kLogic);
  EXPECT_EQ(error_of([&] { s->wait(stray); }).kind(), ErrorKind::kLogic);
}

// ---- near the GPU ----

class CudaNearHost : public ::testing::Test {
 protected:
  // Device i near the first or the last CPU that may be used: two where there are two.
  [[nodiscard]] std::vector<int> cpus_of(int device) const {
    return {device % 2 == 0 ? allowed_.front() : allowed_.back()};
  }
  [[nodiscard]] PlatformOptions bound(int devices) const {
    PlatformOptions options;
    options.devices = devices;
    for (int i = 0; i < devices; ++i) {
      options.near_hosts.push_back({.cpus = cpus_of(i), .memory_node = 0});
    }
    return options;
  }
  void SetUp() override { stand_in::reset(2); }

  const std::vector<int> allowed_ = allowed_cpus();
};

std::vector<int> cpus_of_thread_of(Device& device) {
  std::vector<int> cpus;
  std::thread([&] {
    device.bind_this_thread();
    cpus = allowed_cpus();
  }).join();
  return cpus;
}

TEST_F(CudaNearHost, ThreadsOfADevice_AreBoundToItsCpus) {
  const auto platform = cuda::make_cuda_platform(bound(2));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cpus_of_thread_of(platform->device(i)), cpus_of(i));
}

TEST_F(CudaNearHost, OfAProcess_TheOnlyEntryIsItsOwnDevices) {
  PlatformOptions options = bound(1);
  options.devices = 2;
  options.own_device = 1;
  EXPECT_EQ(cpus_of_thread_of(cuda::make_cuda_platform(options)->device(1)), cpus_of(0));
}

TEST_F(CudaNearHost, WithoutIt_ThreadsMayRunWhereTheyCouldBefore) {
  PlatformOptions options;
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_EQ(cpus_of_thread_of(platform->device(0)), allowed_);
}

TEST_F(CudaNearHost, CpusThatNobodyHas_AreAFailureThatNamesThem) {
  PlatformOptions options = bound(1);
  options.near_hosts.front().cpus = {1023};  // no machine of ours has it
  const auto platform = cuda::make_cuda_platform(options);
  const Error error = error_of([&] { platform->device(0).bind_this_thread(); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_TRUE(mentions(error, "CPUs 1023")) << error.what();
  EXPECT_TRUE(mentions(error, "--bind=none")) << error.what();
}

// Where the system lets nobody choose, nothing is preferred, and that is no error.
TEST_F(CudaNearHost, PinnedMemory_IsAskedForWithItsNodePreferred) {
  PlatformOptions options = bound(1);
  const auto platform = cuda::make_cuda_platform(options);
  int expected = -1;
  host::MemoryNode(0).prefer_during([&] { expected = memory_policy(); });
  int during = -1;
  stand_in::on_next("cudaHostAlloc", [&] { during = memory_policy(); });
  const int before = memory_policy();
  EXPECT_NE(platform->device(0).allocate_host(kib(1)), nullptr);
  EXPECT_EQ(during, expected);
  EXPECT_EQ(memory_policy(), before);
}

}  // namespace
}  // namespace tandem::test
