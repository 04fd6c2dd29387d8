// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/device.h"

#include <cstdio>
#include <utility>

#include "pretend/abi/cudart.h"
#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

// What the cards have in common, by the CUDA programming guide's table for 7.0 to 9.0.
constexpr std::pair<int, int> kAlike[] = {
    {abi::kMaxThreadsPerBlock, 1024},
    {abi::kMaxBlockDimX, 1024},
    {abi::kMaxBlockDimY, 1024},
    {abi::kMaxBlockDimZ, 64},
    {abi::kMaxGridDimX, 2147483647},
    {abi::kMaxGridDimY, 65535},
    {abi::kMaxGridDimZ, 65535},
    {abi::kMaxSharedMemoryPerBlock, 48 << 10},
    {abi::kTotalConstantMemory, 64 << 10},
    {abi::kWarpSize, 32},
    {abi::kMaxPitch, 2147483647},
    {abi::kMaxRegistersPerBlock, 65536},
    {abi::kTextureAlignment, 512},
    {abi::kCanMapHostMemory, 1},
    {abi::kConcurrentKernels, 1},
    {abi::kUnifiedAddressing, 1},
    {abi::kStreamPrioritiesSupported, 1},
    {abi::kMaxRegistersPerMultiprocessor, 65536},
    {abi::kComputePreemptionSupported, 1},
    {abi::kCooperativeLaunch, 1},
    {abi::kHostRegisterSupported, 1},
};

thread_local int current = 0;
std::atomic<uint32_t> streams{2};  // the default streams have 0, 1 and 2
std::atomic<uint32_t> events{0};
std::atomic<Settle> settler{nullptr};
std::atomic<uint64_t> used{1};  // a bit per device; devices share those beyond 63

}  // namespace

std::atomic<int> unsettled{0};

int device_count() { return static_cast<int>(settings().gpus.size()); }

int current_device() { return current; }

void set_current_device(int device) {
  current = device;
  used.fetch_or(uint64_t{1} << (device & 63), std::memory_order_relaxed);
}

bool is_in_use(int device) {
  return (used.load(std::memory_order_relaxed) >> (device & 63) & 1) != 0;
}

Stream* make_stream(unsigned flags, int priority) {
  return new Stream{.device = current,
                    .number = streams.fetch_add(1, std::memory_order_relaxed) + 1,
                    .flags = flags,
                    .priority = priority};
}

Event* make_event(bool timed) {
  auto* const event = new Event;
  event->number = events.fetch_add(1, std::memory_order_relaxed) + 1;
  event->timed = timed;
  return event;
}

void set_settle(Settle settle) { settler.store(settle); }

void settle(const void* address, uint64_t bytes) {
  const Settle known = settler.load();
  if (known != nullptr) known(address, bytes);
}

int attribute_of(int attribute, int device) {
  const Card& card = *settings().card;
  switch (attribute) {
    case abi::kClockRate:
      return card.clock_khz;
    case abi::kMultiProcessorCount:
      return card.processors;
    case abi::kPciBusId:
      return pci_bus(physical_of(device));
    case abi::kMemoryClockRate:
      return card.memory_clock_khz;
    case abi::kMemoryBusWidth:
      return card.memory_bus_bits;
    case abi::kL2CacheSize:
      return card.l2_bytes;
    case abi::kMaxThreadsPerMultiProcessor:
      return card.threads_per_processor;
    case abi::kAsyncEngineCount:
      return card.copy_engines;
    case abi::kComputeCapabilityMajor:
      return card.major;
    case abi::kComputeCapabilityMinor:
      return card.minor;
    case abi::kMaxSharedMemoryPerMultiprocessor:
      return card.shared_per_processor;
    case abi::kMaxSharedMemoryPerBlockOptin:
      return card.shared_per_block_optin;
    case abi::kReservedSharedMemoryPerBlock:
      return card.shared_per_block_reserved();
    case abi::kMaxBlocksPerMultiprocessor:
      return card.blocks_per_processor;
    default:
      break;
  }
  for (const auto& [known, value] : kAlike) {
    if (known == attribute) return value;
  }
  return 0;
}

int pci_bus(int physical) { return physical + 1; }

PciName pci_name(int physical) {
  PciName name;
  std::snprintf(name.text.data(), name.text.size(), "0000:%02x:00.0",
                static_cast<unsigned>(pci_bus(physical)) & 0xffU);
  return name;
}

std::array<char, 16> uuid_of(int physical) {
  std::array<char, 16> uuid{'T', 'a', 'n', 'd', 'e', 'm', ' ', 'p', 'r', 'e', 't', 'e', 'n', 'd'};
  uuid[14] = static_cast<char>(physical >> 8);
  uuid[15] = static_cast<char>(physical);
  return uuid;
}

int physical_of(int device) {
  const auto index = static_cast<size_t>(device);
  return index < settings().gpus.size() ? settings().gpus[index] : device;
}

}  // namespace tandem::pretend
