// SPDX-License-Identifier: Apache-2.0
#include "pretend/torch_kernels/operands.h"

#include <algorithm>

#include "pretend/core/device.h"
#include "pretend/core/memory.h"
#include "pretend/core/read_back.h"
#include "pretend/core/settings.h"

namespace tandem::pretend::torch_kernels {

bool Placement::read_from(const char* from, int operands) {
  dims = read<int>(from);
  if (dims < 0 || dims > kMostDims) return false;
  for (size_t dim = 0; dim < static_cast<size_t>(dims); ++dim) {
    sizes[dim] = read<uint32_t>(from, 4 + 12 * dim);
    for (size_t operand = 0; operand < static_cast<size_t>(operands); ++operand) {
      strides[operand][dim] = read<uint32_t>(
          from, 4 + 12 * kMostDims + 4 * (dim * static_cast<size_t>(operands) + operand));
    }
  }
  return std::find(sizes.begin(), sizes.begin() + dims, 0U) == sizes.begin() + dims;
}

uint64_t Placement::elements() const {
  uint64_t elements = 1;
  for (size_t dim = 0; dim < static_cast<size_t>(dims); ++dim) elements *= sizes[dim];
  return elements;
}

uint64_t Placement::extent(int operand, uint64_t size) const {
  uint64_t last = 0;
  for (size_t dim = 0; dim < static_cast<size_t>(dims); ++dim) {
    last += uint64_t{sizes[dim] - 1} * strides[static_cast<size_t>(operand)][dim];
  }
  return last + size;
}

void Accesses::add(const Part& part) {
  fits_ = fits_ && count_ < parts_.size() && part.used <= kRealBytes;
  if (fits_) parts_[count_++] = part;
}

bool Accesses::begin() {
  for (size_t at = 0; fits_ && at < count_; ++at) {
    Part& part = parts_[at];
    const memory::Place place = memory::find(part.address);
    const auto behind = static_cast<uint64_t>(static_cast<const char*>(part.address) -
                                              static_cast<const char*>(place.begin));
    fits_ = place.device != memory::kHost && behind + part.bytes <= place.bytes;
    part.device = place.device;
  }
  for (size_t at = 0; fits_ && at < count_; ++at) {
    settle_if_needed(parts_[at].address, parts_[at].bytes);
  }
  return fits_;
}

bool Accesses::is_known(const Part& part) {
  return read_back::is_known(part.device, part.address, part.bytes);
}

bool Accesses::are_known() const {
  return std::all_of(
      parts_.begin(), parts_.begin() + static_cast<ptrdiff_t>(count_),
      [](const Part& part) { return part.kind == Kind::kWritten || is_known(part); });
}

void Accesses::end() {
  const bool known = are_known();
  for (size_t at = 0; at < count_; ++at) {
    const Part& part = parts_[at];
    if (part.kind == Kind::kRead) continue;
    // Where elements have gaps between them, there lies what was there before.
    if (known && (part.used >= part.bytes || is_known(part))) {
      read_back::note_known(part.device, part.address, part.bytes);
    } else {
      read_back::note_unknown(part.device, part.address, part.bytes);
    }
  }
}

void Accesses::clear(void* number, uint64_t bytes) {
  Accesses accesses;
  accesses.writes(number, bytes, bytes);
  if (accesses.begin()) std::memset(number, 0, bytes);
}

}  // namespace tandem::pretend::torch_kernels
