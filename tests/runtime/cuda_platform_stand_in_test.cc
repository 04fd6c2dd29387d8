// SPDX-License-Identifier: Apache-2.0
//
// CUDA's platform on the stand-in: which GPUs it opens, and what a look at them finds.
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda/own_kernels.h"
#include "tests/runtime/runtime_contract.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::test {
namespace {

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

// Each of four processes runs on its own device.
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

// As torch, which leaves CUDA's default: a parked wait would put an interrupt into every sample.
TEST(CudaPlatform, LetsCudaChooseItsWaits_UnlessTheyAreToPark) {
  stand_in::reset(2);
  PlatformOptions options = devices(2);
  EXPECT_EQ(cuda::probe(options).state, CudaState::kUsable);
  EXPECT_EQ(stand_in::schedule_of(1), unsigned{cudaDeviceScheduleAuto});
  options.gpu_wait = GpuWait::kPark;
  EXPECT_EQ(cuda::probe(options).state, CudaState::kUsable);
  EXPECT_EQ(stand_in::schedule_of(1), unsigned{cudaDeviceScheduleBlockingSync});
  stand_in::reset(2);
  const auto platform = cuda::make_cuda_platform(options);
  EXPECT_EQ(stand_in::schedule_of(0), unsigned{cudaDeviceScheduleBlockingSync});
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

TEST(CudaProbe, OfAGpuThatTheModuleHasNoKernelsFor_NamesTheOptionThatAddsThem) {
  static const int kernel = 0;
  ASSERT_TRUE(cuda::add_own_kernel(&kernel));
  for (const auto status : {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction}) {
    stand_in::reset(2);
    stand_in::set_compute_capability(70);
    stand_in::fail_next("cudaFuncGetAttributes", status);
    const CudaProbe found = cuda::probe(devices(2));
    EXPECT_EQ(found.state, CudaState::kNoCode);
    EXPECT_EQ(found.detail.find("this build has no kernels for GPU 0 (Stand-in, compute capability "
                                "7.0), only for "),
              0U)
        << found.detail;
    EXPECT_NE(found.detail.find("build it with -DTANDEM_CUDA_ARCHITECTURES=70, by CUDA 12"),
              std::string::npos)
        << found.detail;
    EXPECT_EQ(stand_in::last_error(), cudaSuccess);
  }
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
}  // namespace tandem::test
