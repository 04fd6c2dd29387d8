// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/copy.h"

#include <cstring>

#include "pretend/core/log.h"
#include "pretend/core/memory.h"
#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

Direction direction_of(int from, int to) {
  if (from == memory::kHost) {
    return to == memory::kHost ? Direction::kHostToHost : Direction::kHostToDevice;
  }
  if (to == memory::kHost) {
    return Direction::kDeviceToHost;
  }
  return from == to ? Direction::kDeviceToDevice : Direction::kPeer;
}

// Host memory to host memory is the caller's own: copied whatever its size.
bool is_done(Direction direction, uint64_t bytes) {
  return bytes <= kRealBytes || direction == Direction::kHostToHost;
}

// What the copy means for later reads: a value that the host sent is known where it arrives.
void note(Direction direction, int from_device, int to_device, const Rows& rows, bool done) {
  const uint64_t bytes = rows.width * rows.count;
  if (direction == Direction::kDeviceToHost) {
    read_back::note_read(from_device, rows.from, bytes);
  } else if (direction == Direction::kHostToDevice && done) {
    read_back::note_known(to_device, rows.to, bytes);
  } else if (to_device != memory::kHost) {
    read_back::note_launch(to_device);
  }
}

}  // namespace

void copy(const char* call, void* to, const void* from, uint64_t bytes, const void* stream) {
  copy_rows(call, {to, bytes, from, bytes, bytes, 1}, stream);
}

void copy_rows(const char* call, const Rows& rows, const void* stream) {
  log::Entry entry(call, RecordKind::kCopy);
  const int from = memory::device_of(rows.from);
  const int to = memory::device_of(rows.to);
  const Direction direction = direction_of(from, to);
  const uint64_t bytes = rows.width * rows.count;
  const bool done = is_done(direction, bytes);
  const Target target = target_of(stream);
  entry.at(target.device, target.stream);
  entry.set(bytes, direction, from, to, done);
  settle_if_needed(rows.from, bytes);
  settle_if_needed(rows.to, bytes);
  for (uint64_t row = 0; done && row < rows.count; ++row) {
    std::memmove(static_cast<char*>(rows.to) + row * rows.to_pitch,
                 static_cast<const char*>(rows.from) + row * rows.from_pitch, rows.width);
  }
  note(direction, from, to, rows, done);
}

void fill(const char* call, void* to, int value, uint64_t bytes, const void* stream) {
  log::Entry entry(call, RecordKind::kFill);
  const Target target = target_of(stream);
  const int device = memory::device_of(to);
  const bool done = bytes <= kRealBytes || device == memory::kHost;
  entry.at(target.device, target.stream);
  entry.set(bytes, value, done);
  settle_if_needed(to, bytes);
  if (done) {
    std::memset(to, value, bytes);
    read_back::note_known(device, to, bytes);
  } else {
    read_back::note_launch(device);
  }
}

}  // namespace tandem::pretend
