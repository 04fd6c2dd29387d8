// SPDX-License-Identifier: Apache-2.0
//
// The CUDA classes on the stand-in: the contract, and what happens when calls fail.
#include <cstdlib>
#include <latch>

#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda/own_kernels.h"
#include "common/runtime/cuda_module.h"
#include "common/runtime/host/cores.h"
#include "tests/runtime/memory_policy.h"
#include "tests/runtime/stand_in_cudart.h"
#include "tests/runtime/work_contract.h"

extern "C" const tandem::CudaProfiling* tandem_cuda_profiling_module();  // the module's entry

namespace tandem::testing {
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
INSTANTIATE_TYPED_TEST_SUITE_P(StandIn, RuntimeContractOfWork, StandIns);

class CudaOnStandIn : public RuntimeContract<Apart> {
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

TEST_F(CudaOnStandIn, LostGpu_FailsTheStreamThatWaitedForIt) {
  const auto failing = stream(0);
  const auto waiting = stream(1);
  const auto event = device(0).make_event();
  failing->record(*event);
  waiting->wait(*event);
  stand_in::lose(0, cudaErrorIllegalAddress);
  const Error error = error_of([&] { waiting->synchronize(); });
  EXPECT_TRUE(mentions(error, "GPU 0")) << error.what();
  EXPECT_THROW(waiting->synchronize(), Error);
}

TEST_F(CudaOnStandIn, KnownLoss_TravelsWithTheEventsThatDependOnIt) {
  const auto failing = stream(0);
  const auto middle = stream(1);
  const auto last = stream(1);
  const auto lost = device(0).make_event();
  const auto passed_on = device(1).make_event();
  stand_in::lose(0, cudaErrorIllegalAddress);
  EXPECT_THROW(failing->synchronize(), Error);
  failing->record(*lost);
  middle->wait(*lost);
  middle->record(*passed_on);
  last->wait(*passed_on);
  EXPECT_THROW(static_cast<void>(passed_on->is_done()), Error);
  EXPECT_TRUE(mentions(error_of([&] { last->synchronize(); }), "GPU 0"));
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

TEST_F(CudaOnStandIn, WithoutALink_NothingIsLate) {
  EXPECT_EQ(platform_->take_lateness().on_path, Nanoseconds{0});
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

  const std::vector<int> allowed_ = host::allowed_cpus();
};

std::vector<int> cpus_of_thread_of(Device& device) {
  std::vector<int> cpus;
  std::thread([&] {
    device.bind_this_thread();
    cpus = host::allowed_cpus();
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
  host::MemoryNode(0).prefer_during([&] { expected = host::testing::memory_policy(); });
  int during = -1;
  stand_in::on_next("cudaHostAlloc", [&] { during = host::testing::memory_policy(); });
  const int before = host::testing::memory_policy();
  EXPECT_NE(platform->device(0).allocate_host(kib(1)), nullptr);
  EXPECT_EQ(during, expected);
  EXPECT_EQ(host::testing::memory_policy(), before);
}

// ---- the platform ----

PlatformOptions devices(int count) {
  PlatformOptions options;
  options.devices = count;
  return options;
}

TEST(CudaPlatform, RefusesMoreDevicesThanGpus_UnlessAsked) {
  stand_in::reset(2);
  PlatformOptions options = devices(3);
  const Error error = error_of([&] { static_cast<void>(cuda::make_cuda_platform(options)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "3 devices asked, but CUDA shows 2 GPUs")) << error.what();
  options.oversubscribe = true;
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_TRUE(platform->oversubscribed());
  EXPECT_EQ(platform->device(0).name(), "Stand-in (GPU 0)");
  EXPECT_EQ(platform->device(1).name(), "Stand-in (GPU 1)");
  EXPECT_EQ(platform->device(2).name(), "Stand-in (GPU 0)");
}

TEST(CudaPlatform, OpensTheGpusThatAreNamed_InThatOrder) {
  stand_in::reset(4);
  PlatformOptions options = devices(2);
  options.gpus = {3, 1};
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_EQ(platform->device(0).name(), "Stand-in (GPU 3)");
  EXPECT_EQ(platform->device(1).name(), "Stand-in (GPU 1)");
  EXPECT_NE(platform->device(0).hardware(), platform->device(1).hardware());
}

TEST(CudaPlatform, RefusesGpusThatAreNotThere_TwiceTheSame_AndTooFew) {
  stand_in::reset(2);
  PlatformOptions options = devices(2);
  const auto refusal = [&options](std::vector<int> gpus) {
    options.gpus = std::move(gpus);
    return error_of([&] { static_cast<void>(cuda::make_cuda_platform(options)); });
  };
  EXPECT_STREQ(refusal({0, 2}).what(), "--gpus names 2, but CUDA shows 2 GPUs, counted from 0");
  EXPECT_STREQ(refusal({1, 1}).what(), "--gpus=1,1: name each GPU once");
  EXPECT_TRUE(mentions(refusal({1}), "2 devices asked, but --gpus names 1 GPU:"));
  EXPECT_EQ(refusal({1}).kind(), ErrorKind::kUsage);
}

// Of four processes, each on its own device.
TEST(CudaPlatform, OfAProcess_OpensItsOwnGpuAlone) {
  stand_in::reset(4);
  PlatformOptions options = devices(4);
  options.own_device = 2;
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_EQ(stand_in::calls("cudaInitDevice"), 1);
  EXPECT_EQ(platform->device(2).name(), "Stand-in (GPU 2)");
  EXPECT_EQ(platform->device(2).id().index, 2);
  EXPECT_EQ(error_of([&] { static_cast<void>(platform->device(0)); }).kind(), ErrorKind::kLogic);
  EXPECT_FALSE(platform->oversubscribed());
  EXPECT_NE(platform->allocate_host(kib(1)), nullptr);
  options.gpus = {3, 1};  // counted round, as where a launcher shows each process fewer
  EXPECT_EQ(cuda::make_cuda_platform(options)->device(2).name(), "Stand-in (GPU 3)");
}

TEST(CudaPlatform, OfAProcessThatSharesItsGpu_HasAShareOfItsMemory_AndTheMark) {
  stand_in::reset(1);
  PlatformOptions options = devices(4);
  options.own_device = 3;
  options.processes_on_gpu = 4;
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_TRUE(platform->oversubscribed());
  EXPECT_EQ(platform->device(3).memory().capacity, mib(256));
}

TEST(CudaPlatform, WithoutPeerAccessByRequest_EnablesNone) {
  stand_in::reset(2);
  PlatformOptions options = devices(2);
  options.peer_access = PeerAccess::kOff;
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_EQ(stand_in::calls("cudaDeviceEnablePeerAccess"), 0);
}

TEST(CudaPlatform, SharesEachGpusMemoryEvenly) {
  stand_in::reset(2);
  PlatformOptions options = devices(3);
  options.oversubscribe = true;
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_EQ(platform->device(0).memory().capacity, mib(512));
  EXPECT_EQ(platform->device(1).memory().capacity, gib(1));
  EXPECT_EQ(platform->device(2).memory().capacity, mib(512));
}

TEST(CudaPlatform, RefusesMoreMemoryThanTheGpuHas) {
  stand_in::reset(1);
  PlatformOptions options = devices(1);
  options.device_memory = {gib(2)};
  const Error error = error_of([&] { static_cast<void>(cuda::make_cuda_platform(options)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--device-memory: 2.0 GiB for 1 device on GPU 0")) << error.what();
}

TEST(CudaPlatform, TakesACapacityPerDevice_WithinEachGpus) {
  stand_in::reset(2);
  PlatformOptions options = devices(3);
  options.oversubscribe = true;
  options.device_memory = {mib(100), mib(1000), mib(200)};
  EXPECT_EQ(cuda::make_cuda_platform(options)->device(2).memory().capacity, mib(200));
  options.device_memory.back() = mib(1000);
  const Error error = error_of([&] { static_cast<void>(cuda::make_cuda_platform(options)); });
  EXPECT_TRUE(mentions(error, "1.1 GiB for 2 devices on GPU 0, which has 1.0 GiB free"))
      << error.what();
  options.device_memory.pop_back();
  EXPECT_EQ(error_of([&] { static_cast<void>(cuda::make_cuda_platform(options)); }).kind(),
            ErrorKind::kUsage);
}

TEST(CudaPlatform, RefusesAModelledLink) {
  stand_in::reset(1);
  PlatformOptions options = devices(1);
  options.link = LinkModel{.latency = Nanoseconds{1}, .bytes_per_second = 1e9};
  const Error error = error_of([&] { static_cast<void>(cuda::make_cuda_platform(options)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--link")) << error.what();
}

TEST(CudaPlatform, WorksWithoutPeerAccess) {
  stand_in::reset(2);
  stand_in::set_peer_access(false);
  const auto platform = cuda::make_cuda_platform(devices(2));
  EXPECT_EQ(stand_in::calls("cudaDeviceEnablePeerAccess"), 0);
}

// Before anything runs: a kernel that is loaded later waits for what runs by then.
TEST(CudaPlatform, LoadsEveryKernelOfItsOwn_OnEachGpuThatItOpens) {
  static const int kernel = 0;
  static const int other = 1;
  ASSERT_TRUE(cuda::add_own_kernel(&kernel) && cuda::add_own_kernel(&other));
  stand_in::reset(3);
  const auto platform = cuda::make_cuda_platform(devices(2));
  EXPECT_GE(cuda::own_kernels().size(), 2U);
  EXPECT_EQ(stand_in::loaded_kernels(0), cuda::own_kernels());
  EXPECT_EQ(stand_in::loaded_kernels(1), cuda::own_kernels());
  EXPECT_TRUE(stand_in::loaded_kernels(2).empty());
}

TEST(CudaPlatform, KernelThatCannotBeLoaded_IsSaidWhenTheGpuIsOpened) {
  static const int kernel = 0;
  ASSERT_TRUE(cuda::add_own_kernel(&kernel));
  stand_in::reset(1);
  stand_in::fail_next("cudaFuncGetAttributes", cudaErrorNoKernelImageForDevice);
  const Error error = error_of([] { static_cast<void>(cuda::make_cuda_platform(devices(1))); });
  EXPECT_TRUE(mentions(error, "load_own_kernels() on GPU 0: ")) << error.what();
}

// ---- the probe ----

TEST(CudaProbe, FindsAUsableGpu) {
  stand_in::reset(1);
  EXPECT_EQ(cuda::probe(devices(1)).state, CudaState::kUsable);
}

TEST(CudaProbe, TellsAMissingDriverFromAnOldOne) {
  stand_in::reset(1);
  stand_in::set_driver_version(0);
  EXPECT_EQ(cuda::probe(devices(1)).state, CudaState::kDriverMissing);
  stand_in::set_driver_version(11080);
  stand_in::fail_next("cudaGetDeviceCount", cudaErrorInsufficientDriver);
  const CudaProbe old = cuda::probe(devices(1));
  EXPECT_EQ(old.state, CudaState::kDriverTooOld);
  EXPECT_EQ(old.detail.find("the driver supports CUDA 11.8, this build needs "), 0U) << old.detail;
}

TEST(CudaProbe, NamesTheVariableThatHidesGpus) {
  stand_in::reset(0);
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  const CudaProbe hidden = cuda::probe(devices(1));
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(hidden.state, CudaState::kNoDeviceVisible);
  EXPECT_EQ(hidden.detail, "CUDA shows no device while CUDA_VISIBLE_DEVICES is '7'");
}

TEST(CudaProbe, FindsABusyGpu_OnlyAmongThoseNeeded) {
  stand_in::reset(2);
  stand_in::lose(1, cudaErrorDevicesUnavailable);
  EXPECT_EQ(cuda::probe(devices(1)).state, CudaState::kUsable);
  const CudaProbe busy = cuda::probe(devices(2));
  EXPECT_EQ(busy.state, CudaState::kBusy);
  EXPECT_EQ(busy.detail.find("GPU 1 (00000000:11:00.0) is busy"), 0U) << busy.detail;
}

TEST(CudaProbe, OfAnExclusiveGpuThatIsTaken_SaysSoAndWhatToDo) {
  stand_in::reset(2);
  stand_in::set_compute_mode(cudaComputeModeExclusiveProcess);
  EXPECT_EQ(cuda::probe(devices(1)).state, CudaState::kUsable);  // nobody is on it
  stand_in::lose(0, cudaErrorDevicesUnavailable);
  const CudaProbe taken = cuda::probe(devices(1));
  EXPECT_EQ(taken.state, CudaState::kBusy);
  EXPECT_EQ(taken.detail,
            "GPU 0 (00000000:10:00.0) is in exclusive-process mode, and another process is on it: "
            "give each rank a GPU of its own, end what else computes there, or let root set its "
            "mode (nvidia-smi -i 00000000:10:00.0 -c 0)");
}

TEST(CudaProbe, OfAProhibitedGpu_MakesNoContext) {
  stand_in::reset(1);
  stand_in::set_compute_mode(cudaComputeModeProhibited);
  const CudaProbe found = cuda::probe(devices(1));
  EXPECT_EQ(found.state, CudaState::kBusy);
  EXPECT_EQ(found.detail.find("GPU 0 (00000000:10:00.0) is in prohibited mode"), 0U)
      << found.detail;
  EXPECT_EQ(stand_in::calls("cudaInitDevice"), 0);
}

TEST(CudaProbe, OfAProcess_LooksAtItsOwnGpuAlone_AndSaysWhatItIs) {
  stand_in::reset(2);
  stand_in::lose(0, cudaErrorDevicesUnavailable);  // another process's, in exclusive mode
  PlatformOptions options = devices(2);
  options.own_device = 1;
  const CudaProbe found = cuda::probe(options);
  EXPECT_EQ(found.state, CudaState::kUsable);
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus.front(), "00000000:11:00.0 GPU-00000000000000000000000000000001");
}

TEST(CudaProbe, TellsDeniedFromOtherTrouble) {
  stand_in::reset(1);
  stand_in::fail_next("cudaInitDevice", cudaErrorOperatingSystem);
  EXPECT_EQ(cuda::probe(devices(1)).state, CudaState::kNotPermitted);
  stand_in::fail_next("cudaInitDevice", cudaErrorSystemNotReady);
  EXPECT_EQ(cuda::probe(devices(1)).state, CudaState::kOtherTrouble);
  EXPECT_EQ(stand_in::last_error(), cudaSuccess);
}

}  // namespace
}  // namespace tandem::testing
