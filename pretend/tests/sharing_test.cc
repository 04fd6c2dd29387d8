// SPDX-License-Identifier: Apache-2.0
//
// Memory apart from addresses, as expandable segments have it, and memory of other processes.
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "pretend/tests/pretended.h"

namespace tandem::test::pretended {
namespace {

constexpr uint64_t kSegment = 2 << 20;

template <typename... Arguments>
int driver(const char* name, Arguments... arguments) {
  return call("libcuda.so.1", name, arguments...);
}

uint64_t free_on(int device) {
  uint64_t free = 0;
  uint64_t total = 0;
  EXPECT_EQ(cudart("cudaSetDevice", device), 0);
  EXPECT_EQ(cudart("cudaMemGetInfo", &free, &total), 0);
  return free;
}

int device_of(void* address) {
  int device = -1;
  constexpr int kOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
  EXPECT_EQ(driver("cuPointerGetAttribute", static_cast<void*>(&device), kOrdinal, address), 0);
  return device;
}

int make(void** memory, uint64_t bytes, int device) {
  const std::array<int, 8> properties = {1, 0, 1, device};
  return driver("cuMemCreate", memory, bytes, static_cast<const void*>(properties.data()),
                uint64_t{0});
}

TEST(PretendedSegments, TakeMemoryAndNoAddressesOfTheDevice) {
  const uint64_t before = free_on(2);
  void* address = nullptr;
  void* memory = nullptr;
  EXPECT_EQ(driver("cuMemAddressReserve", &address, 64 * kSegment, uint64_t{0},
                   static_cast<void*>(nullptr), uint64_t{0}),
            0);
  EXPECT_EQ(free_on(2), before);
  EXPECT_EQ(make(&memory, kSegment, 2), 0);
  EXPECT_EQ(free_on(2), before - kSegment);
  void* const place = static_cast<char*>(address) + 3 * kSegment;
  EXPECT_EQ(driver("cuMemMap", place, kSegment, uint64_t{0}, memory, uint64_t{0}), 0);
  EXPECT_EQ(device_of(place), 2);
  const int64_t sent = 11;
  int64_t got = 0;
  to_device(place, &sent, 1);
  from_device(&got, place, 1);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(driver("cuMemRelease", memory), 0);
  EXPECT_EQ(free_on(2), before - kSegment) << "it is still mapped";
  EXPECT_EQ(driver("cuMemUnmap", place, kSegment), 0);
  EXPECT_EQ(free_on(2), before);
  EXPECT_EQ(driver("cuMemAddressFree", address, 64 * kSegment), 0);
}

TEST(PretendedSegments, EndWithTheDevicesMemory) {
  constexpr int kNoMemory = 2;
  const uint64_t free = free_on(3);
  void* most = nullptr;
  void* more = nullptr;
  EXPECT_EQ(make(&most, free - kSegment, 3), 0);
  EXPECT_EQ(make(&more, 2 * kSegment, 3), kNoMemory);
  EXPECT_EQ(cudart("cudaMalloc", &more, 2 * kSegment), kNoMemory);
  EXPECT_EQ(driver("cuMemRelease", most), 0);
  EXPECT_EQ(free_on(3), free);
}

struct Handle {
  std::array<char, 64> bytes;
};

// What the other process does: reads, writes the double, and says whether all went well.
int other_process(const Handle& handle, int64_t expected) {
  void* address = nullptr;
  int64_t value = 0;
  const bool opened = cudart("cudaIpcOpenMemHandle", &address, handle, 1U) == 0;
  if (!opened || device_of(address) != 1) return 1;
  from_device(&value, address, 1);
  const int64_t twice = 2 * value;
  to_device(address, &twice, 1);
  return value == expected && cudart("cudaIpcCloseMemHandle", address) == 0 ? 0 : 2;
}

TEST(PretendedSharing, LetsAnotherProcessReadAndWrite) {
  const uint64_t before = free_on(1);
  void* const address = device_memory(1, 3 * kSegment);
  const int64_t sent = 21;
  to_device(address, &sent, 1);
  Handle handle{};
  EXPECT_EQ(cudart("cudaIpcGetMemHandle", &handle, address), 0);
  const pid_t child = fork();
  if (child == 0) _exit(other_process(handle, sent));
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  int64_t got = 0;
  from_device(&got, address, 1);
  EXPECT_EQ(got, 2 * sent);
  EXPECT_EQ(cudart("cudaFree", address), 0);
  EXPECT_EQ(free_on(1), before);
}

TEST(PretendedSharing, OfMemoryThatIsGoneIsAnError) {
  void* const address = device_memory(1, kSegment);
  Handle handle{};
  EXPECT_EQ(cudart("cudaIpcGetMemHandle", &handle, address), 0);
  EXPECT_EQ(cudart("cudaFree", address), 0);
  void* opened = nullptr;
  EXPECT_EQ(cudart("cudaIpcOpenMemHandle", &opened, handle, 1U), 400);
  EXPECT_EQ(opened, nullptr);
}

TEST(PretendedSharing, OfEventsGivesEvents) {
  void* event = nullptr;
  void* opened = nullptr;
  Handle handle{};
  EXPECT_EQ(cudart("cudaEventCreateWithFlags", &event, 6U), 0);
  EXPECT_EQ(cudart("cudaIpcGetEventHandle", &handle, event), 0);
  EXPECT_EQ(cudart("cudaIpcOpenEventHandle", &opened, handle), 0);
  EXPECT_EQ(cudart("cudaStreamWaitEvent", static_cast<void*>(nullptr), opened, 0U), 0);
  EXPECT_EQ(cudart("cudaEventDestroy", opened), 0);
  EXPECT_EQ(cudart("cudaEventDestroy", event), 0);
}

}  // namespace
}  // namespace tandem::test::pretended
