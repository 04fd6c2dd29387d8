// SPDX-License-Identifier: Apache-2.0
//
// Memory, streams and events of the pretended driver: the same as the runtime's.
#include "pretend/core/memory.h"

#include <cstdint>

#include "pretend/abi/driver.h"
#include "pretend/core/capture.h"
#include "pretend/core/check.h"
#include "pretend/core/copy.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/core/segments.h"

using namespace tandem::pretend;

namespace {

constexpr int kMemoryOfHost = 1;    // CU_MEMORYTYPE_HOST
constexpr int kMemoryOfDevice = 2;  // CU_MEMORYTYPE_DEVICE

template <typename Value>
abi::DriverError answer(void* to, Value value) {
  *static_cast<Value*>(to) = value;
  return abi::kDriverSuccess;
}

}  // namespace

extern "C" {

abi::DriverError cuMemAlloc_v2(void** address, uint64_t bytes) {
  *address = memory::allocate(current_device(), bytes);
  return *address == nullptr ? abi::kDriverOutOfMemory : abi::kDriverSuccess;
}

abi::DriverError cuMemFree_v2(void* address) {
  return memory::release(address) ? abi::kDriverSuccess : abi::kDriverInvalidValue;
}

abi::DriverError cuMemGetInfo_v2(uint64_t* free, uint64_t* total) {
  const memory::Room room = memory::room(current_device());
  *free = room.free;
  *total = room.total;
  return abi::kDriverSuccess;
}

// Memory and addresses apart, which torch's expandable segments use. All are of a large page.
abi::DriverError cuMemGetAllocationGranularity(uint64_t* bytes, const void*, int) {
  return put(bytes, 2 << 20);
}

abi::DriverError cuMemAddressReserve(void** address, uint64_t bytes, uint64_t, void*, uint64_t) {
  *address = segments::reserve(bytes);
  return *address == nullptr ? abi::kDriverOutOfMemory : abi::kDriverSuccess;
}

abi::DriverError cuMemAddressFree(void* address, uint64_t bytes) {
  return segments::give_up(address, bytes) ? abi::kDriverSuccess : abi::kDriverInvalidValue;
}

abi::DriverError cuMemCreate(segments::Memory** made, uint64_t bytes,
                             const abi::AllocationProperties* properties, uint64_t) {
  log::Entry entry("cuMemCreate", RecordKind::kMemory);
  entry.at(properties->device, 0);
  entry.set(bytes);
  *made = segments::make(properties->device, bytes);
  return *made == nullptr ? abi::kDriverOutOfMemory : abi::kDriverSuccess;
}

abi::DriverError cuMemMap(void* address, uint64_t, uint64_t, segments::Memory* memory, uint64_t) {
  return segments::map(address, memory) ? abi::kDriverSuccess : abi::kDriverInvalidValue;
}

abi::DriverError cuMemSetAccess(void*, uint64_t, const void*, uint64_t) {
  return abi::kDriverSuccess;
}

abi::DriverError cuMemUnmap(void* address, uint64_t bytes) {
  settle_if_needed(address, bytes);
  return segments::unmap(address, bytes) ? abi::kDriverSuccess : abi::kDriverInvalidValue;
}

abi::DriverError cuMemRelease(segments::Memory* memory) {
  log::Entry entry("cuMemRelease", RecordKind::kMemory);
  entry.at(memory->device, 0);
  entry.set(-static_cast<int64_t>(memory->bytes));
  segments::let_go(memory);
  return abi::kDriverSuccess;
}

abi::DriverError cuMemGetAddressRange_v2(void** begin, uint64_t* bytes, void* address) {
  const memory::Place place = memory::find(address);
  if (begin != nullptr) *begin = place.begin;
  if (bytes != nullptr) *bytes = place.bytes;
  return place.bytes == 0 ? abi::kDriverNotFound : abi::kDriverSuccess;
}

abi::DriverError cuMemGetAddressRange(void** begin, uint64_t* bytes, void* address) {
  return cuMemGetAddressRange_v2(begin, bytes, address);
}

abi::DriverError cuPointerGetAttribute(void* to, int attribute, void* address) {
  const memory::Place place = memory::find(address);
  if (place.bytes == 0) return abi::kDriverInvalidValue;
  const bool on_device = place.device != memory::kHost;
  switch (attribute) {
    case abi::kPointerMemoryType:
      return answer(to, on_device ? kMemoryOfDevice : kMemoryOfHost);
    case abi::kPointerDevicePointer:
    case abi::kPointerHostPointer:
      return answer(to, address);
    case abi::kPointerDeviceOrdinal:
      return answer(to, place.device);
    case abi::kPointerRangeStart:
      return answer(to, place.begin);
    case abi::kPointerRangeSize:
      return answer(to, place.bytes);
    default:
      return abi::kDriverNotSupported;
  }
}

abi::DriverError cuPointerGetAttributes(unsigned count, const int* attributes, void** to,
                                        void* address) {
  for (unsigned at = 0; at < count; ++at) {
    cuPointerGetAttribute(to[at], attributes[at], address);  // unknown ones are left as they are
  }
  return abi::kDriverSuccess;
}

abi::DriverError cuMemcpyHtoD_v2(void* to, const void* from, uint64_t bytes) {
  return copy("cuMemcpyHtoD", to, from, bytes, nullptr);
}

abi::DriverError cuMemcpyDtoH_v2(void* to, const void* from, uint64_t bytes) {
  return copy("cuMemcpyDtoH", to, from, bytes, nullptr);
}

abi::DriverError cuMemcpyAsync(void* to, const void* from, uint64_t bytes, void* stream) {
  return copy("cuMemcpyAsync", to, from, bytes, stream);
}

abi::DriverError cuMemcpyHtoDAsync_v2(void* to, const void* from, uint64_t bytes, void* stream) {
  return copy("cuMemcpyHtoDAsync", to, from, bytes, stream);
}

abi::DriverError cuMemcpyDtoHAsync_v2(void* to, const void* from, uint64_t bytes, void* stream) {
  return copy("cuMemcpyDtoHAsync", to, from, bytes, stream);
}

abi::DriverError cuMemcpyDtoDAsync_v2(void* to, const void* from, uint64_t bytes, void* stream) {
  return copy("cuMemcpyDtoDAsync", to, from, bytes, stream);
}

abi::DriverError cuMemsetD8Async(void* to, unsigned char value, uint64_t bytes, void* stream) {
  return fill("cuMemsetD8Async", to, value, bytes, stream);
}

// A pattern of four bytes: done for real where the bytes are alike, which zero is.
abi::DriverError cuMemsetD32Async(void* to, unsigned value, uint64_t count, void* stream) {
  return fill("cuMemsetD32Async", to, static_cast<int>(value & 0xffU), count * 4, stream);
}

abi::DriverError cuStreamSynchronize(void* stream) {
  log::Entry entry("cuStreamSynchronize", RecordKind::kSync);
  const Target target = entry.at(target_of(stream));
  if (check::on) check::wait_for_stream(target);
  settle_if_needed();
  return abi::kDriverSuccess;
}

abi::DriverError cuStreamQuery(void* stream) {
  return check::on && !check::is_complete(target_of(stream)) ? abi::kDriverNotReady
                                                             : abi::kDriverSuccess;
}

abi::DriverError cuStreamIsCapturing(void* stream, int* status) {
  return put(status, static_cast<int>(capture::info_of(stream).status));
}

abi::DriverError cuEventCreate(void** event, unsigned) { return put(event, make_event(true)); }

abi::DriverError cuEventDestroy_v2(Event* event) {
  if (check::on) check::forget(event);
  delete event;
  return abi::kDriverSuccess;
}

abi::DriverError cuEventRecord(Event* event, void* stream) {
  event->recorded.store(log::now());
  if (check::on) check::record(event, target_of(stream));
  return abi::kDriverSuccess;
}

abi::DriverError cuEventQuery(Event* event) {
  return check::on && !check::is_complete(event) ? abi::kDriverNotReady : abi::kDriverSuccess;
}

abi::DriverError cuEventSynchronize(Event* event) {
  if (check::on) check::wait_for_event(event);
  settle_if_needed();
  return abi::kDriverSuccess;
}
}
