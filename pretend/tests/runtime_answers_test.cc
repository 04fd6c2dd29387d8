// SPDX-License-Identifier: Apache-2.0
//
// What the pretended runtime, driver and NVML answer about devices, memory, streams and kernels.
#include <cstring>
#include <string>
#include <vector>

#include "pretend/tests/pretended.h"

namespace tandem::test::pretended {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kInvalidDevice = 101;
constexpr int kNotSupported = 801;

TEST(PretendedDevices, AreAsManyAsAsked) {
  int count = 0;
  EXPECT_EQ(cudart("cudaGetDeviceCount", &count), 0);
  EXPECT_EQ(count, kGpus);
  EXPECT_EQ(cudart("cudaSetDevice", kGpus), kInvalidDevice);
  EXPECT_EQ(cudart("cudaGetLastError"), kInvalidDevice);
  EXPECT_EQ(cudart("cudaGetLastError"), 0);
}

TEST(PretendedDevices, HaveTheCardsAttributesInRuntimeAndDriver) {
  constexpr int kProcessors = 16;  // cudaDevAttrMultiProcessorCount
  int runtime = 0;
  int driver = 0;
  EXPECT_EQ(cudart("cudaDeviceGetAttribute", &runtime, kProcessors, 1), 0);
  EXPECT_EQ(call("libcuda.so.1", "cuDeviceGetAttribute", &driver, kProcessors, 1), 0);
  EXPECT_EQ(runtime, 128);
  EXPECT_EQ(driver, 128);
}

TEST(PretendedDevices, OfAConsumerCardReachNoPeer) {
  int possible = 1;
  EXPECT_EQ(cudart("cudaDeviceCanAccessPeer", &possible, 0, 1), 0);
  EXPECT_EQ(possible, 0);
}

TEST(PretendedDevices, AreFoundByNvmlByTheirPciNames) {
  char name[32] = {};
  const void* handle = nullptr;
  unsigned index = 0;
  EXPECT_EQ(cudart("cudaDeviceGetPCIBusId", &name[0], 32, 2), 0);
  const auto text = "0000" + std::string(name);  // NVML writes eight digits of the domain
  EXPECT_EQ(call("libnvidia-ml.so.1", "nvmlDeviceGetHandleByPciBusId_v2", text.c_str(), &handle),
            0);
  EXPECT_EQ(call("libnvidia-ml.so.1", "nvmlDeviceGetIndex", handle, &index), 0);
  EXPECT_EQ(index, 2U);
}

TEST(PretendedMemory, EndsAtTheCardsCapacity) {
  uint64_t free = 0;
  uint64_t total = 0;
  EXPECT_EQ(cudart("cudaSetDevice", 3), 0);
  EXPECT_EQ(cudart("cudaMemGetInfo", &free, &total), 0);
  EXPECT_LE(free, total);
  EXPECT_EQ(total >> 30, 23U) << "the RTX 4090's 24 GB";
  const uint64_t before = free;
  void* most = nullptr;
  void* more = nullptr;
  EXPECT_EQ(cudart("cudaMalloc", &most, free - (4 << 20)), 0);
  EXPECT_EQ(cudart("cudaMalloc", &more, uint64_t{8} << 20), kOutOfMemory);
  EXPECT_EQ(cudart("cudaFree", most), 0);
  EXPECT_EQ(cudart("cudaMalloc", &more, uint64_t{8} << 20), 0);
  EXPECT_EQ(cudart("cudaFree", more), 0);
  EXPECT_EQ(cudart("cudaMemGetInfo", &free, &total), 0);
  EXPECT_EQ(free, before);
}

TEST(PretendedMemory, OfAPointerIsItsDevices) {
  struct Attributes {
    int type;
    int device;
    void* pointers[2];
    long reserved[8];
  } attributes{};
  char* const address = static_cast<char*>(device_memory(2, 4096));
  EXPECT_EQ(cudart("cudaSetDevice", 0), 0);
  EXPECT_EQ(cudart("cudaPointerGetAttributes", &attributes, static_cast<void*>(address + 100)), 0);
  EXPECT_EQ(attributes.type, 2);
  EXPECT_EQ(attributes.device, 2);
  int on_the_heap = 0;
  EXPECT_EQ(cudart("cudaPointerGetAttributes", &attributes, static_cast<void*>(&on_the_heap)), 0);
  EXPECT_EQ(attributes.type, 0);
  EXPECT_EQ(cudart("cudaFree", static_cast<void*>(address)), 0);
}

TEST(PretendedCopies, OfSmallValuesArriveAndLargeOnesDoNot) {
  void* const address = device_memory(0, 2 * kRealBytes);
  const std::vector<char> sent(2 * kRealBytes, 'x');
  std::vector<char> got(2 * kRealBytes, '-');
  to_device(address, sent.data(), kRealBytes);
  from_device(got.data(), address, kRealBytes);
  EXPECT_EQ(got[0], 'x');
  EXPECT_EQ(got[kRealBytes - 1], 'x');
  from_device(got.data(), address, kRealBytes + 1);
  EXPECT_EQ(got[kRealBytes], '-');
  EXPECT_EQ(cudart("cudaFree", address), 0);
}

TEST(PretendedEvents, TellTheHostsTimeBetweenThem) {
  void* first = nullptr;
  void* second = nullptr;
  float milliseconds = -1;
  EXPECT_EQ(cudart("cudaEventCreate", &first), 0);
  EXPECT_EQ(cudart("cudaEventCreate", &second), 0);
  EXPECT_NE(cudart("cudaEventElapsedTime", &milliseconds, first, second), 0);  // never recorded
  EXPECT_EQ(cudart("cudaEventRecord", first, static_cast<void*>(nullptr)), 0);
  EXPECT_EQ(cudart("cudaEventRecord", second, static_cast<void*>(nullptr)), 0);
  EXPECT_EQ(cudart("cudaEventElapsedTime", &milliseconds, first, second), 0);
  EXPECT_GE(milliseconds, 0);
  EXPECT_LT(milliseconds, 10'000);
}

TEST(PretendedStreams, BelongToTheDeviceThatWasCurrent) {
  void* stream = nullptr;
  int device = -1;
  EXPECT_EQ(cudart("cudaSetDevice", 1), 0);
  EXPECT_EQ(cudart("cudaStreamCreateWithPriority", &stream, 1U, -1), 0);
  EXPECT_EQ(cudart("cudaSetDevice", 0), 0);
  EXPECT_EQ(cudart("cudaStreamGetDevice", stream, &device), 0);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudart("cudaStreamDestroy", stream), 0);
}

TEST(PretendedRuntime, RefusesByName) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudart("cudaLibraryUnload", static_cast<void*>(nullptr)), kNotSupported);
  EXPECT_EQ(cudart("cudaLibraryUnload", static_cast<void*>(nullptr)), kNotSupported);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("pretended libcudart.so.13: cudaLibraryUnload is not known"))
      << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << "said once: " << said;
}

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

TEST(PretendedKernels, GetTheLaunchThatWasPushed) {
  Dim3 grid;
  Dim3 block;
  uint64_t shared = 0;
  void* stream = nullptr;
  EXPECT_EQ(cudart("__cudaPushCallConfiguration", Dim3{7, 2, 1}, Dim3{128, 1, 1}, uint64_t{64},
                   static_cast<void*>(nullptr)),
            0);
  EXPECT_EQ(cudart("__cudaPopCallConfiguration", &grid, &block, &shared, &stream), 0);
  EXPECT_EQ(grid.x, 7U);
  EXPECT_EQ(grid.y, 2U);
  EXPECT_EQ(block.x, 128U);
  EXPECT_EQ(shared, 64U);
}

// A fat binary with code for GPUs of these compute capabilities.
class FatBinary {
 public:
  explicit FatBinary(const std::vector<uint32_t>& capabilities) {
    constexpr uint32_t kHeader = 0x00100001;  // version 1, 16 bytes
    words_ = {0xba55ed50, kHeader, static_cast<uint32_t>(capabilities.size()) * 32, 0};
    for (const uint32_t capability : capabilities) {
      words_.insert(words_.end(), {2, 32, 0, 0, 0, 0, 0, capability});
    }
    registered_.binary = words_.data();
  }
  // The version of the code that kernel `function` of this binary has for the card, or an error.
  int version_of(const char* function) {
    using Register =
        void (*)(void*, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
    const auto take = reinterpret_cast<void* (*)(const void*)>(
        ::dlsym(library("libcudart.so.13"), "__cudaRegisterFatBinary"));
    const auto add =
        reinterpret_cast<Register>(::dlsym(library("libcudart.so.13"), "__cudaRegisterFunction"));
    add(take(&registered_), function, nullptr, "kernel", -1, nullptr, nullptr, nullptr, nullptr,
        nullptr);
    struct {
      uint64_t sizes[3];
      int numbers[64];
    } attributes{};
    const int error = cudart("cudaFuncGetAttributes", static_cast<void*>(&attributes),
                             static_cast<const void*>(function));
    return error != 0 ? -error : attributes.numbers[2];
  }

 private:
  struct {
    uint32_t magic = 0x466243b1;
    uint32_t version = 1;
    const void* binary = nullptr;
    void* more = nullptr;
  } registered_{};
  std::vector<uint32_t> words_{};
};

TEST(PretendedKernels, HaveTheVersionOfTheCodeThatTheCardWouldRun) {
  constexpr int kNoKernelImage = 209;
  static constexpr char kKernels[2] = {};
  EXPECT_EQ(FatBinary({70, 80, 86, 90}).version_of(&kKernels[0]), 86) << "an RTX 4090 is of 8.9";
  EXPECT_EQ(FatBinary({70, 90}).version_of(&kKernels[1]), -kNoKernelImage);
  EXPECT_EQ(cudart("cudaLaunchKernel", static_cast<const void*>(&kKernels[1]), Dim3{}, Dim3{},
                   static_cast<void**>(nullptr), uint64_t{0}, static_cast<void*>(nullptr)),
            kNoKernelImage);
  EXPECT_EQ(cudart("cudaGetLastError"), kNoKernelImage);
}

TEST(PretendedDriver, TellsFunctionsThatItHasAndNoOthers) {
  void* function = nullptr;
  int status = -1;
  EXPECT_EQ(call("libcuda.so.1", "cuGetProcAddress_v2", "cuCtxPushCurrent", &function, 13000,
                 uint64_t{0}, &status),
            0);
  EXPECT_NE(function, nullptr);
  EXPECT_NE(call("libcuda.so.1", "cuGetProcAddress_v2", "cuNoSuchThing", &function, 13000,
                 uint64_t{0}, &status),
            0);
  EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace tandem::test::pretended
