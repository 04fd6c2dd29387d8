// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/copy.h"

#include <cstring>

#include "pretend/core/capture.h"
#include "pretend/core/check.h"
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
  if (to == memory::kHost) return Direction::kDeviceToHost;
  return from == to ? Direction::kDeviceToDevice : Direction::kPeer;
}

// Host memory to host memory is the caller's own: copied whatever its size.
bool is_done(Direction direction, uint64_t bytes) {
  return bytes <= kRealBytes || direction == Direction::kHostToHost;
}

// The host waits for its own memory, but for pinned memory that the copy writes later.
bool lets_host_wait(const char* call, const Rows& rows, int from, int to) {
  const bool is_later = std::strstr(call, "Async") != nullptr;
  if (to == memory::kHost) return !is_later || memory::find(rows.to).bytes == 0;
  return from == memory::kHost && !is_later;
}

// What the copy means for later reads: a value that the host sent is known where it arrives, and
// so is one that was known on a device.
void note(Direction direction, int from_device, int to_device, const Rows& rows, bool done) {
  const uint64_t bytes = rows.width * rows.count;
  if (direction == Direction::kDeviceToHost) {
    read_back::note_read(from_device, rows.from, bytes);
    return;
  }
  if (to_device == memory::kHost) return;
  uint64_t known = 0;
  if (done && rows.count == 1) {
    known = from_device == memory::kHost ? bytes
                                         : read_back::known_bytes(from_device, rows.from, bytes);
  }
  read_back::note_unknown(to_device, rows.to, rows.count * rows.to_pitch);
  if (known > 0) read_back::note_known(to_device, rows.to, known);
}

}  // namespace

Success copy(const char* call, void* to, const void* from, uint64_t bytes, const void* stream) {
  return copy_rows(call, {to, bytes, from, bytes, bytes, 1}, stream);
}

Success copy_rows(const char* call, const Rows& rows, const void* stream) {
  if (capture::takes(stream, capture::NodeType::kCopy,
                     [=](const void* on) { copy_rows(call, rows, on); })) {
    return {};
  }
  log::Entry entry(call, RecordKind::kCopy);
  const int from = memory::device_of(rows.from);
  const int to = memory::device_of(rows.to);
  const Direction direction = direction_of(from, to);
  const uint64_t bytes = rows.width * rows.count;
  const bool done = is_done(direction, bytes);
  const Target target = entry.at(target_of(stream));
  entry.set(bytes, direction, from, to, done);
  if (check::on && lets_host_wait(call, rows, from, to)) check::wait_for_stream(target);
  settle_if_needed(rows.from, bytes);
  settle_if_needed(rows.to, bytes);
  for (uint64_t row = 0; done && row < rows.count; ++row) {
    std::memmove(static_cast<char*>(rows.to) + row * rows.to_pitch,
                 static_cast<const char*>(rows.from) + row * rows.from_pitch, rows.width);
  }
  note(direction, from, to, rows, done);
  return {};
}

Success fill(const char* call, void* to, int value, uint64_t bytes, const void* stream) {
  if (capture::takes(stream, capture::NodeType::kFill,
                     [=](const void* on) { fill(call, to, value, bytes, on); })) {
    return {};
  }
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
    read_back::note_unknown(device, to, bytes);
  }
  return {};
}

}  // namespace tandem::pretend
