// SPDX-License-Identifier: Apache-2.0
//
// The memory that an operation reads and writes, declared before the operation is enqueued. The
// declarations serve two checks: each span must lie on the operation's device (unless declared
// remote), and in the tsan preset each becomes an access that ThreadSanitizer sees, also where a
// library does the work.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "common/runtime/span.h"

namespace tandem {

struct Access {
  enum class Mode { kRead, kWrite };     // an access in place counts as write
  enum class Place { kLocal, kRemote };  // remote: another device's memory, or the host's

  const void* address = nullptr;
  Bytes size;
  DeviceId device;
  Mode mode = Mode::kRead;
  Place place = Place::kLocal;
};

template <class T>
[[nodiscard]] Access reads(Span<T> s) {
  return {s.data(), s.bytes(), s.device(), Access::Mode::kRead, Access::Place::kLocal};
}
template <class T>
[[nodiscard]] Access writes(Span<T> s) {
  return {s.data(), s.bytes(), s.device(), Access::Mode::kWrite, Access::Place::kLocal};
}
template <class T>
[[nodiscard]] Access reads_remote(Span<T> s) {
  return {s.data(), s.bytes(), s.device(), Access::Mode::kRead, Access::Place::kRemote};
}
template <class T>
[[nodiscard]] Access writes_remote(Span<T> s) {
  return {s.data(), s.bytes(), s.device(), Access::Mode::kWrite, Access::Place::kRemote};
}

// Throws a logic error naming `operation` and both devices where a local access lies elsewhere
// than on `device`.
void check_placement(std::string_view operation, DeviceId device, std::span<const Access> accesses);

}  // namespace tandem
