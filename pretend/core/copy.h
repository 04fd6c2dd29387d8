// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills: done for real up to kRealBytes, only logged beyond.
#pragma once

#include <cstdint>

#include "pretend/core/put.h"

namespace tandem::pretend {

// `to` and `from` may be memory of the host or of any device.
Success copy(const char* call, void* to, const void* from, uint64_t bytes, const void* stream);

// Rows of `width` bytes.
struct Rows {
  void* to;
  uint64_t to_pitch;
  const void* from;
  uint64_t from_pitch;
  uint64_t width;
  uint64_t count;
};
Success copy_rows(const char* call, const Rows& rows, const void* stream);

Success fill(const char* call, void* to, int value, uint64_t bytes, const void* stream);

}  // namespace tandem::pretend
